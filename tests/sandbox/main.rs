//! The service as a client without headland meets it: requests signed by other code, sent over real sockets.

mod caller;

mod carts;
mod checks;
mod client;
mod content;
mod faults;
mod files;
mod lists;
mod rates;
mod restart;
