//! Writes a job as one XML file (specification 4.4: "XML file of parsed RAD files"). The real schema is not published;
//! this one is simple:
//!
//! ```xml
//! <ParsedJobData>
//!   <JobDataDetail>...the detail of the job, as its call returns it...</JobDataDetail>
//!   <Columns>
//!     <Column><Name>APPLDRATE</Name><Unit>gal/ac</Unit></Column>
//!     <Column><Name>PRODUCT</Name><Value>Burndown mix</Value></Column>   the same in all records
//!   </Columns>
//!   <Records>
//!     <Record TimeStamp="2026-06-12T07:31:04.25Z" Latitude="45.1" Longitude="-98.2" PASS="1" APPLDRATE="14.97"/>
//!   </Records>
//! </ParsedJobData>
//! ```
//!
//! A record is a record of the shapefiles with the same numbers; blank cells are omitted.

use std::fmt::Write as _;

use super::attributes::{Cells, Column};
use super::fmis_export::{PROLOG, time_stamp};
use super::job_spec::{JobLog, JobSpec};
use super::plane::CoordinateSystem;
use headland_api::job_data::JOB_DATA_DETAIL;
use headland_wire::{Element, Value};

const ROOT: &str = "ParsedJobData";

/// Returns the document.
pub(super) fn parsed_xml(spec: &JobSpec, log: &JobLog, detail: &Value) -> String {
    let table = spec.table(log);
    let columns: Vec<Element> = table.columns.iter().map(|column| column_element(spec, column)).collect();
    let mut out = format!("{PROLOG}<{ROOT}>\n");
    for part in [Element::from_record(JOB_DATA_DETAIL.name, &JOB_DATA_DETAIL, detail), Element::new("Columns", columns)]
    {
        out.push_str(&part.document(""));
        out.push('\n');
    }
    out.push_str("<Records>\n");
    let is_constant = |column: &Column| matches!(column.cells, Cells::Constant { .. });
    let varying: Vec<&Column> = table.columns.iter().filter(|column| !is_constant(column)).collect();
    let mut cell = String::new();
    for (index, point) in log.records().enumerate() {
        let (longitude, latitude) = spec.field.plane.coordinates(point.location, CoordinateSystem::Geographic);
        let time = time_stamp(spec, point);
        // Writing to a `String` never fails. Times, numbers and column names need no XML escapes.
        let (Ok(()) | Err(_)) =
            write!(out, "<Record TimeStamp=\"{time}\" Latitude=\"{latitude:.9}\" Longitude=\"{longitude:.9}\"");
        for column in &varying {
            cell.clear();
            column.write(index, &mut cell);
            if !cell.is_empty() {
                let (Ok(()) | Err(_)) = write!(out, " {}=\"{cell}\"", column.name);
            }
        }
        out.push_str("/>\n");
    }
    out.push_str("</Records>\n</");
    out.push_str(ROOT);
    out.push_str(">\n");
    out
}

fn column_element(spec: &JobSpec, column: &Column) -> Element {
    let mut children = vec![Element::text("Name", column.name)];
    if spec.states_units && !matches!(column.unit, "" | "1") {
        children.push(Element::text("Unit", column.unit));
    }
    if let Cells::Constant { text, .. } = &column.cells {
        children.push(Element::text("Value", text.as_str()));
    }
    Element::new("Column", children)
}
