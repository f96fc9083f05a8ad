//! Python bindings: the only module that uses pyo3.

mod activity;
mod agronomy;
mod arguments;
mod arrow_export;
mod arrow_import;
mod asyncio_future;
mod bridge;
mod c_schema;
mod cleaning;
mod client;
mod config;
mod conversion;
mod coordinate_offsets;
mod dataset;
mod doctor;
mod download;
mod endpoints;
mod errors;
mod folder_lock;
mod fork_safe;
mod interpreter_shutdown;
mod job_selection;
mod layer;
mod link_pages;
mod local_times;
mod locations;
mod map_delivery;
mod memory;
mod mirror;
mod pages;
mod prescription;
mod rates;
mod read_options;
mod reader;
mod reentrancy;
mod sandbox;
mod secret;
mod table_file;
mod to_dict;
mod to_list;
mod values;
mod xml_tree;

/// The native module of `python/headland`; its stub is `python/headland/_core.pyi`.
// Until the tests have run on an interpreter without the GIL.
#[pyo3::pymodule(gil_used = true)]
mod _core {
    #[pymodule_export]
    use super::agronomy::{
        boundary_table, concat, field_means, harmonize, harmonized_local_times, job_kind, kind_table, to_units,
    };
    #[pymodule_export]
    use super::arguments::{flag, sendable, text, text_for, texts, whole_number};
    #[pymodule_export]
    use super::arrow_export::Table;
    #[pymodule_export]
    use super::arrow_import::layer_from_batch;
    #[pymodule_export]
    use super::cleaning::{Cleaned, clean, covered_area, grid, write_geotiff};
    #[pymodule_export]
    use super::client::Client;
    #[pymodule_export]
    use super::conversion::Conversion;
    #[pymodule_export]
    use super::coordinate_offsets::ragged;
    #[pymodule_export]
    use super::dataset::{
        Dataset, Scan, conversion_factor, converted_schema, coordinate_system, dataset_names, manifest_files,
        mixed_units_warning, read_row_groups, replace_folder, union_schemas,
    };
    #[pymodule_export]
    use super::doctor::setting_advice;
    #[pymodule_export]
    use super::endpoints::{openapi, rows};
    #[pymodule_export]
    use super::errors::error_kinds;
    #[pymodule_export]
    use super::folder_lock::FolderLock;
    #[pymodule_export]
    use super::job_selection::{JobTypes, NamePattern};
    #[pymodule_export]
    use super::layer::{Layer, check_read_options, layers, read, read_job};
    #[pymodule_export]
    use super::link_pages::LinkPages;
    #[pymodule_export]
    use super::local_times::{LocalTimes, local_times, with_times};
    #[pymodule_export]
    use super::locations::has_position;
    #[pymodule_export]
    use super::map_delivery::{
        Delivery, broken_map_rule, plan_send, plan_send_async, send_map, send_map_async, zip_shapefile,
    };
    #[pymodule_export]
    use super::mirror::{Mirror, format_size, format_span, mirrored_accounts};
    #[pymodule_export]
    use super::pages::Pages;
    #[pymodule_export]
    use super::prescription::{Prescription, amount_unit, check_prescription, make_prescription, stated_units};
    #[pymodule_export]
    use super::rates::{RateComparison, compare_rates};
    #[pymodule_export]
    use super::read_options::column_names;
    #[pymodule_export]
    use super::reader::{Reader, open_reader};
    #[pymodule_export]
    use super::sandbox::Sandbox;
    #[pymodule_export]
    use super::secret::Secret;
    #[pymodule_export]
    use super::table_file::TableFile;
    #[pymodule_export]
    use super::xml_tree::read_tree;

    use pyo3::prelude::*;

    #[pymodule_init]
    fn init(module: &Bound<'_, PyModule>) -> PyResult<()> {
        super::memory::set_purge_delay();
        module.add("__version__", env!("CARGO_PKG_VERSION"))?;
        module.add("LIMITS", super::read_options::default_limits())
    }
}
