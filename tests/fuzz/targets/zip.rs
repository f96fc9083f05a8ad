//! Any bytes as an archive: its end record, its directory, its members; and, without `strict`, what a cut one has left.
#![no_main]

use libfuzzer_sys::fuzz_target;

fuzz_target!(|data: &[u8]| headland_fuzz::read(data.to_vec()));
