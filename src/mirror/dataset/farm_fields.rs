//! Names the field of a job of the mirror: stated, that of a boundary, or that of a job on the same ground.

use arrow_array::cast::AsArray as _;
use arrow_array::types::{Float64Type, Int32Type};
use arrow_array::{Array as _, RecordBatch};

use super::footer::GEOMETRY;
use super::row_origin::FieldName;
use super::schema::JOB_ID;
use super::source_archive::SourceArchive;
use headland_base::error::Result;
use headland_reader::layer::farm_fields::{KnownFields, NamedBoundary};
pub(super) use headland_reader::layer::farm_fields::{NamedGround, sample_positions, stated_field};

/// Boundaries and jobs that name a field.
pub(super) struct FieldNames(KnownFields);

impl FieldNames {
    /// Reads the table of boundaries. `ground` is that of jobs whose field the service states.
    pub(super) fn new(tables: &[RecordBatch], ground: Vec<NamedGround>) -> Result<Self> {
        let mut boundaries = Vec::new();
        for table in tables {
            let text = |name: &str, row: usize| {
                let column = table.column_by_name(name)?.as_string_opt::<i32>()?;
                column.is_valid(row).then(|| column.value(row).to_owned())
            };
            let years = table.column_by_name("year").and_then(|column| column.as_primitive_opt::<Int32Type>());
            let areas = table.column_by_name("area_m2").and_then(|column| column.as_primitive_opt::<Float64Type>());
            let shapes = table.column_by_name(GEOMETRY).and_then(|column| column.as_binary_opt::<i64>());
            for row in 0..table.num_rows() {
                let (Some(job_id), Some(field)) = (text(JOB_ID, row), text("field", row)) else { continue };
                let wkb = shapes.filter(|shapes| shapes.is_valid(row)).map(|shapes| shapes.value(row));
                let year = years.filter(|years| years.is_valid(row)).map(|years| years.value(row));
                let area = areas.filter(|areas| areas.is_valid(row)).map(|areas| areas.value(row));
                boundaries.push(NamedBoundary::new(&job_id, &field, year, wkb, area)?);
            }
        }
        Ok(Self(KnownFields { boundaries, ground }))
    }

    /// Field of a layer whose archive states `stated`, and which has rows at `positions`; `None` if it is on several.
    pub(super) fn name(
        &self,
        source: &SourceArchive,
        stated: Option<&str>,
        positions: &[(f64, f64)],
    ) -> Result<Option<FieldName>> {
        let by = |name: &str, rule: &str| FieldName { name: name.to_owned(), rule: rule.to_owned(), evidence: None };
        if let Some(name) = &source.field {
            return Ok(Some(by(name, "job")));
        }
        if let Some(name) = stated {
            return Ok(Some(by(name, "archive")));
        }
        let found = self.0.find(&source.job_id, positions)?;
        Ok(found.map(|found| FieldName { evidence: Some(found.evidence), ..by(&found.name, found.rule) }))
    }
}
