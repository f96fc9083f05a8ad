//! The crates of headland under one name, for tests and benchmarks.
//!
//! They follow the order of the data flow: `base`, `api`, `wire`, `reader`, `agronomy`, `prescription`,
//! `client`, `mirror`, `sandbox`;
//! the compiler refuses an import against it. `python`, the extension, is the only crate that uses pyo3.

pub use headland_agronomy as agronomy;
pub use headland_api as api;
pub use headland_api::openapi;
pub use headland_base::{clock, error, hex, names, part_file, secret, times};
pub use headland_client as client;
pub use headland_client::{limiter, signing, transport};
pub use headland_mirror as mirror;
pub use headland_prescription as prescription;
pub use headland_reader::{archive, layer};
pub use headland_sandbox as sandbox;
pub use headland_wire as wire;
