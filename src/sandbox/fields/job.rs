//! A generated job: its service record, archives and truth.

use chrono::{DateTime, Utc};

use super::failure::Failure;
use super::fmis_export::fmis_zip;
use super::job_spec::{JobSpec, ProductTotal, Total};
use super::logged_harvest::{HarvestGrid, HarvestTruth};
use super::xml_export::parsed_xml;
use super::zip_writer::{display_zip, shapefile_zip};
use headland_base::error::{Error, Kind, Result};
use headland_wire::Value;

/// A job.
#[derive(Clone, Debug)]
pub struct Job {
    /// Id of the job.
    pub id: String,
    /// Name of the job, unique in the account.
    pub name: String,
    /// Kind in lists: `Planter`, `Sprayer`, `As Applied` or `Yield`.
    pub sub_type: String,
    /// Time of upload.
    pub created: DateTime<Utc>,
    /// Time of the service's last change.
    pub updated: DateTime<Utc>,
    /// Name of the field.
    pub field: String,
    /// Year of the season.
    pub season: i32,
    /// Detail by [`JOB_DATA_DETAIL`](headland_api::job_data::JOB_DATA_DETAIL), without `Status` and `AvailableFiles`,
    /// which the service adds.
    pub detail: Value,
    /// Whether there is coverage to convert.
    pub coverage: Coverage,
    /// Whether its files are available without a conversion time.
    pub is_ready_immediately: bool,
    pub(super) spec: JobSpec,
    pub(super) device: String,
}

/// Coverage of a job.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Coverage {
    /// Convertible coverage.
    Recorded,
    /// The machine recorded no coverage.
    None,
    /// Coverage that cannot be converted.
    Unconvertible(Failure),
}

/// Truth of a job, independent of the form of its archive.
#[derive(Clone, Debug, PartialEq)]
pub struct Truth {
    /// Id of the job.
    pub job_id: String,
    /// Name of the job.
    pub job_name: String,
    /// Kind in lists.
    pub sub_type: String,
    /// Name of the field.
    pub field: String,
    /// Layer of the archive with the job's records. The archive may also contain the boundary of the field.
    pub layer: String,
    /// Number of records in that layer.
    pub rows: u64,
    /// Covered area in m²: the sum of `SWATHWIDTH` times `DISTANCE`. For polygons it is also the sum of their areas. A
    /// logged harvest counts the rows with the header down, a tank mix the rows of one product.
    pub area: f64,
    /// Area inside the boundary of the field in m².
    pub field_area: f64,
    /// Numeric columns: name, unit (`1` without one) and the sum of the written values.
    pub totals: Vec<(String, String, f64)>,
    /// Total of the job: harvested mass, planted seeds, or the applied amount of all products.
    pub total: Total,
    /// Total of each product. A tank mix has several, on the same ground.
    pub products: Vec<ProductTotal>,
    /// Truth of a harvest that is written as machines log it.
    pub harvest: Option<HarvestTruth>,
}

impl Job {
    /// Returns the job with other measurements, as after another upload of its file.
    #[must_use]
    pub fn revised(&self, revision: u64) -> Self {
        let spec = JobSpec { seed: self.spec.seed.wrapping_add(revision), ..self.spec.clone() };
        Self { spec, ..self.clone() }
    }

    /// Returns the zip of shapefiles.
    pub fn shapefile_zip(&self) -> Result<Vec<u8>> {
        self.convertible()?;
        shapefile_zip(&self.spec, &self.spec.simulate())
    }

    /// Returns the display's own zip: a folder with a short text and a binary log in the display's format. Jobs without
    /// coverage and inconvertible jobs have it too.
    pub fn display_zip(&self) -> Result<Vec<u8>> {
        display_zip(&self.spec, &self.device)
    }

    /// Returns the zip for farm management systems.
    pub fn fmis_zip(&self) -> Result<Vec<u8>> {
        self.convertible()?;
        fmis_zip(&self.spec, &self.spec.simulate(), &self.detail)
    }

    /// Returns the XML file: detail, columns and records.
    pub fn parsed_xml(&self) -> Result<Vec<u8>> {
        self.convertible()?;
        Ok(parsed_xml(&self.spec, &self.spec.simulate(), &self.detail).into_bytes())
    }

    /// Returns the truth of the job. The coverage must be [`Coverage::Recorded`], otherwise it is an error.
    pub fn truth(&self) -> Result<Truth> {
        self.convertible()?;
        let log = self.spec.simulate();
        let columns = self.spec.table(&log).columns;
        let totals = columns
            .iter()
            .filter_map(|column| Some((column.name.to_owned(), column.unit.to_owned(), column.sum()?)))
            .collect();
        Ok(Truth {
            job_id: self.id.clone(),
            job_name: self.name.clone(),
            sub_type: self.sub_type.clone(),
            field: self.field.clone(),
            layer: self.spec.layer.clone(),
            rows: u64::try_from(log.records().count()).unwrap_or(u64::MAX),
            area: self.spec.covered_area(&log),
            field_area: self.spec.field.area,
            totals,
            total: self.spec.total(&log),
            products: self.spec.product_totals(&log),
            harvest: log.harvest.map(|harvest| harvest.truth),
        })
    }

    /// Returns the true map of a logged harvest, in square cells with a side in metres.
    pub fn harvest_grid(&self, cell: f64) -> Result<HarvestGrid> {
        self.convertible()?;
        let Some(harvest) = self.spec.simulate().harvest else {
            let text = format!("job {} is no logged harvest: only those have a true map", self.id);
            return Err(Error::new(Kind::Value, text));
        };
        harvest.grid(&self.spec.field.plane, cell)
    }

    fn convertible(&self) -> Result<()> {
        match self.coverage {
            Coverage::Recorded => Ok(()),
            Coverage::None => {
                Err(Error::new(Kind::NoCoverage, format!("the generated job {} recorded no coverage", self.id)))
            }
            Coverage::Unconvertible(_) => {
                Err(Error::new(Kind::ConversionFailed, format!("the generated job {} cannot be converted", self.id)))
            }
        }
    }
}
