//! Tests the outputs of layers: GeoJSON in WGS 84, GeoParquet 1.1, and the coordinate system of each.

use arrow_array::Array;
use arrow_array::cast::AsArray;
use headland::archive::ReadOptions;
use headland::error::Kind;
use headland::layer::crs::Crs;
use headland::layer::picture::Picture;
use headland::layer::{self, Cancel, Layer};
use parquet::arrow::arrow_reader::ParquetRecordBatchReaderBuilder;
use serde_json::{Value, json};

use crate::builder;

/// Two squares in UTM zone 12: the first with a hole, both with the ring directions of shapefiles.
fn squares(prj: Option<&str>, options: &ReadOptions) -> headland::error::Result<Layer> {
    let at = |corners: &[(f64, f64)]| -> Vec<(f64, f64)> {
        corners.iter().map(|(x, y)| (500_000.0 + x, 5_000_000.0 + y)).collect()
    };
    let outer = at(&[(0.0, 0.0), (0.0, 90.0), (90.0, 90.0), (90.0, 0.0), (0.0, 0.0)]);
    let hole = at(&[(10.0, 10.0), (20.0, 10.0), (20.0, 20.0), (10.0, 10.0)]);
    let both = [outer.clone(), hole].concat();
    let (shp, shx) = builder::shp(
        5,
        &[builder::parts(5, &[0, 5], &both), builder::parts(5, &[0], &outer), 0_i32.to_le_bytes().to_vec()],
    );
    let fields = [("RATE", b'N', 5, 1), ("WHEN", b'D', 8, 0), ("OK", b'L', 1, 0), ("NAME", b'C', 3, 0)];
    let dbf = builder::dbf(&fields, &[b"   1.520240229Ta\"b", b"  -2.5        Fabc", b"                  "], 0x57);
    let mut members: Vec<(&str, &[u8])> = vec![("t.shp", &shp), ("t.shx", &shx), ("t.dbf", &dbf)];
    members.extend(prj.map(|prj| ("t.prj", prj.as_bytes())));
    layer::read(&builder::source(builder::zip(&members)), options)
}

fn ring(feature: &Value, ring: usize) -> Vec<(f64, f64)> {
    let points = feature["geometry"]["coordinates"][ring].as_array().unwrap();
    points.iter().map(|point| (point[0].as_f64().unwrap(), point[1].as_f64().unwrap())).collect()
}

fn is_counter_clockwise(ring: &[(f64, f64)]) -> bool {
    let area: f64 = ring.windows(2).map(|pair| pair[0].0 * pair[1].1 - pair[1].0 * pair[0].1).sum();
    area > 0.0
}

#[test]
fn geojson_is_in_wgs_84_with_right_hand_rings() {
    let layer = squares(Some(builder::UTM_12), &ReadOptions::default()).unwrap();
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("t.geojson");
    layer.write_geojson(&path, false, &Cancel::default()).unwrap();
    let text = std::fs::read_to_string(&path).unwrap();
    assert_eq!(text, layer.geojson(false).unwrap());
    assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 1, "the part file is gone");
    let all: Value = serde_json::from_str(&text).unwrap();
    assert_eq!(all["type"], "FeatureCollection");
    let feature = &all["features"][0];
    assert_eq!(feature["properties"], json!({"RATE": 1.5, "WHEN": "2024-02-29", "OK": true, "NAME": "a\"b"}));
    assert_eq!(feature["geometry"]["type"], "Polygon");
    let (outer, hole) = (ring(feature, 0), ring(feature, 1));
    // The central meridian of zone 12 is at 111 W; 5,000,000 m north is at 45.15 N there.
    assert!((outer[0].0 + 111.0).abs() < 1e-9 && (outer[0].1 - 45.153).abs() < 0.01, "{outer:?}");
    let area = |ring: &[(f64, f64)]| {
        ring.windows(2)
            .map(|pair| (pair[0].0 + 111.0) * (pair[1].1 - 45.0) - (pair[1].0 + 111.0) * (pair[0].1 - 45.0))
            .sum::<f64>()
    };
    assert!(area(&outer) > 0.0, "outer rings run counter-clockwise");
    assert!(area(&hole) < 0.0, "holes run clockwise");
    assert_eq!(all["features"][2]["geometry"], Value::Null);
    assert_eq!(all["features"][2]["properties"], json!({"RATE": null, "WHEN": null, "OK": null, "NAME": null}));
}

#[test]
fn unknown_system_is_an_error_that_as_is_overrides() {
    let layer = squares(None, &ReadOptions::default()).unwrap();
    let error = layer.geojson(false).unwrap_err();
    assert!(error.message().contains("as-is"), "{error}");
    let all: Value = serde_json::from_str(&layer.geojson(true).unwrap()).unwrap();
    let outer = ring(&all["features"][1], 0);
    assert!(outer.contains(&(500_090.0, 5_000_000.0)));
    assert!(is_counter_clockwise(&outer));
}

/// [RFC 7946, section 4](https://www.rfc-editor.org/rfc/rfc7946#section-4): a coordinate is a longitude and a latitude
/// in degrees.
#[test]
fn degrees_out_of_range_are_an_error_that_as_is_overrides() {
    let layer = squares(Some(builder::WGS_84), &ReadOptions::default()).unwrap();
    let error = layer.geojson(false).unwrap_err();
    assert!(error.message().contains("not a longitude and latitude") && error.message().contains("as-is"), "{error}");
    assert_eq!(error.facts().record, Some(0));
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("t.geojson");
    assert!(layer.write_geojson(&path, false, &Cancel::default()).is_err() && !path.exists());
    assert!(layer.geojson(true).unwrap().contains("500090"));
}

#[test]
fn a_layer_can_be_read_in_wgs_84() {
    let options = ReadOptions { to_crs: Some("EPSG:4326".to_owned()), ..ReadOptions::default() };
    let layer = squares(Some(builder::UTM_12), &options).unwrap();
    assert_eq!(layer.crs().and_then(Crs::epsg), Some(4326));
    let plain = squares(Some(builder::UTM_12), &ReadOptions::default()).unwrap();
    assert_eq!(layer.geojson(true).unwrap(), plain.geojson(false).unwrap());
    let other = ReadOptions { to_crs: Some("EPSG:32612".to_owned()), ..ReadOptions::default() };
    assert_eq!(squares(Some(builder::UTM_12), &other).unwrap_err().kind(), Kind::Value);
    assert!(squares(None, &options).is_err(), "what has no system cannot be transformed");
}

fn geo(layer: &Layer) -> (Value, Vec<arrow_array::RecordBatch>) {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("t.parquet");
    layer.write_parquet(&path, &Cancel::default()).unwrap();
    let reader = ParquetRecordBatchReaderBuilder::try_new(std::fs::File::open(&path).unwrap()).unwrap();
    let pairs = reader.metadata().file_metadata().key_value_metadata().unwrap();
    let geo = pairs.iter().find(|pair| pair.key == "geo").unwrap().value.clone().unwrap();
    (serde_json::from_str(&geo).unwrap(), reader.build().unwrap().map(Result::unwrap).collect())
}

#[test]
fn geoparquet_metadata_describes_the_content() {
    let layer = squares(Some(builder::UTM_12), &ReadOptions::default())
        .unwrap()
        .with_units(&[("RATE".to_owned(), "kg/ha".to_owned())]);
    let (geo, batches) = geo(&layer);
    assert_eq!(geo["version"], "1.1.0");
    assert_eq!(geo["primary_column"], "geometry");
    let column = &geo["columns"]["geometry"];
    assert_eq!(column["encoding"], "WKB");
    assert_eq!(column["geometry_types"], json!(["Polygon"]));
    assert_eq!(column["bbox"], json!([500_000.0, 5_000_000.0, 500_090.0, 5_000_090.0]));
    assert_eq!(column["covering"]["bbox"]["xmax"], json!(["bbox", "xmax"]));
    assert_eq!(column["crs"]["type"], "ProjectedCRS");
    assert_eq!(batches[0].num_rows(), 3);
    let written = &layer.batches()[0];
    for (at, array) in written.columns().iter().enumerate() {
        assert_eq!(batches[0].column(at), array);
    }
    let unit = batches[0].schema().field(0).metadata().get("unit").cloned();
    assert_eq!(unit.as_deref(), Some("kg/ha"));
    let boxes = batches[0].column_by_name("bbox").unwrap().as_struct();
    assert!(boxes.is_null(2), "no geometry, no box");
}

#[test]
fn unknown_system_is_written_as_null_and_not_as_the_default() {
    let (geo, _) = geo(&squares(None, &ReadOptions::default()).unwrap());
    assert_eq!(geo["columns"]["geometry"].get("crs"), Some(&Value::Null));
}

#[test]
fn the_geometry_column_names_its_extension_and_its_system() {
    let layer = squares(Some(builder::UTM_12), &ReadOptions::default()).unwrap();
    let schema = layer.schema();
    let metadata = schema.field_with_name("geometry").unwrap().metadata();
    assert_eq!(metadata["ARROW:extension:name"], "geoarrow.wkb");
    let extension: Value = serde_json::from_str(&metadata["ARROW:extension:metadata"]).unwrap();
    assert_eq!(Some(&extension["crs"]), layer.crs_projjson());
    let area = layer.area(false).unwrap().unwrap();
    assert!(
        (area / (2.0 * 8100.0 - 50.0) - 1.0).abs() < 2e-3,
        "{area} m2: two squares less a triangle, at scale 0.9996"
    );
}

#[test]
fn map_shows_a_column_and_its_unit() {
    let layer = squares(Some(builder::UTM_12), &ReadOptions::default())
        .unwrap()
        .with_units(&[("RATE".to_owned(), "kg/ha".to_owned())]);
    assert!(layer.picture(None, &Picture::default()).unwrap().contains("locations of its records"));
    let picture = |name: &str| layer.picture(Some(layer.column_index("column", name)?), &Picture::default());
    let svg = picture("RATE").unwrap();
    assert!(svg.starts_with("<svg") && svg.contains("RATE") && svg.contains("kg/ha"), "{}", &svg[..300]);
    let shown = layer.schema().field(headland::agronomy::map_column(&layer).unwrap()).name().clone();
    assert_eq!(shown, "RATE");
    let coloured = layer.colours(headland::agronomy::map_column(&layer)).unwrap();
    assert!(coloured.colours.len() == layer.len() && coloured.range.is_none(), "few numbers are classes");
    assert!(layer.colours(layer.schema().index_of("geometry").ok()).is_err());
    assert!(picture("NAME").unwrap().contains("NAME"));
    assert_eq!(picture("YIELD").unwrap_err().kind(), Kind::Value);
    assert!(squares(None, &ReadOptions::default()).unwrap().picture(None, &Picture::default()).is_err());
    let as_is = Picture { as_is: true, ..Picture::default() };
    assert!(squares(None, &ReadOptions::default()).unwrap().picture(None, &as_is).is_ok());
}

#[test]
fn concurrent_writers_of_one_path_use_separate_part_files() {
    let layer = squares(Some(builder::UTM_12), &ReadOptions::default()).unwrap();
    let folder = tempfile::tempdir().unwrap();
    for (name, own) in [("t.parquet", "t.parquet.part"), ("t.geojson", "t.geojson.part")] {
        std::fs::write(folder.path().join(own), "the user's").unwrap();
        let path = folder.path().join(name);
        std::thread::scope(|scope| {
            for _ in 0..8 {
                scope.spawn(|| {
                    for _ in 0..10 {
                        if name.ends_with("parquet") {
                            layer.write_parquet(&path, &Cancel::default()).unwrap();
                        } else {
                            layer.write_geojson(&path, false, &Cancel::default()).unwrap();
                        }
                    }
                });
            }
        });
        assert_eq!(std::fs::read_to_string(folder.path().join(own)).unwrap(), "the user's");
    }
    assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 4);
    let whole = std::fs::read_to_string(folder.path().join("t.geojson")).unwrap();
    assert_eq!(whole, layer.geojson(false).unwrap());
}

#[test]
fn cancelled_writers_replace_nothing_and_leave_no_file() {
    let layer = squares(Some(builder::UTM_12), &ReadOptions::default()).unwrap();
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("t");
    std::fs::write(&path, "before").unwrap();
    let cancel = Cancel::default();
    cancel.cancel();
    for written in [layer.write_parquet(&path, &cancel), layer.write_geojson(&path, false, &cancel)] {
        assert!(written.unwrap_err().message().contains("cancelled"));
    }
    assert_eq!(std::fs::read_to_string(&path).unwrap(), "before");
    assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 1);
}

/// Design, section 5, and the `no data` of shapefiles: an X or Y that is below -1e38 or no number is no location. It is
/// in no box, bound or area and on no map; the rest of the layer is unchanged.
#[test]
fn no_data_is_in_no_bound_no_area_and_no_map() {
    let (west, south) = (500_000.0, 5_000_000.0);
    let square =
        [(west, south), (west, south + 90.0), (west + 90.0, south + 90.0), (west + 90.0, south), (west, south)];
    let read = |kind: i32, records: &[Vec<u8>], options: &ReadOptions| {
        let (shp, shx) = builder::shp(kind, records);
        let rows: Vec<&[u8]> = records.iter().map(|_| &b"   1.5"[..]).collect();
        let dbf = builder::dbf(&[("RATE", b'N', 5, 1)], &rows, 0x57);
        let members: [(&str, &[u8]); 4] =
            [("t.shp", &shp), ("t.shx", &shx), ("t.dbf", &dbf), ("t.prj", builder::UTM_12.as_bytes())];
        layer::read(&builder::source(builder::zip(&members)), options).unwrap()
    };
    for odd in [-1.7e308, -1e39, f64::NAN, f64::INFINITY] {
        let mut dented = square.to_vec();
        dented.insert(2, (odd, odd));
        let layer =
            read(5, &[builder::parts(5, &[0], &square), builder::parts(5, &[0], &dented)], &ReadOptions::default());
        let area = layer.area(false).unwrap().unwrap();
        assert!((area / (2.0 * 8100.0) - 1.0).abs() < 2e-3, "{odd}: {area} m2");
        let (geo, _) = geo(&layer);
        assert_eq!(geo["columns"]["geometry"]["bbox"], json!([west, south, west + 90.0, south + 90.0]), "{odd}");
        assert!(layer.picture(None, &Picture::default()).unwrap().contains("2 of 2 polygons"), "{odd}");

        let points = [builder::point(west, south), builder::point(odd, south), builder::point(west + 90.0, odd)];
        let layer = read(1, &points, &ReadOptions::default());
        let (geo, batches) = self::geo(&layer);
        assert_eq!(geo["columns"]["geometry"]["bbox"], json!([west, south, west, south]), "{odd}");
        let boxes = batches[0].column_by_name("bbox").unwrap();
        assert_eq!([0, 1, 2].map(|row| boxes.is_null(row)), [false, true, true], "{odd}");
        let svg = layer.picture(None, &Picture::default()).unwrap();
        assert!(svg.contains("1 of 1 points"), "{odd}: {svg}");
        let all: Value = serde_json::from_str(&layer.geojson(false).unwrap()).unwrap();
        let placed = [0, 1, 2].map(|row| all["features"][row]["geometry"].is_object());
        assert_eq!(placed, [true, false, false], "{odd}");

        // After a transformation to WGS 84 it is still no location.
        let options = ReadOptions { to_crs: Some("EPSG:4326".to_owned()), ..ReadOptions::default() };
        let moved = read(1, &points, &options);
        assert_eq!(moved.geojson(false).unwrap(), layer.geojson(false).unwrap(), "{odd}");
    }
}

#[test]
fn prj_with_an_epsg_code_is_that_system_if_it_is_known() {
    let (shp, shx) = builder::shp(1, &[builder::point(15.0, 50.0)]);
    let read = |prj: &str| {
        let members: [(&str, &[u8]); 3] = [("t.shp", &shp), ("t.shx", &shx), ("t.prj", prj.as_bytes())];
        layer::read(&builder::source(builder::zip(&members)), &ReadOptions::default()).unwrap()
    };
    let codes =
        |layer: &Layer| -> Vec<&'static str> { layer.diagnostics().iter().map(|note| note.code.as_str()).collect() };
    for (prj, code, name) in [
        ("EPSG:4326", 4326, "WGS 84"),
        ("epsg:32633\r\n", 32_633, "EPSG:32633"),
        ("urn:ogc:def:crs:EPSG::3857", 3857, "WGS 84 / Pseudo-Mercator"),
        ("urn:ogc:def:crs:EPSG:9.1:25832", 25_832, "EPSG:25832"),
        ("EPSG:2225", 2225, "EPSG:2225"),
        ("EPSG:5070", 5070, "EPSG:5070"),
        ("EPSG:27700", 27_700, "EPSG:27700"),
        ("EPSG:28992", 28_992, "EPSG:28992"),
        ("EPSG:2056", 2056, "EPSG:2056"),
        ("EPSG:3035", 3035, "EPSG:3035"),
    ] {
        let layer = read(prj);
        assert_eq!((layer.crs().and_then(Crs::epsg), layer.crs().unwrap().name()), (Some(code), name), "{prj}");
        assert!(codes(&layer).contains(&"crs-by-code") && !codes(&layer).contains(&"crs-unknown"), "{prj}");
        assert!(layer.crs().unwrap().projjson().is_some() && layer.crs().unwrap().to_wgs84().is_ok(), "{prj}");
    }
    for prj in ["EPSG:99999", "EPSG:", "EPSG:4326 or so"] {
        let layer = read(prj);
        assert!(layer.crs().is_none() && layer.crs().and_then(Crs::epsg).is_none(), "{prj}");
        assert!(codes(&layer).contains(&"crs-unknown") && !codes(&layer).contains(&"crs-by-code"), "{prj}");
    }
    assert_eq!(read("EPSG:99999").crs_wkt(), None, "an unknown code does not look like a known one");
}
