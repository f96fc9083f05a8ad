//! The client against scripted replies and moved time, and against a small server on loopback.

#![expect(clippy::unwrap_used, reason = "helpers of tests say what they expect by unwrapping, as the tests do")]

mod actions;
mod attempts;
mod calls;
mod carts;
mod clocks;
mod content;
mod cuts;
mod downloads;
mod drips;
mod echoes;
mod lenient;
mod listings;
mod loopback;
mod paging;
mod parts;
mod payloads;
mod prefetch;
mod probing;
mod uploads;
mod waits;
