//! Reads dataset rows by job type, year, column and bounding box, as batches of one schema.

use std::collections::{BTreeSet, HashMap};
use std::ops::Range;
use std::path::PathBuf;
use std::sync::Arc;

use arrow_array::cast::AsArray as _;
use arrow_array::types::{Float32Type, Float64Type};
use arrow_array::{
    Array as _, ArrayRef, BooleanArray, Int32Array, LargeStringArray, RecordBatch, RecordBatchOptions, new_null_array,
};
use arrow_schema::{ArrowError, DataType, Field, Schema, SchemaRef};
use parquet::arrow::ProjectionMask;
use parquet::arrow::arrow_reader::{ArrowPredicateFn, ParquetRecordBatchReaderBuilder, RowFilter};

use super::checked_file::{CheckedFile, damaged_error};
use super::footer::{self, Footer, GEOMETRY, Group, SIDES};
use super::hilbert::{Sides, join_boxes};
use super::mixed_units::{converted, converted_schema, mixed_units_warning};
use super::published::{Dataset, Part};
use super::schema_union::{self, cast_column};
use super::selected_types::select_types;
use headland_agronomy::System;
use headland_base::error::{Error, Kind, Result};
use headland_reader::layer::{Cancel, run_ordered, threads};

/// Columns stored in the folder names.
const JOB_TYPE: &str = "job_type";
const YEAR: &str = "year";

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

/// Row groups of a part.
#[derive(Clone, Debug)]
pub struct RowGroups {
    /// Path of the file.
    pub path: PathBuf,
    /// Checksums of its blocks.
    pub crc32: String,
    /// Job type of its rows.
    pub job_type: Option<String>,
    /// Year of its rows.
    pub year: Option<i32>,
    /// Indices of the row groups.
    pub groups: Vec<usize>,
    /// Bounding box of their geometries, if known.
    pub bounds: Option<[f64; 4]>,
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
            let existing = self.job_types();
            let wanted = asked.iter().map(|asked| select_types(asked, &existing)).collect::<Result<Vec<_>>>()?;
            let is_wanted = |found: &String| wanted.iter().any(|types| types.contains(found));
            parts.retain(|part| part.job_type.as_ref().is_some_and(is_wanted));
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
        let parts = scan.parts.iter().filter_map(|(part, _)| self.manifest.parts.get(part.index));
        let mut seen = BTreeSet::new();
        let mut origins = Vec::new();
        for origin in parts.flat_map(|part| &part.origins) {
            if seen.insert((&origin.archive, &origin.job_id, &origin.layer)) {
                origins.push((self.archive(&origin.archive)?, origin.job_id.clone(), origin.layer.clone()));
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

/// Reads row groups into batches of a schema, in order.
pub fn read(
    wanted: &[RowGroups],
    schema: &SchemaRef,
    bbox: Option<[f64; 4]>,
    cancel: &Cancel,
) -> Result<Vec<RecordBatch>> {
    let footers: Vec<Footer> =
        wanted.iter().map(|part_groups| footer::read(&part_groups.path, &part_groups.crc32)).collect::<Result<_>>()?;
    let steps: Vec<(&RowGroups, &Footer, usize)> = wanted
        .iter()
        .zip(&footers)
        .flat_map(|(part_groups, footer)| part_groups.groups.iter().map(move |group| (part_groups, footer, *group)))
        .collect();
    let make = |step: usize, found: &mut Vec<RecordBatch>| {
        cancel.check()?;
        if let Some((part_groups, footer, group)) = steps.get(step) {
            *found = read_group(part_groups, footer, *group, schema, bbox)?;
        }
        Ok(())
    };
    let mut batches = Vec::new();
    run_ordered(threads(), steps.len(), make, &mut |found: &mut Vec<RecordBatch>| {
        batches.append(found);
        Ok(())
    })?;
    Ok(batches)
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

/// Whether two boxes share a point.
fn boxes_intersect(one: Sides, other: Sides) -> bool {
    one[0] <= other[2] && other[0] <= one[2] && one[1] <= other[3] && other[1] <= one[3]
}

/// Reads the columns of a schema from a row group. With a bounding box, only rows whose boxes intersect it.
pub(super) fn read_group(
    part_groups: &RowGroups,
    footer: &Footer,
    group: usize,
    schema: &SchemaRef,
    bbox: Option<Sides>,
) -> Result<Vec<RecordBatch>> {
    let invalid = |cause: &dyn std::fmt::Display| damaged_error(&part_groups.path, &cause.to_string());
    let metadata = footer.metadata.metadata();
    let Some(stated) = metadata.row_groups().get(group) else { return Err(invalid(&"a row group is missing")) };
    let parquet = metadata.file_metadata().schema_descr();
    let name_of = |field: &Arc<Field>| match &footer.geometry {
        Some(geometry) if field.name() == GEOMETRY => geometry.clone(),
        _ => field.name().clone(),
    };
    let wanted: BTreeSet<String> = schema.fields().iter().map(name_of).collect();
    let roots = |is_wanted: &dyn Fn(&str) -> bool| {
        let fields = parquet.root_schema().get_fields().iter().enumerate();
        ProjectionMask::roots(parquet, fields.filter(|(_, field)| is_wanted(field.name())).map(|(index, _)| index))
    };
    let boxes = footer.boxes.as_deref().filter(|_| bbox.is_some());
    let columns = roots(&|name| wanted.contains(name));
    let mut needed = columns.clone();
    let filter = boxes.zip(bbox).map(|(boxes, bbox)| {
        let mask = roots(&|name| name == boxes);
        needed.union(&mask);
        RowFilter::new(vec![Box::new(ArrowPredicateFn::new(mask, move |batch| intersecting_rows(&batch, bbox)))])
    });
    let ranges = stated.columns().iter().enumerate().filter(|(index, _)| needed.leaf_included(*index));
    let ranges: Option<Vec<Range<u64>>> = ranges
        .map(|(_, column)| {
            let start = column.dictionary_page_offset().unwrap_or_else(|| column.data_page_offset());
            let end = start.checked_add(column.compressed_size())?;
            Some(u64::try_from(start).ok()?..u64::try_from(end).ok()?)
        })
        .collect();
    let ranges = ranges.ok_or_else(|| invalid(&"its metadata have a negative offset"))?;
    let rows =
        usize::try_from(stated.num_rows()).map_err(|_| invalid(&"its metadata have a negative number of rows"))?;
    let fetched = CheckedFile::open(&part_groups.path, &part_groups.crc32)?.fetch(ranges)?;
    let mut builder = ParquetRecordBatchReaderBuilder::new_with_metadata(fetched, footer.metadata.clone())
        .with_row_groups(vec![group])
        .with_projection(columns)
        .with_batch_size(rows.max(1));
    if let Some(filter) = filter {
        builder = builder.with_row_filter(filter);
    }
    let reader = builder.build().map_err(|cause| invalid(&cause))?;
    reader.map(|batch| part_groups.cast_batch(&batch.map_err(|cause| invalid(&cause))?, schema, &name_of)).collect()
}

impl RowGroups {
    /// Casts a batch of the file to a schema, with its units. Columns that the file lacks are null.
    fn cast_batch(
        &self,
        batch: &RecordBatch,
        schema: &SchemaRef,
        name_of: &dyn Fn(&Arc<Field>) -> String,
    ) -> Result<RecordBatch> {
        let rows = batch.num_rows();
        let own = batch.schema();
        let fields = own.fields().iter().zip(batch.columns());
        let present: HashMap<&str, (&Arc<Field>, &ArrayRef)> =
            fields.map(|(field, array)| (field.name().as_str(), (field, array))).collect();
        let column = |field: &Arc<Field>| -> Result<ArrayRef> {
            match field.name().as_str() {
                JOB_TYPE => {
                    let values = std::iter::repeat_n(self.job_type.as_deref(), rows);
                    Ok(Arc::new(values.collect::<LargeStringArray>()))
                }
                YEAR => Ok(Arc::new(std::iter::repeat_n(self.year, rows).collect::<Int32Array>())),
                _ => match present.get(&*name_of(field)) {
                    Some((own, array)) => cast_column(&converted(array, own, field), field, &self.path),
                    None => Ok(new_null_array(field.data_type(), rows)),
                },
            }
        };
        let columns = schema.fields().iter().map(column).collect::<Result<_>>()?;
        let options = RecordBatchOptions::new().with_row_count(Some(rows));
        RecordBatch::try_new_with_options(Arc::clone(schema), columns, &options)
            .map_err(|cause| damaged_error(&self.path, &cause.to_string()))
    }
}

/// Rows whose boxes intersect another box. A row without geometry has no box.
fn intersecting_rows(batch: &RecordBatch, bbox: Sides) -> std::result::Result<BooleanArray, ArrowError> {
    let invalid = || ArrowError::SchemaError("the bounding boxes of geometries have no sides".to_owned());
    let boxes = batch.columns().first().and_then(|column| column.as_struct_opt()).ok_or_else(invalid)?;
    let sides: Vec<&ArrayRef> = SIDES.iter().filter_map(|side| boxes.column_by_name(side)).collect();
    let [west, south, east, north] = <[&ArrayRef; 4]>::try_from(sides).map_err(|_| invalid())?;
    let value = |side: &ArrayRef, row: usize| {
        let value = side.as_primitive_opt::<Float32Type>().map(|array| f64::from(array.value(row)));
        value.or_else(|| Some(side.as_primitive_opt::<Float64Type>()?.value(row))).filter(|_| side.is_valid(row))
    };
    let meets = |row: usize| {
        let sides = [value(west, row)?, value(south, row)?, value(east, row)?, value(north, row)?];
        Some(boxes.is_valid(row) && boxes_intersect(sides, bbox))
    };
    Ok((0..boxes.len()).map(meets).collect())
}
