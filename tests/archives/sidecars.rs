//! Tests sidecars of shapefiles: their statements are on the layer, their content is kept, and damage is a diagnostic.

use headland::archive::{ReadOptions, Source};
use headland::layer::{self, Layer};

use crate::builder;
use crate::support::codes;

const JSON: &str = r#"{"Version":"1.0","Operation":{"Crop":"Oats"},"DataAttributes":[{"Name":"rate","Unit":"lb1ac-1","Description":"Rate applied"},{"Name":"GONE","Unit":"ft"}]}"#;

const XML: &str = "<?xml version=\"1.0\" encoding=\"ISO-8859-1\"?><metadata><eainfo><detailed>\
    <attr><attrlabl>RATE</attrlabl><attrdef>other</attrdef><attrdomv><rdom><attrunit>kg/ha</attrunit></rdom></attrdomv></attr>\
    <attr><attrlabl Sync='TRUE'>NAME</attrlabl><attrdef>Who drove</attrdef></attr>\
    </detailed></eainfo></metadata>";

fn members<'a>(sidecars: &[(&'a str, &[u8])]) -> Vec<(&'a str, Vec<u8>)> {
    let dbf = builder::dbf(&[("RATE", b'N', 5, 1), ("NAME", b'C', 4, 0)], &[b"   1.5one "], 0);
    let mut all = builder::files(builder::shp(1, &[builder::point(10.0, 50.0)]), dbf);
    all.extend(sidecars.iter().map(|(name, bytes)| (*name, bytes.to_vec())));
    all
}

fn read(sidecars: &[(&str, &[u8])], options: &ReadOptions) -> Layer {
    layer::read(&builder::source(builder::zip(&builder::lend(&members(sidecars)))), options).unwrap()
}

fn description(layer: &Layer, column: &str) -> Option<String> {
    layer.schema().field_with_name(column).unwrap().metadata().get("description").cloned()
}

fn unit(layer: &Layer) -> Option<String> {
    layer.units().into_iter().find(|(name, _)| name == "RATE").map(|(_, unit)| unit)
}

#[test]
fn vendor_json_gives_units_and_is_kept_complete() {
    let layer = read(&[("T-DEERE-metadata.JSON", JSON.as_bytes())], &ReadOptions::default());
    assert_eq!(unit(&layer).as_deref(), Some("lb/ac"));
    assert_eq!(description(&layer, "RATE").as_deref(), Some("Rate applied"));
    assert_eq!(codes(&layer), ["units-unmatched"]);
    let metadata = layer.metadata();
    assert_eq!(metadata[0], ("Version".to_owned(), "1.0".to_owned()));
    assert_eq!(metadata[1], ("Operation".to_owned(), r#"{"Crop":"Oats"}"#.to_owned()));
    assert!(metadata[2].1.contains("Rate applied"), "{metadata:?}");
    assert!(layer.schema().metadata()["headland.metadata"].contains("Oats"), "the Arrow schema carries it");
    let columns = Some(vec!["NAME".to_owned()]);
    let subset =
        read(&[("t-Deere-Metadata.json", JSON.as_bytes())], &ReadOptions { columns, ..ReadOptions::default() });
    assert!(subset.diagnostics().is_empty(), "columns that were not requested are not missing: {:?}", codes(&subset));
}

#[test]
fn shapefile_metadata_gives_units_and_is_kept_complete() {
    let layer = read(&[("t.SHP.xml", XML.as_bytes())], &ReadOptions::default());
    assert_eq!(unit(&layer).as_deref(), Some("kg/ha"));
    assert_eq!(description(&layer, "NAME").as_deref(), Some("Who drove"));
    assert_eq!(layer.metadata(), [("shp.xml".to_owned(), XML.to_owned())]);
    assert!(layer.diagnostics().is_empty());
    let both =
        read(&[("t.shp.xml", XML.as_bytes()), ("t-Deere-Metadata.json", JSON.as_bytes())], &ReadOptions::default());
    assert_eq!(unit(&both).as_deref(), Some("lb/ac"), "the vendor's word comes first");
    assert_eq!(both.metadata().len(), 4);
}

#[test]
fn sidecars_are_read_in_their_own_encoding() {
    let utf16 = |text: &str, little: bool, mark: bool| -> Vec<u8> {
        let bytes = |unit: u16| if little { unit.to_le_bytes() } else { unit.to_be_bytes() };
        mark.then_some(0xFEFF).into_iter().chain(text.encode_utf16()).flat_map(bytes).collect()
    };
    let json = JSON.replace("Oats", "Wintergerste, 6-zeilig · früh").replace("Rate applied", "Größe");
    let xml = "<?xml version=\"1.0\" encoding=\"cp1252\"?><metadata><attr><attrlabl>RATE</attrlabl>\
        <attrdef>Menge · 5 €</attrdef></attr></metadata>";
    let cp1252 = |text: &str| encoding_rs::WINDOWS_1252.encode(text).0.into_owned();
    let crop = |layer: &Layer| layer.metadata().iter().find(|(key, _)| key == "Operation").unwrap().1.clone();
    for (little, mark) in [(true, true), (false, true), (true, false), (false, false)] {
        let layer = read(&[("t-Deere-Metadata.json", &utf16(&json, little, mark))], &ReadOptions::default());
        assert_eq!((description(&layer, "RATE").as_deref(), codes(&layer)), (Some("Größe"), vec!["units-unmatched"]));
        assert!(crop(&layer).contains("früh"), "{:?}", layer.metadata());
        let layer = read(&[("t.shp.xml", &utf16(xml, little, mark))], &ReadOptions::default());
        assert_eq!(layer.metadata(), [("shp.xml".to_owned(), xml.to_owned())]);
    }
    let marked = [b"\xEF\xBB\xBF", json.as_bytes()].concat();
    assert_eq!(codes(&read(&[("t-Deere-Metadata.json", &marked)], &ReadOptions::default())), ["units-unmatched"]);
    let layer = read(&[("t.shp.xml", &cp1252(xml))], &ReadOptions::default());
    assert_eq!(description(&layer, "RATE").as_deref(), Some("Menge · 5 €"));
    assert_eq!((layer.metadata(), codes(&layer)), (&[("shp.xml".to_owned(), xml.to_owned())][..], vec![]));
    // JSON cannot declare another encoding than UTF-8, so this is reported.
    let layer = read(&[("t-Deere-Metadata.json", &cp1252(&json))], &ReadOptions::default());
    assert_eq!((crop(&layer).contains("früh"), unit(&layer).as_deref()), (true, Some("lb/ac")));
    assert_eq!(codes(&layer), ["text-recoded", "units-unmatched"]);
    assert_eq!(layer.diagnostics()[0].member.as_deref(), Some("t-Deere-Metadata.json"));
    let undeclared = cp1252("<metadata><a>\u{20ac}</a></metadata>");
    assert_eq!(codes(&read(&[("t.shp.xml", &undeclared)], &ReadOptions::default())), ["sidecar-lost"]);
}

#[test]
fn sidecars_of_a_loose_file_are_found_and_indices_are_not_reported() {
    let folder = tempfile::tempdir().unwrap();
    let others: [(&str, &[u8]); 6] = [
        ("t.shp.xml", XML.as_bytes()),
        ("T-deere-metadata.json", JSON.as_bytes()),
        ("t.qpj", b"x"),
        ("t.qix", b"x"),
        ("t.sbn", b"x"),
        ("other.shp.xml", b"<broken"),
    ];
    for (name, bytes) in members(&others) {
        std::fs::write(folder.path().join(name), bytes).unwrap();
    }
    for path in [folder.path().join("t.shp"), folder.path().to_owned()] {
        let layer = layer::read(&Source::Path(path), &ReadOptions::default()).unwrap();
        assert_eq!((codes(&layer), layer.metadata().len()), (vec!["units-unmatched"], 4));
    }
}

#[test]
fn damaged_sidecar_is_a_diagnostic_with_and_without_strict() {
    let large = vec![b' '; 5 << 20];
    let cases: [(&str, &[u8], &str); 5] = [
        ("t-Deere-Metadata.json", b"<html>", "metadata-ignored"),
        ("t-Deere-Metadata.json", b"[1]", "metadata-ignored"),
        ("t-Deere-Metadata.json", &large, "sidecar-lost"),
        ("t.shp.xml", b"<metadata>", "sidecar-lost"),
        ("t.shp.xml", b"<!DOCTYPE a [<!ENTITY b 'c'>]><a>&b;</a>", "sidecar-lost"),
    ];
    for (name, bytes, code) in cases {
        for strict in [true, false] {
            let layer = read(&[(name, bytes)], &ReadOptions { strict, ..ReadOptions::default() });
            assert_eq!((layer.len(), codes(&layer)), (1, vec![code]), "{name}");
            assert_eq!(layer.diagnostics()[0].member.as_deref(), Some(name));
        }
    }
}

#[test]
fn dbf_alone_is_a_layer_without_geometry() {
    let dbf = builder::dbf(&[("RATE", b'N', 5, 1), ("NAME", b'C', 4, 0)], &[b"   1.5one "], 0);
    let zip = builder::zip(&[("x/t.dbf", &dbf), ("x/t-Deere-Metadata.json", JSON.as_bytes())]);
    let source = builder::source(zip);
    assert_eq!(layer::layers(&source, &ReadOptions::default()).unwrap(), ["t"]);
    let columns = Some(vec!["RATE".to_owned()]);
    for (columns, count) in [(None, 2), (columns, 1)] {
        let layer = layer::read(&source, &ReadOptions { columns, ..ReadOptions::default() }).unwrap();
        assert_eq!((layer.len(), layer.schema().fields().len(), layer.geometry_column()), (1, count, None));
        assert_eq!(unit(&layer).as_deref(), Some("lb/ac"), "a sidecar belongs to a table, too");
        assert!(layer.crs().is_none() && layer.area(false).unwrap().is_none());
    }
}

#[test]
fn units_of_truncated_column_names_come_from_the_only_matching_attribute() {
    let units = |fields: &[&str], attributes: &[(&str, &str)]| {
        let (shp, shx) = builder::shp(1, &[builder::point(10.0, 50.0)]);
        let described: Vec<builder::Field<'_>> = fields.iter().map(|name| (*name, b'N', 3, 0)).collect();
        let record = [b" ".to_vec(), b"  1".repeat(fields.len())].concat();
        let dbf = builder::dbf(&described, &[&record], 0);
        let attribute = |(name, unit): &(&str, &str)| format!(r#"{{"Name":"{name}","Unit":"{unit}"}}"#);
        let attributes: Vec<String> = attributes.iter().map(attribute).collect();
        let json = format!(r#"{{"DataAttributes":[{}]}}"#, attributes.join(","));
        let members: [(&str, &[u8]); 5] = [
            ("t.shp", &shp),
            ("t.shx", &shx),
            ("t.dbf", &dbf),
            ("t.prj", builder::WGS_84.as_bytes()),
            ("t-Deere-Metadata.json", json.as_bytes()),
        ];
        let layer = layer::read(&builder::source(builder::zip(&members)), &ReadOptions::default()).unwrap();
        let message = |found: &headland::layer::Diagnostic| format!("{}: {}", found.code.as_str(), found.message);
        let messages: Vec<String> = layer.diagnostics().iter().map(message).collect();
        (layer.units(), messages.join("\n"))
    };
    let pair = |name: &str, unit: &str| (name.to_owned(), unit.to_owned());
    let (found, messages) = units(&["SWATHWI", "DISTANCE"], &[("SWATHWIDTH", "ft"), ("DISTANCE", "m")]);
    assert_eq!(found, [pair("SWATHWI", "ft"), pair("DISTANCE", "m")]);
    assert!(messages.contains("units-by-cut-name") && messages.contains("`SWATHWI` from `SWATHWIDTH`"), "{messages}");
    assert!(!messages.contains("units-unmatched"), "{messages}");
    // Two attributes begin with it; an attribute has two columns; the attribute has a column of its own; the name is
    // too short.
    for (fields, attributes) in [
        (&["SWATHWI"][..], &[("SWATHWIDTH", "ft"), ("SWATHWIDTH2", "m")][..]),
        (&["SWATHWI", "SWATHWID"], &[("SWATHWIDTH", "ft")]),
        (&["SPEED"], &[("SPEEDLIMIT", "km/h")]),
    ] {
        let (found, messages) = units(fields, attributes);
        assert!(found.is_empty() && messages.contains("units-unmatched"), "{fields:?}: {found:?}, {messages}");
    }
    let (found, _) = units(&["SWATHWI", "SWATHWIDTH"], &[("SWATHWIDTH", "ft")]);
    assert_eq!(found, [pair("SWATHWIDTH", "ft")], "the attribute has a column of its own name");
}
