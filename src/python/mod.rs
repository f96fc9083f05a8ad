//! The only folder that names pyo3.

mod agronomy;
mod arguments;
mod bridge;
mod c_schema;
mod cells;
mod client;
mod conversion;
mod dataset;
mod delivery;
mod dicts;
mod doctor;
mod ending;
mod errors;
mod facts;
mod frames;
mod layer;
mod listing;
mod locations;
mod memory;
mod mirror;
mod pages;
mod process;
mod ragged;
mod reader;
mod reading;
mod sandbox;
mod secret;
mod settings;
mod table;
mod times;
mod tree;
mod values;
mod waiting;

/// What `python/headland` stands on; its stub is `python/headland/_core.pyi`.
#[pyo3::pymodule]
mod _core {
    #[pymodule_export]
    use super::agronomy::to_units;
    #[pymodule_export]
    use super::arguments::texts;
    #[pymodule_export]
    use super::client::Client;
    #[pymodule_export]
    use super::conversion::Conversion;
    #[pymodule_export]
    use super::dataset::{Dataset, Scan, coordinate_system, dataset_names, read_row_groups, union_schemas};
    #[pymodule_export]
    use super::doctor::about_setting;
    #[pymodule_export]
    use super::errors::error_kinds;
    #[pymodule_export]
    use super::frames::Table;
    #[pymodule_export]
    use super::layer::{Layer, layers, read};
    #[pymodule_export]
    use super::listing::Listing;
    #[pymodule_export]
    use super::locations::has_position;
    #[pymodule_export]
    use super::mirror::{Mirror, mirrored_account};
    #[pymodule_export]
    use super::pages::Pages;
    #[pymodule_export]
    use super::ragged::ragged;
    #[pymodule_export]
    use super::reader::{Reader, open_reader};
    #[pymodule_export]
    use super::reading::names;
    #[pymodule_export]
    use super::sandbox::Sandbox;
    #[pymodule_export]
    use super::secret::Secret;
    #[pymodule_export]
    use super::table::{openapi, parameters, rows};
    #[pymodule_export]
    use super::times::{LocalTimes, local_times, with_times};
    #[pymodule_export]
    use super::tree::read_tree;

    use pyo3::prelude::*;

    #[pymodule_init]
    fn init(module: &Bound<'_, PyModule>) -> PyResult<()> {
        super::memory::keep_for_the_next();
        module.add("__version__", env!("CARGO_PKG_VERSION"))?;
        module.add("LIMITS", super::reading::default_limits())
    }
}
