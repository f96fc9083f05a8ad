//! Columns that are computed from other canonical columns: worked area, masses, yields and amount.

use std::collections::HashMap;

use crate::columns::market_moisture::{MARKET, at_moisture, basis_of};
use crate::columns::provenance as keys;
use crate::columns::row_ratios::median;

/// Square metres in a hectare.
pub(crate) const HECTARE: f64 = 10_000.0;
/// Cubic metres in a bushel of the United States.
const BUSHEL: f64 = 0.035_239_070_166_88;

/// The source of an area where the steps between positions contradict the distances.
pub(crate) const STEPPED: &str = "step between positions x swath_width";

/// Ground of each row in m2, also of a further product on it. It is no column of a layer.
const GROUND: &str = "ground";
/// Area of a polygon, as a part of distance x width, in the median row, if both mean the same ground.
const AGREEING: std::ops::RangeInclusive<f64> = 0.95..=1.05;
/// Mass by the yield of a display, as a part of that by the flow, in the median row of one calibration, and rows for a median.
const ONE_CALIBRATION: std::ops::RangeInclusive<f64> = 0.98..=1.02;
const LEAST_ROWS: usize = 50;

/// A computed column, whose values are among the rows.
pub(crate) struct Computed {
    pub(crate) name: &'static str,
    pub(crate) unit: &'static str,
    /// The columns that it follows from.
    pub(crate) source: &'static str,
    /// Percent of water of a dry mass or yield, or `several`.
    pub(crate) moisture_basis: Option<String>,
}

/// Canonical columns by name, in their units; not a number is null. `working` is 1 or 0, and `market_moisture` is the
/// percentage of water at which the grain of each row is sold.
#[derive(Default)]
pub(crate) struct Rows {
    pub(crate) columns: HashMap<&'static str, Vec<f64>>,
    /// Microseconds since 1970.
    pub(crate) times: Option<Vec<Option<i64>>>,
    /// Percent of water at which `yield_dry_mass` is stated, if known.
    pub(crate) dry_basis: Option<f64>,
    /// Kilograms in a bushel, if the crop or a proof says so.
    pub(crate) kg_per_bushel: Option<f64>,
    /// Microseconds that the clock of the times resolves.
    pub(crate) resolution: i64,
    /// Square metres of the polygons of each row; empty without polygons.
    pub polygons: Vec<f64>,
    /// Whether those were buffers of points, and are no ground.
    pub(crate) has_buffers: bool,
    /// Whether the distances are the steps between positions, which contradict the logged ones.
    pub(crate) has_steps: bool,
    /// What follows from a yield of the display besides the flow, and its mass as a part of that of the flow, if they differ.
    pub(crate) other_mass: Option<(&'static str, f64)>,
    /// Rows of a further product on the ground of an earlier row; empty if there are none.
    pub(crate) is_further: Vec<bool>,
}

impl Rows {
    pub(crate) fn get(&self, name: &str) -> Option<&[f64]> {
        self.columns.get(name).map(Vec::as_slice)
    }

    /// Columns combined row by row, if all are there.
    pub(crate) fn combine<const N: usize>(
        &self,
        names: [&str; N],
        formula: impl Fn([f64; N]) -> f64,
    ) -> Option<Vec<f64>> {
        let mut columns: [&[f64]; N] = [&[]; N];
        for (column, name) in columns.iter_mut().zip(names) {
            *column = self.get(name)?;
        }
        let row = |row: usize| columns.map(|column| column.get(row).copied().unwrap_or(f64::NAN));
        Some((0..columns.first()?.len()).map(|index| formula(row(index))).collect())
    }

    /// The ground of each row by its polygon, else by distance and width. 0 where the row does not work.
    fn ground(&self) -> Option<Vec<f64>> {
        let mut ground =
            self.stepped().or_else(|| (!self.polygons.is_empty()).then(|| vec![f64::NAN; self.polygons.len()]))?;
        for (ground, polygon) in ground.iter_mut().zip(&self.polygons).filter(|(_, polygon)| polygon.is_finite()) {
            *ground = *polygon;
        }
        Some(self.where_working(ground))
    }

    /// The ground that a display divides its yields by, where it is not that of the polygons: distance x width. Clipped polygons
    /// are less than the ground of their grain, but most are not clipped; where the usual polygon has another area, the width is
    /// that of a whole header, or wrong.
    fn yield_ground(&self) -> Option<Vec<f64>> {
        let mut stepped = self.stepped()?;
        let both = stepped.iter().zip(&self.polygons).filter(|(stepped, area)| **stepped > 0.0 && **area > 0.0);
        if !AGREEING.contains(&median(both.map(|(stepped, area)| area / stepped).collect())) {
            return None;
        }
        for (ground, polygon) in stepped.iter_mut().zip(&self.polygons).filter(|(ground, _)| ground.is_nan()) {
            *ground = *polygon;
        }
        Some(self.where_working(stepped))
    }

    fn stepped(&self) -> Option<Vec<f64>> {
        self.combine(["distance", "swath_width"], |[distance, width]| {
            if distance >= 0.0 && width >= 0.0 { distance * width } else { f64::NAN }
        })
    }

    /// The mass of a dry yield at the percentage of water of column `to`. Without a known basis, it is taken as that of the market.
    fn dry_yield(&self, name: &str, to: &str, density: f64) -> Option<Vec<f64>> {
        let basis = self.dry_basis.filter(|_| name == "yield_dry_mass");
        let [rates, ground, to] = [name, GROUND, to].map(|name| self.get(name));
        let markets = self.get(MARKET).filter(|_| basis.is_none());
        if basis.is_none() {
            markets?;
        }
        // Rows without a moisture have the median one.
        let usual = median(to?.iter().copied().filter(|percent| is_share(*percent)).collect());
        let row = |(row, ((rate, ground), to)): (usize, ((&f64, &f64), &f64))| {
            let basis = basis.or_else(|| markets?.get(row).copied()).unwrap_or(f64::NAN);
            grain_at_moisture(rate * density * ground / HECTARE, basis, if is_share(*to) { *to } else { usual })
        };
        Some(rates?.iter().zip(ground?).zip(to?).enumerate().map(row).collect())
    }

    fn where_working(&self, mut ground: Vec<f64>) -> Vec<f64> {
        let idle = self.get("working").into_iter().flatten().map(|working| *working == 0.0);
        for (ground, _) in ground.iter_mut().zip(idle).filter(|(ground, is_idle)| *is_idle && ground.is_finite()) {
            *ground = 0.0;
        }
        ground
    }
}

/// Computes what follows from the rows, in the order in which one follows from another.
pub(crate) fn compute(rows: &mut Rows, is_yield: bool) -> Vec<Computed> {
    let mut computed = Vec::new();
    let mut has_own = false;
    if let Some(ground) = rows.ground() {
        let source = match (rows.polygons.is_empty(), rows.has_steps) {
            (false, _) => "area of the polygon",
            (true, true) => STEPPED,
            (true, false) => "distance x swath_width",
        };
        let mut once = ground.clone();
        for (once, _) in once.iter_mut().zip(&rows.is_further).filter(|(_, is_further)| **is_further) {
            *once = 0.0;
        }
        let of_display = rows.yield_ground().filter(|_| is_yield);
        has_own = of_display.is_some();
        rows.columns.insert(GROUND, of_display.unwrap_or(ground));
        add(rows, &mut computed, "worked_area", "m2", source, |_| Some(once));
    }
    if is_yield {
        masses(rows, &mut computed);
        for column in computed.iter_mut().filter(|_| has_own) {
            column.source = by_display(column.source);
        }
    } else {
        add(rows, &mut computed, "amount", "", "applied_rate x worked_area", |rows| {
            rows.combine(["applied_rate", GROUND], |[rate, ground]| rate * ground / HECTARE)
        });
    }
    computed
}

/// The source of a mass whose ground is not that of the polygons.
fn by_display(source: &'static str) -> &'static str {
    match source {
        "yield_wet_mass x worked_area" => "yield_wet_mass x distance x swath_width",
        "yield_wet_volume x worked_area" => "yield_wet_volume x distance x swath_width",
        "yield_dry_mass x worked_area" => "yield_dry_mass x distance x swath_width",
        "yield_dry_mass x worked_area, moisture" => "yield_dry_mass x distance x swath_width, moisture",
        "yield_dry_volume x worked_area" => "yield_dry_volume x distance x swath_width",
        "yield_dry_volume x worked_area, moisture" => "yield_dry_volume x distance x swath_width, moisture",
        "yield_dry_matter x worked_area" => "yield_dry_matter x distance x swath_width",
        "yield_dry_matter x worked_area, moisture" => "yield_dry_matter x distance x swath_width, moisture",
        source => source,
    }
}

/// Whether a moisture is one that grain can have: of pure water no dry mass follows.
fn is_share(moisture: f64) -> bool {
    (0.0..100.0).contains(&moisture)
}

/// A mass at another moisture; not a number if grain cannot have one of them.
fn grain_at_moisture(mass: f64, from: f64, to: f64) -> f64 {
    if is_share(from) && is_share(to) { at_moisture(mass, from, to) } else { f64::NAN }
}

fn masses(rows: &mut Rows, computed: &mut Vec<Computed>) {
    type Formula = fn(&Rows) -> Option<Vec<f64>>;
    let wet: [(&str, Formula); 6] = [
        ("flow x interval", |rows| rows.combine(["flow", "interval"], |[flow, interval]| flow * interval)),
        ("yield_wet_mass x worked_area", |rows| {
            rows.combine(["yield_wet_mass", GROUND], |[rate, ground]| rate * ground / HECTARE)
        }),
        ("yield_wet_volume x worked_area", |rows| {
            let density = rows.kg_per_bushel? / BUSHEL;
            rows.combine(["yield_wet_volume", GROUND], |[rate, ground]| rate * density * ground / HECTARE)
        }),
        ("yield_dry_mass x worked_area, moisture", |rows| rows.dry_yield("yield_dry_mass", "moisture", 1.0)),
        ("yield_dry_matter x worked_area, moisture", |rows| {
            rows.combine(["yield_dry_matter", GROUND, "moisture"], |[rate, ground, moisture]| {
                grain_at_moisture(rate * ground / HECTARE, 0.0, moisture)
            })
        }),
        ("yield_dry_volume x worked_area, moisture", |rows| {
            rows.dry_yield("yield_dry_volume", "moisture", rows.kg_per_bushel? / BUSHEL)
        }),
    ];
    let dry: [(&str, Formula); 4] = [
        ("wet_mass, moisture", |rows| {
            rows.combine(["wet_mass", "moisture", MARKET], |[mass, moisture, market]| {
                grain_at_moisture(mass, moisture, market)
            })
        }),
        ("yield_dry_mass x worked_area", |rows| rows.dry_yield("yield_dry_mass", MARKET, 1.0)),
        ("yield_dry_matter x worked_area", |rows| {
            rows.combine(["yield_dry_matter", GROUND, MARKET], |[rate, ground, market]| {
                grain_at_moisture(rate * ground / HECTARE, 0.0, market)
            })
        }),
        ("yield_dry_volume x worked_area", |rows| {
            rows.dry_yield("yield_dry_volume", MARKET, rows.kg_per_bushel? / BUSHEL)
        }),
    ];
    let first = |rows: &Rows, formulas: &[(&'static str, Formula)]| {
        formulas.iter().find_map(|(source, formula)| Some((*source, formula(rows)?)))
    };
    if let Some((source, values)) = first(rows, &wet) {
        if source == "flow x interval" {
            let known = if rows.dry_basis.is_some() { 1..5 } else { 1..3 };
            rows.other_mass = first(rows, &wet[known]).and_then(|(name, others)| {
                let both = others.iter().zip(&values).filter(|(other, mass)| **other > 0.0 && **mass > 0.0);
                let ratios: Vec<f64> = both.map(|(other, mass)| other / mass).collect();
                let is_enough = ratios.len() >= LEAST_ROWS;
                Some((name, median(ratios))).filter(|(_, ratio)| is_enough && !ONE_CALIBRATION.contains(ratio))
            });
        }
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
            // Without a moisture there is no dry yield, not a column of nulls.
            rows.combine([mass, "worked_area"], per_ha).filter(|rates| rates.iter().any(|rate| rate.is_finite()))
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
pub(crate) const GAP: f64 = 3.5;

/// The largest of a second, a tenth, ... a microsecond that divides all times.
pub(crate) fn resolution(times: &[Option<i64>]) -> i64 {
    let divides = |step: i64| times.iter().flatten().all(|time| time.checked_rem(step) == Some(0));
    [60_000_000, 1_000_000, 100_000, 10_000, 1_000, 100, 10].into_iter().find(|step| divides(*step)).unwrap_or(1)
}
