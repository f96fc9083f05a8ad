//! Splits the rows of a layer into seasons and jobs; ground counts once in each of them.

use std::collections::HashMap;
use std::fmt;

use arrow_array::Array as _;
use arrow_array::cast::AsArray as _;
use arrow_array::types::TimestampMicrosecondType;
use chrono::{DateTime, Datelike as _};

use crate::columns::canonical::JobKind;
use crate::columns::cell_values::arrays;
use crate::columns::crops::Crop;
use crate::columns::provenance as keys;
use headland_reader::layer::Layer;

/// Microseconds without a row of one crop, after which another season begins.
const APART: i64 = 60 * 24 * 3_600 * 1_000_000;
/// Rows of a season at least: a clock that was wrong for some rows begins none.
const LEAST_ROWS: usize = 50;

/// Columns that tell jobs apart; `source` is that of a concatenation.
const JOBS: [&str; 2] = ["job_id", "source"];

/// The jobs of a layer.
#[derive(Clone, Debug, Default)]
pub(crate) struct Jobs {
    /// Number of the job of each row; empty if the layer is one job.
    pub(crate) of_row: Vec<u32>,
    /// The name of each job.
    pub(crate) names: Vec<String>,
    /// The column that names them.
    pub(crate) column: &'static str,
}

impl Jobs {
    /// Reads the jobs of a layer. Rows without a name are one more job.
    pub(crate) fn read(layer: &Layer) -> Self {
        for column in JOBS {
            let schema = layer.schema();
            let is_known = column != "source" || keys::is_concatenated(layer);
            let Some(index) = schema.index_of(column).ok().filter(|_| is_known) else { continue };
            let texts = arrays(layer, index).filter_map(|array| array.as_string_opt::<i64>());
            let mut known: HashMap<&str, u32> = HashMap::new();
            let mut names = Vec::new();
            let mut of_row = Vec::with_capacity(layer.len());
            for text in texts.flat_map(|array| array.iter()) {
                let text = text.unwrap_or_default();
                let next = u32::try_from(names.len()).unwrap_or(u32::MAX);
                let job = *known.entry(text).or_insert(next);
                if job == next {
                    names.push(text.to_owned());
                }
                of_row.push(job);
            }
            if names.len() > 1 && of_row.len() == layer.len() {
                return Self { of_row, names, column };
            }
        }
        Self::default()
    }

    /// The number of the job of a row.
    pub(crate) fn of(&self, row: usize) -> u32 {
        self.of_row.get(row).copied().unwrap_or(0)
    }
}

/// A season of one crop, or a job.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub(crate) struct Season {
    pub(crate) crop: Option<String>,
    pub(crate) year: Option<i32>,
    pub(crate) job: Option<String>,
}

impl fmt::Display for Season {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(job) = &self.job {
            return write!(f, "job {job}");
        }
        let crop = self.crop.as_deref().unwrap_or("season");
        f.write_str(crop)?;
        self.year.map_or(Ok(()), |year| write!(f, " {year}"))
    }
}

/// The seasons of a layer, in order of time.
#[derive(Clone, Debug, Default)]
pub(crate) struct Seasons {
    /// Number of the season of each row; empty if the layer is one.
    pub(crate) of_row: Vec<u32>,
    pub(crate) all: Vec<Season>,
    /// The column that names jobs, where those are apart.
    pub(crate) column: &'static str,
}

impl Seasons {
    /// Harvests of one crop without a gap of 60 days are one season. Harvests without a time, and other jobs, are apart by
    /// job.
    pub(crate) fn find(layer: &Layer, kind: JobKind, jobs: &Jobs) -> Self {
        if kind == JobKind::Yield { harvests(layer, jobs) } else { apart(jobs) }
    }

    /// Whether the ground counts once in the whole layer.
    pub(crate) fn is_one(&self) -> bool {
        self.all.len() < 2
    }
}

/// Each job for itself.
fn apart(jobs: &Jobs) -> Seasons {
    let all = jobs.names.iter().map(|name| Season { job: Some(name.clone()), ..Season::default() }).collect();
    Seasons { of_row: jobs.of_row.clone(), all, column: jobs.column }
}

fn harvests(layer: &Layer, jobs: &Jobs) -> Seasons {
    let Some(times) = times(layer) else { return apart(jobs) };
    let crops = crops(layer);
    let crop = |row: usize| crops.get(row).copied().flatten();
    let known = (0..times.len()).find_map(crop);
    let is_one_crop = (0..times.len()).filter_map(crop).all(|crop| Some(crop) == known);
    // A row without a crop is of the only one.
    let crop = |row: usize| if is_one_crop { known } else { crop(row) };
    let mut order: Vec<u32> = (0_u32..).zip(&times).filter(|(_, time)| time.is_some()).map(|(row, _)| row).collect();
    order.sort_unstable_by_key(|row| (crop(*row as usize), times[*row as usize], *row));
    let is_next = |a: &u32, b: &u32| {
        let (a, b) = (*a as usize, *b as usize);
        let step = times[b].zip(times[a]).map_or(0, |(after, before)| after.saturating_sub(before));
        crop(a) == crop(b) && step < APART
    };
    let runs = || order.chunk_by(is_next);
    if runs().filter(|run| run.len() >= LEAST_ROWS).count() < 2 {
        return Seasons::default();
    }
    let mut of_row = vec![u32::MAX; times.len()];
    let mut found: Vec<(Option<i64>, Season)> = Vec::new();
    for run in runs() {
        let first = run[0] as usize;
        let name = || Season {
            crop: crop(first).map(str::to_owned),
            year: times[first].and_then(DateTime::from_timestamp_micros).map(|time| time.year()),
            job: None,
        };
        // A few rows at another time are of the season before, or of the first one.
        if run.len() >= LEAST_ROWS || found.is_empty() {
            found.push((times[first], name()));
        }
        let season = u32::try_from(found.len() - 1).unwrap_or(u32::MAX);
        for row in run {
            of_row[*row as usize] = season;
        }
    }
    // Rows without a time are of the season of their job.
    let mut of_job: HashMap<u32, u32> = HashMap::new();
    for (row, season) in of_row.iter().enumerate().filter(|(_, season)| **season != u32::MAX) {
        of_job.entry(jobs.of(row)).or_insert(*season);
    }
    for (row, season) in of_row.iter_mut().enumerate().filter(|(_, season)| **season == u32::MAX) {
        *season = of_job.get(&jobs.of(row)).copied().unwrap_or(0);
    }
    let mut by_time: Vec<usize> = (0..found.len()).collect();
    by_time.sort_unstable_by_key(|season| (found[*season].0, *season));
    let mut rank = vec![0; found.len()];
    for (place, season) in (0_u32..).zip(&by_time) {
        rank[*season] = place;
    }
    for season in &mut of_row {
        *season = rank[*season as usize];
    }
    Seasons { of_row, all: by_time.iter().map(|season| found[*season].1.clone()).collect(), column: "" }
}

/// Microseconds of each row; `None` if no row has a time.
pub(crate) fn times(layer: &Layer) -> Option<Vec<Option<i64>>> {
    let schema = layer.schema();
    let index = schema.fields().iter().position(|field| field.name() == "time" && keys::is_added(field))?;
    let mut times = Vec::with_capacity(layer.len());
    for array in arrays(layer, index) {
        times.extend(array.as_primitive_opt::<TimestampMicrosecondType>()?.iter());
    }
    times.iter().any(Option::is_some).then_some(times)
}

/// The crop of each row; empty without the column.
fn crops(layer: &Layer) -> Vec<Option<&str>> {
    let schema = layer.schema();
    let found = schema.fields().iter().position(|field| field.name() == "crop" && keys::is_added(field));
    let texts = found.into_iter().flat_map(|index| arrays(layer, index));
    let cells = texts.filter_map(|array| array.as_string_opt::<i64>()).flat_map(|array| {
        (0..array.len()).map(|row| array.is_valid(row).then(|| array.value(row).trim()).filter(|crop| !crop.is_empty()))
    });
    // Spellings of one crop are one crop. Rows of one crop follow each other.
    let mut last = ("", "");
    let mut name = |text| {
        if text != last.0 {
            last = (text, Crop::find(text).map_or(text, |crop| crop.name));
        }
        last.1
    };
    cells.map(|crop| crop.map(&mut name)).collect()
}
