//! Reads row groups of the dataset, or the rows of some jobs in them, as batches of one schema.

use std::collections::{BTreeSet, HashMap};
use std::ops::Range;
use std::path::PathBuf;
use std::sync::Arc;

use arrow_array::cast::AsArray as _;
use arrow_array::types::{Float32Type, Float64Type};
use arrow_array::{
    Array as _, ArrayRef, BooleanArray, Int32Array, LargeStringArray, RecordBatch, RecordBatchOptions, new_null_array,
};
use arrow_schema::{ArrowError, Field, SchemaRef};
use parquet::arrow::ProjectionMask;
use parquet::arrow::arrow_reader::{ArrowPredicate, ArrowPredicateFn, ParquetRecordBatchReaderBuilder, RowFilter};

use super::checked_file::{CheckedFile, damaged_error};
use super::footer::{self, Footer, GEOMETRY, SIDES};
use super::hilbert::Sides;
use super::mixed_units::converted;
use super::schema::JOB_ID;
use super::schema_union::cast_column;
use headland_base::error::Result;
use headland_reader::layer::{Cancel, run_ordered, threads};

/// Columns stored in the folder names.
pub(super) const JOB_TYPE: &str = "job_type";
pub(super) const YEAR: &str = "year";

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
    /// Ids of the jobs whose rows are read; `None` reads all rows.
    pub jobs: Option<Vec<String>>,
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

/// Whether two boxes share a point.
pub(super) fn boxes_intersect(one: Sides, other: Sides) -> bool {
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
    let mut filters: Vec<Box<dyn ArrowPredicate>> = Vec::new();
    if let Some(jobs) = part_groups.jobs.clone() {
        let mask = roots(&|name| name == JOB_ID);
        needed.union(&mask);
        filters.push(Box::new(ArrowPredicateFn::new(mask, move |batch| rows_of_jobs(&batch, &jobs))));
    }
    if let Some((boxes, bbox)) = boxes.zip(bbox) {
        let mask = roots(&|name| name == boxes);
        needed.union(&mask);
        filters.push(Box::new(ArrowPredicateFn::new(mask, move |batch| intersecting_rows(&batch, bbox))));
    }
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
    if !filters.is_empty() {
        builder = builder.with_row_filter(RowFilter::new(filters));
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

/// Rows of these jobs.
fn rows_of_jobs(batch: &RecordBatch, jobs: &[String]) -> std::result::Result<BooleanArray, ArrowError> {
    let ids = batch.columns().first().and_then(|column| column.as_string_opt::<i64>());
    let ids = ids.ok_or_else(|| ArrowError::SchemaError("the ids of jobs are no texts".to_owned()))?;
    let is_wanted = |id: &str| jobs.iter().any(|job| job == id);
    Ok(ids.iter().map(|id| Some(id.is_some_and(is_wanted))).collect())
}
