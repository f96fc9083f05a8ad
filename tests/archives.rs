//! The archive reader from outside: real files against GDAL's reading, generated files, broken ones.

#![expect(clippy::unwrap_used, clippy::panic, reason = "a test says what it expects by failing")]

#[path = "archives/canon.rs"]
mod canon;
#[path = "archives/corpus.rs"]
mod corpus;
#[path = "archives/hostile.rs"]
mod hostile;
