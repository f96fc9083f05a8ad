//! Tests inferred units on random harvests in all combinations of units: each is right or left open.

#![allow(
    clippy::unwrap_used,
    clippy::float_cmp,
    clippy::cast_precision_loss,
    reason = "a test says what it expects by unwrapping, and its numbers are exact"
)]

use proptest::prelude::*;

use crate::columns::crops::{CROPS, Crop};
use crate::columns::matching::Match;
use crate::columns::unit_inference::{Candidates, Harvest, prove_yield};
use headland_reader::layer::units::Unit;

fn unit(text: &str) -> Unit {
    Unit::parse(text).unwrap()
}

fn units(texts: &[&str]) -> Vec<Unit> {
    texts.iter().map(|text| unit(text)).collect()
}

fn matched(canonical: &'static str) -> Match {
    Match { column: 0, canonical, rule: "alias", unit: None, unit_in: None, evidence: None }
}

/// A random harvest in SI units, and how a display logs it.
#[derive(Clone, Debug)]
struct Case {
    /// Distance, wet mass flow and moisture of each row.
    rows: Vec<(f64, f64, f64)>,
    width: f64,
    units: [&'static str; 4],
    interval: f64,
    has_interval: bool,
    crop: &'static Crop,
    knows_crop: bool,
    /// Percent of water that the display dries to, and whether it dries wetter grain only; wet if `None`.
    dried: Option<(f64, bool)>,
    noise: f64,
    is_open: [bool; 4],
}

/// Columns whose unit can be open.
const COLUMNS: [&str; 4] = ["flow", "distance", "swath_width", "yield"];
/// Units that the proof considers for each.
const UNITS: [&[&str]; 4] =
    [&["lb/s", "kg/s", "t/h"], &["in", "ft", "m"], &["in", "ft", "m"], &["bu/ac", "m3/ha", "kg/ha", "t/ha", "lb/ac"]];

/// A sequence of random numbers (splitmix64).
struct Draw(u64);

impl Draw {
    fn bits(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mixed = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }

    fn share(&mut self) -> f64 {
        (self.bits() >> 11) as f64 / 2_f64.powi(53)
    }

    fn below(&mut self, limit: usize) -> usize {
        usize::try_from(self.bits() % limit as u64).unwrap()
    }

    fn within(&mut self, least: f64, most: f64) -> f64 {
        least + (most - least) * self.share()
    }

    fn is_true(&mut self) -> bool {
        self.share() < 0.5
    }

    fn pick<T: Copy>(&mut self, of: &[T]) -> T {
        of[self.below(of.len())]
    }

    fn case(&mut self) -> Case {
        let crop = self.pick(&CROPS.iter().collect::<Vec<_>>());
        let interval = self.pick(&[1.0, 2.0]);
        let width = self.within(3.0, 13.0);
        let (mean, spread) = (self.within(2_000.0, 14_000.0), self.within(0.1, 0.5));
        let (middle, range) = (self.within(8.0, 26.0), self.within(0.0, 6.0));
        let rows = (0..300 + self.below(500)).map(|_| {
            let distance = self.within(0.8, 2.5) * interval;
            let wet = mean * (1.0 + spread * self.within(-1.0, 1.0));
            (distance, wet * distance * width / 10_000.0 / interval, middle + range * self.within(-1.0, 1.0))
        });
        let rows = rows.collect();
        let moistures: Vec<f64> =
            CROPS.iter().filter_map(|crop| crop.market_moisture).chain([13.5, 14.0, 15.0]).collect();
        let any = self.pick(&moistures);
        let basis = if self.is_true() { crop.market_moisture.unwrap_or(any) } else { any };
        let where_wetter = self.is_true();
        let yields = if crop.pounds_per_bushel.is_some() { UNITS[3] } else { &UNITS[3][2..] };
        Case {
            rows,
            width,
            units: [self.pick(UNITS[0]), self.pick(UNITS[1]), self.pick(UNITS[2]), self.pick(yields)],
            interval,
            has_interval: self.is_true(),
            crop,
            knows_crop: self.is_true(),
            dried: (self.share() < 0.7).then_some((basis, where_wetter)),
            noise: self.within(0.0, 0.04),
            is_open: [self.is_true(), self.is_true(), self.is_true(), self.is_true()],
        }
    }
}

fn factor(from: &str, to: &str, weight: Option<f64>) -> f64 {
    unit(from).factor(unit(to), weight).unwrap()
}

impl Case {
    /// The share of the wet mass that the display reports of a row.
    fn share(&self, moisture: f64) -> f64 {
        self.dried.map_or(1.0, |(basis, where_wetter)| {
            let share = (100.0 - moisture) / (100.0 - basis);
            if where_wetter { share.min(1.0) } else { share }
        })
    }

    /// Proves the open units. Whether all were found; an error for one that is wrong.
    fn prove(&self) -> Result<bool, String> {
        let weight = self.crop.kg_per_bushel();
        let [flow_unit, distance_unit, swath_unit, yield_unit] = self.units;
        let column = |value: &dyn Fn(&(f64, f64, f64)) -> f64| -> Vec<f64> { self.rows.iter().map(value).collect() };
        let distance = column(&|(distance, ..)| distance / factor(distance_unit, "m", None));
        let flow = column(&|(_, flow, _)| flow / factor(flow_unit, "kg/s", None));
        let moisture = column(&|(.., moisture)| *moisture);
        let swath = vec![self.width / factor(swath_unit, "m", None); self.rows.len()];
        // Even noise without a bias.
        let mut step = 0.0_f64;
        let rows = self.rows.iter().map(|(distance, flow, moisture)| {
            step = (step + 0.618_033_988_749_894_9).fract();
            let wet = flow * self.interval / (distance * self.width) * 10_000.0;
            wet * self.share(*moisture) * (1.0 + (2.0 * step - 1.0) * self.noise) / factor(yield_unit, "kg/ha", weight)
        });
        let reported: Vec<f64> = rows.collect();
        let interval = vec![self.interval; self.rows.len()];
        let harvest = Harvest {
            distance: Some(&distance),
            swath: Some(&swath),
            flow: Some(&flow),
            interval: self.has_interval.then_some(&*interval),
            moisture: Some(&moisture),
            reported: &reported,
            wet_mass: None,
        };
        let [flows, distances, swaths, yields] = [0, 1, 2, 3]
            .map(|index| units(if self.is_open[index] { UNITS[index] } else { &self.units[index..=index] }));
        let candidates = Candidates { distances, swaths, flows, yields, may_guess_interval: true };
        let mut matches = COLUMNS.map(matched);
        let crop = self.knows_crop.then_some(self.crop);
        let proven = prove_yield("yield", &harvest, &candidates, crop, &mut matches, &mut Vec::new());
        for (found, expected) in matches.iter().zip(self.units) {
            if found.unit.is_some_and(|found| found != unit(expected)) {
                return Err(format!("{}: {:?} is not {expected}", found.canonical, found.unit));
            }
        }
        let is_volume = ["bu/ac", "m3/ha"].contains(&yield_unit);
        let name = matches[3].canonical;
        let dried = self.rows.iter().map(|(.., moisture)| (1.0 - self.share(*moisture)).abs()).sum::<f64>();
        let dried = dried / self.rows.len() as f64;
        let is_right = proven.interval.is_none_or(|seconds| seconds == self.interval)
            && proven.kg_per_bushel.is_none_or(|found| !is_volume || (found / weight.unwrap() - 1.0).abs() < 1e-9)
            && proven.moisture_basis.is_none_or(|found| self.dried.is_some_and(|(basis, _)| basis == found))
            && (name == "yield" || name.contains("volume") == is_volume)
            // A basis that changes less than the noise has no name of its own.
            && (name == "yield" || dried < 0.005 || name.contains("dry"))
            && (name == "yield" || dried > 0.0 || name.contains("wet"));
        if !is_right {
            return Err(format!("{name}: {proven:?}"));
        }
        Ok(matches.iter().zip(self.is_open).all(|(found, is_open)| !is_open || found.unit.is_some()))
    }
}

/// 500 harvests; 25,000 with `HEADLAND_SERIES=50`.
#[test]
fn no_unit_of_a_random_harvest_is_wrong_and_as_few_are_refused_as_before() {
    let factor = std::env::var("HEADLAND_SERIES").ok().and_then(|text| text.parse().ok()).unwrap_or(1);
    let (mut draw, mut open, mut found) = (Draw(20_260_923), 0_usize, 0_usize);
    for _ in 0..500 * factor {
        let case = draw.case();
        match case.prove() {
            Ok(is_found) => {
                open += usize::from(case.is_open.contains(&true));
                found += usize::from(is_found && case.is_open.contains(&true));
            }
            Err(what) => panic!("{what}: {:?} of {}", Case { rows: Vec::new(), ..case.clone() }, case.crop.name),
        }
    }
    assert!(found * 4 > open, "found all units of {found} of {open} harvests");
}

fn stated_cases() -> impl Strategy<Value = (Vec<(f64, f64)>, f64, usize, Option<f64>)> {
    let rows = prop::collection::vec((0.8..2.5_f64, 2.0..9.0_f64), 700..800);
    let basis = prop::option::of(prop::sample::select(&[13.0, 13.5, 14.0, 14.5, 15.5][..]));
    (rows, 3.0..13.0_f64, 0..CROPS.len(), basis)
}

proptest! {
    #[test]
    fn stated_units_leave_the_basis_to_prove((rows, width, crop, dry_at) in stated_cases()) {
        // Wetter than every market moisture, and of all moistures in between.
        let even = |index: usize| 16.0 + (index % 80) as f64 / 10.0;
        let crop = &CROPS[crop];
        let reported_in = if crop.pounds_per_bushel.is_some() { "bu/ac" } else { "kg/ha" };
        let weight = crop.kg_per_bushel();
        let rows: Vec<(f64, f64, f64)> =
            rows.iter().enumerate().map(|(index, (distance, flow))| (*distance, *flow, even(index))).collect();
        let column = |value: &dyn Fn(&(f64, f64, f64)) -> f64| -> Vec<f64> { rows.iter().map(value).collect() };
        let reported = column(&|(distance, flow, moisture)| {
            let share = dry_at.map_or(1.0, |basis| (100.0 - moisture) / (100.0 - basis));
            flow / (distance * width) * 10_000.0 * share / factor(reported_in, "kg/ha", weight)
        });
        let (distance, flow, moisture) = (column(&|row| row.0), column(&|row| row.1), column(&|row| row.2));
        let (swath, interval) = (vec![width; rows.len()], vec![1.0; rows.len()]);
        let harvest = Harvest {
            distance: Some(&distance),
            swath: Some(&swath),
            flow: Some(&flow),
            interval: Some(&interval),
            moisture: Some(&moisture),
            reported: &reported,
            wet_mass: None,
        };
        let candidates = Candidates { distances: units(&["m"]), swaths: units(&["m"]), flows: units(&["kg/s"]), yields: units(&[reported_in]), may_guess_interval: false };
        let mut matches = [Match { unit: Some(unit(reported_in)), ..matched("yield") }];
        let proven = prove_yield("yield", &harvest, &candidates, Some(crop), &mut matches, &mut Vec::new());
        let expected = format!("yield_{}_{}", if dry_at.is_some() { "dry" } else { "wet" }, if weight.is_some() { "volume" } else { "mass" });
        prop_assert_eq!(matches[0].canonical, expected);
        prop_assert_eq!(proven.moisture_basis, dry_at);
    }
}
