//! Tests reading the dataset: rows, columns, boxes and damage.

use std::fs;

use headland::error::{Kind, Result};
use headland::layer::Cancel;
use headland::mirror::dataset::{Dataset, Selection};

use crate::support::{Farm, points};

/// Three jobs of 40 points, each a degree further east.
fn farm() -> Farm {
    let mut farm = Farm::new();
    for number in 0..3 {
        farm.put(&format!("{number}"), &points(40, (f64::from(number) - 100.0, 45.0), number));
    }
    farm.publish();
    farm
}

/// The columns and the number of rows of a selection.
fn read(dataset: &Dataset, selection: &Selection) -> Result<(Vec<String>, usize)> {
    let scan = dataset.scan(selection, &Cancel::default())?;
    let batches = scan.read(&Cancel::default())?;
    assert!(batches.iter().all(|batch| batch.schema() == scan.schema()));
    let columns = scan.schema().fields().iter().map(|field| field.name().clone()).collect();
    Ok((columns, batches.iter().map(arrow_array::RecordBatch::num_rows).sum()))
}

#[test]
fn scan_returns_selected_rows_and_columns() {
    let farm = farm();
    let dataset = Dataset::open(farm.folder.path()).unwrap();
    let (columns, rows) = read(&dataset, &Selection::default()).unwrap();
    assert_eq!(columns[..5], ["job_type", "year", "job_id", "layer", "job_row"]);
    assert_eq!((columns.last().map(String::as_str), rows), (Some("geometry"), 120));
    let bbox = Some([-99.1, 44.0, -98.9, 46.0]);
    assert_eq!(read(&dataset, &Selection { bbox, ..Selection::default() }).unwrap(), (columns.clone(), 40));
    let years = Some(vec![1999]);
    assert_eq!(read(&dataset, &Selection { years, ..Selection::default() }).unwrap(), (columns, 0));
    let chosen = Selection { columns: Some(vec!["Track".to_owned()]), ..Selection::default() };
    assert_eq!(read(&dataset, &chosen).unwrap(), (vec!["Track".to_owned(), "geometry".to_owned()], 120));
    let unknown = Selection { columns: Some(vec!["track".to_owned()]), ..Selection::default() };
    assert_eq!(read(&dataset, &unknown).unwrap_err().kind(), Kind::Value);
}

#[test]
fn changed_byte_of_a_part_is_an_error_for_scan_and_views() {
    let farm = farm();
    let dataset = Dataset::open(farm.folder.path()).unwrap();
    let names = dataset.view_names().unwrap();
    assert_eq!(dataset.view_statements(&names, None, &Cancel::default()).unwrap().len(), names.len());
    let [path] = &farm.files()[..] else { panic!("one part") };
    let mut content = fs::read(path).unwrap();
    content[100] ^= 1;
    fs::write(path, content).unwrap();
    let scanned = read(&dataset, &Selection::default()).unwrap_err();
    let viewed = dataset.view_statements(&names, None, &Cancel::default()).unwrap_err();
    for error in [scanned, viewed] {
        assert_eq!(error.kind(), Kind::Archive);
        assert!(error.message().contains("is damaged (bytes 0 to "), "{error}");
    }
}
