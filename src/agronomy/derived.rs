//! Columns that are computed from other canonical columns: interval, speed, area, masses and amount.

use std::collections::HashMap;

use super::crops::Crop;
use super::row_ratios::median;

/// Square metres in a hectare.
pub(super) const HECTARE: f64 = 10_000.0;
/// Cubic metres in a bushel of the United States.
const BUSHEL: f64 = 0.035_239_070_166_88;

/// A computed column. Not a number is null.
pub(super) struct Computed {
    pub(super) name: &'static str,
    pub(super) unit: &'static str,
    pub(super) values: Vec<f64>,
    /// The columns that it follows from.
    pub(super) source: &'static str,
    /// Percent of water of a dry mass.
    pub(super) moisture_basis: Option<f64>,
}

/// Canonical columns by name, in their units; not a number is null.
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
}

impl Rows {
    fn get(&self, name: &str) -> Option<&[f64]> {
        self.columns.get(name).map(Vec::as_slice)
    }

    /// Two or three columns combined row by row, if all are there.
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
}

/// Computes what follows from the rows, in the order in which one follows from another.
pub(super) fn compute(rows: &mut Rows, is_yield: bool, crop: Option<&Crop>) -> Vec<Computed> {
    let mut computed = Vec::new();
    if rows.get("interval").is_none() {
        add(rows, &mut computed, "interval", "s", "time", None, intervals);
    }
    if rows.get("speed").is_none() {
        add(rows, &mut computed, "speed", "m/s", "distance / interval", None, |rows| {
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
    add(rows, &mut computed, "worked_area", "m2", "distance x swath_width", None, |rows| {
        rows.combine(["distance", "swath_width"], |[distance, width]| {
            if distance >= 0.0 && width >= 0.0 { distance * width } else { f64::NAN }
        })
    });
    if is_yield {
        masses(rows, &mut computed, crop);
    } else {
        add(rows, &mut computed, "amount", "", "applied_rate x worked_area", None, |rows| {
            rows.combine(["applied_rate", "worked_area"], |[rate, area]| rate * area / HECTARE)
        });
    }
    computed
}

/// Whether a moisture is one that grain can have: of pure water no dry mass follows.
fn is_share(moisture: f64) -> bool {
    (0.0..100.0).contains(&moisture)
}

fn masses(rows: &mut Rows, computed: &mut Vec<Computed>, crop: Option<&Crop>) {
    type Formula = fn(&Rows, Option<&Crop>) -> Option<Vec<f64>>;
    let wet: [(&str, Formula); 4] = [
        ("flow x interval", |rows, _| rows.combine(["flow", "interval"], |[flow, interval]| flow * interval)),
        ("yield_wet_mass x worked_area", |rows, _| {
            rows.combine(["yield_wet_mass", "worked_area"], |[rate, area]| rate * area / HECTARE)
        }),
        ("yield_wet_volume x worked_area", |rows, _| {
            let density = rows.kg_per_bushel? / BUSHEL;
            rows.combine(["yield_wet_volume", "worked_area"], |[rate, area]| rate * density * area / HECTARE)
        }),
        ("yield_dry_mass x worked_area, moisture", |rows, _| {
            let basis = rows.dry_basis?;
            rows.combine(["yield_dry_mass", "worked_area", "moisture"], |[rate, area, moisture]| {
                if is_share(moisture) { rate * area / HECTARE * (100.0 - basis) / (100.0 - moisture) } else { f64::NAN }
            })
        }),
    ];
    if let Some((source, values)) = wet.iter().find_map(|(source, formula)| Some((*source, formula(rows, crop)?))) {
        add(rows, computed, "wet_mass", "kg", source, None, |_| Some(values));
    }
    let Some(market) = crop.map(|crop| crop.market_moisture) else { return };
    let dry: [(&str, Formula); 2] = [
        ("wet_mass, moisture", |rows, crop| {
            let market = crop?.market_moisture;
            rows.combine(["wet_mass", "moisture"], |[mass, moisture]| {
                if is_share(moisture) { mass * (100.0 - moisture) / (100.0 - market) } else { f64::NAN }
            })
        }),
        ("yield_dry_mass x worked_area", |rows, crop| {
            let (basis, market) = (rows.dry_basis?, crop?.market_moisture);
            rows.combine(["yield_dry_mass", "worked_area"], |[rate, area]| {
                rate * area / HECTARE * (100.0 - basis) / (100.0 - market)
            })
        }),
    ];
    if let Some((source, values)) = dry.iter().find_map(|(source, formula)| Some((*source, formula(rows, crop)?))) {
        add(rows, computed, "dry_mass", "kg", source, Some(market), |_| Some(values));
    }
}

fn add(
    rows: &mut Rows,
    computed: &mut Vec<Computed>,
    name: &'static str,
    unit: &'static str,
    source: &'static str,
    moisture_basis: Option<f64>,
    formula: impl FnOnce(&Rows) -> Option<Vec<f64>>,
) {
    if let Some(values) = formula(rows) {
        rows.columns.insert(name, values.clone());
        computed.push(Computed { name, unit, values, source, moisture_basis });
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
