//! Writes the zip for farm management systems (specification 4.4; field notes, Job data archives): job, record layout,
//! and records as tab-separated text without header.
//!
//! A record is a step of the machine with the values of all sections; cells of a section that was off are blank.
//! Numbers are written as in the shapefiles. Units are stated if the display states them.

use std::fmt::Write as _;

use super::attributes::{Cells, Column, Table};
use super::deterministic_math::{i64_to_f64, round_to_i64, unscaled, usize_to_f64};
use super::job_spec::{JobLog, JobSpec};
use super::plane::CoordinateSystem;
use super::shapefile_writer::Member;
use super::swaths::{LENGTH_DECIMALS, LoggedPoint};
use super::zip_writer::write_zip;
use headland_api::job_data::JOB_DATA_DETAIL;
use headland_base::error::Result;
use headland_wire::{Element, Value};

pub(super) const PROLOG: &str = "<?xml version=\"1.0\" encoding=\"utf-8\"?>\n";

/// Columns before those of the sections. The last three are also in the shapefiles.
const LEADING: [(&str, &str); 7] = [
    ("ID", "1"),
    ("TIMESTAMP", "UTC"),
    ("LATITUDE", "deg"),
    ("LONGITUDE", "deg"),
    ("ELEVATION", ""),
    ("DISTANCE", ""),
    ("SPEED", ""),
];

/// Columns with one value per step; sections do not repeat them.
const STEP_COLUMNS: [&str; 3] = ["SECTION", "DISTANCE", "SPEED"];

/// First proprietary number of the data dictionary (ISO 11783-11).
const PROPRIETARY: u16 = 57_344;

/// Returns the zip.
pub(super) fn fmis_zip(spec: &JobSpec, log: &JobLog, detail: &Value) -> Result<Vec<u8>> {
    let mut job = Element::from_record("JobData", &JOB_DATA_DETAIL, detail);
    let tables = (1..=log.products()).map(|number| {
        let file = Element::text("FileName", tab_name(number));
        Element::new("Table", vec![Element::text("ProductNumber", number.to_string()), file])
    });
    job.children.push(Element::new("Tables", tables.collect()));
    let member = |name: &str, bytes| Member { name: format!("{0}/{0}_fmis/{name}", spec.layer), bytes };
    let first = spec.product_table(log, 0);
    let mut members = vec![
        member("jobdata.xml", job.document(PROLOG).into_bytes()),
        member("advanced.xml", layout(spec, &first, &quantities(&first)).document(PROLOG).into_bytes()),
    ];
    for number in 1..=log.products() {
        let table = spec.product_table(log, number - 1);
        let text = tab_text(spec, log, &table, &quantities(&table));
        members.push(member(&tab_name(number), text.into_bytes()));
    }
    write_zip(&members, spec.start)
}

/// Returns the name of the records of a product, numbered from 1.
fn tab_name(number: usize) -> String {
    format!("Product_{number}.tab")
}

/// Returns the columns with a value for each section.
fn quantities(table: &Table) -> Vec<&Column> {
    let is_quantity =
        |column: &&Column| matches!(column.cells, Cells::Numbers { .. }) && !STEP_COLUMNS.contains(&column.name);
    table.columns.iter().filter(is_quantity).collect()
}

/// Describes the columns of the tab file in their order.
fn layout(spec: &JobSpec, table: &Table, quantities: &[&Column]) -> Element {
    let mut columns: Vec<Element> = LEADING
        .iter()
        .map(|(name, unit)| {
            let column_unit = find_column(table, name).map_or(*unit, |column| column.unit);
            Element::new("Column", name_and_unit(spec, name, column_unit))
        })
        .collect();
    for section in 1..=spec.swath_options.sections {
        let mut children = vec![Element::text("Number", section.to_string())];
        children.extend(quantities.iter().zip(PROPRIETARY..).map(|(column, own)| {
            let code = ddi_code(column.name, spec.is_dry).unwrap_or(own);
            let mut ddi = vec![Element::text("Code", code.to_string())];
            ddi.extend(name_and_unit(spec, column.name, column.unit));
            Element::new("DDI", ddi)
        }));
        columns.push(Element::new("EquipmentSection", children));
    }
    Element::new("Advanced", vec![Element::new("SegmentFormat", columns)])
}

fn name_and_unit(spec: &JobSpec, name: &str, unit: &str) -> Vec<Element> {
    let mut children = vec![Element::text("Name", name)];
    if spec.states_units && !matches!(unit, "" | "1") {
        children.push(Element::text("Unit", unit));
    }
    children
}

/// Returns the data dictionary number (DDI, ISO 11783-11) of a quantity, if it has one.
fn ddi_code(name: &str, is_dry: bool) -> Option<u16> {
    Some(match name {
        "TARGETRATE" if is_dry => 6,
        "TARGETRATE" => 1,
        "APPLDRATE" if is_dry => 7,
        "APPLDRATE" => 2,
        "TARGETPOP" => 11,
        "POPULATION" => 12,
        "SWATHWIDTH" => 67,
        "VRYIELDVOL" => 83,
        "DRYMATTER" => 84,
        "FLOW" => 87,
        "MOISTURE" => 99,
        "AIRTEMP" => 192,
        "PRESSURE" => 194,
        "WINDSPEED" => 207,
        _ => return None,
    })
}

fn tab_text(spec: &JobSpec, log: &JobLog, table: &Table, quantities: &[&Column]) -> String {
    let points = &log.swaths.points;
    let once = ["ELEVATION", "DISTANCE", "SPEED"].map(|name| find_column(table, name));
    let is_same_step = |one: &LoggedPoint, next: &LoggedPoint| {
        one.pass == next.pass && one.section < next.section && one.seconds.to_bits() == next.seconds.to_bits()
    };
    let mut out = String::new();
    let mut first = 0_usize;
    for (id, step) in (1..).zip(points.chunk_by(is_same_step)) {
        let Some(point) = step.first() else { continue };
        let (longitude, latitude) = machine_location(spec, log, point);
        // Writing to a `String` never fails.
        let (Ok(()) | Err(_)) = write!(out, "{id}\t{}\t{latitude:.9}\t{longitude:.9}", time_stamp(spec, point));
        for column in once {
            out.push('\t');
            if let Some(column) = column {
                column.write(first, &mut out);
            }
        }
        for section in 1..=i64::from(spec.swath_options.sections) {
            let index = step.iter().position(|point| point.section == section);
            for column in quantities {
                out.push('\t');
                if let Some(index) = index {
                    column.write(first.saturating_add(index), &mut out);
                }
            }
        }
        out.push_str("\r\n");
        first = first.saturating_add(step.len());
    }
    out
}

fn find_column<'a>(table: &'a Table, name: &str) -> Option<&'a Column> {
    table.columns.iter().find(|column| column.name == name)
}

/// Returns longitude and latitude of the middle of the machine, in degrees.
fn machine_location(spec: &JobSpec, log: &JobLog, point: &LoggedPoint) -> (f64, f64) {
    let half = usize_to_f64(usize::from(spec.swath_options.sections)) / 2.0;
    let swath = unscaled(log.swaths.swath, LENGTH_DECIMALS) * spec.units.length.1;
    let aside = (i64_to_f64(point.section) - 0.5 - half) * swath;
    spec.field.plane.coordinates(point.location.moved(point.direction.left(), aside), CoordinateSystem::Geographic)
}

/// Formats the time of a point with hundredths of a second.
pub(super) fn time_stamp(spec: &JobSpec, point: &LoggedPoint) -> String {
    let time = spec.start + chrono::Duration::milliseconds(round_to_i64(point.seconds * 100.0) * 10);
    let text = time.format("%Y-%m-%dT%H:%M:%S%.3f").to_string();
    format!("{}Z", text.get(..22).unwrap_or(&text))
}
