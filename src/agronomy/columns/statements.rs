//! Units, crop, time zone and totals of a layer, as the caller or the service states them.

use crate::columns::canonical::JobKind;
use crate::columns::job_products::JobProduct;
use crate::columns::market_moisture::MarketMoisture;
use headland_reader::layer::Offsets;
use headland_reader::layer::crs::Crs;

/// What the caller states of a layer.
#[derive(Clone, Debug, Default)]
pub struct Statements {
    /// The kind of job.
    pub kind: Option<JobKind>,
    /// Columns and units.
    pub stated: Stated,
    /// The crop.
    pub crop: Option<String>,
    /// Percent of water at which the grain is sold.
    pub market_moisture: MarketMoisture,
    /// What the service says of the job.
    pub job: Job,
    /// The coordinate system of a layer that states none.
    pub crs: Option<Crs>,
    /// Offsets of the display's zone, one for each minute of [`super::local_times`].
    pub offsets: Option<Vec<Offsets>>,
}

/// What the service says of a job.
#[derive(Clone, Debug, Default)]
pub struct Job {
    /// The name.
    pub name: Option<String>,
    /// The kind.
    pub kind: Option<JobKind>,
    /// The crop.
    pub crop: Option<String>,
    /// The start, in microseconds since 1970.
    pub start: Option<i64>,
    /// The applied area of all products in square metres.
    pub area: Option<f64>,
    /// What it reports of each product.
    pub products: Vec<JobProduct>,
}

/// Columns and units that the caller states.
#[derive(Clone, Debug, Default)]
pub struct Stated {
    /// Canonical name and original column.
    pub columns: Vec<(String, String)>,
    /// Original column and unit.
    pub units: Vec<(String, String)>,
}
