//! Fields of known truth: a seeded account of fields, seasons and jobs, with archives that look like what displays write.
//!
//! Everything is computed from the seed with arithmetic that is exact on every machine, so the same seed gives the same
//! bytes everywhere and for ever. The truth of a job comes from the generator's own model of the machine's work, never
//! from its archives; every number of the model that an archive shows is the number as it is written there.

mod account;
mod carts;
mod chance;
mod details;
mod exact;
mod failure;
mod fmis;
mod harvest;
mod packing;
mod parsed;
mod passes;
mod places;
mod plane;
mod planting;
mod prescription;
mod shapes;
mod spraying;
mod table;
mod track;
mod units;
mod work;

use chrono::{DateTime, Utc};

pub use carts::{CartManner, CartTruth, GrainCart};
pub use failure::{FAILURES, Failure};
pub use prescription::Prescription;
pub use track::{Place, Track};
pub(super) use track::{TURN, WORK};

use crate::error::{Error, Kind, Result};
use crate::wire::Value;

/// The account of a seed. It knows every total; archives are made when they are asked for.
///
/// Accounts of different seeds share no id of a job, a field computer, a field hub, a prescription map, a grain cart file
/// or a product, as long as the seeds are below 2^56; nor do two things of one account.
#[must_use]
pub fn account(seed: u64) -> Account {
    account::account(seed)
}

/// So many small jobs of the machines of an account, whose archives have a dozen records: for tests of many. The even
/// ones need no time to be converted.
#[must_use]
pub fn small_jobs(seed: u64, count: u32, computers: &[Computer]) -> Vec<Job> {
    account::small_jobs(seed, count, computers)
}

/// A customer's field computers and jobs.
#[derive(Clone, Debug)]
pub struct Account {
    /// Three field computers of different kinds: a current one, a legacy one, and one that never had a field hub.
    pub computers: Vec<Computer>,
    /// The jobs, newest first by the time they were created. Their ids are in no order.
    pub jobs: Vec<Job>,
    /// Grain cart files of its harvests, in the order of their ids: each file several times, as it grew.
    pub carts: Vec<GrainCart>,
    /// Three field hubs: those of the first two computers, and one that is on no computer.
    pub hubs: Vec<Hub>,
    /// The prescription maps that the planting and spraying jobs of the last season used.
    pub maps: Vec<Prescription>,
}

/// A field hub.
#[derive(Clone, Debug)]
pub struct Hub {
    /// Its id.
    pub id: String,
    /// The name that a user gave it.
    pub name: &'static str,
    /// The manufacturer.
    pub make: &'static str,
    /// The model.
    pub model: &'static str,
    /// The id of the field computer that it is connected to.
    pub computer: Option<String>,
    /// Where it drives.
    pub track: Track,
}

/// A field computer.
#[derive(Clone, Debug)]
pub struct Computer {
    /// Its id; one of the three is not a number.
    pub id: String,
    /// Its detail, by [`FIELD_COMPUTER_DETAIL`](crate::api::field_computers::FIELD_COMPUTER_DETAIL).
    pub detail: Value,
    /// Whether it is a legacy device, which the service treats apart (specification 4.2, 4.3).
    pub is_legacy: bool,
    /// The id of its field hub.
    pub hub: Option<String>,
    /// Where it drives: over the fields of its jobs.
    pub track: Track,
}

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
    pub ready_at_once: bool,
    work: work::Work,
    device: String,
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

/// The total of a job.
#[derive(Clone, Debug, PartialEq)]
pub struct Total {
    /// What it is, such as `Harvested mass`.
    pub label: String,
    /// Its unit.
    pub unit: String,
    /// Its value.
    pub value: f64,
    /// How a reader gets the same value: `factor` times the sum over the records of the product of `columns`.
    pub factor: f64,
    /// The columns of the product.
    pub columns: Vec<String>,
}

impl Job {
    /// The same job with other measurements, as when its file was uploaded once more.
    #[must_use]
    pub fn revised(&self, revision: u64) -> Self {
        let work = work::Work { seed: self.work.seed.wrapping_add(revision), ..self.work.clone() };
        Self { work, ..self.clone() }
    }

    /// The zip of shape files.
    pub fn shapefile_zip(&self) -> Result<Vec<u8>> {
        self.convertible()?;
        packing::shapefile_zip(&self.work, &self.work.record())
    }

    /// The display's own zip: a folder with a short text and a binary log that only the display reads. A job without
    /// coverage and one that cannot be converted have it too.
    pub fn display_zip(&self) -> Result<Vec<u8>> {
        packing::display_zip(&self.work, &self.device)
    }

    /// The zip for farm management systems.
    pub fn fmis_zip(&self) -> Result<Vec<u8>> {
        self.convertible()?;
        fmis::fmis_zip(&self.work, &self.work.record(), &self.detail)
    }

    /// The XML file: the job's detail, its columns, and its records.
    pub fn parsed_xml(&self) -> Result<Vec<u8>> {
        self.convertible()?;
        Ok(parsed::parsed_xml(&self.work, &self.work.record(), &self.detail).into_bytes())
    }

    /// What is true of the job; an error for a job whose coverage is not [`Coverage::Recorded`].
    pub fn truth(&self) -> Result<Truth> {
        self.convertible()?;
        let record = self.work.record();
        let columns = self.work.table(&record).columns;
        let totals = columns
            .iter()
            .filter_map(|column| Some((column.name.to_owned(), column.unit.to_owned(), column.sum()?)))
            .collect();
        Ok(Truth {
            job_id: self.id.clone(),
            job_name: self.name.clone(),
            sub_type: self.sub_type.clone(),
            field: self.field.clone(),
            layer: self.work.layer.clone(),
            rows: u64::try_from(record.marks.list.len()).unwrap_or(u64::MAX),
            area: self.work.covered(&record),
            field_area: self.work.field.area,
            totals,
            total: self.work.total(&record),
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
