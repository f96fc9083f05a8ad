//! Agronomic computation over the columns of layers: harmonised columns, units, cleaning and maps.

#![forbid(unsafe_code)]
#![expect(
    clippy::indexing_slicing,
    reason = "columns of one job have one length, which is checked where they are gathered, and rows are places in them"
)]

mod cleaning;
mod columns;
mod ground;
mod jobs;
mod maps;
mod passes;
mod rates;
mod rows;
mod times;

pub use cleaning::cleaned::{Cleaned, clean};
pub use cleaning::delays::MachineDelay;
pub use columns::aliases::name_rank;
pub use columns::canonical::JobKind;
pub use columns::canonical_rows::{canonical_fields, canonical_rows, first_year, layer_kind, row_field};
pub use columns::convert::scaled;
pub use columns::convert::{Target, columns_for_unit, to_units};
pub use columns::crops::{CROPS, Crop};
pub use columns::harmonize::{harmonize, local_times};
pub use columns::job_products::JobProduct;
pub use columns::market_moisture::MarketMoisture;
pub use columns::provenance::provenance;
pub use columns::statements::{Job, Stated, Statements};
pub use ground::layer_area::area;
pub use headland_reader::layer::units::{Mismatch, System, Unit};
pub use jobs::concat::{ConcatOptions, concat};
pub use jobs::field_means::{FieldMean, JobMeans, covered_area, field_means, job_means};
pub use jobs::kind_table::{boundary_table, kind_table};
pub use jobs::parts::Part;
pub use jobs::selection::{JobTypes, Match, NamePattern};
pub use jobs::types::JobType;
pub use maps::grid::{GridOptions, grid};
pub use maps::prescribed_rate::{PrescribedRate, assumed_rate, prescribed_rate};
pub use maps::rate_limit::RateLimit;
pub use maps::shown_column::{column_label, map_column, shown_column, unit_label};
pub use maps::title::map_title;
pub use maps::zone_units::{ZoneTexts, is_same_unit, zone_products, zone_units};
pub use passes::flow_delay::Delay;
pub use rates::{RateComparison, RateTarget, compare_rates};
