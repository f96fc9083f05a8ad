//! Reads any bytes as a .shp and a .shx.
#![no_main]

use headland_fuzz::{halves, read, zipped};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|data: &[u8]| {
    let (shp, shx) = halves(data);
    if shx.is_empty() {
        read(zipped(&[("t.shp", shp)]));
    } else {
        read(zipped(&[("t.shp", shp), ("t.shx", shx)]));
    }
});
