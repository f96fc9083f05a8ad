//! The archive reader from outside: real files against GDAL's reading, generated files, broken ones.

#![expect(clippy::unwrap_used, clippy::panic, reason = "a test says what it expects by failing")]

#[path = "archives/canon.rs"]
mod canon;
#[path = "archives/corpus.rs"]
mod corpus;
#[path = "archives/deviations.rs"]
mod deviations;
#[path = "archives/generated.rs"]
mod generated;
#[path = "archives/hostile.rs"]
mod hostile;
#[path = "archives/make.rs"]
mod make;
#[path = "archives/mutants.rs"]
mod mutants;
#[path = "archives/outputs.rs"]
mod outputs;
#[path = "archives/sources.rs"]
mod sources;
