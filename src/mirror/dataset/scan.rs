//! Plans reads of dataset rows by job type, year, column and bounding box, with one schema.

use std::collections::BTreeSet;
use std::path::PathBuf;
use std::sync::Arc;

use arrow_array::RecordBatch;
use arrow_schema::{DataType, Field, Schema, SchemaRef};

use super::footer::{self, Footer, Group};
use super::hilbert::{Sides, join_boxes};
use super::mixed_units::{converted_schema, mixed_units_warning};
use super::published::{Dataset, Part};
use super::row_groups::{JOB_TYPE, RowGroups, YEAR, boxes_intersect, read};
use super::schema_union;
use super::selected_jobs::select_jobs;
use headland_agronomy::System;
use headland_base::error::{Error, Kind, Result};
use headland_reader::layer::Cancel;

/// Selection of rows and columns. `None` selects all.
#[derive(Clone, Debug, Default)]
pub struct Selection {
    /// Job types, in any spelling.
    pub job_types: Option<Vec<String>>,
    /// Years.
    pub years: Option<Vec<i32>>,
    /// Columns. The geometry is always included.
    pub columns: Option<Vec<String>>,
    /// West, south, east and north. Selects rows whose bounding boxes intersect it.
    pub bbox: Option<[f64; 4]>,
    /// System to whose units numbers are converted. `None` leaves them as the archives have them.
    pub units: Option<System>,
}

/// Planned read; repeated reads return the same rows.
#[derive(Clone, Debug)]
pub struct Scan {
    schema: SchemaRef,
    bbox: Option<Sides>,
    parts: Vec<(Part, Vec<Group>)>,
    /// Warnings about the rows for the caller.
    pub warnings: Vec<String>,
}

impl Dataset {
    /// Reads the footers of the selected parts and plans the read.
    pub fn scan(&self, selection: &Selection, cancel: &Cancel) -> Result<Scan> {
        let mut parts = self.parts()?;
        if let Some(asked) = &selection.job_types {
            parts = select_jobs(self, parts, asked, cancel)?;
        }
        let is_in_years = |part: &Part| match &selection.years {
            Some(years) => part.year.is_some_and(|year| years.contains(&year)),
            None => true,
        };
        // For years without rows, the schema is that of the other years.
        let is_empty = !parts.iter().any(is_in_years);
        parts.retain(|part| is_empty || is_in_years(part));
        let mut warnings = Vec::new();
        let opened = keep_one_crs(read_footers(parts, cancel)?, &mut warnings)?;
        let columns = |(part, footer): &(Part, Footer)| {
            let converted = selection.units.map(|system| converted_schema(&footer.schema, system));
            let schema = with_partition_columns(converted.as_ref().unwrap_or(&footer.schema));
            (part.path.display().to_string(), schema)
        };
        let tables: Vec<(String, Schema)> = opened.iter().map(columns).collect();
        let schema = schema_union::union_schemas(&tables, selection.columns.as_deref())?;
        warnings.extend(mixed_units_warning(&schema_union::column_units(&schema), selection.units.is_some()));
        let meets = |footer: &Footer, group: &Group| match selection.bbox {
            Some(bbox) => footer.geometry.is_some() && group.bounds.is_none_or(|bounds| boxes_intersect(bounds, bbox)),
            None => true,
        };
        let parts = opened.into_iter().filter(|_| !is_empty).map(|(part, footer)| {
            let groups = footer.groups.iter().copied().filter(|group| meets(&footer, group)).collect();
            (part, groups)
        });
        Ok(Scan { schema: Arc::new(schema), bbox: selection.bbox, parts: parts.collect(), warnings })
    }

    /// Archives behind the rows of a scan, regardless of its bounding box: path, job id and layer.
    pub fn origins(&self, scan: &Scan) -> Result<Vec<(PathBuf, String, String)>> {
        let mut seen = BTreeSet::new();
        let mut origins = Vec::new();
        for (part, _) in &scan.parts {
            for origin in self.manifest.parts.get(part.index).into_iter().flat_map(|part| &part.origins) {
                let is_selected = part.jobs.as_ref().is_none_or(|jobs| jobs.contains(&origin.job_id));
                if is_selected && seen.insert((&origin.archive, &origin.job_id, &origin.layer)) {
                    origins.push((self.archive(&origin.archive)?, origin.job_id.clone(), origin.layer.clone()));
                }
            }
        }
        Ok(origins)
    }
}

impl Scan {
    /// Schema of all rows.
    #[must_use]
    pub fn schema(&self) -> SchemaRef {
        Arc::clone(&self.schema)
    }

    /// Units of the columns that have one.
    #[must_use]
    pub fn units(&self) -> Vec<(String, String)> {
        schema_union::column_units(&self.schema)
    }

    /// Row groups to read together: of one part, and at most `most` rows unless a single group is larger.
    #[must_use]
    pub fn row_groups(&self, most: usize) -> Vec<RowGroups> {
        let mut chunks = Vec::new();
        for (part, groups) in &self.parts {
            let mut rows = 0_usize;
            let mut first = true;
            for group in groups {
                rows = rows.saturating_add(group.rows);
                if first || rows > most {
                    chunks.push(part.row_group(group));
                    (first, rows) = (false, group.rows);
                } else if let Some(part_groups) = chunks.last_mut() {
                    part_groups.groups.push(group.index);
                    let is_known = part_groups.bounds.is_some() && group.bounds.is_some();
                    part_groups.bounds = join_boxes(part_groups.bounds, group.bounds).filter(|_| is_known);
                }
            }
        }
        chunks
    }

    /// Reads all rows.
    pub fn read(&self, cancel: &Cancel) -> Result<Vec<RecordBatch>> {
        read(&self.row_groups(usize::MAX), &self.schema, self.bbox, cancel)
    }
}

impl Part {
    fn row_group(&self, group: &Group) -> RowGroups {
        RowGroups {
            path: self.path.clone(),
            crc32: self.crc32.clone(),
            job_type: self.job_type.clone(),
            year: self.year,
            groups: vec![group.index],
            bounds: group.bounds,
            jobs: self.jobs.clone(),
        }
    }
}

/// Reads the footers of parts.
fn read_footers(parts: Vec<Part>, cancel: &Cancel) -> Result<Vec<(Part, Footer)>> {
    let open = |part: Part| {
        cancel.check()?;
        let footer = footer::read(&part.path, &part.crc32)?;
        Ok((part, footer))
    };
    parts.into_iter().map(open).collect()
}

/// Adds the partition columns to those of a part.
fn with_partition_columns(schema: &Schema) -> Schema {
    let keys = [Field::new(JOB_TYPE, DataType::LargeUtf8, true), Field::new(YEAR, DataType::Int32, true)];
    Schema::new(keys.into_iter().map(Arc::new).chain(schema.fields().iter().cloned()).collect::<Vec<_>>())
}

/// Keeps the parts in WGS 84 if some are, since a table has one coordinate system. Drops parts with unknown systems and
/// with systems that cannot be transformed.
fn keep_one_crs(opened: Vec<(Part, Footer)>, warnings: &mut Vec<String>) -> Result<Vec<(Part, Footer)>> {
    let system = |(_, footer): &(Part, Footer)| {
        footer.geometry.as_ref().and_then(|_| schema_union::crs_identity(&footer.schema))
    };
    let systems: BTreeSet<String> = opened.iter().filter_map(system).collect();
    if systems.len() <= 1 {
        return Ok(opened);
    }
    let is_other = |opened: &(Part, Footer)| system(opened).is_some_and(|system| system != schema_union::WGS84);
    let (others, kept): (Vec<_>, Vec<_>) = opened.into_iter().partition(is_other);
    let folders: BTreeSet<String> =
        others.iter().filter_map(|(part, _)| Some(part.path.parent()?.display().to_string())).collect();
    let folders = folders.into_iter().collect::<Vec<_>>().join(", ");
    if !systems.contains(schema_union::WGS84) {
        let message = format!(
            "the rows are in {} coordinate systems, none of them WGS 84, but a frame has only one; \
             `geopandas.read_parquet` reads each: {folders}",
            systems.len()
        );
        return Err(Error::new(Kind::Value, message));
    }
    let rows: usize = others.iter().flat_map(|(_, footer)| &footer.groups).map(|group| group.rows).sum();
    warnings.push(format!(
        "{rows} rows are omitted, because their coordinate system is unknown or has no transformation to WGS 84; \
         `geopandas.read_parquet` reads them: {folders}"
    ));
    Ok(kept)
}
