//! Agronomic computation over the columns of layers: harmonised columns, units, cleaning and maps.

#![forbid(unsafe_code)]

mod added_columns;
mod alias_table;
mod aliases;
mod apportion;
#[cfg(test)]
mod apportion_tests;
mod boundary_bands;
mod canonical_arrays;
mod canonical_rows;
mod canonical_values;
mod cell_values;
mod clean;
mod clean_delays;
mod clean_diagnostics;
mod clean_layer;
mod clean_masses;
mod clean_seasons;
mod clean_steps;
#[cfg(test)]
mod clean_tests;
mod column_match;
mod columns;
mod concat;
mod concat_fields;
mod convert;
mod convex_clip;
mod coverage;
#[cfg(test)]
mod coverage_tests;
mod crops;
mod derived;
mod field_means;
mod field_rows;
#[cfg(test)]
mod field_rows_tests;
mod filters;
mod first_owner;
mod flow_delay;
mod flow_dropouts;
mod gather;
mod grid;
mod grid_targets;
mod harmonize;
mod job_selection;
mod job_types;
mod layer_area;
mod left_out;
mod logged_rows;
mod logged_shapes;
mod machine_ratio;
mod map_column;
#[cfg(test)]
mod map_column_tests;
mod map_title;
mod map_total;
mod map_words;
mod market_moisture;
mod measurements;
mod neighbours;
mod order_fit;
mod outliers;
mod own_columns;
mod owner_strips;
mod pass_gaps;
mod passes;
mod places;
mod plots;
mod provenance;
mod raster;
mod rates;
mod reasons;
mod recipe;
mod row_claims;
mod row_columns;
#[cfg(test)]
mod row_columns_tests;
mod row_lengths;
mod row_mass;
mod row_order;
mod row_ratios;
mod row_times;
mod seasons;
mod section_mass;
mod settled_passes;
mod shifted_values;
mod statements;
mod swaths;
#[cfg(test)]
mod swaths_tests;
mod sweep_state;
mod time_context;
mod time_numbers;
mod time_parts;
mod track_continuity;
mod track_rows;
mod unit_checks;
mod unit_closure;
#[cfg(test)]
mod unit_closure_tests;
mod unit_proofs;
mod unused_columns;
mod worked_area;
mod worked_ground;
mod yield_basis;

pub(crate) use aliases::name_rank;
pub use canonical_rows::{canonical_fields, canonical_rows, first_year, layer_kind, row_field};
pub use clean_delays::MachineDelay;
pub use clean_layer::{Cleaned, clean};
pub use columns::JobKind;
pub use concat::{ConcatOptions, concat};
pub use concat_fields::Part;
pub(crate) use convert::scaled;
pub use convert::{Target, columns_for_unit, to_units};
pub use crops::{CROPS, Crop};
pub use field_means::{FieldMean, JobMeans, covered_area, field_means, job_means};
pub use flow_delay::Delay;
pub use grid::{GridOptions, grid};
pub use harmonize::{harmonize, local_times};
pub use job_selection::{JobTypes, Match, NamePattern};
pub use job_types::JobType;
pub use layer_area::area;
pub use map_column::{column_label, map_column, shown_column, unit_label};
pub use map_title::map_title;
pub use market_moisture::MarketMoisture;
pub use rates::{JobProduct, RateComparison, RateTarget, compare_rates};
pub use statements::{Job, Stated, Statements};
pub use units::{Mismatch, System, Unit};

use crate::layer::units;
