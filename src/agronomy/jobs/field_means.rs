//! Mean yields of fields: all dry mass of a job by its ground, each piece of which counts once; and the ground of any job.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::sync::Arc;

use arrow_array::cast::AsArray as _;
use arrow_array::types::TimestampMicrosecondType;
use arrow_array::{ArrayRef, Int32Array, Int64Array, LargeStringArray, RecordBatch};
use arrow_schema::{DataType, Field};
use chrono::{DateTime, Datelike as _};

use crate::cleaning::balance::Place;
use crate::cleaning::cleaned::{Cleaned, clean};
use crate::cleaning::reasons::{DUPLICATE, MOISTURE};
use crate::columns::added::field as column;
use crate::columns::canonical::JobKind;
use crate::columns::canonical_rows::{crop_array, first_year, layer_kind};
use crate::columns::cell_values::{arrays, nullable};
use crate::columns::derived::HECTARE;
use crate::columns::harmonize::harmonize;
use crate::columns::market_moisture::{MARKET, at_moisture, basis_of, row_markets};
use crate::columns::provenance as keys;
use crate::columns::statements::Statements;
use crate::columns::values::CanonicalValues;
use crate::jobs::concat::id_of_source;
use crate::jobs::parts::{Part, name_fields};
use crate::jobs::repeated_jobs::repeated_jobs;
use crate::jobs::rows_without_mass::rows_without_mass;
use headland_base::error::{Error, Result};
use headland_reader::archive::{Code, Diagnostic};
use headland_reader::layer::Layer;

/// Parameters of the cleaning that counts the ground: moisture does not change it.
const GROUND: &str = r#"{"moisture_delay": null}"#;

/// Wet mass without a moisture, as a part of that with one, and ground without a mass, as a part of all, which are reported:
/// single readings are missing in most logs.
const SAID: f64 = 0.05;

/// Part of the dry mass that moistures change which no row around has, before those of the rows around are used.
const OUTLIERS: f64 = 0.002;

/// The mean yield of a job in a field, in metres and kilograms. Mass, ground and mean are there together or not at all, so
/// that sums of them can be divided.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct FieldMean {
    /// The field that the rows name, else that of the job.
    pub field: Option<String>,
    /// The crop, if it is known.
    pub crop: Option<String>,
    /// The year of the season, if the job has several; else that of the job.
    pub year: Option<i32>,
    /// Rows of the job in the field.
    pub rows: u64,
    /// Rows without a dry mass above 0.
    pub rows_without_yield: u64,
    /// Sum of the worked areas of rows.
    pub worked_area: f64,
    /// Ground, each piece once.
    pub covered_area: Option<f64>,
    /// Dry mass of all rows, and of the ground of rows whose mass was not logged.
    pub dry_mass: Option<f64>,
    /// Percent of water of the dry mass.
    pub market_moisture: Option<f64>,
}

impl FieldMean {
    /// Kilograms per hectare.
    #[must_use]
    pub fn mean(&self) -> Option<f64> {
        Some(self.dry_mass? / self.covered_area? * HECTARE)
    }
}

/// The means of a job, and its ground.
#[derive(Debug)]
pub struct JobMeans {
    /// One mean for each field and crop that rows name; none for other jobs than harvests.
    pub means: Vec<FieldMean>,
    /// The ground of the job, or why it is unknown.
    pub covered_area: Result<f64>,
    /// Diagnostics of the ground and of the means.
    pub diagnostics: Vec<Diagnostic>,
}

/// Field, crop and year of rows with one mean; the year where a layer has several seasons.
type Group<'a> = (Option<&'a str>, Option<&'a str>, Option<i32>);

/// Sums of the rows of a field.
#[derive(Default)]
struct Sums {
    mean: FieldMean,
    covered: f64,
    dry: f64,
    /// The same with the moistures of the rows around where the cleaning replaced one.
    settled: f64,
    /// Ground of rows whose mass was not logged.
    without_mass: f64,
    /// Wet mass of rows with a dry mass, and of rows without one, whose moisture was not logged.
    wet: [f64; 2],
    markets: Vec<f64>,
}

/// The means of a harmonised job. `field` is that of rows that name none.
#[must_use]
pub fn job_means(layer: &Layer, field: Option<&str>) -> JobMeans {
    let cleaned = clean(layer.clone(), None, GROUND, None);
    let ground = cleaned.as_ref().map(Cleaned::fresh_ground).unwrap_or_default();
    let (reasons, places) = cleaned.as_ref().map(Cleaned::reasons).unwrap_or_default();
    let (rows, seasons) =
        cleaned.as_ref().ok().map(|cleaned| (Arc::clone(&cleaned.rows), Arc::clone(&cleaned.seasons))).unzip();
    let seasons = seasons.filter(|seasons| !seasons.is_one());
    let year = |row: usize| {
        let seasons = seasons.as_ref()?;
        seasons.all.get(usize::try_from(*seasons.of_row.get(row)?).ok()?)?.year
    };
    let mut diagnostics: Vec<Diagnostic> = cleaned.as_ref().map_or_else(
        |_| Vec::new(),
        |cleaned| cleaned.layer().diagnostics().iter().skip(layer.diagnostics().len()).cloned().collect(),
    );
    let covered_area = cleaned.map(|_| ground.iter().sum());
    if layer_kind(layer) != Some(JobKind::Yield) {
        return JobMeans { means: Vec::new(), covered_area, diagnostics };
    }
    let values = CanonicalValues::new(layer, None);
    let numbers = |name: &str, unit: &str| values.numbers(name, unit).unwrap_or_default();
    let (dry, wet, worked) = (numbers("dry_mass", "kg"), numbers("wet_mass", "kg"), numbers("worked_area", "m2"));
    let without = rows.as_ref().map(|rows| rows_without_mass(rows, if wet.is_empty() { &dry } else { &wet }));
    let without = without.unwrap_or_default();
    let moistures = rows.as_ref().and_then(|rows| Some(rows.rows.unsorted(rows.moisture.shifted.as_ref()?)));
    let moistures = moistures.unwrap_or_default();
    let markets = row_markets(layer).unwrap_or_default();
    let fields = texts(layer, "field");
    let crops: Vec<ArrayRef> = layer.batches().iter().map(|batch| crop_array(layer, batch)).collect();
    let crops = crops.iter().filter_map(|array| array.as_string_opt::<i64>());
    let crops: Vec<Option<&str>> = crops.flat_map(|array| array.iter()).collect();
    let is_again = repeated_rows(&places, &reasons, &values.seconds().unwrap_or_default());
    let mut sums: BTreeMap<Group<'_>, Sums> = BTreeMap::new();
    for row in 0..layer.len() {
        let at = |values: &[f64]| values.get(row).copied().filter(|value| value.is_finite());
        let name = fields.get(row).copied().flatten().map(str::trim).filter(|name| !name.is_empty()).or(field);
        let sums = sums.entry((name, crops.get(row).copied().flatten(), year(row))).or_default();
        sums.mean.rows = sums.mean.rows.saturating_add(1);
        sums.mean.worked_area += at(&worked).unwrap_or_default();
        sums.covered += at(&ground).unwrap_or_default();
        if without.get(row) == Some(&true) {
            sums.without_mass += at(&ground).unwrap_or_default();
        }
        sums.markets.extend(at(&markets));
        // A row that is there twice is grain once; a machine that stands logs its place again with other grain.
        let share = if is_again.get(row) == Some(&true) { 0.0 } else { 1.0 };
        let (dry, wet) = (at(&dry).map(|dry| share * dry), share * at(&wet).unwrap_or_default());
        // A moisture that no row around has says nothing of the grain; the cleaning replaced it.
        let is_replaced = wet > 0.0 && reasons.get(row).is_some_and(|bits| bits & MOISTURE != 0);
        let water = at(&moistures).zip(at(&markets)).filter(|_| is_replaced);
        let settled = dry.map(|dry| water.map_or(dry, |(own, market)| at_moisture(wet, own, market)));
        sums.dry += dry.unwrap_or_default();
        sums.settled += settled.unwrap_or_default();
        sums.wet[usize::from(dry.is_none())] += wet;
        if dry.is_none_or(|dry| dry <= 0.0) {
            sums.mean.rows_without_yield = sums.mean.rows_without_yield.saturating_add(1);
        }
    }
    let means = sums.into_iter().map(|((field, crop, year), sums)| {
        let [with, without] = sums.wet;
        let with_mass = sums.covered - sums.without_mass;
        // Single outliers are what was logged.
        let dry = if (sums.settled / sums.dry - 1.0).abs() > OUTLIERS { sums.settled } else { sums.dry };
        let is_known = sums.dry > 0.0 && with_mass > 0.0;
        if is_known && sums.without_mass > SAID * sums.covered {
            let message = format!(
                "{:.1} % of the covered ground is of rows without a mass, which count with the mean of the others",
                sums.without_mass / sums.covered * 100.0
            );
            diagnostics.push(Diagnostic::new(Code::MassAssumed, message));
        }
        // Ground without a mass has that of the other ground; all of it is known in most logs.
        let ground = if sums.without_mass > 0.0 { sums.covered / with_mass } else { 1.0 };
        if is_known && without > SAID * with {
            let message = format!(
                "{:.1} % of the wet mass has no moisture and counts with the mean moisture of the field",
                without / (with + without) * 100.0
            );
            diagnostics.push(Diagnostic::new(Code::MassAssumed, message));
        }
        let filled = if with > 0.0 { without / with } else { 0.0 };
        let basis = basis_of(&sums.markets).and_then(|basis| basis.parse().ok());
        FieldMean {
            field: field.map(str::to_owned),
            crop: crop.map(str::to_owned),
            year,
            covered_area: is_known.then_some(sums.covered),
            dry_mass: is_known.then_some(dry * (1.0 + filled) * ground),
            market_moisture: basis,
            ..sums.mean
        }
    });
    let means: Vec<FieldMean> = means.collect();
    let unknown = means.iter().filter(|mean| mean.covered_area.is_none());
    let lacking = lacking(&wet, &numbers("moisture", "%"), &markets);
    diagnostics.extend(unknown.map(|mean| mean_unknown(mean, covered_area.as_ref().err(), lacking)));
    JobMeans { means, covered_area, diagnostics }
}

/// Rows whose grain does not count: those that are there twice, and those whose ground is not known.
fn repeated_rows(places: &[Place], reasons: &[u32], seconds: &[f64]) -> Vec<bool> {
    let is_duplicate = |row: usize| reasons.get(row).is_some_and(|bits| bits & DUPLICATE != 0);
    let first = seconds.iter().enumerate().filter(|(row, _)| !is_duplicate(*row));
    let once: HashSet<u64> = first.map(|(_, time)| time.to_bits()).collect();
    let is_known = |row: usize| seconds.get(row).is_some_and(|time| once.contains(&time.to_bits()));
    let is_again = |(row, place): (usize, &Place)| match place {
        Place::Copy | Place::Frozen => true,
        Place::Standing => is_duplicate(row) && is_known(row),
        _ => false,
    };
    places.iter().enumerate().map(is_again).collect()
}

/// Why rows have no dry mass.
fn lacking(wet: &[f64], moistures: &[f64], markets: &[f64]) -> &'static str {
    match (wet.iter().any(|kg| *kg > 0.0), moistures.is_empty(), markets.is_empty()) {
        (true, true, _) => {
            "rows have wet masses, but no moisture, and so no dry mass; add a column with the moisture in percent, or with the \
             usual one in each row"
        }
        (true, false, true) => {
            "rows have wet masses, but no market moisture, and so no dry mass; `market_moisture=` of `harmonize` states it, or \
             `crop=` of which it is known"
        }
        _ => "no row has a dry mass; `columns`, `units` or `crop` may state what is missing",
    }
}

/// Why there is no mean; `error` is that of the ground, and `lacking` why there is no mass.
fn mean_unknown(mean: &FieldMean, error: Option<&Error>, lacking: &str) -> Diagnostic {
    let reason = match error {
        Some(reason) => reason.message().into_owned(),
        None if mean.worked_area > 0.0 => lacking.to_owned(),
        None => "no ground was worked".to_owned(),
    };
    let place = mean.field.as_ref().map(|field| format!(" in field `{field}`")).unwrap_or_default();
    Diagnostic::new(Code::MeanUnknown, format!("there is no mean yield{place}: {reason}"))
}

/// What a cleaning says of the ground.
const OF_GROUND: [Code; 5] =
    [Code::JobTwice, Code::MeanContradicts, Code::MuchLeftOut, Code::NoGrain, Code::WidthContradicts];

/// The worked ground of a job in m2, each piece once, and what is said of it. A layer that is not harmonised is harmonised.
pub fn covered_area(layer: Layer) -> Result<(f64, Vec<String>)> {
    let cleaned = clean(layer, None, "{}", None)?;
    let said = cleaned.layer().diagnostics().iter().filter(|diagnostic| OF_GROUND.contains(&diagnostic.code));
    Ok((cleaned.fresh_ground().iter().sum(), said.map(|diagnostic| diagnostic.message.clone()).collect()))
}

/// A job of a table of means.
struct NamedMeans {
    job_id: Option<String>,
    job_name: Option<String>,
    year: Option<i32>,
    means: Vec<FieldMean>,
}

/// One row for each job and field of harvests. Layers that are not harmonised are harmonised; a concatenation is taken job
/// by job.
pub fn field_means(parts: Vec<Part>) -> Result<Layer> {
    let mut harvests = Vec::new();
    let mut diagnostics = Vec::new();
    for part in parts {
        let source = part.layer.source().to_owned();
        let known = part.layer.diagnostics().len();
        let layer = harmonize(part.layer, &Statements::default())
            .map_err(|error| error.map_message(|said| format!("`{source}`: {said}")))?;
        if let Some(kind) = layer_kind(&layer).filter(|kind| *kind != JobKind::Yield) {
            let message = format!("`{source}` is {}; field means are those of harvests", kind.as_str());
            return Err(Error::for_argument("layers", message));
        }
        // What is said of a table here is said nowhere else.
        diagnostics.extend(layer.diagnostics().iter().skip(known).cloned());
        let part = Part { layer, ..part };
        harvests.extend(if keys::is_concatenated(&part.layer) { split_jobs(&part.layer) } else { vec![part] });
    }
    diagnostics.extend(repeated_jobs(&harvests));
    name_fields(&mut harvests, &mut diagnostics)?;
    let mut jobs = Vec::with_capacity(harvests.len());
    for Part { layer, job_id, job_name, field, start } in harvests {
        let JobMeans { means, diagnostics: found, .. } = job_means(&layer, field.as_deref());
        let place = job_name.as_deref().unwrap_or_else(|| layer.source());
        diagnostics.extend(found.into_iter().map(|diagnostic| match diagnostic.member {
            Some(_) => diagnostic,
            None => diagnostic.in_member(place),
        }));
        let start = start.and_then(DateTime::from_timestamp_micros).map(|start| start.year());
        let year = start.or_else(|| first_year(&layer));
        let job_id = job_id.or_else(|| id_of_source(layer.source()).map(str::to_owned));
        jobs.push(NamedMeans { job_id, job_name, year, means });
    }
    Ok(table(&jobs)?.with_diagnostics(diagnostics))
}

/// The jobs of a concatenation, in the order in which they first occur.
fn split_jobs(layer: &Layer) -> Vec<Part> {
    let (sources, ids, names) = (texts(layer, "source"), texts(layer, "job_id"), texts(layer, "job_name"));
    let key = |row: usize| [&sources, &ids].map(|texts| texts.get(row).copied().flatten());
    let mut batches: BTreeMap<usize, Vec<RecordBatch>> = BTreeMap::new();
    let mut first: HashMap<[Option<&str>; 2], usize> = HashMap::new();
    let mut row = 0_usize;
    for batch in layer.batches() {
        let end = row.saturating_add(batch.num_rows());
        let start_of_batch = row;
        while row < end {
            let job = key(row);
            let count = (row..end).take_while(|next| key(*next) == job).count();
            let part = batch.slice(row.saturating_sub(start_of_batch), count);
            batches.entry(*first.entry(job).or_insert(row)).or_default().push(part);
            row = row.saturating_add(count);
        }
    }
    let owned = |texts: &[Option<&str>], row: usize| texts.get(row).copied().flatten().map(str::to_owned);
    let part = |(row, batches): (usize, Vec<RecordBatch>)| Part {
        start: batches.iter().find_map(|batch| {
            let starts = batch.column_by_name("start_date")?.as_primitive_opt::<TimestampMicrosecondType>()?;
            starts.iter().flatten().next()
        }),
        layer: layer
            .clone()
            .with_batches(layer.schema(), batches, layer.geometry_index())
            .with_source(owned(&sources, row).unwrap_or_default()),
        job_id: owned(&ids, row),
        job_name: owned(&names, row),
        field: None,
    };
    batches.into_iter().map(part).collect()
}

/// The texts of a column, one for each row; empty without the column.
fn texts<'a>(layer: &'a Layer, name: &str) -> Vec<Option<&'a str>> {
    let schema = layer.schema();
    let is_own = |field: &Field| keys::is_added(field) || keys::is_concatenated(layer);
    let Some(index) = schema.fields().iter().position(|field| field.name() == name && is_own(field)) else {
        return Vec::new();
    };
    arrays(layer, index).filter_map(|array| array.as_string_opt::<i64>()).flat_map(|array| array.iter()).collect()
}

/// The table of means.
fn table(jobs: &[NamedMeans]) -> Result<Layer> {
    let rows: Vec<(&NamedMeans, &FieldMean)> =
        jobs.iter().flat_map(|job| job.means.iter().map(move |mean| (job, mean))).collect();
    let text = |name: &str, cell: &dyn Fn(&NamedMeans, &FieldMean) -> Option<String>| {
        let cells: LargeStringArray = rows.iter().map(|(job, mean)| cell(job, mean)).collect();
        (column(name, DataType::LargeUtf8, ""), Arc::new(cells) as ArrayRef)
    };
    let count = |name: &str, cell: &dyn Fn(&FieldMean) -> u64| {
        let cells = rows.iter().map(|(_, mean)| Some(i64::try_from(cell(mean)).unwrap_or(i64::MAX)));
        (column(name, DataType::Int64, ""), Arc::new(cells.collect::<Int64Array>()) as ArrayRef)
    };
    let markets: Vec<f64> = rows.iter().filter_map(|(_, mean)| mean.market_moisture).collect();
    let basis = basis_of(&markets);
    let number = |name: &str, unit: &str, is_dry: bool, cell: &dyn Fn(&FieldMean) -> Option<f64>| {
        let cells = rows.iter().map(|(_, mean)| cell(mean).unwrap_or(f64::NAN));
        let mut field = column(name, DataType::Float64, unit);
        if let Some(basis) = basis.as_ref().filter(|_| is_dry) {
            let mut metadata = field.metadata().clone();
            metadata.insert(keys::MOISTURE_BASIS.to_owned(), basis.clone());
            field = field.with_metadata(metadata);
        }
        (field, nullable(cells))
    };
    let years: Int32Array = rows.iter().map(|(job, mean)| mean.year.or(job.year)).collect();
    let columns = vec![
        text("job_id", &|job, _| job.job_id.clone()),
        text("job_name", &|job, _| job.job_name.clone()),
        text("field", &|_, mean| mean.field.clone()),
        (column("year", DataType::Int32, ""), Arc::new(years) as ArrayRef),
        text("crop", &|_, mean| mean.crop.clone()),
        count("rows", &|mean| mean.rows),
        count("rows_without_yield", &|mean| mean.rows_without_yield),
        number("worked_area", "m2", false, &|mean| Some(mean.worked_area)),
        number("covered_area", "m2", false, &|mean| mean.covered_area),
        number("dry_mass", "kg", true, &|mean| mean.dry_mass),
        number("mean", "kg/ha", true, &FieldMean::mean),
        number(MARKET, "%", false, &|mean| mean.market_moisture),
    ];
    Layer::from_columns("field_means", "field_means", columns)
}
