//! Tests the client against scripted replies with simulated time, and against a small server on loopback.

#![expect(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    reason = "helpers of tests say what they expect by unwrapping, as the tests do"
)]

mod activity;
mod attempts;
mod calls;
#[path = "../client_config/mod.rs"]
mod client_config;
mod clock_changes;
mod commands;
mod content_types;
mod deliveries;
mod downloads;
mod echoed_secrets;
mod grain_carts;
mod lenient_lists;
mod link_pages;
mod loopback;
mod paging;
mod payloads;
mod prefetch;
mod probe;
mod retry_after;
mod slow_bodies;
mod support;
mod truncated_replies;
mod uploads;
