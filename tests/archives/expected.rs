//! Compares one layer with its expected reading in the corpus: digests, counts, sums and extremes, with deviations
//! undone.

use arrow_array::{Array, ArrayRef};
use headland::layer::Layer;
use headland::layer::crs::Crs;
use serde_json::Value;

use crate::canonical_text;
use crate::corpus::Set;
use crate::raw_dbf::Raw;
use crate::{oracle, oracle_shapes, wkb};

/// Compares everything; a difference is undone and listed as a deviation, or it is a fault.
pub(crate) fn compare(
    layer: &Layer,
    expected: &Value,
    set: &Set,
    deviations: &mut Vec<String>,
    faults: &mut Vec<String>,
) {
    let rows = usize::try_from(expected["row_count"].as_u64().unwrap()).unwrap();
    if layer.len() != rows {
        faults.push(format!("{} rows, not {rows}", layer.len()));
        return;
    }
    // The reader states only certain codes; GDAL also guesses from the name and the numbers.
    if let (Some(code), Some(theirs)) = (layer.crs().and_then(Crs::epsg), expected["crs"].as_str())
        && theirs.starts_with("EPSG:")
        && theirs != format!("EPSG:{code}")
    {
        faults.push(format!("EPSG:{code}, not {theirs}"));
    }
    let batch = &layer.batches()[0];
    let schema = layer.schema();
    let columns: Vec<(&str, &ArrayRef)> = schema
        .fields()
        .iter()
        .zip(batch.columns())
        .map(|(field, array)| (field.name().as_str(), array))
        .filter(|(name, _)| Some(*name) != layer.geometry_column())
        .collect();
    let wanted = expected["columns"].as_array().unwrap();
    let names: Vec<&str> = columns.iter().map(|(name, _)| *name).collect();
    let wanted_names: Vec<&str> = wanted.iter().map(|column| column["name"].as_str().unwrap()).collect();
    if names != wanted_names {
        faults.push(format!("columns {names:?}, not {wanted_names:?}"));
        return;
    }
    for (position, ((name, array), wanted)) in columns.iter().zip(wanted).enumerate() {
        let found = differences(array, wanted);
        if found.is_empty() {
            continue;
        }
        let digest = wanted["sha256"].as_str().unwrap();
        match Raw::of(set, expected).and_then(|raw| oracle::column(layer, name, array, &raw, position, digest)) {
            Ok(codes) => deviations.push(format!("column `{name}` {codes}")),
            Err(why) => faults.push(format!("column `{name}`: {}; {why}", found.join(", "))),
        }
    }
    geometry(layer, expected, set, deviations, faults);
}

/// Differences between a column and its expectation.
pub(crate) fn differences(array: &ArrayRef, wanted: &Value) -> Vec<String> {
    let mut found = Vec::new();
    let mut check = |what: &str, mine: String, theirs: String| {
        if mine != theirs {
            found.push(format!("{what} {mine}, not {theirs}"));
        }
    };
    let kind = canonical_text::type_name(array.data_type());
    check("type", kind.to_owned(), wanted["arrow_type"].as_str().unwrap().to_owned());
    check("nulls", array.null_count().to_string(), wanted["null_count"].to_string());
    check("count", array.len().to_string(), wanted["count"].to_string());
    check("sha256", canonical_text::sha256(array), wanted["sha256"].as_str().unwrap().to_owned());
    let lines = |value: &Value| match value {
        Value::String(text) => text.clone(),
        Value::Number(number) if kind == "double" => canonical_text::repr(number.as_f64().unwrap()),
        other => other.to_string(),
    };
    if let Some((sum, smallest, largest)) = canonical_text::summary(array) {
        for (what, mine) in [("sum", sum), ("min", smallest), ("max", largest)] {
            // The corpus does not store a sum of no values for every type.
            if let (Some(mine), Some(theirs)) = (mine, wanted.get(what).filter(|value| !value.is_null())) {
                check(what, mine, lines(theirs));
            }
        }
    }
    found
}

fn geometry(layer: &Layer, expected: &Value, set: &Set, deviations: &mut Vec<String>, faults: &mut Vec<String>) {
    let column = layer.geometry_column().and_then(|name| layer.batches()[0].column_by_name(name));
    let wanted = &expected["geometry"];
    match (column, wanted.as_object()) {
        (None, None) => {}
        (Some(column), Some(_)) => {
            let mine: Vec<Option<Vec<u8>>> = layer.geometries().map(|wkb| wkb.map(<[u8]>::to_vec)).collect();
            assert_eq!(mine.iter().filter(|wkb| wkb.is_none()).count(), column.null_count());
            let found = wkb::differences(&mine, wanted);
            if found.is_empty() {
                return;
            }
            match oracle_shapes::geometries(layer, &mine, &set.path) {
                Ok((theirs, codes)) => {
                    let left = wkb::differences(&theirs, wanted);
                    if left.is_empty() {
                        deviations.push(format!("geometry {codes}"));
                    } else {
                        faults.push(format!("geometry, with {codes} undone: {}", left.join(", ")));
                    }
                }
                Err(why) => faults.push(format!("geometry: {}; {why}", found.join(", "))),
            }
        }
        // GDAL shows no geometry where every shape is null.
        (Some(column), None) if column.null_count() == column.len() => {}
        (mine, theirs) => faults.push(format!("a geometry column: {}, not {}", mine.is_some(), theirs.is_some())),
    }
}
