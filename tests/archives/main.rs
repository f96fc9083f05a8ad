//! The archive reader from outside: real files against GDAL's reading, generated files, broken ones.

#![expect(clippy::unwrap_used, clippy::panic, reason = "a test says what it expects by failing")]

mod canon;
mod carts;
mod corpus;
mod deviations;
mod generated;
mod hostile;
mod make;
mod mutants;
mod outputs;
#[path = "../series/mod.rs"]
mod series;
mod sources;
