//! The end of the interpreter, without one: the tests that stand beside the code run here, since they need no Python.

#![expect(dead_code, reason = "the extension uses what the tests do not")]

#[path = "../src/python/shutdown.rs"]
mod shutdown;
