//! Tests which column a map shows by default.

#![allow(clippy::unwrap_used, reason = "a test says what it expects by unwrapping")]

use std::sync::Arc;

use arrow_array::{ArrayRef, Float64Array, Int32Array, LargeStringArray, RecordBatch, StructArray};

use crate::maps::shown_column::map_column;
use headland_reader::layer::Layer;

fn numbers(values: &[f64]) -> ArrayRef {
    Arc::new(Float64Array::from(values.to_vec()))
}

fn integers(values: &[i32]) -> ArrayRef {
    Arc::new(Int32Array::from(values.to_vec()))
}

fn texts(values: &[&str]) -> ArrayRef {
    Arc::new(LargeStringArray::from(values.to_vec()))
}

/// The name of the column that a map of these columns shows.
fn shown(columns: Vec<(&str, ArrayRef)>) -> Option<String> {
    let batch = RecordBatch::try_from_iter(columns).unwrap();
    let layer = Layer::from_table("test", &StructArray::from(batch.clone()), None, &[], Vec::new()).unwrap();
    map_column(&layer).map(|index| batch.schema().field(index).name().clone())
}

#[test]
fn rate_is_shown_and_no_id() {
    let ids = || integers(&[1, 2, 3]);
    for name in ["N", "N2", "Nitrogen", "Tgt_Rate_g", "vrappratev", "seedrate", "POPULATION"] {
        assert_eq!(shown(vec![("id", ids()), (name, numbers(&[40.0, 80.0, 80.0]))]).as_deref(), Some(name));
    }
    // A uniform rate is still the rate, but an unused one is not.
    assert_eq!(shown(vec![("id", ids()), ("rate", numbers(&[40.0; 3]))]).as_deref(), Some("rate"));
    assert_eq!(shown(vec![("id", ids()), ("rate", numbers(&[0.0; 3]))]), None);
}

#[test]
fn yield_is_preferred_to_flow_and_dry_mass_to_wet() {
    let varied = || numbers(&[1.0, 2.0, 2.0]);
    let names = ["Elevation_", "Moisture__", "Crop_Flw_M", "Yld_Mass_W", "Yld_Mass_D", "Yld_Vol_Dr"];
    let columns = || names.iter().map(|name| (*name, varied())).collect::<Vec<_>>();
    assert_eq!(shown(columns()).as_deref(), Some("Yld_Mass_D"));
    assert_eq!(shown(columns().into_iter().take(3).collect()).as_deref(), Some("Crop_Flw_M"));
    assert_eq!(shown(columns().into_iter().take(1).collect()).as_deref(), Some("Elevation_"));
    let rates = vec![("TargetRate", numbers(&[5.0; 3])), ("AppliedRate", varied())];
    assert_eq!(shown(rates).as_deref(), Some("AppliedRate"));
}

#[test]
fn ids_years_and_coordinates_are_never_shown() {
    let columns: Vec<(&str, ArrayRef)> = vec![
        ("id", numbers(&[1.0, 2.0, 2.0])),
        ("Obj__Id", integers(&[1, 5, 5])),
        ("OBJECTID_1", integers(&[1, 5, 5])),
        ("year", integers(&[2024, 2025, 2025])),
        ("x", numbers(&[1.5, 2.5, 2.5])),
        ("lat", numbers(&[1.5, 2.5, 2.5])),
        ("utm_x", numbers(&[1.5, 2.5, 2.5])),
        ("Easting", numbers(&[1.5, 2.5, 2.5])),
        ("gps_tim", numbers(&[1.5, 2.5, 2.5])),
        ("Serial", integers(&[7, 8, 8])),
        ("row", integers(&[11, 12, 13])),
        ("name", texts(&["a", "a", "a"])),
    ];
    assert_eq!(shown(columns), None);
}

#[test]
fn other_columns_of_many_languages_are_never_shown() {
    let names = [
        "POINT_X",
        "X_COORD",
        "Xkoord",
        "Rechtswert",
        "La\u{308}nge",
        "Breitengrd",
        "широт",
        "Länge",
        "Année",
        "annee",
        "campagne",
        "anio",
        "año",
        "ano",
        "anno",
        "jaar",
        "rok",
        "år",
        "год",
        "év",
        "年份",
        "Season",
        "Erntejahr",
        "Crop_Year",
        "FieldID",
        "UserName",
        "SeedDate",
        "AppliedOn",
        "Yield_Date",
        "RateId",
        "PopYear",
        "SeedNo",
        "StrategyNo",
        "Generated",
        "lfd_Nr",
        "id_zona",
        "rownum",
        "HOUR",
        "DOY",
        "Sats",
        "GRIDCODE",
    ];
    for name in names {
        let columns = vec![(name, numbers(&[1.5, 2.5, 2.5])), ("Conduct", numbers(&[1.0, 2.5, 2.5]))];
        assert_eq!(shown(columns).as_deref(), Some("Conduct"), "{name}");
        assert_eq!(shown(vec![(name, texts(&["a", "b", "b"]))]), None, "{name}");
    }
    assert_eq!(shown(vec![("SOIL_NO3", numbers(&[1.5, 2.5, 2.5]))]).as_deref(), Some("SOIL_NO3"));
    assert_eq!(shown(vec![("Zuordnung", integers(&[2023, 2024, 2024]))]), None);
}

#[test]
fn yield_or_rate_in_many_languages_is_preferred_to_moisture_and_flow() {
    for name in [
        "Ertrag_tha",
        "ErtragNass",
        "ERTRAG_TM",
        "rendt",
        "DryYldKgHa",
        "rinde",
        "resa",
        "plon",
        "produtiv",
        "Skörd",
        "产量",
        "N_kg_ha",
        "Menge_kgha",
        "dosis",
        "Ausbringmg",
    ] {
        let columns = vec![
            ("Feuchte", numbers(&[1.0, 2.0, 2.0])),
            ("Flow", numbers(&[1.0, 2.0, 2.0])),
            (name, numbers(&[1.0, 2.0, 2.0])),
        ];
        assert_eq!(shown(columns).as_deref(), Some(name));
    }
}

#[test]
fn harmonised_layer_shows_its_canonical_column_and_no_mass_of_a_row() {
    let varied = || numbers(&[1.0, 2.0, 2.0]);
    let columns = ["DRYMATTER", "yield_wet_mass", "worked_area", "wet_mass", "dry_mass", "amount"];
    assert_eq!(shown(columns.map(|name| (name, varied())).to_vec()).as_deref(), Some("yield_wet_mass"));
    let columns = ["AppldRt", "moisture", "applied_rate"];
    assert_eq!(shown(columns.map(|name| (name, varied())).to_vec()).as_deref(), Some("applied_rate"));
}

#[test]
fn classes_are_shown_where_nothing_is_measured() {
    let zones = vec![("id", integers(&[1, 2, 3])), ("zone", integers(&[1, 2, 2]))];
    assert_eq!(shown(zones).as_deref(), Some("zone"));
    let products = vec![
        ("field", texts(&["n", "m", "m"])),
        ("note", texts(&["a", "b", "b"])),
        ("Product", texts(&["x", "y", "y"])),
    ];
    assert_eq!(shown(products).as_deref(), Some("Product"));
}
