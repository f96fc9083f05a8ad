//! Tests the service with an independent client: requests are signed by other code and sent over real sockets.

#![expect(clippy::indexing_slicing, reason = "a test says what it expects by failing")]

#[path = "../client_config/mod.rs"]
mod client_config;
#[path = "../series/mod.rs"]
mod series;

mod raw_client;

mod access_scope;
mod authentication;
mod concurrent_changes;
mod content_types;
mod conversions;
mod devices;
mod dispatch;
mod dispatch_bodies;
mod dispatch_client;
mod dispatch_pages;
mod error_conditions;
mod faults;
mod files;
#[cfg(target_os = "linux")]
mod fsync;
mod grain_carts;
mod headland_client;
mod ids;
mod job_changes;
mod legacy_orders;
mod lists;
mod maps;
mod rate_limit;
mod restart;
mod stored;
mod uploads;
