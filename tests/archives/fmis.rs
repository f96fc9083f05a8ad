//! Tests FMIS folders: rows, totals and units equal the shapefile of the job, and messages about damaged folders are
//! clear.

use std::collections::BTreeMap;
use std::io::Read as _;

use arrow_array::cast::AsArray;
use arrow_array::types::{Float64Type, Int32Type, Int64Type, TimestampMicrosecondType};
use arrow_array::{Array, RecordBatch};
use arrow_schema::{DataType, TimeUnit};
use headland::archive::{ReadOptions, Source};
use headland::error::{Error, Kind};
use headland::layer::crs::Crs;
use headland::layer::{self, Layer};
use headland::sandbox::fields::{Coverage, HarvestStyle, Job, generate_account};

use crate::builder;
use crate::support::{self, codes};

/// The numbers of a column; `None` where it holds none.
fn numbers(batch: &RecordBatch, name: &str) -> Option<Vec<Option<f64>>> {
    let column = batch.column_by_name(name)?;
    match column.data_type() {
        DataType::Int32 => Some(column.as_primitive::<Int32Type>().iter().map(|cell| cell.map(f64::from)).collect()),
        #[expect(clippy::cast_precision_loss, reason = "the numbers of a field are small")]
        DataType::Int64 => {
            Some(column.as_primitive::<Int64Type>().iter().map(|cell| cell.map(|value| value as f64)).collect())
        }
        DataType::Float64 => Some(column.as_primitive::<Float64Type>().iter().collect()),
        _ => None,
    }
}

fn fmis(zip: Vec<u8>) -> Layer {
    layer::read(&builder::source(zip), &ReadOptions::default()).unwrap()
}

fn shapefile(job: &Job) -> Layer {
    let layer = Some(job.truth().unwrap().layer);
    let options = ReadOptions { layer, ..ReadOptions::default() };
    layer::read(&builder::source(job.shapefile_zip().unwrap()), &options).unwrap()
}

/// Every kind of job on every display; of each the smallest.
fn jobs() -> Vec<Job> {
    let mut kinds: BTreeMap<(String, String), (u64, Job)> = BTreeMap::new();
    for job in
        generate_account(0, HarvestStyle::Ideal).jobs.into_iter().filter(|job| job.coverage == Coverage::Recorded)
    {
        let computer = job.detail.get("field_computer_id").unwrap().as_text().unwrap().to_owned();
        let rows = job.truth().unwrap().rows;
        let kind = (job.sub_type.clone(), computer);
        if kinds.get(&kind).is_none_or(|(least, _)| rows < *least) {
            kinds.insert(kind, (rows, job));
        }
    }
    kinds.into_values().map(|(_, job)| job).collect()
}

/// Any one job.
fn any_job() -> Job {
    generate_account(0, HarvestStyle::Ideal)
        .jobs
        .into_iter()
        .find(|job| job.sub_type == "Planter" && job.coverage == Coverage::Recorded)
        .unwrap()
}

#[test]
fn fmis_and_shp_of_one_job_have_equal_rows_totals_and_units_4_4() {
    let jobs = jobs();
    assert!(jobs.len() >= 9, "{} kinds of jobs", jobs.len());
    for job in jobs {
        let truth = job.truth().unwrap();
        let (own, shp) = (fmis(job.fmis_zip().unwrap()), shapefile(&job));
        assert_eq!(own.len(), shp.len(), "{}", job.name);
        let (batch, other) = (&own.batches()[0], &shp.batches()[0]);
        let mut compared = 0;
        for (name, unit, sum) in &truth.totals {
            let found = numbers(batch, name);
            let found = found.unwrap_or_else(|| panic!("{}: no column {name}", job.name));
            assert_eq!(Some(&found), numbers(other, name).as_ref(), "{}: {name}", job.name);
            let total: f64 = found.iter().flatten().sum();
            assert!((total - sum).abs() <= sum.abs() * 1e-9 + 1e-6, "{}: {name}: {total} and {sum}", job.name);
            let stated =
                |layer: &Layer| layer.units().into_iter().find(|(known, _)| known == name).map(|(_, unit)| unit);
            assert_eq!(stated(&own), stated(&shp), "{}: {name}", job.name);
            assert!(stated(&own).is_none_or(|found| &found == unit), "{}: {name}", job.name);
            compared += 1;
        }
        assert!(compared >= 8, "{}", job.name);
        // The shapefile stores the same times in whole seconds.
        let times = batch.column_by_name("TIMESTAMP").unwrap();
        assert_eq!(times.data_type(), &DataType::Timestamp(TimeUnit::Microsecond, Some("UTC".into())));
        let times = times.as_primitive::<TimestampMicrosecondType>();
        let clocks = other.column_by_name("TIME").unwrap().as_string::<i64>();
        let second = |row: usize| {
            let rounded = times.value(row).checked_add(500_000).unwrap() / 1_000_000;
            chrono::DateTime::from_timestamp(rounded, 0).unwrap().format("%H:%M:%S").to_string()
        };
        let equal = (0..own.len()).filter(|row| second(*row) == clocks.value(*row)).count();
        // Half a second may be rounded either way.
        assert!(equal * 50 >= own.len() * 49, "{}: {equal} of {} times", job.name, own.len());
        assert_eq!(own.crs().and_then(Crs::epsg), Some(4326));
        assert_eq!(own.geometries().flatten().count(), own.len(), "{}", job.name);
        let id = own.metadata().iter().find(|(key, _)| key == "ID").unwrap();
        assert_eq!(id.1, job.id);
    }
}

#[test]
fn point_is_the_centre_of_the_machine() {
    let job = any_job();
    let own = fmis(job.fmis_zip().unwrap());
    let batch = &own.batches()[0];
    let (longitude, latitude) = (numbers(batch, "LONGITUDE").unwrap(), numbers(batch, "LATITUDE").unwrap());
    for (row, wkb) in own.geometries().enumerate() {
        let expected =
            [&[1, 1, 0, 0, 0][..], &longitude[row].unwrap().to_le_bytes(), &latitude[row].unwrap().to_le_bytes()];
        assert_eq!(wkb.unwrap(), expected.concat());
    }
}

/// The members of a zip, with their names changed.
fn moved(zip: &[u8], name: impl Fn(&str) -> String) -> Vec<(String, Vec<u8>)> {
    let mut archive = zip::ZipArchive::new(std::io::Cursor::new(zip)).unwrap();
    (0..archive.len())
        .map(|at| {
            let mut member = archive.by_index(at).unwrap();
            let mut bytes = Vec::new();
            member.read_to_end(&mut bytes).unwrap();
            (name(member.name()), bytes)
        })
        .collect()
}

fn zipped(members: &[(String, Vec<u8>)]) -> Vec<u8> {
    builder::zip(&builder::lend(members))
}

#[test]
fn fmis_folder_is_found_at_any_depth_in_any_case_and_inside_a_bin() {
    let job = any_job();
    let zip = job.fmis_zip().unwrap();
    let expected = fmis(zip.clone());
    let loud = moved(&zip, str::to_uppercase);
    let deep = moved(&zip, |name| format!("a/b/c d/{name}"));
    let flat = moved(&zip, |name| name.rsplit('/').next().unwrap().to_owned());
    let mut display = moved(&zip, str::to_owned);
    display.push(("job/job.log".to_owned(), vec![1, 2, 3]));
    display.push(("TASKDATA/TASKDATA.XML".to_owned(), b"<ISO11783_TaskData/>".to_vec()));
    for members in [&loud, &deep, &flat, &display] {
        assert_eq!(fmis(zipped(members)).batches(), expected.batches());
    }
    let nested = builder::zip(&[("job.zip", &zip)]);
    assert_eq!(fmis(nested).batches(), expected.batches());
    let folder = tempfile::tempdir().unwrap();
    for (name, bytes) in &flat {
        std::fs::write(folder.path().join(name), bytes).unwrap();
    }
    for path in [folder.path().to_owned(), folder.path().join("Product_1.tab"), folder.path().join("advanced.xml")] {
        let layer = layer::read(&Source::Path(path), &ReadOptions::default()).unwrap();
        assert_eq!(layer.batches(), expected.batches());
        assert_eq!(layer.name(), "Product_1");
    }
}

/// A small folder: the seven usual columns, and two sections with a rate.
fn small(tab: &str) -> Vec<(String, Vec<u8>)> {
    let section = |number: &str| {
        format!(
            "<EquipmentSection><Number>{number}</Number><DDI><Code>6</Code><Name>RATE</Name><Unit>kg/ha</Unit></DDI>\
             <DDI Code=\"201\"/></EquipmentSection>"
        )
    };
    let layout = format!("<Advanced><SegmentFormat>{}{}</SegmentFormat></Advanced>", section("1"), section("4"));
    vec![
        ("x_fmis/advanced.xml".to_owned(), layout.into_bytes()),
        ("x_fmis/Product_1.tab".to_owned(), tab.as_bytes().to_vec()),
        ("x_fmis/jobdata.xml".to_owned(), b"<JobData><ID>7</ID></JobData>".to_vec()),
    ]
}

fn read(members: &[(String, Vec<u8>)], strict: bool) -> Result<Layer, Error> {
    support::read(&zipped(members), strict)
}

const HEAD: &str = "2026-06-12T07:31:04Z\t45.5\t-98.25\t400.5\t2\t";

#[test]
fn types_of_cells_follow_the_layout_alone() {
    let tab = format!("1\t{HEAD}8\t10\t7\t11.5\t\r\n2\t{HEAD}\t\t\t12\t3\r\n3\t{HEAD}9\t\t\t\t\n");
    let layer = read(&small(&tab), true).unwrap();
    let batch = &layer.batches()[0];
    let names: Vec<&str> = batch.schema_ref().fields().iter().map(|field| field.name().as_str()).collect();
    let leading = ["ID", "TIMESTAMP", "LATITUDE", "LONGITUDE", "ELEVATION", "DISTANCE", "SPEED"];
    assert_eq!(names, [&leading[..], &["SECTION", "RATE", "DDI_201", "geometry"]].concat());
    assert_eq!(numbers(batch, "ID").unwrap(), [Some(1.0), Some(1.0), Some(2.0)]);
    assert_eq!(numbers(batch, "SECTION").unwrap(), [Some(1.0), Some(4.0), Some(4.0)]);
    assert_eq!(numbers(batch, "RATE").unwrap(), [Some(10.0), Some(11.5), Some(12.0)]);
    assert_eq!(numbers(batch, "DDI_201").unwrap(), [Some(7.0), None, Some(3.0)]);
    assert_eq!(numbers(batch, "SPEED").unwrap(), [Some(8.0), Some(8.0), None]);
    assert_eq!(batch.column_by_name("DDI_201").unwrap().data_type(), &DataType::Int64, "integers stay integers");
    assert_eq!(layer.units(), [("RATE".to_owned(), "kg/ha".to_owned())]);
    let ddi = |name: &str| batch.schema_ref().field_with_name(name).unwrap().metadata().get("ddi").cloned();
    assert_eq!((ddi("RATE").as_deref(), ddi("DDI_201").as_deref()), (Some("6"), Some("201")));
    assert_eq!(codes(&layer), ["step-without-values"], "a step in which every section was off");
}

#[test]
fn reordered_extra_and_duplicate_columns_are_read() {
    let layout = "<a:Advanced xmlns:a='x'><a:segmentformat>\
        <EquipmentSection Number='2'><ddi><code>1</code><name>SPEED</name></ddi></EquipmentSection>\
        <Column Name='Longitude'/><Column Name='Latitude'/><Column><Name>Operator</Name></Column>\
        <Column><Name>Speed</Name><Unit>km/h</Unit></Column><Column><Name>Time Stamp</Name></Column>\
        </a:segmentformat></a:Advanced>";
    let tab = "4.5\t-98\t45\tJo\u{eb}l\t8\t2026-06-12 07:31:04.5\n\t-98\t45\tA\t8\t\n5\t-98\t45\tA\tfast\tnoon";
    let members = [
        ("ADVANCED.XML".to_owned(), layout.as_bytes().to_vec()),
        ("product_1.TAB".to_owned(), tab.as_bytes().to_vec()),
    ];
    let layer = read(&members, true).unwrap();
    let batch = &layer.batches()[0];
    assert_eq!(numbers(batch, "SPEED").unwrap(), [Some(4.5), Some(5.0)], "that of the section keeps the name");
    assert_eq!(numbers(batch, "STEP_Speed").unwrap(), [Some(8.0), None]);
    assert_eq!(batch.column_by_name("Operator").unwrap().as_string::<i64>().value(0), "Joël");
    let times = batch.column_by_name("Time Stamp").unwrap();
    assert_eq!(times.data_type(), &DataType::Timestamp(TimeUnit::Microsecond, None), "the file states no zone");
    let times = times.as_primitive::<TimestampMicrosecondType>();
    assert_eq!((times.value(0), times.is_null(1)), (1_781_249_464_500_000, true));
    let found = codes(&layer);
    for code in ["renamed-column", "no-zone", "bad-time", "bad-number", "step-without-values"] {
        assert!(found.contains(&code), "{code} in {found:?}");
    }
}

#[test]
fn several_products_are_several_layers() {
    let row = format!("1\t{HEAD}8\t10\t7\t\t\n");
    let mut members = small(&row);
    for number in [10, 2] {
        members.push((format!("x_fmis/Product_{number}.tab"), row.repeat(number).into_bytes()));
    }
    let source = builder::source(zipped(&members));
    assert_eq!(layer::layers(&source, &ReadOptions::default()).unwrap(), ["Product_1", "Product_2", "Product_10"]);
    let error = layer::read(&source, &ReadOptions::default()).unwrap_err();
    assert!(error.message().contains("has 3 layers"), "{error}");
    let options = ReadOptions { layer: Some("Product_10".to_owned()), ..ReadOptions::default() };
    assert_eq!(layer::read(&source, &options).unwrap().len(), 10);
}

#[test]
fn selected_columns_keep_the_geometry() {
    let columns = |names: &[&str]| {
        let columns = Some(names.iter().map(|name| (*name).to_owned()).collect());
        let zip = zipped(&small(&format!("1\t{HEAD}8\t10\t7\t11.5\t\n")));
        layer::read(&builder::source(zip), &ReadOptions { columns, ..ReadOptions::default() })
    };
    let layer = columns(&["RATE", "SECTION"]).unwrap();
    let names: Vec<String> = layer.schema().fields().iter().map(|field| field.name().clone()).collect();
    assert_eq!(names, ["SECTION", "RATE", "geometry"]);
    assert_eq!(layer.geometries().flatten().count(), 2);
    let error = columns(&["YIELD"]).unwrap_err();
    assert_eq!((error.kind(), error.facts().field.as_deref()), (Kind::Value, Some("YIELD")));
}

#[test]
fn record_that_contradicts_its_layout_is_an_error_with_its_position() {
    let good = format!("1\t{HEAD}8\t10\t7\t11.5\t\n");
    for (bad, what) in [("2\t2026", "2 cells"), (&*format!("{}\t9\n", good.trim_end_matches('\n')), "12 cells")] {
        let next = good.replacen('1', "2", 1);
        let members = small(&format!("{good}{next}{bad}"));
        let error = read(&members, true).unwrap_err();
        assert_eq!(error.kind(), Kind::Archive);
        let facts = error.facts();
        assert_eq!(facts.member.as_deref(), Some("x_fmis/Product_1.tab"));
        assert_eq!((facts.record, facts.offset), (Some(2), Some(2 * good.len() as u64)), "{error}");
        assert!(error.message().contains(what) && error.message().contains("11"), "{error}");
        let layer = read(&members, false).unwrap();
        assert_eq!(layer.len(), 4, "two sections of two records");
        assert_eq!(codes(&layer), ["fmis-damaged"]);
        assert_eq!(layer.diagnostics()[0].record, Some(2));
    }
    let blank_after = small(&format!("{}\t \t\r\n", good.trim_end_matches('\n')));
    assert_eq!(codes(&read(&blank_after, true).unwrap()), ["trailing-tab"]);
}

#[test]
fn damaged_layout_is_an_error_and_damaged_job_a_diagnostic() {
    let good = format!("1\t{HEAD}8\t10\t7\t11.5\t\n");
    let mut members = small(&good);
    members[2].1 = b"<JobData><ID>31</ID><Name>".to_vec();
    let layer = read(&members, true).unwrap();
    assert_eq!((layer.len(), codes(&layer)), (2, vec!["sidecar-lost"]));
    members[0].1.truncate(80);
    let error = read(&members, true).unwrap_err();
    assert_eq!(error.facts().member.as_deref(), Some("x_fmis/advanced.xml"));
    assert!(error.message().contains("line 1"), "{error}");
    members[0].1 = b"<Advanced/>".to_vec();
    assert!(read(&members, true).unwrap_err().message().contains("SegmentFormat"));
    members.remove(0);
    let error = read(&members, true).unwrap_err();
    assert!(error.message().contains("parts of an FMIS folder") && error.message().contains("advanced.xml"), "{error}");
}

#[test]
fn endless_line_uses_bounded_memory() {
    let mut members = small("");
    members[1].1 = vec![b'1'; 8 << 20];
    let error = read(&members, true).unwrap_err();
    assert!(error.message().contains("longer than"), "{error}");
}

#[test]
fn bin_without_readable_files_is_an_error_that_lists_its_content_4_4() {
    let display = generate_account(0, HarvestStyle::Ideal)
        .jobs
        .iter()
        .find(|job| job.coverage == Coverage::Recorded)
        .unwrap()
        .display_zip()
        .unwrap();
    let error = layer::read(&builder::source(display), &ReadOptions::default()).unwrap_err();
    for word in ["manifest.txt", "job.log", "proprietary format of the display", "request the format SHP"] {
        assert!(error.message().contains(word), "{word} in {error}");
    }
    let iso = builder::zip(&[
        ("TASKDATA/TASKDATA.XML", b"<ISO11783_TaskData/>"),
        ("TASKDATA/TLG00001.BIN", &[0]),
        ("rx/map.bin", &[0]),
        ("notes.xml", b"<a/>"),
    ]);
    let error = layer::read(&builder::source(iso), &ReadOptions::default()).unwrap_err();
    for word in ["ISOXML", "TASKDATA/TASKDATA.XML", "prescriptions", "rx/map.bin", "hl.read_tree", "format SHP"] {
        assert!(error.message().contains(word), "{word} in {error}");
    }
}

#[test]
fn table_truncated_at_a_line_or_cell_end_is_reported() {
    let row = |id: u32| format!("{id}\t{HEAD}8\t10\t7\t11.5\t44\n");
    let whole: String = (1..=20).map(row).collect();
    assert!(read(&small(&whole), true).unwrap().diagnostics().is_empty());
    let holed: String = (1..=20).filter(|id| !(5..9).contains(id)).map(row).collect();
    let twice: String = [1, 2, 2, 3].map(row).concat();
    for (tab, code) in
        [(&*holed, "id-jump"), (&twice, "id-jump"), (&whole[..whole.len() - 2], "no-line-end"), ("", "no-records")]
    {
        assert_eq!(codes(&read(&small(tab), true).unwrap()), [code]);
    }
    let mut nameless = small(&whole);
    nameless.pop();
    assert_eq!(codes(&read(&nameless, true).unwrap()), ["no-jobdata"]);
}

#[test]
fn damaged_folders_are_read_or_refused_and_lose_no_rows_in_silence() {
    let row = |id: u32| format!("{id}\t{HEAD}8\t10\t7\t11.5\t44\n");
    let members = small(&(1..=20).map(row).collect::<String>());
    let mut rng = fastrand::Rng::with_seed(11);
    let (mut equal, mut reported, mut refused) = (0, 0, 0);
    for _ in 0..600 {
        let mut members = members.clone();
        let bytes = &mut members[rng.usize(..2)].1;
        for _ in 0..rng.usize(1..4) {
            let at = rng.usize(..bytes.len());
            match rng.u8(..3) {
                0 => bytes[at] ^= 1 << rng.u8(..8),
                1 => bytes[at] = rng.u8(..),
                _ => drop(bytes.drain(at..(at + rng.usize(..9)).min(bytes.len()))),
            }
        }
        for strict in [true, false] {
            match read(&members, strict) {
                Ok(layer) if layer.diagnostics().is_empty() => {
                    assert_eq!(layer.len(), 40, "rows are gone without a word");
                    equal += 1;
                }
                Ok(_) => reported += 1,
                Err(error) => {
                    assert_eq!(error.kind(), Kind::Archive, "{error}");
                    refused += 1;
                }
            }
        }
    }
    println!("fmis: {equal} read, {reported} with a diagnostic, {refused} refused");
    assert!(equal > 50 && reported > 50 && refused > 50);
}
