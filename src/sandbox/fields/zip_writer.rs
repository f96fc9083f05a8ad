//! Writes the zips of a job: its layers in the layouts of displays and portals, and the display's own zip.

use std::io::{Cursor, Write};

use chrono::{Datelike, NaiveDateTime, Timelike};
use serde_json::json;
use zip::write::SimpleFileOptions;
use zip::{CompressionMethod, DateTime, System, ZipWriter};

use super::attributes::Table;
use super::deterministic_math::scaled;
use super::job_spec::{ArchiveLayout, JobLog, JobSpec};
use super::rng::stream;
use super::shapefile_writer::{LayerWriter, Member};
use super::swaths::SwathLog;
use headland_base::error::{Error, Kind, Result};

/// Returns the zip of shapefiles.
pub(super) fn shapefile_zip(spec: &JobSpec, log: &JobLog) -> Result<Vec<u8>> {
    let writer = LayerWriter {
        plane: &spec.field.plane,
        system: spec.system,
        date: spec.start.date(),
        code_page: spec.layout == ArchiveLayout::CodePage,
    };
    let table = spec.table(log);
    let mut members = if spec.has_polygons {
        writer.polygons(&spec.layer, &table, log.records().map(|point| SwathLog::corners(point, spec.units)))?
    } else {
        writer.points(&spec.layer, &table, log.records().map(|point| point.location))?
    };
    if spec.states_units {
        members.push(unit_sidecar(&spec.layer, &table));
    }
    match spec.layout {
        ArchiveLayout::Flat | ArchiveLayout::CodePage => {}
        ArchiveLayout::Folder => {
            for member in &mut members {
                member.name = format!("{}/{}", spec.layer, member.name);
            }
        }
        ArchiveLayout::Boundary => members.extend(boundary_layer(spec, writer)?),
        ArchiveLayout::UpperCase => {
            for member in &mut members {
                let stem = member.name.len().saturating_sub(3);
                if let Some(extension) = member.name.get_mut(stem..) {
                    extension.make_ascii_uppercase();
                }
            }
        }
        ArchiveLayout::Macintosh => members = members.into_iter().flat_map(with_apple_double).collect(),
    }
    write_zip(&members, spec.start)
}

/// Returns the sidecar with the unit of each numeric column, in the format of the single vendor that has one.
pub(super) fn unit_sidecar(layer: &str, table: &Table) -> Member {
    let stated = table.columns.iter().filter(|column| !matches!(column.unit, "" | "1"));
    let attributes: Vec<_> = stated.map(|column| json!({"Name": column.name, "Unit": column.unit})).collect();
    let document = json!({"Version": "1.0", "DataAttributes": attributes});
    Member { name: format!("{layer}-Deere-Metadata.json"), bytes: document.to_string().into_bytes() }
}

/// Writes the boundary of the field as a separate layer.
fn boundary_layer(spec: &JobSpec, writer: LayerWriter) -> Result<Vec<Member>> {
    let mut table = Table::new();
    table.add_constant("FIELD", 24, spec.field.name);
    let area = scaled(spec.field.area / spec.units.area.1, 3);
    table.add_numbers("AREA", spec.units.area.0, (10, 3), std::iter::once(Some(area)));
    let name = format!("{}_boundary", spec.field.name.replace(' ', "_"));
    writer.polygons(&name, &table, std::iter::once(&spec.field.boundary))
}

/// Returns a member and its `AppleDouble` file, which contains no job data.
fn with_apple_double(member: Member) -> [Member; 2] {
    let mut bytes = vec![0x00, 0x05, 0x16, 0x07, 0x00, 0x02, 0x00, 0x00];
    bytes.extend_from_slice(b"Mac OS X        ");
    bytes.resize(82, 0);
    let twin = Member { name: format!("__MACOSX/._{}", member.name), bytes };
    [member, twin]
}

/// Returns the display's own zip: a binary log in the display's format, and a text that describes it.
pub(super) fn display_zip(spec: &JobSpec, device: &str) -> Result<Vec<u8>> {
    let mut rng = stream(spec.seed, &[6]);
    let mut log = b"JOBLOG\x00\x01".to_vec();
    log.extend(std::iter::repeat_with(|| rng.u8(..)).take(4096));
    let manifest = format!(
        "device={device}\r\njob={}\r\nfield={}\r\nstarted={}\r\nlog=job.log\r\n",
        spec.layer,
        spec.field.name,
        spec.start.format("%Y-%m-%dT%H:%M:%S"),
    );
    let member = |name: &str, bytes| Member { name: format!("{}/{name}", spec.layer), bytes };
    write_zip(&[member("manifest.txt", manifest.into_bytes()), member("job.log", log)], spec.start)
}

pub(super) fn write_zip(members: &[Member], time: NaiveDateTime) -> Result<Vec<u8>> {
    let failed = |cause: &dyn std::fmt::Display| {
        Error::new(Kind::Archive, format!("the archive of the generated job cannot be written: {cause}"))
    };
    let part = |value: u32| u8::try_from(value).unwrap_or(1);
    let modified = DateTime::from_date_and_time(
        u16::try_from(time.year()).unwrap_or(1980),
        part(time.month()),
        part(time.day()),
        part(time.hour()),
        part(time.minute()),
        part(time.second()),
    )
    .map_err(|cause| failed(&cause))?;
    // Entries contain the operating system. A fixed one keeps the bytes the same on all systems.
    let options = SimpleFileOptions::default()
        .compression_method(CompressionMethod::Deflated)
        .last_modified_time(modified)
        .unix_permissions(0o644)
        .system(System::Unix);
    let mut zip = ZipWriter::new(Cursor::new(Vec::new()));
    for member in members {
        zip.start_file(member.name.as_str(), options).map_err(|cause| failed(&cause))?;
        zip.write_all(&member.bytes).map_err(|cause| failed(&cause))?;
    }
    Ok(zip.finish().map_err(|cause| failed(&cause))?.into_inner())
}
