//! Agronomic computation on layers: harmonised columns and conversion of units.

use chrono::{DateTime, Utc};
use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyMapping};

use super::layer::Layer;
use super::local_times::LocalTimes;
use super::{bridge, errors};
use headland_agronomy::{
    self as agronomy, ConcatOptions, Job, JobKind, JobProduct, MarketMoisture, Part, Stated, Statements, System, Target,
};
use headland_reader::layer::Offsets;
use headland_reader::layer::crs::Crs;

/// The layer with columns in other units; `units` is the name of a system or a mapping of column to unit.
#[pyfunction]
#[pyo3(signature = (layer, units, crop))]
pub(super) fn to_units(
    py: Python<'_>,
    layer: &Layer,
    units: &Bound<'_, PyAny>,
    crop: Option<String>,
) -> PyResult<Layer> {
    let layer = layer.records();
    let target = target(units, &layer)?;
    bridge::compute(py, move |_| agronomy::to_units(layer, &target, crop.as_deref())).map(Layer::new)
}

/// The units that one word names.
fn system(word: &str) -> Option<System> {
    match word {
        "metric" => Some(System::Metric),
        "us" => Some(System::Us),
        _ => None,
    }
}

/// The units that the word of an argument `units` names.
pub(super) fn unit_system(word: &str) -> PyResult<System> {
    system(word)
        .ok_or_else(|| PyValueError::new_err(format!("`units`: expected \"metric\", \"us\" or None, got {word:?}")))
}

fn target(units: &Bound<'_, PyAny>, layer: &headland_reader::layer::Layer) -> PyResult<Target> {
    const FORMS: &str = "\"metric\", \"us\" or a mapping of column to unit, such as {\"YIELD\": \"t/ha\"}";
    if let Ok(word) = units.extract::<String>() {
        return match system(&word) {
            Some(system) => Ok(Target::System(system)),
            None => Err(PyValueError::new_err(match agronomy::columns_for_unit(layer, &word).as_deref() {
                None => format!("`units`: expected {FORMS}, got {word:?}"),
                Some([]) => format!("`units`: {word:?} is the unit of a column, and no column can be converted to it"),
                Some(columns) => {
                    let columns: Vec<String> = columns.iter().map(|column| format!("{column:?}: {word:?}")).collect();
                    format!(
                        "`units`: {word:?} is the unit of a column: name the columns, as {{{}}}",
                        columns.join(", ")
                    )
                }
            })),
        };
    }
    let wrong = || {
        let kind = units.get_type().name().map_or_else(|_| "that".to_owned(), |name| name.to_string());
        PyTypeError::new_err(format!("`units`: expected {FORMS}, got {kind}"))
    };
    let items = units.cast::<PyMapping>().map_err(|_| wrong())?.items()?;
    let pairs: PyResult<Vec<(String, String)>> =
        items.iter().map(|pair| pair.extract().map_err(|_: PyErr| wrong())).collect();
    pairs.map(Target::Columns)
}

/// The times of a layer that are on the display's clock, or None.
#[pyfunction]
#[pyo3(signature = (layer, statements))]
pub(super) fn harmonized_local_times(
    py: Python<'_>,
    layer: &Layer,
    statements: &Bound<'_, PyDict>,
) -> PyResult<Option<LocalTimes>> {
    let (layer, statements) = (layer.records(), parse_statements(statements)?);
    let times = bridge::compute(py, move |_| agronomy::local_times(&layer, &statements))?;
    Ok(times.map(LocalTimes::new))
}

/// The layer with canonical columns. `offsets` are those of the zone, one for each minute of the local times.
#[pyfunction]
#[pyo3(signature = (layer, statements, offsets))]
pub(super) fn harmonize(
    py: Python<'_>,
    layer: &Layer,
    statements: &Bound<'_, PyDict>,
    offsets: Option<Vec<Offsets>>,
) -> PyResult<Layer> {
    let layer = layer.records();
    let statements = Statements { offsets, ..parse_statements(statements)? };
    bridge::compute(py, move |_| agronomy::harmonize(layer, &statements)).map(Layer::new)
}

/// The kind of a job by its type in a list or a detail.
#[pyfunction]
pub(super) fn job_kind(job_type: &str) -> Option<&'static str> {
    JobKind::find(job_type).map(JobKind::as_str)
}

fn parse_statements(given: &Bound<'_, PyDict>) -> PyResult<Statements> {
    let pairs = |name: &str| -> PyResult<Vec<(String, String)>> {
        let Some(mapping) = given.get_item(name)?.filter(|value| !value.is_none()) else { return Ok(Vec::new()) };
        let wrong = || PyTypeError::new_err(format!("`{name}`: expected a mapping of str to str"));
        let items = mapping.cast::<PyMapping>().map_err(|_| wrong())?.items()?;
        items.iter().map(|pair| pair.extract().map_err(|_: PyErr| wrong())).collect()
    };
    let text = |name: &str| -> PyResult<Option<String>> {
        let value = given.get_item(name)?.filter(|value| !value.is_none());
        value
            .map(|value| value.extract().map_err(|_| PyTypeError::new_err(format!("`{name}`: expected a str"))))
            .transpose()
    };
    let kind = text("kind")?.map(|kind| {
        let known = JobKind::ALL.iter().copied().find(|known| known.as_str() == kind);
        let message = || format!("`kind`: expected \"yield\", \"as_applied\" or \"planting\", got {kind:?}");
        known.ok_or_else(|| PyValueError::new_err(message()))
    });
    let job = given.get_item("job")?.filter(|job| !job.is_none()).map(|job| parse_job(&job)).transpose()?;
    Ok(Statements {
        kind: kind.transpose()?,
        stated: Stated { columns: pairs("columns")?, units: pairs("units")? },
        crop: text("crop")?,
        market_moisture: match given.get_item("market_moisture")? {
            Some(stated) => parse_market_moisture(given.py(), stated.extract()?)?,
            None => MarketMoisture::default(),
        },
        job: job.unwrap_or_default(),
        crs: parse_crs(given)?,
        offsets: None,
    })
}

/// The coordinate system of the argument `crs`: codes or texts, of which the first known one is used.
fn parse_crs(given: &Bound<'_, PyDict>) -> PyResult<Option<Crs>> {
    let Some(texts) = given.get_item("crs")?.filter(|value| !value.is_none()) else { return Ok(None) };
    let texts: Vec<String> = texts.extract()?;
    let known = |text: &String| Crs::from_code(text).unwrap_or_else(|| Crs::from_wkt(text)).ok();
    let first = texts.first().cloned().unwrap_or_default();
    let crs = texts.iter().find_map(known);
    crs.map(Some).ok_or_else(|| PyValueError::new_err(format!("`crs`: `{first}` is not a known coordinate system")))
}

/// What harmonising needs of the dict of `job_data.get` or of an entry of `job_data.list`.
fn parse_job(job: &Bound<'_, PyAny>) -> PyResult<Job> {
    let job = job.cast::<PyMapping>().map_err(|_| {
        PyTypeError::new_err(
            "`job`: expected the dict of `client.job_data.get(id)` or an entry of `client.job_data.list()`",
        )
    })?;
    let item = |name: &str| job.get_item(name).ok().filter(|value| !value.is_none());
    let text = |name: &str| item(name).and_then(|value| value.extract::<String>().ok());
    let start = item("start_date").and_then(|value| value.extract::<DateTime<Utc>>().ok());
    let products: Vec<Bound<'_, PyAny>> = item("products").and_then(|list| list.extract().ok()).unwrap_or_default();
    let total = |name: &str| -> Option<f64> {
        let values = products.iter().filter_map(|product| product.get_item(name).ok()?.extract::<f64>().ok());
        let total: f64 = values.sum();
        (total > 0.0).then_some(total)
    };
    Ok(Job {
        name: text("name").or_else(|| text("job_name")).filter(|name| !name.trim().is_empty()),
        kind: ["job_type", "sub_type"].into_iter().find_map(|name| JobKind::find(&text(name)?)),
        crop: text("crop").or_else(|| text("field_crop")).or_else(|| product_name(&products)),
        start: start.map(|start| start.timestamp_micros()),
        area: total("applied_area"),
        products: products.iter().map(job_product).collect(),
    })
}

/// What the service reports of a product.
fn job_product(product: &Bound<'_, PyAny>) -> JobProduct {
    let item = |name: &str| product.get_item(name).ok().filter(|value| !value.is_none());
    let number = |name: &str| item(name).and_then(|value| value.extract::<f64>().ok());
    JobProduct {
        name: item("product_name").and_then(|value| value.extract().ok()),
        amount: number("applied_volume"),
        area: number("applied_area"),
        total_weight: number("total_weight"),
        weight_per_ha: number("average_weight_per_area"),
    }
}

/// The name of the product of a job, if it is one.
fn product_name(products: &[Bound<'_, PyAny>]) -> Option<String> {
    match products {
        [product] => product.get_item("product_name").ok()?.extract().ok(),
        _ => None,
    }
}

/// A layer of a concatenation, as Python gives it: layer, job id, job name, field, start.
type GivenPart<'py> = (PyRef<'py, Layer>, Option<String>, Option<String>, Option<String>, Option<DateTime<Utc>>);

fn parse_part((layer, job_id, job_name, field, start): GivenPart<'_>) -> Part {
    Part { layer: layer.records(), job_id, job_name, field, start: start.map(|start| start.timestamp_micros()) }
}

/// One layer with the canonical columns and all rows of several.
#[pyfunction]
pub(super) fn concat(
    py: Python<'_>,
    parts: Vec<GivenPart<'_>>,
    is_metric: bool,
    originals: bool,
    market_moisture: Vec<(Option<String>, f64)>,
) -> PyResult<Layer> {
    let parts: Vec<Part> = parts.into_iter().map(parse_part).collect();
    let market_moisture = parse_market_moisture(py, market_moisture)?;
    let options = ConcatOptions { is_metric, originals, market_moisture };
    bridge::compute(py, move |_| agronomy::concat(parts, &options)).map(Layer::new)
}

/// The mean yields of harvests, one row for each job and field.
#[pyfunction]
pub(super) fn field_means(py: Python<'_>, parts: Vec<GivenPart<'_>>) -> PyResult<Layer> {
    let parts: Vec<Part> = parts.into_iter().map(parse_part).collect();
    bridge::compute(py, move |_| agronomy::field_means(parts)).map(Layer::new)
}

/// The rows of a harmonised layer in the columns of its kind.
#[pyfunction]
pub(super) fn kind_table(py: Python<'_>, layer: &Layer) -> PyResult<Layer> {
    let layer = layer.records();
    bridge::compute(py, move |_| agronomy::kind_table(layer)).map(Layer::new)
}

/// The names and areas of a boundary; None for another layer.
#[pyfunction]
pub(super) fn boundary_table(py: Python<'_>, layer: &Layer) -> PyResult<Option<Layer>> {
    let layer = layer.records();
    if !layer.can_be_boundary() {
        return Ok(None);
    }
    bridge::compute(py, move |_| agronomy::boundary_table(layer)).map(Layer::new).map(Some)
}

/// Pairs of a crop, or None for all crops, and percent of water.
pub(super) fn parse_market_moisture(py: Python<'_>, stated: Vec<(Option<String>, f64)>) -> PyResult<MarketMoisture> {
    MarketMoisture::new(stated).map_err(|error| errors::raise(py, &error))
}
