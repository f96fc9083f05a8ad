//! The service as a client without headland meets it: requests signed by other code, sent over real sockets.

#[path = "../series/mod.rs"]
mod series;

mod caller;

mod carts;
mod changes;
mod checks;
mod client;
mod conditions;
mod content;
mod conversions;
mod delegation;
mod devices;
mod dispatch;
mod dispatch_bodies;
mod dispatch_client;
mod dispatch_pages;
#[cfg(target_os = "linux")]
mod durable;
mod faults;
mod files;
mod held;
mod ids;
mod legacy_orders;
mod lists;
mod maps;
mod moving;
mod rates;
mod restart;
mod uploads;
