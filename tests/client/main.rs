//! The client against scripted replies and moved time, and against a small server on loopback.

mod calls;
mod downloads;
mod loopback;
mod paging;
mod parts;
mod uploads;
