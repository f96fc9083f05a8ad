//! Random harvests in all combinations of units: what is proven is right, or nothing is.

#![allow(
    clippy::unwrap_used,
    clippy::float_cmp,
    clippy::cast_precision_loss,
    reason = "a test says what it expects by unwrapping, and its numbers are exact"
)]

use proptest::prelude::*;

use super::column_match::Match;
use super::crops::CROPS;
use super::unit_closure::{Candidates, Harvest, prove_yield};
use super::units::Unit;

fn unit(text: &str) -> Unit {
    Unit::parse(text).unwrap()
}

fn units(texts: &[&str]) -> Vec<Unit> {
    texts.iter().map(|text| unit(text)).collect()
}

fn matched(canonical: &'static str) -> Match {
    Match { column: 0, canonical, rule: "alias", unit: None, unit_in: None, evidence: None }
}

/// A harvest in SI units: distance, wet mass flow, moisture of each row, and what the display reports.
#[derive(Clone, Debug)]
struct Case {
    rows: Vec<(f64, f64, f64)>,
    width: f64,
    flow: &'static str,
    distance: &'static str,
    swath: &'static str,
    reported: &'static str,
    interval: f64,
    has_interval: bool,
    crop: usize,
    knows_crop: bool,
    /// Percent of water that the display dries to; wet if `None`.
    dry_at: Option<f64>,
}

fn cases() -> impl Strategy<Value = Case> {
    let rows = prop::collection::vec((0.8..2.5_f64, 2.0..9.0_f64, 10.0..24.0_f64), 700..800);
    let texts = |all: &'static [&'static str]| prop::sample::select(all);
    (
        (rows, 3.0..13.0_f64, texts(&["lb/s", "kg/s", "t/h"]), texts(&["in", "ft", "m"]), texts(&["in", "ft", "m"])),
        texts(&["bu/ac", "kg/ha", "t/ha", "lb/ac"]),
        (prop::sample::select(&[1.0, 2.0][..]), any::<bool>(), 0..CROPS.len(), any::<bool>()),
        prop::option::of(prop::sample::select(&[13.0, 13.5, 14.0, 14.5, 15.5][..])),
    )
        .prop_map(
            |((rows, width, flow, distance, swath), reported, (interval, has_interval, crop, knows_crop), dry_at)| {
                Case { rows, width, flow, distance, swath, reported, interval, has_interval, crop, knows_crop, dry_at }
            },
        )
}

fn factor(from: &str, to: &str, weight: f64) -> f64 {
    unit(from).factor(unit(to), Some(weight)).unwrap()
}

proptest! {
    #[test]
    fn a_proven_unit_is_the_right_one(
        case in cases(),
        noise in 0.0..0.04_f64,
        open in prop::sample::subsequence(vec!["flow", "distance", "swath", "yield"], 0..=4),
    ) {
        let crop = &CROPS[case.crop];
        let weight = crop.kg_per_bushel();
        let column = |value: &dyn Fn(&(f64, f64, f64)) -> f64| -> Vec<f64> { case.rows.iter().map(value).collect() };
        let distance = column(&|(distance, ..)| distance / factor(case.distance, "m", weight));
        let flow = column(&|(_, flow, _)| flow / factor(case.flow, "kg/s", weight));
        let moisture = column(&|(.., moisture)| *moisture);
        let swath = vec![case.width / factor(case.swath, "m", weight); case.rows.len()];
        // Even noise without a bias.
        let mut step = 0.0_f64;
        let reported: Vec<f64> = case.rows.iter().map(|(distance, flow, moisture)| {
            step = (step + 0.618_033_988_749_894_9).fract();
            let sign = 2.0 * step - 1.0;
            let wet = flow * case.interval / (distance * case.width) * 10_000.0;
            let share = case.dry_at.map_or(1.0, |basis| (100.0 - moisture) / (100.0 - basis));
            wet * share * (1.0 + sign * noise) / factor(case.reported, "kg/ha", weight)
        }).collect();
        let interval = vec![case.interval; case.rows.len()];
        let harvest = Harvest {
            distance: Some(&distance),
            swath: Some(&swath),
            flow: Some(&flow),
            interval: case.has_interval.then_some(&*interval),
            moisture: Some(&moisture),
            reported: &reported,
            wet_mass: None,
        };
        let candidates_of = |name: &str, own: &str, all: &[&str]| if open.contains(&name) { units(all) } else { units(&[own]) };
        let candidates = Candidates {
            distances: candidates_of("distance", case.distance, &["in", "ft", "m"]),
            swaths: candidates_of("swath", case.swath, &["in", "ft", "m"]),
            flows: candidates_of("flow", case.flow, &["lb/s", "kg/s", "t/h"]),
            may_guess_interval: true,
            yields: candidates_of("yield", case.reported, &["bu/ac", "kg/ha", "t/ha", "lb/ac"]),
        };
        let mut matches = [matched("yield"), matched("distance"), matched("swath_width"), matched("flow")];
        let proven = prove_yield("yield", &harvest, &candidates, case.knows_crop.then_some(crop), &mut matches, &mut Vec::new());
        let [yields, distances, swaths, flows] = &matches;
        for (found, expected) in [(yields, case.reported), (distances, case.distance), (swaths, case.swath), (flows, case.flow)] {
            prop_assert!(found.unit.is_none_or(|found| found == unit(expected)), "{:?} is not {expected}", found.unit);
        }
        prop_assert!(proven.interval.is_none_or(|seconds| seconds == case.interval));
        prop_assert!(proven.kg_per_bushel.is_none_or(|found| case.reported != "bu/ac" || (found / weight - 1.0).abs() < 1e-9));
        prop_assert!(proven.moisture_basis.is_none_or(|found| Some(found) == case.dry_at));
        prop_assert!(yields.canonical == "yield" || yields.canonical.contains("dry") == case.dry_at.is_some(), "{}", yields.canonical);
    }

    #[test]
    fn stated_units_leave_the_basis_to_prove(case in cases()) {
        // Wetter than every market moisture, and of all moistures in between.
        let even = |index: usize| 16.0 + (index % 80) as f64 / 10.0;
        let crop = &CROPS[case.crop];
        let weight = crop.kg_per_bushel();
        let rows: Vec<(f64, f64, f64)> =
            case.rows.iter().enumerate().map(|(index, (distance, flow, _))| (*distance, *flow, even(index))).collect();
        let column = |value: &dyn Fn(&(f64, f64, f64)) -> f64| -> Vec<f64> { rows.iter().map(value).collect() };
        let reported = column(&|(distance, flow, moisture)| {
            let share = case.dry_at.map_or(1.0, |basis| (100.0 - moisture) / (100.0 - basis));
            flow / (distance * case.width) * 10_000.0 * share / factor("bu/ac", "kg/ha", weight)
        });
        let (distance, flow, moisture) = (column(&|row| row.0), column(&|row| row.1), column(&|row| row.2));
        let (swath, interval) = (vec![case.width; case.rows.len()], vec![1.0; case.rows.len()]);
        let harvest = Harvest {
            distance: Some(&distance),
            swath: Some(&swath),
            flow: Some(&flow),
            interval: Some(&interval),
            moisture: Some(&moisture),
            reported: &reported,
            wet_mass: None,
        };
        let candidates = Candidates { distances: units(&["m"]), swaths: units(&["m"]), flows: units(&["kg/s"]), yields: units(&["bu/ac"]), may_guess_interval: false };
        let mut matches = [Match { unit: Some(unit("bu/ac")), ..matched("yield") }];
        let proven = prove_yield("yield", &harvest, &candidates, Some(crop), &mut matches, &mut Vec::new());
        let expected = if case.dry_at.is_some() { "yield_dry_volume" } else { "yield_wet_volume" };
        prop_assert_eq!(matches[0].canonical, expected);
        prop_assert_eq!(proven.moisture_basis, case.dry_at);
    }
}
