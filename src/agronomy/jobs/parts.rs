//! The layers of a concatenation, and the names of their fields: stated, or by boundaries and jobs on the same ground.

use chrono::{DateTime, Datelike as _};

use crate::columns::canonical_rows::row_field;
use crate::columns::provenance as metadata;
use headland_base::error::Result;
use headland_reader::archive::{Code, Diagnostic};
use headland_reader::layer::Layer;
use headland_reader::layer::farm_fields::{KnownFields, NamedBoundary, NamedGround, sample_positions, stated_field};

/// Jobs without a field that one diagnostic names.
const MOST_NAMED: usize = 10;

/// A layer of a concatenation, and texts that all its rows get.
pub struct Part {
    /// The layer.
    pub layer: Layer,
    /// The id of the job, if there is one.
    pub job_id: Option<String>,
    /// The name of the job.
    pub job_name: Option<String>,
    /// The name of the field.
    pub field: Option<String>,
    /// The start of the job, in microseconds since 1970.
    pub start: Option<i64>,
}

/// Names the field of each job whose rows do not: stated, else that of the boundary in its archive, else that of a boundary
/// or a job whose ground it shares.
pub(crate) fn name_fields(parts: &mut [Part], diagnostics: &mut Vec<Diagnostic>) -> Result<()> {
    let id = |part: &Part| part.job_id.clone().unwrap_or_else(|| part.layer.source().to_owned());
    let year = |part: &Part| Some(DateTime::from_timestamp_micros(part.start?)?.year());
    let mut parts: Vec<&mut Part> = parts.iter_mut().filter(|part| !metadata::is_concatenated(&part.layer)).collect();
    let mut known = KnownFields::default();
    for part in &mut parts {
        part.field = part.field.take().or_else(|| stated_field(&part.layer)).or_else(|| row_field(&part.layer));
        if let Some(boundary) = part.layer.boundary().filter(|boundary| boundary.crs().is_some()) {
            known.boundaries.extend(NamedBoundary::read(&id(part), year(part), boundary.clone())?);
        }
        if let Some(field) = part.field.clone() {
            let positions = positions(&part.layer)?;
            known.ground.push(NamedGround { job_id: id(part), field, year: year(part), positions });
        }
    }
    let mut unknown = Vec::new();
    for part in parts.iter_mut().filter(|part| part.field.is_none()) {
        part.field = known.find(&id(part), &positions(&part.layer)?)?.map(|found| found.name);
        if part.field.is_none() && row_fields(&part.layer).is_none() {
            unknown.push(format!("`{}`", part.job_name.as_deref().unwrap_or_else(|| part.layer.source())));
        }
    }
    if !unknown.is_empty() {
        let more = unknown.len().saturating_sub(MOST_NAMED);
        unknown.truncate(MOST_NAMED);
        let more = if more > 0 { format!(" and {more} more") } else { String::new() };
        let message = format!(
            "`field` is null for {}{more}: nothing in them names the field, nor do a boundary or a job on their ground",
            unknown.join(", ")
        );
        diagnostics.push(Diagnostic::new(Code::FieldUnknown, message));
    }
    Ok(())
}

/// The index of the canonical column with the field of each row.
pub(crate) fn row_fields(layer: &Layer) -> Option<usize> {
    layer.schema().fields().iter().position(|field| field.name() == "field" && metadata::is_added(field))
}

/// Positions of some rows in WGS 84; none where they are unknown.
fn positions(layer: &Layer) -> Result<Vec<(f64, f64)>> {
    match layer.clone().into_wgs84() {
        Ok(layer) if layer.geometry_index().is_some() => sample_positions(&layer),
        _ => Ok(Vec::new()),
    }
}
