//! Units: spellings and factors against exact fractions of the definitions.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "a test says what it expects by unwrapping")]

use headland::agronomy::{CROPS, Crop, Mismatch, System, Unit};

fn unit(text: &str) -> Unit {
    Unit::parse(text).unwrap_or_else(|| panic!("`{text}` is a unit"))
}

fn factor(from: &str, to: &str) -> f64 {
    unit(from).factor(unit(to), None).unwrap()
}

fn assert_close(value: f64, expected: f64, what: &str) {
    assert!((value / expected - 1.0).abs() < 1e-12, "{what}: {value} is not {expected}");
}

/// From, to, and the factor as numerator and denominator, from the definitions: 1 in = 254/10000 m, 1 lb =
/// 45359237/10^8 kg, 1 US gal = 231 in3, 1 US bu = 2150.42 in3, 1 ac = 43560 ft2, 1 nmi = 1852 m.
const FACTORS: &[(&str, &str, u128, u128)] = &[
    ("in", "m", 254, 10_000),
    ("ft", "m", 3_048, 10_000),
    ("yd", "m", 9_144, 10_000),
    ("mi", "m", 1_609_344, 1_000),
    ("ac", "m2", 43_560 * 3_048 * 3_048, 10_000 * 10_000),
    ("ha", "m2", 10_000, 1),
    ("ft2", "m2", 3_048 * 3_048, 100_000_000),
    ("lb", "kg", 45_359_237, 100_000_000),
    ("oz", "kg", 45_359_237, 1_600_000_000),
    ("cwt", "kg", 4_535_923_700, 100_000_000),
    ("ton", "kg", 90_718_474_000, 100_000_000),
    ("t", "kg", 1_000, 1),
    ("gal", "L", 231 * 254 * 254 * 254, 1_000_000_000),
    ("qt", "L", 231 * 254 * 254 * 254, 4_000_000_000),
    ("pt", "L", 231 * 254 * 254 * 254, 8_000_000_000),
    ("fl oz", "L", 231 * 254 * 254 * 254, 128_000_000_000),
    ("imp gal", "L", 454_609, 100_000),
    ("bu", "L", 215_042 * 254 * 254 * 254, 100_000_000_000),
    ("m3", "L", 1_000, 1),
    ("mph", "m/s", 1_609_344, 3_600_000),
    ("km/h", "m/s", 10, 36),
    ("kn", "m/s", 1_852, 3_600),
    ("ft/s", "m/s", 3_048, 10_000),
    ("lb/s", "kg/s", 45_359_237, 100_000_000),
    ("t/h", "kg/s", 10, 36),
    ("lb/ac", "kg/ha", 45_359_237 * 100_000_000, 43_560 * 3_048 * 3_048 * 10_000),
    ("ton/ac", "kg/ha", 2_000 * 45_359_237 * 100_000_000, 43_560 * 3_048 * 3_048 * 10_000),
    ("seeds/ac", "seeds/ha", 10_000 * 100_000_000, 43_560 * 3_048 * 3_048),
    ("gal/ac", "L/ha", 231 * 254 * 254 * 254 * 1_000, 43_560 * 3_048 * 3_048),
    ("bu/ac", "m3/ha", 215_042 * 254 * 254 * 254, 43_560 * 3_048 * 3_048 * 100),
    ("lbf", "N", 44_482_216_152_605, 10_000_000_000_000),
    ("dt", "kg", 100, 1),
    ("hL", "L", 100, 1),
    ("bar", "kPa", 100, 1),
    ("psi", "kPa", 44_482_216_152_605 * 100_000, 10_000_000_000_000 * 254 * 254),
    ("ksds", "seeds", 1_000, 1),
];

#[test]
#[expect(clippy::cast_precision_loss, reason = "a fraction of exact integers, rounded twice")]
fn factors_are_those_of_the_definitions() {
    for (from, to, numerator, denominator) in FACTORS {
        let expected = *numerator as f64 / *denominator as f64;
        assert_close(factor(from, to), expected, &format!("{from} to {to}"));
        assert_close(factor(to, from), 1.0 / expected, &format!("{to} to {from}"));
    }
}

#[test]
fn factors_are_the_published_ones() {
    let published = [
        ("lb/ac", "kg/ha", 1.120_851_156_194_456),
        ("ton/ac", "kg/ha", 2_241.702_312_388_912),
        ("gal/ac", "L/ha", 9.353_956_228_956_228),
        ("fl oz/ac", "L/ha", 0.073_077_783_038_7),
        ("seeds/ac", "seeds/ha", 2.471_053_814_671_653),
        ("bu/ac", "m3/ha", 0.087_077_638_761_4),
    ];
    for (from, to, expected) in published {
        assert!((factor(from, to) / expected - 1.0).abs() < 2e-12, "{from} to {to}");
    }
}

#[test]
fn bushels_convert_to_masses_with_the_weight_of_a_bushel_alone() {
    assert_eq!(unit("bu/ac").factor(unit("kg/ha"), None), Err(Mismatch::BushelWeight));
    assert_eq!(unit("t/ha").factor(unit("bu/ac"), None), Err(Mismatch::BushelWeight));
    let published = [
        ("corn", 62.767_665),
        ("soybean", 67.251_069),
        ("wheat", 67.251_069),
        ("barley", 53.800_855),
        ("oats", 35.867_237),
        ("canola", 56.042_558),
    ];
    for (name, expected) in published {
        let weight = Crop::find(name).unwrap().kg_per_bushel();
        let factor = unit("bu/ac").factor(unit("kg/ha"), weight).unwrap();
        assert!((factor - expected).abs() < 5e-7, "{name}: {factor}");
        let back = unit("kg/ha").factor(unit("bu/ac"), weight).unwrap();
        assert_close(factor * back, 1.0, name);
        // A volume of grain has the mass of its bushels.
        let volume = unit("m3/ha").factor(unit("kg/ha"), weight).unwrap();
        assert_close(volume * self::factor("bu/ac", "m3/ha"), factor, name);
    }
}

#[test]
fn liquids_and_masses_do_not_mix() {
    for (from, to) in [("gal/ac", "kg/ha"), ("L", "kg"), ("kg/ha", "kg"), ("m/s", "m"), ("%", "deg"), ("kg/s", "kg/ha")]
    {
        assert_eq!(unit(from).factor(unit(to), Some(25.4)), Err(Mismatch::Quantity), "{from} to {to}");
    }
}

/// Spellings of displays, vendors' metadata and the field, and the one that headland writes.
const SPELLINGS: &[(&str, &str)] = &[
    ("bu1ac-1", "bu/ac"),
    ("lb1ac-1", "lb/ac"),
    ("seeds1ac-1", "seeds/ac"),
    ("kg1ha-1", "kg/ha"),
    ("km1hr-1", "km/h"),
    ("mi1hr-1", "mph"),
    ("m1s-1", "m/s"),
    ("prcnt", "%"),
    ("arcdeg", "deg"),
    ("(tonne/ha)", "t/ha"),
    ("tonne/h", "t/h"),
    ("tonnes per hectare", "t/ha"),
    ("kg ha-1", "kg/ha"),
    ("kg\u{b7}ha\u{207b}\u{b9}", "kg/ha"),
    ("kg ha^-1", "kg/ha"),
    ("LB/S", "lb/s"),
    ("lbs/sec", "lb/s"),
    ("Inches", "in"),
    ("M\u{b2}", "m2"),
    ("m3ha-1", "m3/ha"),
    ("floz/ac", "fl oz/ac"),
    ("Bushels/Acre", "bu/ac"),
    ("ton1ac-1", "US ton/ac"),
    ("us ton/ha", "US ton/ha"),
    ("kmh", "km/h"),
    ("knots", "kn"),
    ("Mg/ha", "t/ha"),
    ("Mg ha-1", "t/ha"),
    ("dt/ha", "dt/ha"),
    ("q/ha", "dt/ha"),
    ("qq/ha", "dt/ha"),
    ("quintaux/hectare", "dt/ha"),
    ("hl/ha", "hL/ha"),
    ("lt/ha", "L/ha"),
    ("l/ha", "L/ha"),
    ("tn/ha", "t/ha"),
    ("gpa", "gal/ac"),
    ("gal/acre", "gal/ac"),
    ("bu/acre", "bu/ac"),
    ("bushels per acre", "bu/ac"),
    ("lbs/ac", "lb/ac"),
    ("pounds/acre", "lb/ac"),
    ("kg.ha-1", "kg/ha"),
    ("tonnes/hectare", "t/ha"),
    ("seeds/acre", "seeds/ac"),
    ("ksds/ac", "ksds/ac"),
    ("1000 seeds/ac", "ksds/ac"),
    ("psi", "psi"),
    ("kPa", "kPa"),
    ("bar", "bar"),
    ("buac", "bu/ac"),
    ("tha", "t/ha"),
];

#[test]
fn spellings_of_vendors_are_one_unit_each() {
    for (text, expected) in SPELLINGS {
        let unit = unit(text);
        assert_eq!(unit.to_string(), *expected, "{text}");
        assert_eq!(Unit::parse(&unit.to_string()).map(|again| again.to_string()), Some((*expected).to_owned()));
    }
}

#[test]
fn texts_that_are_no_unit_or_several_are_none() {
    let texts = [
        "", "unknown", "mg/ha", "ton/ha", "tons/h", "kg/", "/ha", "kg/ha/s", "ha-1", "kg2ha-1", "bu1ac-2", "kg ha",
        "mg/l", "1", "-", "bushelz",
    ];
    for text in texts {
        assert_eq!(Unit::parse(text).map(|unit| unit.to_string()), None, "`{text}`");
    }
}

#[test]
fn systems_have_a_unit_for_every_rate() {
    let rates = [
        ("lb/ac", "kg/ha", "lb/ac"),
        ("t/ha", "kg/ha", "lb/ac"),
        ("bu/ac", "m3/ha", "bu/ac"),
        ("m3/ha", "m3/ha", "bu/ac"),
        ("fl oz/ac", "L/ha", "gal/ac"),
        ("seeds/ac", "seeds/ha", "seeds/ac"),
        ("mph", "m/s", "mph"),
        ("t/h", "kg/s", "lb/s"),
        ("in", "m", "ft"),
        ("ha", "m2", "ac"),
        ("bu", "m3", "bu"),
        ("lbf", "N", "lbf"),
    ];
    for (text, metric, us) in rates {
        let of = |system| unit(text).in_system(system).map(|unit| unit.to_string());
        assert_eq!((of(System::Metric).as_deref(), of(System::Us).as_deref()), (Some(metric), Some(us)), "{text}");
    }
    // What the systems do not name stays as it is.
    assert_eq!(unit("ac/h").in_system(System::Metric), None);
    assert_eq!(unit("%").in_system(System::Us), None);
}

#[test]
fn names_of_crops_are_unique() {
    let mut names: Vec<&str> =
        CROPS.iter().flat_map(|crop| [crop.name].into_iter().chain(crop.other_names.split(", "))).collect();
    let count = names.len();
    names.sort_unstable();
    names.dedup();
    assert_eq!(names.len(), count);
}

/// Names of crops on displays, in sidecars and in farm software.
const CROP_NAMES: &[(&str, &[&str])] = &[
    ("barley", &["Spring Barley", "BARLEY_MALTING", "Wintergerste", "orge", "Cebada", "cevada", "Orge d'hiver"]),
    ("bean", &["Beans", "BEANS_EDIBLE", "Pinto Beans", "haricots", "Feij\u{e3}o", "frijoles"]),
    ("canola", &["Canola", "oilseed rape", "Winterraps", "Colza", "Rapeseed"]),
    (
        "corn",
        &["Corn - Grain", "Corn (Yellow)", " Ma\u{ef}s ", "MAIZE", "K\u{f6}rnermais", "milho", "ma\u{ed}z", "CORN_WET"],
    ),
    ("faba bean", &["Faba Beans", "Ackerbohnen", "F\u{e9}verole"]),
    ("flax", &["Flax", "Flaxseed", "linseed", "Lein", "lin", "Linha\u{e7}a"]),
    ("lentil", &["LENTILS", "Red Lentils", "Linsen", "lentilles", "lenteja"]),
    ("oats", &["Oats", "oat", "Hafer", "avoine", "avena", "aveia"]),
    ("pea", &["Peas", "Field Peas", "Yellow Peas", "Erbsen", "pois", "guisantes", "ervilha"]),
    ("potato", &["Potatoes", "Kartoffeln", "pommes de terre", "papas"]),
    ("rice", &["RICE_LONG", "Rough Rice", "paddy", "Reis", "riz", "arroz"]),
    ("rye", &["Rye", "Winter Rye", "Winterroggen", "seigle", "centeno", "centeio"]),
    ("seed cotton", &["Cotton", "Seed cotton", "Baumwolle", "algod\u{e3}o"]),
    ("sorghum", &["Sorghum", "Grain sorghum", "Milo", "sorgo"]),
    ("soybean", &["SOYBEANS-RR", "Soybeans", "soja", "Sojabohnen", "Soya Beans"]),
    ("sugar beet", &["SUGAR_BEET", "Sugarbeets", "Zuckerr\u{fc}ben", "betterave sucri\u{e8}re"]),
    ("sunflower", &["SUNFLOWER_OIL", "Sunflowers", "tournesol", "Sonnenblumen", "girassol"]),
    ("triticale", &["Triticale", "Wintertriticale"]),
    (
        "wheat",
        &[
            "Wheat (Hrd Rd Wtr)",
            "WHEAT_HRD_RD_SPR",
            "Winterweizen",
            "Durum",
            "bl\u{e9} tendre",
            "Spring Wheat",
            "trigo",
        ],
    ),
];

#[test]
fn names_of_crops_mean_one_crop_each() {
    for (crop, names) in CROP_NAMES {
        assert!(CROPS.iter().any(|known| known.name == *crop));
        for name in names.iter().chain([crop]) {
            assert_eq!(Crop::find(name).map(|found| found.name), Some(*crop), "{name}");
        }
    }
    assert_eq!(CROPS.len(), CROP_NAMES.len());
}

#[test]
fn other_plants_and_uses_are_no_crop_of_the_table() {
    let names = [
        "",
        "clover",
        "Maize silage",
        "Corn Silage",
        "Silomais",
        "Ma\u{ef}s ensilage",
        "Sweet corn",
        "Popcorn",
        "Ear corn",
        "Green beans",
        "Vining peas",
        "Wheat straw",
        "grain",
        "winter",
        "Barley silage",
        "1",
        "corn soybeans",
        "Cottonwood",
    ];
    for name in names {
        assert_eq!(Crop::find(name).map(|crop| crop.name), None, "{name}");
    }
}

/// Pounds in a bushel and percent of water, as the sources of the table print them.
#[test]
fn weights_and_moistures_are_those_of_the_sources() {
    let printed = [
        ("barley", 48.0, 14.5),
        ("bean", 60.0, 15.0),
        ("canola", 50.0, 10.0),
        ("corn", 56.0, 15.5),
        ("faba bean", 60.0, 16.0),
        ("flax", 56.0, 10.0),
        ("lentil", 60.0, 14.0),
        ("oats", 32.0, 14.0),
        ("pea", 60.0, 16.0),
        ("rice", 45.0, 12.0),
        ("rye", 56.0, 14.0),
        ("sorghum", 56.0, 14.0),
        ("soybean", 60.0, 13.0),
        ("sunflower", 24.0, 10.0),
        ("triticale", 50.0, 14.0),
        ("wheat", 60.0, 13.5),
    ];
    for crop in CROPS {
        let expected = printed.iter().find(|(name, ..)| *name == crop.name);
        let found = crop.pounds_per_bushel.zip(crop.market_moisture);
        assert_eq!(found, expected.map(|(_, pounds, moisture)| (*pounds, *moisture)), "{}", crop.name);
    }
}
