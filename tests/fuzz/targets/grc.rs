//! Reads any bytes as a grain cart file.
#![no_main]

use headland_fuzz::{read, zipped};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|data: &[u8]| read(zipped(&[("t.grc", data)])));
