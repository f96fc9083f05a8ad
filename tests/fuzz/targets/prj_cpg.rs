//! Reads any bytes as the .prj and the .cpg of a valid set.
#![no_main]

use headland_fuzz::{halves, read, seeds, zipped};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|data: &[u8]| {
    let (prj, cpg) = halves(data);
    let seeds = seeds();
    let of = |name: &str| seeds.iter().find(|(target, _)| *target == name).map(|(_, seeds)| &seeds[0]);
    let (Some(shapes), Some(table)) = (of("shp"), of("dbf")) else { return };
    let (shp, shx) = halves(shapes);
    read(zipped(&[("t.shp", shp), ("t.shx", shx), ("t.prj", prj), ("t.cpg", cpg)]));
    read(zipped(&[("t.dbf", table), ("t.cpg", cpg)]));
});
