//! Compares the writer with `serde_json`, on one thread and on several.

use std::sync::Arc;

use arrow_array::{
    ArrayRef, BooleanArray, Date32Array, Float64Array, Int32Array, Int64Array, LargeBinaryArray, LargeStringArray,
    RecordBatch,
};
use arrow_schema::{Field, Schema};

use super::*;
use crate::layer::crs::Crs;

/// Columns of every type in batches of these lengths, with repeats, nulls and values without a JSON form.
fn layer(rows: &[usize], seed: u64) -> Layer {
    let mut random = fastrand::Rng::with_seed(seed);
    let mut batches = Vec::new();
    for count in rows {
        let mut some = |odds: u32| random.u32(..odds) > 0;
        let valid: Vec<[bool; 9]> = (0..*count).map(|_| std::array::from_fn(|_| some(8))).collect();
        let is_valid = |column: usize, row: usize| valid[row][column];
        let rows = 0..*count;
        let decimals = random.u32(..17);
        let float = |random: &mut fastrand::Rng| match random.u32(..12) {
            0 => f64::NAN,
            1 => -0.0,
            2 => f64::from_bits(random.u64(..)),
            3 => 9.144,
            _ => f64::from(random.i32(-999_999..1_000_000)) / 10_f64.powi(decimals.cast_signed()),
        };
        let texts = ["Corn \"P1185\"", "späte", "a\\b", "", "line\nbreak", "plain", "plain", "plain"];
        let floats: Float64Array = rows.clone().map(|row| is_valid(0, row).then(|| float(&mut random))).collect();
        let ints: Int32Array = rows.clone().map(|row| is_valid(1, row).then(|| random.i32(..))).collect();
        let longs: Int64Array =
            rows.clone().map(|row| is_valid(2, row).then(|| random.i64(..) >> (row % 60))).collect();
        let days: Date32Array =
            rows.clone().map(|row| is_valid(3, row).then(|| random.i32(-3_000_000..3_000_000))).collect();
        let logicals: BooleanArray = rows.clone().map(|row| is_valid(4, row).then(|| random.bool())).collect();
        let words: LargeStringArray =
            rows.clone().map(|row| is_valid(5, row).then(|| texts[random.usize(..texts.len())])).collect();
        let blobs: LargeBinaryArray =
            rows.clone().map(|row| is_valid(6, row).then(|| vec![0xA0, u8::try_from(row % 256).unwrap()])).collect();
        let points: LargeBinaryArray = rows
            .map(|row| {
                let no_data = if random.u32(..9) == 0 { -1e39 } else { 41.25 };
                let xy = [random.f64() * 360.0 - 180.0, if is_valid(8, row) { random.f64() * 90.0 } else { no_data }];
                let wkb =
                    [vec![1, 1, 0, 0, 0], xy.iter().flat_map(|value: &f64| value.to_le_bytes()).collect()].concat();
                is_valid(7, row).then_some(wkb)
            })
            .collect();
        let columns: [(&str, ArrayRef); 8] = [
            ("YIELD", Arc::new(floats)),
            ("PASS \"1\"", Arc::new(ints)),
            ("ID", Arc::new(longs)),
            ("DAY", Arc::new(days)),
            ("A_NAME_THAT_IS_TOO_LONG_FOR_A_SHORT_KEY", Arc::new(logicals)),
            ("PRODUCT", Arc::new(words)),
            ("BLOB", Arc::new(blobs)),
            ("geometry", Arc::new(points)),
        ];
        let fields: Vec<Field> =
            columns.iter().map(|(name, array)| Field::new(*name, array.data_type().clone(), true)).collect();
        let arrays = columns.into_iter().map(|(_, array)| array).collect();
        batches.push(RecordBatch::try_new(Arc::new(Schema::new(fields)), arrays).unwrap());
    }
    Layer {
        name: "a \"layer\"".to_owned(),
        source: "bytes".to_owned(),
        schema: batches[0].schema(),
        batches,
        geometry: Some(7),
        crs: Some(Crs::wgs84()),
        prj: None,
        metadata: Vec::new(),
        diagnostics: Vec::new(),
        types: vec![1],
        boundary: None,
    }
}

fn written(layer: &Layer, threads: usize) -> String {
    let mut all = Vec::new();
    let mut sink = |text: &[u8]| {
        all.extend_from_slice(text);
        Ok(())
    };
    layer.write_features(&Target::AsIs, threads, &Cancel::default(), &mut sink).unwrap();
    String::from_utf8(all).unwrap()
}

/// A cell in the format of `serde_json`.
fn cell(array: &ArrayRef, row: usize) -> String {
    if array.is_null(row) {
        return "null".to_owned();
    }
    let any = array.as_any();
    if let Some(array) = any.downcast_ref::<Float64Array>() {
        serde_json::to_string(&array.value(row))
    } else if let Some(array) = any.downcast_ref::<Int32Array>() {
        serde_json::to_string(&array.value(row))
    } else if let Some(array) = any.downcast_ref::<Int64Array>() {
        serde_json::to_string(&array.value(row))
    } else if let Some(array) = any.downcast_ref::<Date32Array>() {
        let date = chrono::NaiveDate::from_num_days_from_ce_opt(array.value(row) + 719_163).unwrap();
        serde_json::to_string(&date.to_string())
    } else if let Some(array) = any.downcast_ref::<BooleanArray>() {
        serde_json::to_string(&array.value(row))
    } else if let Some(array) = any.downcast_ref::<LargeStringArray>() {
        serde_json::to_string(array.value(row))
    } else {
        let bytes = any.downcast_ref::<LargeBinaryArray>().unwrap().value(row);
        let hex: Vec<String> = bytes.iter().map(|byte| format!("{byte:02x}")).collect();
        serde_json::to_string(&hex.concat())
    }
    .unwrap()
}

fn point(array: &ArrayRef, row: usize) -> String {
    let array = array.as_any().downcast_ref::<LargeBinaryArray>().unwrap();
    if array.is_null(row) {
        return "null".to_owned();
    }
    let wkb = array.value(row);
    let [x, y] = [5, 13].map(|start| f64::from_le_bytes(wkb[start..start + 8].try_into().unwrap()));
    if y < -1e38 {
        return "null".to_owned();
    }
    let position = serde_json::to_string(&[x, y]).unwrap();
    format!("{{\"type\":\"Point\",\"coordinates\":{position}}}")
}

fn expected(layer: &Layer) -> String {
    let mut features = Vec::new();
    for batch in layer.batches() {
        for row in 0..batch.num_rows() {
            let columns =
                layer.schema.fields().iter().zip(batch.columns()).take(7).map(|(field, array)| {
                    format!("{}:{}", serde_json::to_string(field.name()).unwrap(), cell(array, row))
                });
            let properties = columns.collect::<Vec<_>>().join(",");
            let geometry = point(batch.column(7), row);
            features
                .push(format!("\n{{\"type\":\"Feature\",\"properties\":{{{properties}}},\"geometry\":{geometry}}}"));
        }
    }
    let name = serde_json::to_string(layer.name()).unwrap();
    format!("{{\"type\":\"FeatureCollection\",\"name\":{name},\"features\":[{}\n]}}\n", features.join(","))
}

/// RFC 7946 and design, section 5: the text does not depend on batches or threads.
#[test]
fn values_match_serde_json_on_any_number_of_threads() {
    for (seed, rows) in [vec![0], vec![1], vec![5_000], vec![3, 0, 2_500, 1, 1_024, 1_025]].iter().enumerate() {
        let layer = layer(rows, seed as u64);
        let expected = expected(&layer);
        for threads in [1, 2, 5] {
            assert!(written(&layer, threads) == expected, "{rows:?} rows on {threads} threads");
        }
        let parsed: serde_json::Value = serde_json::from_str(&expected).unwrap();
        assert_eq!(parsed["features"].as_array().unwrap().len(), layer.len());
    }
}

/// A broken geometry is an error with its record number in the layer.
#[test]
fn broken_geometry_is_an_error_with_its_record() {
    let mut layer = layer(&[2_000, 700], 3);
    let batch = &layer.batches[1];
    let broken: LargeBinaryArray = (0..700).map(|row| (row >= 650).then_some([1_u8, 1])).collect();
    let mut columns = batch.columns().to_vec();
    columns[7] = Arc::new(broken);
    layer.batches[1] = RecordBatch::try_new(batch.schema(), columns).unwrap();
    for threads in [1, 2] {
        let error = layer.write_features(&Target::AsIs, threads, &Cancel::default(), &mut |_| Ok(())).unwrap_err();
        assert_eq!(error.facts().record, Some(2_650), "{threads} threads");
    }
}

/// Bounded memory: steps are small for records of any size.
#[test]
fn steps_have_few_bytes() {
    let long = "x".repeat(300_000);
    let texts: LargeStringArray = (0..100).map(|row| Some(if row % 2 == 0 { long.as_str() } else { "" })).collect();
    let schema = Arc::new(Schema::new(vec![Field::new("T", DataType::LargeUtf8, true)]));
    let batch = RecordBatch::try_new(schema, vec![Arc::new(texts)]).unwrap();
    let batches = [batch];
    let steps = split_steps(&batches);
    assert!(steps.iter().all(|step| step.batch.num_rows() <= 7), "three long texts are a step");
    assert_eq!(steps.iter().map(|step| step.batch.num_rows()).sum::<usize>(), 100);
}
