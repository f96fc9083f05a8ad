//! Cleans the rows of a job: passes, delays of sensors, ground counted once, and the reasons why rows mislead.

use crate::cleaning::delays::{PlacedFlow, set_delays};
use crate::cleaning::masses::Masses;
use crate::cleaning::reasons::{self, mark};
use crate::cleaning::recipe::{Parameters, Recipe};
use crate::cleaning::steps::{LoggedFaults, Middle, Moisture, OutlierGround, mark_ends, mark_limits, mark_outliers};
use crate::columns::canonical::JobKind;
use crate::ground::worked_ground::{WorkedGround, ground_per_second};
use crate::passes::flow_delay::Sensor;
use crate::passes::settled::Passes;
use crate::rows::field_rows::FieldRows;
use crate::rows::track_rows::{MOST_PRODUCTS, TrackRows, WrongHeadings};
use headland_base::error::Result;
use headland_reader::layer::Polygons;
use headland_reader::layer::crs::LocalPlane;

/// Metres from the boundary, unless the recipe states them (Vega et al. 2019).
const EDGE: f64 = 10.0;

/// Rows of a job after cleaning, in the order of the tracks. NaN is null.
pub(crate) struct CleanRows {
    pub(crate) kind: JobKind,
    pub(crate) plane: LocalPlane,
    pub(crate) rows: TrackRows,
    /// Rows that another row repeats at a slightly other position.
    pub(crate) twins: usize,
    /// Headings that the motion contradicts.
    pub(crate) headings: Vec<WrongHeadings>,
    pub(crate) flow: PlacedFlow,
    pub(crate) passes: Passes,
    pub(crate) ground: WorkedGround,
    pub(crate) moisture: Moisture,
    pub(crate) masses: Masses,
    /// Kilograms, litres or seeds of other jobs.
    pub(crate) amount: Option<Vec<f64>>,
    pub(crate) amount_unit: &'static str,
    pub(crate) reasons: Vec<u32>,
    pub(crate) used: Vec<bool>,
    pub(crate) recipe: Recipe,
}

impl CleanRows {
    /// Whether enough of the swath of a row is new ground for a rate.
    pub(crate) fn has_rate(&self, k: usize) -> bool {
        self.ground.coverage.has_rate(k)
    }

    /// Whether the amount of a row is part of a mean rate: it has a rate, or is one more product on the ground of a row
    /// that has one.
    pub(crate) fn is_in_mean(&self, k: usize) -> bool {
        self.has_rate(k) || self.has_rate(self.first_product(k))
    }

    /// The row of the first product of a mix, whose ground the others share; else the row itself.
    pub(crate) fn first_product(&self, k: usize) -> usize {
        (0..=k).rev().take(MOST_PRODUCTS).find(|k| !self.rows.is_mixed_in(*k)).unwrap_or(k)
    }
}

/// Cleans rows: faults, delays, passes with their ground, masses, reasons. `boundary` is that of the field, in the plane of the
/// rows.
pub(crate) fn clean_rows(mut field: FieldRows, mut recipe: Recipe, boundary: &[Polygons]) -> Result<CleanRows> {
    let parameters = recipe.parameters.clone();
    let is_harvest = field.kind == JobKind::Yield;
    let mut rows = TrackRows::new(&mut field);
    let (number, faults) = LoggedFaults::find(&mut rows, &field, &parameters);
    let middle = Middle::new(&rows, field.shapes.is_none().then_some(parameters.antenna));

    let sensor = Sensor { rows: &rows, pass: &number, is_bad: &faults.any, location: middle.location() };
    let mut flow = PlacedFlow::new(&mut field, &sensor, &parameters.delay)?;
    let (passes, mut ground) = Passes::settle(number, (&rows, &field), &faults, &flow, &middle, &parameters);

    let logged = field.moisture.take().filter(|_| is_harvest).map(|moisture| rows.sorted(&moisture));
    let shifted = |logged| Moisture::shift(&rows, &passes.number, logged, (&flow.delays, &field.jobs), &parameters);
    let mut moisture = logged.as_deref().map(shifted).transpose()?.unwrap_or_default();
    drop(logged);
    // A table with several crops is dried by row.
    let stated = parameters.market_moisture.map(|percent| vec![percent; rows.len()]);
    let market = stated.or_else(|| field.market.take().map(|market| rows.sorted(&market)));
    let is_cut = |k: usize| passes.number[k] > 0 && !faults.duplicate[k];
    let masses = Masses::new(&rows, &flow, &ground.coverage, is_cut, (&moisture, market.as_deref(), parameters.expand));
    drop(market);
    recipe.set_market_moisture(masses.basis.as_ref().and_then(|basis| basis.parse().ok()));

    let sensor = Sensor { rows: &rows, pass: &passes.number, is_bad: &faults.any, location: middle.location() };
    let mut reasons = row_reasons(&sensor, &faults, &ground, (&flow, &moisture, &masses), (&parameters, is_harvest));
    middle.mark_edge(&passes.number, boundary, parameters.edge.unwrap_or(EDGE), &mut reasons);
    let allowed = allowed_bits(is_harvest, &recipe);
    let used = passes.number.iter().zip(&reasons).map(|(pass, bits)| *pass > 0 && bits & !allowed == 0).collect();
    if is_harvest {
        set_delays(&mut recipe, &flow.delays);
    } else {
        flow.delays.clear();
    }
    // Only the stages above read these, which are rows long.
    (flow.logged, ground.nominal, ground.is_narrow, moisture.is_filled) = Default::default();
    let amount = field.amount.take().map(|amount| rows.sorted(&amount));
    let (kind, plane, amount_unit) = (field.kind, field.plane, field.amount_unit);
    Ok(CleanRows {
        kind,
        plane,
        rows,
        twins: faults.twins,
        headings: faults.headings,
        flow,
        passes,
        ground,
        moisture,
        masses,
        amount,
        amount_unit,
        reasons,
        used,
        recipe,
    })
}

/// The reasons why rows mislead, but for the boundary.
fn row_reasons(
    sensor: &Sensor<'_>,
    faults: &LoggedFaults,
    ground: &WorkedGround,
    (flow, moisture, masses): (&PlacedFlow, &Moisture, &Masses),
    (parameters, is_harvest): (&Parameters, bool),
) -> Vec<u32> {
    let Sensor { rows, pass, .. } = *sensor;
    let mut bits = faults.reasons(pass);
    mark(&mut bits, reasons::SWATH, |k| ground.is_narrow[k]);
    mark(&mut bits, reasons::OVERLAP, |k| pass[k] > 0 && ground.share[k] > parameters.overlap);
    if is_harvest {
        mark_ends(rows, pass, parameters.ends, &mut bits);
    }
    mark(&mut bits, reasons::MOISTURE, |k| pass[k] > 0 && moisture.is_filled.get(k) == Some(&true));
    if let Some(flows) = flow.both() {
        let per_second = ground_per_second(rows, pass, &ground.nominal, &faults.excluded);
        let (coverage, shared) = (&ground.coverage, masses.shared.as_ref());
        let ground = OutlierGround { coverage, per_second: &per_second, shared };
        mark_outliers(sensor, &ground, flows, &flow.delays, parameters, &mut bits);
    }
    if let Some(kg) = masses.best() {
        mark_limits(&ground.coverage, kg, parameters.limits, &mut bits);
    }
    bits
}

/// Bits of the reasons that do not exclude a row: leaving rows out whose ground, moisture or width was settled made maps
/// worse, and a product that was applied at a wrong speed was applied.
pub(crate) fn allowed_bits(is_harvest: bool, recipe: &Recipe) -> u32 {
    let speed = if is_harvest { 0 } else { reasons::SPEED };
    reasons::OVERLAP | reasons::MOISTURE | reasons::SWATH | speed | recipe.kept_bits()
}
