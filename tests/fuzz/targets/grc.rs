//! Any bytes as the text of a grain cart.
#![no_main]

use headland_fuzz::{read, zipped};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|data: &[u8]| read(zipped(&[("t.grc", data)])));
