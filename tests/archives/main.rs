//! Tests the archive reader through its public interface: real files against GDAL's reading, generated and damaged
//! files.

#![expect(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    clippy::panic,
    reason = "a test says what it expects by failing"
)]

mod alloc_counter;
mod builder;
mod canonical_text;
mod contested;
mod corpus;
mod diagnostics;
mod encodings;
mod expected;
mod fmis;
mod fmis_damaged;
mod gdal_deviations;
mod grain_carts;
mod hostile;
mod hostile_expected;
mod inflate_model;
mod integer_precision;
mod layer_selection;
mod long_records;
mod member_names;
mod mutants;
mod mutator;
mod no_data_z;
mod option_matrix;
mod oracle;
mod oracle_shapes;
mod outputs;
mod raw_dbf;
mod resource_limits;
mod round_trip;
#[path = "../series/mod.rs"]
mod series;
mod shx;
mod sidecars;
mod sources;
mod stream;
mod stream_threads;
mod support;
mod truncated;
mod wkb;
mod wkt;
mod writers;
mod xml_trees;
mod zip_directory;
mod zipped_corpus;
