//! Columns that are computed from other canonical columns: interval, speed, worked area, masses, yields and amount.

use std::collections::HashMap;

use super::market_moisture::{MARKET, basis_of};
use super::provenance as keys;
use super::row_ratios::median;

/// Square metres in a hectare.
pub(super) const HECTARE: f64 = 10_000.0;
/// Cubic metres in a bushel of the United States.
const BUSHEL: f64 = 0.035_239_070_166_88;

/// Ground of each row in m2, also of a further product on it. It is no column of a layer.
const GROUND: &str = "ground";

/// A computed column, whose values are among the rows.
pub(super) struct Computed {
    pub(super) name: &'static str,
    pub(super) unit: &'static str,
    /// The columns that it follows from.
    pub(super) source: &'static str,
    /// Percent of water of a dry mass or yield, or `several`.
    pub(super) moisture_basis: Option<String>,
}

/// Canonical columns by name, in their units; not a number is null. `working` is 1 or 0, and `market_moisture` is the
/// percentage of water at which the grain of each row is sold.
#[derive(Default)]
pub(super) struct Rows {
    pub(super) columns: HashMap<&'static str, Vec<f64>>,
    /// Microseconds since 1970.
    pub(super) times: Option<Vec<Option<i64>>>,
    /// Percent of water at which `yield_dry_mass` is stated, if known.
    pub(super) dry_basis: Option<f64>,
    /// Kilograms in a bushel, if the crop or a proof says so.
    pub(super) kg_per_bushel: Option<f64>,
    /// Microseconds that the clock of the times resolves.
    pub(super) resolution: i64,
    /// Square metres of the polygons of each row; empty without polygons.
    pub(super) polygons: Vec<f64>,
    /// Rows of a further product on the ground of an earlier row; empty if there are none.
    pub(super) is_further: Vec<bool>,
}

impl Rows {
    fn get(&self, name: &str) -> Option<&[f64]> {
        self.columns.get(name).map(Vec::as_slice)
    }

    /// Columns combined row by row, if all are there.
    fn combine<const N: usize>(&self, names: [&str; N], formula: impl Fn([f64; N]) -> f64) -> Option<Vec<f64>> {
        let columns: Vec<&[f64]> = names.iter().map(|name| self.get(name)).collect::<Option<_>>()?;
        let rows = columns.first()?.len();
        let row = |row: usize| {
            std::array::from_fn(|index| {
                columns.get(index).and_then(|column| column.get(row)).copied().unwrap_or(f64::NAN)
            })
        };
        Some((0..rows).map(|index| formula(row(index))).collect())
    }

    /// The ground of each row: that of its polygon, else distance x width. None where the row does not work.
    fn ground(&self) -> Option<(Vec<f64>, &'static str)> {
        let stepped = self.combine(["distance", "swath_width"], |[distance, width]| {
            if distance >= 0.0 && width >= 0.0 { distance * width } else { f64::NAN }
        });
        let source = if self.polygons.is_empty() { "distance x swath_width" } else { "area of the polygon" };
        let mut ground =
            stepped.or_else(|| (!self.polygons.is_empty()).then(|| vec![f64::NAN; self.polygons.len()]))?;
        for (ground, polygon) in ground.iter_mut().zip(&self.polygons).filter(|(_, polygon)| polygon.is_finite()) {
            *ground = *polygon;
        }
        let idle = self.get("working").into_iter().flatten().map(|working| *working == 0.0);
        for (ground, _) in ground.iter_mut().zip(idle).filter(|(ground, is_idle)| *is_idle && ground.is_finite()) {
            *ground = 0.0;
        }
        Some((ground, source))
    }
}

/// Computes what follows from the rows, in the order in which one follows from another.
pub(super) fn compute(rows: &mut Rows, is_yield: bool) -> Vec<Computed> {
    let mut computed = Vec::new();
    if rows.get("interval").is_none() {
        add(rows, &mut computed, "interval", "s", "time", intervals);
    }
    if rows.get("speed").is_none() {
        add(rows, &mut computed, "speed", "m/s", "distance / interval", |rows| {
            let speed = |[distance, interval]: [f64; 2]| if interval > 0.0 { distance / interval } else { f64::NAN };
            let mut speeds = rows.combine(["distance", "interval"], speed)?;
            // The distance after a gap is that of the gap.
            for (speed, is_gap) in speeds.iter_mut().zip(gaps(rows)) {
                if is_gap {
                    *speed = f64::NAN;
                }
            }
            Some(speeds)
        });
    }
    if let Some((ground, source)) = rows.ground() {
        let mut once = ground.clone();
        for (once, _) in once.iter_mut().zip(&rows.is_further).filter(|(_, is_further)| **is_further) {
            *once = 0.0;
        }
        rows.columns.insert(GROUND, ground);
        add(rows, &mut computed, "worked_area", "m2", source, |_| Some(once));
    }
    if is_yield {
        masses(rows, &mut computed);
    } else {
        add(rows, &mut computed, "amount", "", "applied_rate x worked_area", |rows| {
            rows.combine(["applied_rate", GROUND], |[rate, ground]| rate * ground / HECTARE)
        });
    }
    computed
}

/// Whether a moisture is one that grain can have: of pure water no dry mass follows.
fn is_share(moisture: f64) -> bool {
    (0.0..100.0).contains(&moisture)
}

/// A mass at `to` percent of water that has `from` percent now.
fn at_moisture(mass: f64, from: f64, to: f64) -> f64 {
    if is_share(from) && is_share(to) { mass * (100.0 - from) / (100.0 - to) } else { f64::NAN }
}

fn masses(rows: &mut Rows, computed: &mut Vec<Computed>) {
    type Formula = fn(&Rows) -> Option<Vec<f64>>;
    let wet: [(&str, Formula); 5] = [
        ("flow x interval", |rows| rows.combine(["flow", "interval"], |[flow, interval]| flow * interval)),
        ("yield_wet_mass x worked_area", |rows| {
            rows.combine(["yield_wet_mass", GROUND], |[rate, ground]| rate * ground / HECTARE)
        }),
        ("yield_wet_volume x worked_area", |rows| {
            let density = rows.kg_per_bushel? / BUSHEL;
            rows.combine(["yield_wet_volume", GROUND], |[rate, ground]| rate * density * ground / HECTARE)
        }),
        ("yield_dry_mass x worked_area, moisture", |rows| {
            let basis = rows.dry_basis?;
            rows.combine(["yield_dry_mass", GROUND, "moisture"], |[rate, ground, moisture]| {
                at_moisture(rate * ground / HECTARE, basis, moisture)
            })
        }),
        ("yield_dry_matter x worked_area, moisture", |rows| {
            rows.combine(["yield_dry_matter", GROUND, "moisture"], |[rate, ground, moisture]| {
                at_moisture(rate * ground / HECTARE, 0.0, moisture)
            })
        }),
    ];
    let dry: [(&str, Formula); 3] = [
        ("wet_mass, moisture", |rows| {
            rows.combine(["wet_mass", "moisture", MARKET], |[mass, moisture, market]| {
                at_moisture(mass, moisture, market)
            })
        }),
        ("yield_dry_mass x worked_area", |rows| {
            let basis = rows.dry_basis?;
            rows.combine(["yield_dry_mass", GROUND, MARKET], |[rate, ground, market]| {
                at_moisture(rate * ground / HECTARE, basis, market)
            })
        }),
        ("yield_dry_matter x worked_area", |rows| {
            rows.combine(["yield_dry_matter", GROUND, MARKET], |[rate, ground, market]| {
                at_moisture(rate * ground / HECTARE, 0.0, market)
            })
        }),
    ];
    let first = |rows: &Rows, formulas: &[(&'static str, Formula)]| {
        formulas.iter().find_map(|(source, formula)| Some((*source, formula(rows)?)))
    };
    if let Some((source, values)) = first(rows, &wet) {
        add(rows, computed, "wet_mass", "kg", source, |_| Some(values));
    }
    if let Some((source, values)) = first(rows, &dry) {
        add(rows, computed, "dry_mass", "kg", source, |_| Some(values));
    }
    for (name, mass, source) in
        [("yield_wet", "wet_mass", "wet_mass / worked_area"), ("yield_dry", "dry_mass", "dry_mass / worked_area")]
    {
        add(rows, computed, name, "kg/ha", source, |rows| {
            let per_ha = |[mass, area]: [f64; 2]| if area > 0.0 { mass / area * HECTARE } else { f64::NAN };
            rows.combine([mass, "worked_area"], per_ha)
        });
    }
    let basis = rows.get(MARKET).and_then(basis_of);
    for column in computed.iter_mut().filter(|column| ["dry_mass", "yield_dry"].contains(&column.name)) {
        column.moisture_basis.clone_from(&basis);
    }
    if basis.is_some_and(|basis| basis == keys::SEVERAL) {
        computed.push(Computed { name: MARKET, unit: "%", source: "crop", moisture_basis: None });
    }
}

fn add(
    rows: &mut Rows,
    computed: &mut Vec<Computed>,
    name: &'static str,
    unit: &'static str,
    source: &'static str,
    formula: impl FnOnce(&Rows) -> Option<Vec<f64>>,
) {
    if let Some(values) = formula(rows) {
        rows.columns.insert(name, values);
        computed.push(Computed { name, unit, source, moisture_basis: None });
    }
}

/// Longer steps than this many usual ones are gaps.
pub(super) const GAP: f64 = 3.5;

/// Where the clock resolves this part of a step, the median step is exact.
const FINE: f64 = 100.0;

/// Rows whose time is more than some intervals after the row before, of the same machine, section and pass.
fn gaps(rows: &Rows) -> Vec<bool> {
    let (Some(times), Some(intervals)) = (&rows.times, rows.get("interval")) else { return Vec::new() };
    let key =
        |name: &str, row: usize| rows.get(name).and_then(|column| column.get(row)).map_or(0, |value| value.to_bits());
    let mut last: HashMap<[u64; 3], i64> = HashMap::new();
    let is_gap = |(row, (time, interval)): (usize, (&Option<i64>, &f64))| {
        let Some(time) = *time else { return false };
        let before = last.insert(["machine", "section", "pass_number"].map(|name| key(name, row)), time);
        #[expect(clippy::cast_precision_loss, reason = "a step between rows is far below 2^53 microseconds")]
        before.is_some_and(|before| time.saturating_sub(before) as f64 > GAP * interval * 1e6)
    };
    times.iter().zip(intervals).enumerate().map(is_gap).collect()
}

/// The usual step of time in each pass: the median, or the mean without gaps where the clock is coarse. `None` if the
/// clock resolves no tenth of the time of a pass, or most rows share their time with others.
pub(super) fn intervals(rows: &Rows) -> Option<Vec<f64>> {
    let times = rows.times.as_ref()?;
    let key =
        |name: &str, row: usize| rows.get(name).and_then(|column| column.get(row)).map_or(0, |value| value.to_bits());
    let mut last: HashMap<(u64, u64), (u64, i64)> = HashMap::new();
    let mut steps: HashMap<u64, Vec<f64>> = HashMap::new();
    let (mut standing, mut moving) = (0_usize, 0_usize);
    for (row, time) in times.iter().enumerate() {
        let Some(time) = time else { continue };
        let pass = key("pass_number", row);
        let before = last.insert((key("machine", row), key("section", row)), (pass, *time));
        let Some((_, before)) = before.filter(|(other, _)| *other == pass) else { continue };
        let step = time.saturating_sub(before);
        if step > 0 {
            moving = moving.saturating_add(1);
        } else {
            standing = standing.saturating_add(1);
        }
        #[expect(clippy::cast_precision_loss, reason = "a step between rows is far below 2^53 microseconds")]
        steps.entry(pass).or_default().push(step.max(0) as f64);
    }
    if moving <= standing {
        return None;
    }
    #[expect(clippy::cast_precision_loss, reason = "at most a day in microseconds")]
    let resolution = rows.resolution.max(resolution(times)) as f64;
    let mut means: HashMap<u64, f64> = HashMap::new();
    for (pass, steps) in steps {
        let middle = median(steps.clone());
        if middle >= resolution * FINE {
            means.insert(pass, middle / 1e6);
            continue;
        }
        let longest = middle.max(resolution) * GAP;
        let usual = || steps.iter().filter(|step| **step <= longest);
        let total: f64 = usual().sum();
        if total >= resolution * 10.0 {
            #[expect(clippy::cast_precision_loss, reason = "rows are far fewer than 2^53")]
            means.insert(pass, total / usual().count() as f64 / 1e6);
        }
    }
    if means.is_empty() {
        return None;
    }
    Some((0..times.len()).map(|row| means.get(&key("pass_number", row)).copied().unwrap_or(f64::NAN)).collect())
}

/// The largest of a second, a tenth, ... a microsecond that divides all times.
fn resolution(times: &[Option<i64>]) -> i64 {
    let divides = |step: i64| times.iter().flatten().all(|time| time.checked_rem(step) == Some(0));
    [60_000_000, 1_000_000, 100_000, 10_000, 1_000, 100, 10].into_iter().find(|step| divides(*step)).unwrap_or(1)
}
