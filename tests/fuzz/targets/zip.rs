//! Reads any bytes as a zip: its end record, its directory and members; without `strict`, also the rest of a truncated
//! one.
#![no_main]

use libfuzzer_sys::fuzz_target;

fuzz_target!(|data: &[u8]| headland_fuzz::read(data.to_vec()));
