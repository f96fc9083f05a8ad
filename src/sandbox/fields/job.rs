//! A job: what the service knows of it, its archives, and what is true of it.

use chrono::{DateTime, Utc};

use super::failure::Failure;
use super::fmis_export::fmis_zip;
use super::job_spec::{JobSpec, Total};
use super::xml_export::parsed_xml;
use super::zip_writer::{display_zip, shapefile_zip};
use crate::error::{Error, Kind, Result};
use crate::wire::Value;

/// A job.
#[derive(Clone, Debug)]
pub struct Job {
    /// Its id.
    pub id: String,
    /// Its name, the only one of that name in the account.
    pub name: String,
    /// The kind as lists name it: `Planter`, `Sprayer`, `As Applied` or `Yield`.
    pub sub_type: String,
    /// When it was uploaded.
    pub created: DateTime<Utc>,
    /// When the service last touched it.
    pub updated: DateTime<Utc>,
    /// The name of the field.
    pub field: String,
    /// The year of the season.
    pub season: i32,
    /// Its detail, by [`JOB_DATA_DETAIL`](crate::api::job_data::JOB_DATA_DETAIL), without `Status` and
    /// `AvailableFiles`, which the service knows.
    pub detail: Value,
    /// Whether there is anything to convert.
    pub coverage: Coverage,
    /// Whether its files are there when they are first asked for.
    pub is_ready_immediately: bool,
    pub(super) spec: JobSpec,
    pub(super) device: String,
}

/// Whether a job holds coverage that can be converted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Coverage {
    /// It does.
    Recorded,
    /// The machine recorded none.
    None,
    /// It cannot be converted, for this reason.
    Unconvertible(Failure),
}

/// What is true of a job, whatever its archive looks like.
#[derive(Clone, Debug, PartialEq)]
pub struct Truth {
    /// Id of the job.
    pub job_id: String,
    /// Name of the job.
    pub job_name: String,
    /// The kind as lists name it.
    pub sub_type: String,
    /// The name of the field.
    pub field: String,
    /// The layer of the archive that holds the job; an archive may hold the boundary of the field beside it.
    pub layer: String,
    /// Records in that layer.
    pub rows: u64,
    /// The covered area in m². Of points it is the sum of `SWATHWIDTH` times `DISTANCE`, of polygons also the sum of
    /// their areas.
    pub area: f64,
    /// The area inside the boundary of the field in m².
    pub field_area: f64,
    /// Every numeric column: its name, its unit (`1` where it has none) and the sum of the values that are written.
    pub totals: Vec<(String, String, f64)>,
    /// What the job is about: the harvested mass, the planted seeds, what was applied.
    pub total: Total,
}

impl Job {
    /// The same job with other measurements, as when its file was uploaded once more.
    #[must_use]
    pub fn revised(&self, revision: u64) -> Self {
        let spec = JobSpec { seed: self.spec.seed.wrapping_add(revision), ..self.spec.clone() };
        Self { spec, ..self.clone() }
    }

    /// The zip of shape files.
    pub fn shapefile_zip(&self) -> Result<Vec<u8>> {
        self.convertible()?;
        shapefile_zip(&self.spec, &self.spec.simulate())
    }

    /// The display's own zip: a folder with a short text and a binary log that only the display reads. A job without
    /// coverage and one that cannot be converted have it too.
    pub fn display_zip(&self) -> Result<Vec<u8>> {
        display_zip(&self.spec, &self.device)
    }

    /// The zip for farm management systems.
    pub fn fmis_zip(&self) -> Result<Vec<u8>> {
        self.convertible()?;
        fmis_zip(&self.spec, &self.spec.simulate(), &self.detail)
    }

    /// The XML file: the job's detail, its columns, and its records.
    pub fn parsed_xml(&self) -> Result<Vec<u8>> {
        self.convertible()?;
        Ok(parsed_xml(&self.spec, &self.spec.simulate(), &self.detail).into_bytes())
    }

    /// What is true of the job; an error for a job whose coverage is not [`Coverage::Recorded`].
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
            rows: u64::try_from(log.swaths.points.len()).unwrap_or(u64::MAX),
            area: self.spec.covered_area(&log),
            field_area: self.spec.field.area,
            totals,
            total: self.spec.total(&log),
        })
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
