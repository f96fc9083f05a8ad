//! Tests of row groups from several batches, on one thread and on several.

use std::sync::Arc;

use arrow_array::cast::AsArray;
use arrow_array::{Array, ArrayRef, Float64Array, LargeBinaryArray, LargeStringArray, RecordBatch};
use arrow_schema::Field;
use bytes::Bytes;
use parquet::arrow::arrow_reader::ParquetRecordBatchReaderBuilder;
use serde_json::{Value, json};

use super::*;
use crate::layer::crs::Crs;

/// Numbered points in batches of these lengths. Every seventh has no valid coordinate, every eleventh is null.
fn layer(rows: &[usize]) -> Layer {
    let mut first = 0_u32;
    let mut batches = Vec::new();
    for count in rows {
        let numbers = first..first + u32::try_from(*count).unwrap();
        first = numbers.end;
        let yields: Float64Array = numbers.clone().map(|row| (row % 5 > 0).then(|| f64::from(row).sqrt())).collect();
        let products: LargeStringArray =
            numbers.clone().map(|row| Some(if row % 2 == 0 { "Corn" } else { "Soy" })).collect();
        let points: LargeBinaryArray = numbers
            .map(|row| {
                let x = if row % 7 == 0 { -1.7e308 } else { -111.0 + f64::from(row) / 1e4 };
                let xy: Vec<u8> = [x, 45.0].iter().flat_map(|value: &f64| value.to_le_bytes()).collect();
                (row % 11 > 0).then(|| [vec![1, 1, 0, 0, 0], xy].concat())
            })
            .collect();
        let columns: [(&str, ArrayRef); 3] =
            [("YIELD", Arc::new(yields)), ("bbox", Arc::new(products)), ("geometry", Arc::new(points))];
        let fields: Vec<Field> =
            columns.iter().map(|(name, array)| Field::new(*name, array.data_type().clone(), true)).collect();
        let arrays = columns.into_iter().map(|(_, array)| array).collect();
        batches.push(RecordBatch::try_new(Arc::new(Schema::new(fields)), arrays).unwrap());
    }
    Layer {
        name: "t".to_owned(),
        source: "bytes".to_owned(),
        schema: batches[0].schema(),
        batches,
        geometry: Some(2),
        crs: Some(Crs::wgs84()),
        prj: None,
        metadata: Vec::new(),
        diagnostics: Vec::new(),
        types: vec![1],
        boundary: None,
    }
}

fn written(layer: &Layer, row_group: usize, threads: usize) -> Bytes {
    let mut out = Vec::new();
    let to_error = |cause: ParquetError| Error::new(Kind::File, cause.to_string());
    layer.write_parquet_to(&mut out, row_group, threads, &Cancel::default(), &to_error).unwrap();
    Bytes::from(out)
}

/// The rows that are read equal those written, in groups of the given size, with the same bytes for any number of
/// threads.
#[test]
fn row_groups_have_the_same_bytes_on_any_number_of_threads() {
    for (rows, row_group, groups) in [
        (vec![1_000], 300, vec![300, 300, 300, 100]),
        (vec![10, 0, 290, 1, 699], 300, vec![300, 300, 300, 100]),
        (vec![600], 600, vec![600]),
        (vec![0], 600, vec![]),
    ] {
        let layer = layer(&rows);
        let bytes = written(&layer, row_group, 1);
        for threads in [2, 3] {
            assert!(written(&layer, row_group, threads) == bytes, "{rows:?} on {threads} threads");
        }
        let reader = ParquetRecordBatchReaderBuilder::try_new(bytes).unwrap();
        let found: Vec<i64> =
            reader.metadata().row_groups().iter().map(parquet::file::metadata::RowGroupMetaData::num_rows).collect();
        assert_eq!(found, groups, "{rows:?}");
        let mut read = reader.with_batch_size(10_000).build().unwrap().map(|batch| batch.unwrap());
        let whole = read.next();
        assert!(read.next().is_none());
        let mut start = 0;
        for batch in layer.batches().iter().filter(|batch| batch.num_rows() > 0) {
            let part = whole.as_ref().unwrap().slice(start, batch.num_rows());
            start += batch.num_rows();
            for (index, array) in batch.columns().iter().enumerate() {
                assert_eq!(part.column(index), array);
            }
        }
        assert_eq!(start, layer.len());
    }
}

/// GeoParquet 1.1: boxes and bounds have valid coordinates only, and the covering names their column.
#[test]
fn no_data_is_not_in_boxes_or_bounds() {
    let bytes = written(&layer(&[500, 500]), 300, 2);
    let reader = ParquetRecordBatchReaderBuilder::try_new(bytes).unwrap();
    let pairs = reader.metadata().file_metadata().key_value_metadata().unwrap();
    let geo = pairs.iter().find(|pair| pair.key == "geo").unwrap().value.clone().unwrap();
    let geo: Value = serde_json::from_str(&geo).unwrap();
    let column = &geo["columns"]["geometry"];
    assert_eq!(column["bbox"], json!([-111.0 + 1.0 / 1e4, 45.0, -111.0 + 999.0 / 1e4, 45.0]));
    assert_eq!(column["covering"]["bbox"]["ymin"], json!(["bbox_1", "ymin"]), "the layer has a column called bbox");
    let mut row = 0;
    for batch in reader.build().unwrap().map(|batch| batch.unwrap()) {
        let boxes = batch.column_by_name("bbox_1").unwrap().as_struct();
        for index in 0..batch.num_rows() {
            assert_eq!(boxes.is_null(index), row % 7 == 0 || row % 11 == 0, "row {row}");
            row += 1;
        }
    }
    assert_eq!(row, 1_000);
}
