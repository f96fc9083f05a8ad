//! Runs the tests of `src/python` about the end of the interpreter that need no Python.

#![expect(dead_code, reason = "the extension uses what the tests do not")]

#[path = "../src/python/interpreter_shutdown.rs"]
mod interpreter_shutdown;
