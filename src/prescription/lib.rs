//! Prescriptions: zones and rates written as the shapefile that displays accept, and checks of such files.

mod archive_writer;
mod as_display;
mod boundary;
mod check_content;
mod check_files;
mod check_ground;
mod check_rates;
mod coverage;
mod disjoint_sets;
mod display_limits;
mod lattice;
mod make;
mod merge;
mod merge_small_parts;
mod noding;
mod orientation;
mod rate_column;
mod rate_rounding;
mod ring_faults;
mod ring_size;
mod totals;

pub use as_display::{DisplayMap, read_as_display};
pub use check_content::{CheckOptions, Checked, check_layer};
pub use check_files::check_source;
pub use make::{Prescription, Request, make};
pub use totals::{RateTotal, Totals, area_unit};
