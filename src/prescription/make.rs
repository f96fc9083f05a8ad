//! Makes a prescription from zones and rates: to WGS 84, rounded, shared vertices, merged, written and checked.

use std::sync::Arc;

use arrow_array::{ArrayRef, Float64Array, LargeStringArray};
use arrow_schema::{DataType, Field};

use super::archive_writer::{self, Texts};
use super::check_content::{CheckOptions, Checker};
use super::check_files;
use super::lattice::{self, to_degrees};
use super::merge::{self, Zone};
use super::merge_small_parts::merge_small;
use super::noding::insert_vertices;
use super::rate_rounding;
use super::totals::{self, Totals};
use headland_base::error::{Error, Kind, Result};
use headland_reader::archive::{Code, Diagnostic};
use headland_reader::layer::crs::Crs;
use headland_reader::layer::{Layer, Polygons, cut_at_antimeridian, is_around_globe};

/// What a prescription is made from, in addition to zones and rates.
#[derive(Clone, Debug, Default)]
pub struct Request {
    /// The unit of the rates, such as `kg/ha`.
    pub unit: String,
    /// The stem of the written files: ASCII, at most 20 characters.
    pub name: String,
    /// The product, which is written in a column of its own.
    pub product: Option<String>,
    /// Rates become multiples of it.
    pub step: Option<f64>,
    /// Ground below this many square metres gets the rate of a neighbour.
    pub min_area: Option<f64>,
    /// The field, with which the zones are compared.
    pub boundary: Option<Layer>,
    /// The display, whose documented limits are checked.
    pub display: Option<String>,
}

/// A prescription as written.
#[derive(Clone, Debug)]
pub struct Prescription {
    /// The zip.
    pub bytes: Vec<u8>,
    /// The zones as written: `RATE`, `PRODUCT`, `UNIT` and polygons in degrees.
    pub layer: Layer,
    /// What a display would refuse, and what was changed.
    pub diagnostics: Vec<Diagnostic>,
    /// Ground and product.
    pub totals: Totals,
}

/// Makes a prescription. `rates` has one rate for each row of `zones`.
///
/// Errors name the row: a zone without a polygon, a rate that is not finite, an unknown coordinate system.
pub fn make(zones: &Layer, rates: &[f64], request: &Request) -> Result<Prescription> {
    totals::area_unit(&request.unit)?;
    let (polygons, short) = polygons_of(zones)?;
    if let Some(row) = rates.iter().position(|rate| !rate.is_finite()) {
        return Err(at_row(
            row,
            format!(
                "the rate of row {row} is {}, which cannot be written",
                rates.get(row).copied().unwrap_or_default()
            ),
        ));
    }
    let mut diagnostics = Vec::new();
    let rates: Vec<f64> = match request.step {
        Some(step) => to_steps(rates, step, &mut diagnostics),
        None => rates.to_vec(),
    };
    // Before zones are merged, so that rates which are written alike are one.
    let rates = to_written(&rates, &mut diagnostics);
    let (mut parts, mut lost) = lattice::round(&polygons, &rates);
    lost.extend(short);
    lost.sort_unstable();
    lost.dedup();
    if let Some(row) = lost.first() {
        let message = format!(
            "{} of {} zones have a polygon without an area after rounding to 1 cm, which was left out (first: row {row})",
            lost.len(),
            polygons.len()
        );
        diagnostics.push(Diagnostic::new(Code::ZoneLost, message).at_record(*row as u64));
    }
    insert_vertices(&mut parts);
    let shared = merge::neighbours(&parts);
    if let Some(min_area) = request.min_area {
        merge_small(&mut parts, &shared, min_area);
    }
    let written = merge::merge(&parts, &rates, &shared);
    if written.is_empty() {
        return Err(at_row(0, "no zone has an area; are the coordinates of the zones right?".to_owned()));
    }
    let decimals = rate_rounding::decimals(written.iter().map(|zone| zone.rate));
    let texts = Texts { name: request.name.clone(), product: request.product.clone(), unit: request.unit.clone() };
    let bytes = archive_writer::write(&written, decimals, &texts)?;
    let layer = to_layer(&written, &texts)?;
    let options = CheckOptions {
        rate: Some("RATE".to_owned()),
        boundary: request.boundary.clone(),
        display: request.display.clone(),
    };
    let rows: Vec<usize> = written.iter().map(|zone| zone.rows.first().copied().unwrap_or(0)).collect();
    let mut checker = Checker::new(&options)?;
    check_files::check_size(&mut checker, bytes.len() as u64);
    checker.check(&layer, &rows)?;
    let areas = layer.areas()?.into_iter().map(Option::unwrap_or_default).enumerate();
    let areas = areas.map(|(zone, area)| checker.ground_once.get(&zone).copied().unwrap_or(area));
    let pairs: Vec<(f64, f64)> = written.iter().map(|zone| zone.rate).zip(areas).collect();
    let totals = totals::sum(&pairs, &request.unit)?;
    for found in diagnostics {
        checker.push(found);
    }
    Ok(Prescription { bytes, layer, diagnostics: checker.into_diagnostics(), totals })
}

/// Rounds rates to multiples of a step, and reports those that become 0.
fn to_steps(rates: &[f64], step: f64, diagnostics: &mut Vec<Diagnostic>) -> Vec<f64> {
    let rounded: Vec<f64> = rates.iter().map(|rate| rate_rounding::round_to_step(*rate, step)).collect();
    let lost = |row: usize| is_zeroed(rates, &rounded, row);
    let what = format!("become 0 by the `step` of {step}");
    report_rates(Code::RateToZero, rates, &lost, &what, "nothing is applied there; use a smaller `step`", diagnostics);
    rounded
}

/// Rounds rates to the decimals that are written, and reports those that change.
fn to_written(rates: &[f64], diagnostics: &mut Vec<Diagnostic>) -> Vec<f64> {
    let written: Vec<f64> = rates.iter().map(|rate| rate_rounding::as_written(*rate)).collect();
    let zeroed = |row: usize| is_zeroed(rates, &written, row);
    let changed = |row: usize| {
        let pair = rates.get(row).zip(written.get(row));
        !zeroed(row) && pair.is_some_and(|(rate, written)| rate_rounding::is_changed(*rate, *written))
    };
    let what = format!("become 0 by the {} decimals that are written", rate_rounding::MOST_DECIMALS);
    report_rates(Code::RateToZero, rates, &zeroed, &what, "nothing is applied there; use a smaller unit", diagnostics);
    let what = format!("are rounded to {} decimals", rate_rounding::MOST_DECIMALS);
    let advice = "`step` rounds them to what the machine can apply";
    report_rates(Code::RateRounded, rates, &changed, &what, advice, diagnostics);
    written
}

/// Whether a rate became 0.
fn is_zeroed(rates: &[f64], rounded: &[f64], row: usize) -> bool {
    rates.get(row).is_some_and(|rate| *rate != 0.0) && rounded.get(row).is_some_and(|rate| *rate == 0.0)
}

/// Reports rates by their number, and by the row of the first.
fn report_rates(
    code: Code,
    rates: &[f64],
    is_it: &dyn Fn(usize) -> bool,
    what: &str,
    advice: &str,
    diagnostics: &mut Vec<Diagnostic>,
) {
    let mut found = rates.iter().enumerate().filter(|(row, _)| is_it(*row));
    let Some((row, rate)) = found.next() else { return };
    let count = 1 + found.count();
    let message = format!("{count} of {} rates {what} (first: {rate} of row {row}); {advice}", rates.len());
    diagnostics.push(Diagnostic::new(code, message).at_record(row as u64));
}

fn at_row(row: usize, message: String) -> Error {
    Error::new(Kind::Value, message).with(|facts| facts.record = Some(row as u64))
}

/// The polygons of all rows in degrees on WGS 84, cut at the antimeridian, and the rows with a ring of one or two
/// vertices. A row without a polygon is an error.
fn polygons_of(zones: &Layer) -> Result<(Vec<Polygons>, Vec<usize>)> {
    if zones.is_empty() {
        return Err(Error::new(Kind::Value, "`zones`: there is no row"));
    }
    let null = zones.geometries().position(|wkb| wkb.is_none());
    let shapes = zones.row_shapes("zones")?;
    if let Some(row) = shapes.first_other {
        return Err(at_row(
            row,
            format!("`zones`: row {row} is not a polygon; a prescription needs areas, not points or lines"),
        ));
    }
    if let Some(own) = &shapes.own {
        let name = own.crs().name();
        let message = format!("`zones`: the system `{name}` has no known way to WGS 84; pass `frame.to_crs(4326)`");
        return Err(Error::new(Kind::Value, message));
    }
    if let Some(row) = shapes.not_finite.first() {
        let message = format!("`zones`: row {row} has a coordinate that is not finite; repair its polygon or drop it");
        return Err(at_row(*row, message));
    }
    let polygons = shapes.polygons.unwrap_or_default();
    let empty = null.or_else(|| polygons.iter().position(Vec::is_empty));
    if let Some(row) = empty.or(polygons.is_empty().then_some(0)) {
        return Err(at_row(row, format!("`zones`: row {row} has no polygon; drop it")));
    }
    let is_degree = |point: &[f64; 2]| point[0].abs() <= 180.0 && point[1].abs() <= 90.0;
    let outside = polygons.iter().position(|zone| !zone.iter().flatten().flatten().all(is_degree));
    if let Some(row) = outside {
        let message = format!(
            "`zones`: row {row} has coordinates that are not degrees; its coordinate system is probably another one than \
             the stated one"
        );
        return Err(at_row(row, message));
    }
    let polygons: Vec<Polygons> = polygons.into_iter().map(cut_at_antimeridian).collect();
    let wide = polygons.iter().position(|zone| zone.iter().flatten().any(|ring| is_around_globe(ring)));
    if let Some(row) = wide {
        let message = format!("`zones`: row {row} is wider than 180 degrees, which no field is; check its coordinates");
        return Err(at_row(row, message));
    }
    Ok((polygons, shapes.short))
}

/// The zones as a layer.
fn to_layer(zones: &[Zone], texts: &Texts) -> Result<Layer> {
    let unit = [("unit".to_owned(), texts.unit.clone())].into();
    let rates: ArrayRef = Arc::new(Float64Array::from_iter_values(zones.iter().map(|zone| zone.rate)));
    let mut columns = vec![(Field::new("RATE", DataType::Float64, true).with_metadata(unit), rates)];
    let texts_of =
        |text: &str| -> ArrayRef { Arc::new(LargeStringArray::from_iter_values(zones.iter().map(|_| text))) };
    if let Some(product) = &texts.product {
        columns.push((Field::new("PRODUCT", DataType::LargeUtf8, true), texts_of(product)));
    }
    columns.push((Field::new("UNIT", DataType::LargeUtf8, true), texts_of(&texts.unit)));
    let degrees = |zone: &Zone| -> Polygons {
        let polygon = |rings: &Vec<lattice::Ring>| {
            rings.iter().map(|ring| ring.iter().map(|vertex| to_degrees(*vertex)).collect()).collect()
        };
        zone.polygons.iter().map(polygon).collect()
    };
    let polygons: Vec<Polygons> = zones.iter().map(degrees).collect();
    Layer::from_polygons(&texts.name, "prescription", columns, &polygons, &Crs::wgs84())
}
