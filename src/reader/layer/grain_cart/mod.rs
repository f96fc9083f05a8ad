//! Reads a grain cart file into a layer: one row per load, types by column name, points where positions exist.
//!
//! Dates and times stay text. Columns labelled UTC have been seen with local time, and times with missing digits.

mod validate;

use std::sync::Arc;

use arrow_array::{Array, ArrayRef, Float64Array, Int64Array, LargeBinaryArray, LargeStringArray};
use arrow_schema::Field;

use crate::archive::{Code, Diagnostic, GrainCart, Member, ReadOptions};
use crate::layer::Layer;
use crate::layer::columns::number::{Cell, IntegerCell, parse_float, parse_float_cell, parse_integer};
use crate::layer::crs::Crs;
use crate::layer::issues::IssueCounter;
use crate::layer::schema::{self, schema_error};
use crate::layer::wkb::POINT_HEADER;
use headland_base::error::Result;
use headland_base::names::same;

/// Integer columns.
const INTEGERS: &[&str] = &["LoadNumber"];

/// Float columns. All others stay text, also the calibration of load cells, whose format is not specified.
const FLOATS: &[&str] = &[
    "Weight",
    "MeasuredMoisture",
    "MoistureCorrection",
    "Moisture",
    "TestWeight",
    "WetBushels",
    "DryBushels",
    "Latitude",
    "Longitude",
];

/// Reads a grain cart file into a layer.
pub(super) fn read(
    name: String,
    source: String,
    member: &Member,
    options: &ReadOptions,
    mut diagnostics: Vec<Diagnostic>,
) -> Result<Layer> {
    let cart = GrainCart::read(member, options, &mut diagnostics)?;
    let names: Vec<&str> = cart.names.iter().map(String::as_str).collect();
    let wanted = options.columns.as_deref().map(|wanted| schema::resolve_names(wanted, &names, true)).transpose()?;
    let (mut fields, mut arrays, mut units) = (Vec::new(), Vec::new(), Vec::new());
    for (position, name) in cart.names.iter().enumerate() {
        if wanted.as_ref().is_some_and(|wanted| !wanted.contains(name)) {
            continue;
        }
        let mut issues = IssueCounter::default();
        let array = build_column(name, cart.cells_at(position), &mut issues);
        issues.report(member.name(), Some(name), &mut diagnostics);
        fields.push(Field::new(name, array.data_type().clone(), true));
        arrays.push(array);
        if let Some(unit) = cart.units.get(position).filter(|unit| !unit.is_empty()) {
            units.push((name.clone(), unit.clone()));
        }
    }
    let points = build_points(&cart, member, &mut diagnostics);
    validate::report(&cart, member, &mut diagnostics);
    let crs = Crs::wgs84();
    let names: Vec<String> = fields.iter().map(|field| field.name().clone()).collect();
    let geometry = fields.len();
    let types = if points.null_count() < points.len() { vec![1] } else { Vec::new() };
    fields.push(schema::geometry_field(&names, Some(&crs), None));
    arrays.push(Arc::new(points));
    let (schema, batch) =
        schema::build_batch(fields, arrays, cart.loads.len()).map_err(|cause| schema_error(&cause))?;
    let layer = Layer {
        batches: vec![batch],
        geometry: Some(geometry),
        prj: Some(crs.wkt().to_owned()),
        crs: Some(crs),
        diagnostics,
        types,
        ..Layer::new(name, source, schema)
    };
    Ok(layer.with_units(&units).with_metadata(cart.header))
}

fn build_column<'a>(name: &str, cells: impl Iterator<Item = &'a str>, issues: &mut IssueCounter) -> ArrayRef {
    let is_one_of = |names: &[&str]| names.iter().any(|known| same(known, name));
    if is_one_of(INTEGERS) {
        let cells: Vec<&str> = cells.collect();
        let fraction = cells.iter().position(|cell| matches!(parse_integer(cell.as_bytes()), IntegerCell::Fraction(_)));
        if let Some(row) = fraction {
            issues.add(Code::IntegerWithDecimals, row as u64);
            return float_column(cells.into_iter(), issues);
        }
        let value = |(row, cell): (usize, &&str)| match parse_integer(cell.as_bytes()) {
            IntegerCell::Cell(Cell::Value(value)) => Some(value),
            IntegerCell::Cell(Cell::Null) => None,
            IntegerCell::Cell(Cell::Invalid) | IntegerCell::Fraction(_) => {
                issues.add(Code::BadNumber, row as u64);
                None
            }
        };
        return Arc::new(cells.iter().enumerate().map(value).collect::<Int64Array>());
    }
    if is_one_of(FLOATS) {
        return float_column(cells, issues);
    }
    Arc::new(cells.map(|cell| (!cell.is_empty()).then_some(cell)).collect::<LargeStringArray>())
}

fn float_column<'a>(cells: impl Iterator<Item = &'a str>, issues: &mut IssueCounter) -> ArrayRef {
    let value = |(row, cell): (usize, &str)| match parse_float(cell.as_bytes()) {
        Cell::Value(value) => Some(value),
        Cell::Null => None,
        Cell::Invalid => {
            issues.add(Code::BadNumber, row as u64);
            None
        }
    };
    Arc::new(cells.enumerate().map(value).collect::<Float64Array>())
}

/// The position of each load; null if a coordinate is missing or out of range.
fn build_points(cart: &GrainCart, member: &Member, diagnostics: &mut Vec<Diagnostic>) -> LargeBinaryArray {
    let (latitudes, longitudes) = (cart.column_cells("Latitude"), cart.column_cells("Longitude"));
    let parse_cell =
        |column: &Option<Vec<&str>>, row: usize| column.as_ref()?.get(row).and_then(|cell| parse_float_cell(cell));
    let (mut without_position, mut bad_positions) = (Vec::new(), Vec::new());
    let point = |row: usize| {
        let (Some(latitude), Some(longitude)) = (parse_cell(&latitudes, row), parse_cell(&longitudes, row)) else {
            without_position.push(row as u64);
            return None;
        };
        if latitude.abs() > 90.0 || longitude.abs() > 180.0 {
            bad_positions.push(row as u64);
            return None;
        }
        Some([&POINT_HEADER[..], &longitude.to_le_bytes(), &latitude.to_le_bytes()].concat())
    };
    let points: Vec<Option<Vec<u8>>> = (0..cart.loads.len()).map(point).collect();
    let mut report = |code, rows: &[u64], what: &str| {
        if let Some(first) = rows.first() {
            let message = format!("{} of {} loads {what}: their geometry is null", rows.len(), cart.loads.len());
            diagnostics.push(Diagnostic::new(code, message).in_member(member.name()).at_record(*first));
        }
    };
    report(Code::NoPosition, &without_position, "have no latitude or no longitude");
    report(Code::BadPosition, &bad_positions, "have a latitude beyond 90 or a longitude beyond 180 degrees");
    LargeBinaryArray::from_iter(points)
}
