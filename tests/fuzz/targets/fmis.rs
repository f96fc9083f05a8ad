//! Reads any bytes as the layout and records of an FMIS folder.
#![no_main]

use headland_fuzz::{halves, read, zipped};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|data: &[u8]| {
    let (xml, table) = halves(data);
    for name in ["job/job_fmis/advanced.xml", "job/job_fmis/jobdata.xml"] {
        read(zipped(&[(name, xml), ("job/job_fmis/Product_1.tab", table)]));
    }
});
