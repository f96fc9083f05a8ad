//! The archive reader from outside: real files against GDAL's reading, generated files, broken ones.

#![expect(clippy::unwrap_used, clippy::panic, reason = "a test says what it expects by failing")]

mod canon;
mod carts;
mod choices;
mod corpus;
mod costs;
mod cut;
mod deviations;
mod digits;
mod directory;
mod encodings;
mod expected;
mod fmis;
mod fmis_odd;
mod generated;
mod hostile;
mod hostile_demands;
mod index;
mod inflate_model;
mod long_records;
mod make;
mod matrix;
mod meter;
mod mutants;
mod mutator;
mod names;
mod outputs;
mod raw;
mod reading;
#[path = "../series/mod.rs"]
mod series;
mod sidecars;
mod sources;
mod stream;
mod stream_threads;
mod told;
mod trees;
mod undone;
mod undone_shapes;
mod verdicts;
mod vertices;
mod wkb;
mod wkt;
mod written;
mod zipped_corpus;
