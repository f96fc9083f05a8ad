//! Steps of a cleaning: faults of logged rows, ends of passes, moisture and outliers.

use crate::cleaning::delays::{MachineDelay, machine_delays, shift};
use crate::cleaning::reasons::{self, mark};
use crate::cleaning::recipe::{Parameters, Seconds, Word};
use crate::columns::canonical::JobKind;
use crate::columns::derived::HECTARE;
use crate::columns::row_ratios::median;
use crate::ground::convex_clip::Point;
use crate::ground::outer_edges::outer_edges;
use crate::ground::seasons::Jobs;
use crate::ground::swath_coverage::Coverage;
use crate::passes::flow_delay::{Delay, Sensor};
use crate::passes::runs::{PassRule, find_passes, pass_runs};
use crate::rows::field_rows::FieldRows;
use crate::rows::measurements::row_deviations;
use crate::rows::outliers::{Flows, Limits};
use crate::rows::position_speed_moisture::{jumped_positions, plausible_moisture, wrong_speeds};
use crate::rows::section_mass::SharedFlow;
use crate::rows::shifted_values::{touches, value_later};
use crate::rows::track_rows::{TrackRows, WrongHeadings};
use headland_base::error::Result;
use headland_reader::layer::Polygons;

/// Faults of rows as they were logged, without regard to the flow.
pub(crate) struct LoggedFaults {
    pub(crate) duplicate: Vec<bool>,
    pub(crate) position: Vec<bool>,
    pub(crate) speed: Vec<bool>,
    /// Duplicates, wrong positions and rows without a width, which cover no ground.
    pub(crate) excluded: Vec<bool>,
    /// Rows with any of these faults.
    pub(crate) any: Vec<bool>,
    /// Rows that another row repeats at a slightly other position.
    pub(crate) twins: usize,
    /// Headings that the motion contradicts.
    pub(crate) headings: Vec<WrongHeadings>,
}

impl LoggedFaults {
    /// Finds the passes and the faults, and fills in missing headings. The ground of a logged polygon is known regardless of
    /// its position, and ground of no width is none.
    pub(crate) fn find(rows: &mut TrackRows, field: &FieldRows, parameters: &Parameters) -> (Vec<i32>, Self) {
        let is_harvest = field.kind == JobKind::Yield;
        let rule = if is_harvest { PassRule::Straight(parameters.turn) } else { PassRule::Working };
        let has_shape = |row: &usize| field.shapes.as_ref().is_some_and(|shapes| shapes.area(*row) > 0.0);
        let has_shape: Vec<bool> = rows.row.iter().map(has_shape).collect();
        let mut duplicate = rows.duplicates();
        let mut twins = 0;
        if let Some(shapes) = &field.shapes {
            // Exports merge rows of one time into many polygons; a copy of a polygon has the same vertices.
            let vertices = |k: usize| u32::try_from(rows.row[k]).map_or(&[][..], |row| shapes.row_vertices(row));
            for k in 1..rows.len() {
                duplicate[k] &= !has_shape[k] || vertices(k) == vertices(k - 1);
            }
        } else {
            let copies = rows.copies();
            let is_repeated = rows.twins().into_iter().zip(copies).map(|(twin, copy)| twin || copy);
            for (is_duplicate, is_twin) in duplicate.iter_mut().zip(is_repeated) {
                twins += usize::from(is_twin && !*is_duplicate);
                *is_duplicate |= is_twin;
            }
        }
        let jumped = jumped_positions(rows, parameters.position_jump);
        let position: Vec<bool> = jumped.iter().zip(&has_shape).map(|(jumped, shape)| *jumped && !*shape).collect();
        let mut excluded: Vec<bool> = duplicate.iter().zip(&position).map(|(one, other)| *one || *other).collect();
        let headings = rows.settle_headings(&excluded);
        let mut pass = find_passes(rows, rule);
        for (((pass, excluded), width), has_shape) in
            pass.iter_mut().zip(&mut excluded).zip(&rows.width).zip(&has_shape)
        {
            if *width <= 0.0 && !*has_shape {
                *pass = 0;
                *excluded = true;
            }
        }
        let speed = wrong_speeds(rows, &pass, &excluded, parameters.speeds);
        let any = (0..rows.len()).map(|k| excluded[k] || speed[k]).collect();
        (pass, Self { duplicate, position, speed, excluded, any, twins, headings })
    }

    /// The reasons of these faults.
    pub(crate) fn reasons(&self, pass: &[i32]) -> Vec<u32> {
        let mut bits = vec![0; pass.len()];
        mark(&mut bits, reasons::NOT_WORKING, |k| pass[k] == 0);
        mark(&mut bits, reasons::DUPLICATE, |k| self.duplicate[k]);
        mark(&mut bits, reasons::POSITION, |k| self.position[k]);
        mark(&mut bits, reasons::SPEED, |k| pass[k] > 0 && self.speed[k]);
        bits
    }
}

/// Marks the first and the last seconds of passes.
pub(crate) fn mark_ends(rows: &TrackRows, pass: &[i32], [first, last]: [f64; 2], bits: &mut [u32]) {
    for run in rows.tracks.iter().flat_map(|track| pass_runs(track, pass)) {
        let (start, end) = (rows.time[run.start], rows.time[run.end - 1]);
        for k in run {
            if rows.time[k] - start < first - 1e-6 || end - rows.time[k] < last - 1e-6 {
                bits[k] |= reasons::ENDS;
            }
        }
    }
}

/// Moisture of the ground of rows.
#[derive(Default)]
pub(crate) struct Moisture {
    pub(crate) delays: Vec<MachineDelay>,
    /// Percent; `None` if no moisture was logged.
    pub(crate) shifted: Option<Vec<f64>>,
    /// Rows whose value uses one that was missing or implausible.
    pub(crate) is_filled: Vec<bool>,
}

impl Moisture {
    /// Fills the logged moisture and shifts it to the ground. Rows beyond the log have the median of the field.
    pub(crate) fn shift(
        rows: &TrackRows,
        pass: &[i32],
        moisture: &[f64],
        (flow_delays, jobs): (&[MachineDelay], &Jobs),
        parameters: &Parameters,
    ) -> Result<Self> {
        let (filled, suspect) = plausible_moisture(rows, pass, moisture, parameters.moisture_jump);
        let delays = if parameters.moisture_delay == Seconds::Word(Word::Flow) {
            flow_delays.to_vec()
        } else {
            machine_delays("moisture_delay", &parameters.moisture_delay, (rows, jobs), |_| Ok(Delay::given(None)))?
        };
        let usual = median((0..rows.len()).filter(|k| pass[*k] > 0).map(|k| filled[k]).collect());
        let value = |k: usize| {
            let value = value_later(rows, &filled, k, shift(&delays, rows, k));
            if value.is_nan() { usual } else { value }
        };
        let shifted = (0..rows.len()).map(value).collect();
        let is_filled = (0..rows.len()).map(|k| touches(rows, &suspect, k, shift(&delays, rows, k))).collect();
        Ok(Self { delays, shifted: Some(shifted), is_filled })
    }
}

/// Marks rows whose yield in kg/ha is below the first or above the second limit.
pub(crate) fn mark_limits(coverage: &Coverage, kg: &[f64], [least, most]: [Option<f64>; 2], bits: &mut [u32]) {
    let is_outside = |rate: f64| least.is_some_and(|least| rate < least) || most.is_some_and(|most| rate > most);
    let rate = |k: usize| kg[k] / coverage.fresh[k] * HECTARE;
    mark(bits, reasons::LIMITS, |k| coverage.has_rate(k) && is_outside(rate(k)));
}

/// Ground that the flow of rows comes from.
pub(crate) struct OutlierGround<'a> {
    pub(crate) coverage: &'a Coverage,
    /// New ground in m2/s.
    pub(crate) per_second: &'a [f64],
    /// Sections with one sensor.
    pub(crate) shared: Option<&'a SharedFlow>,
}

/// Marks spikes and local deviations of the rate. `flow` is the logged and the shifted one.
pub(crate) fn mark_outliers(
    sensor: &Sensor<'_>,
    ground: &OutlierGround<'_>,
    flow: (&[f64], &[f64]),
    delays: &[MachineDelay],
    parameters: &Parameters,
    bits: &mut [u32],
) {
    let OutlierGround { coverage, per_second, shared } = ground;
    let rows = sensor.rows;
    let harmless = reasons::OVERLAP | reasons::MOISTURE;
    let earlier = reasons::NOT_WORKING | reasons::ENDS | reasons::SPEED | reasons::POSITION | reasons::DUPLICATE;
    let flows = Flows {
        logged: flow.0.into(),
        shifted: flow.1.into(),
        per_second: (*per_second).into(),
        x: sensor.location.0.into(),
        y: sensor.location.1.into(),
        delay: (0..rows.len()).map(|k| shift(delays, rows, k)).collect(),
        pass: sensor.pass.into(),
        has_rate: (0..rows.len()).map(|k| coverage.has_rate(k)).collect(),
        is_trusted: bits.iter().map(|bits| bits & !harmless == 0).collect(),
        is_first: bits.iter().map(|bits| bits & earlier == 0).collect(),
    };
    let limits = Limits { spike: parameters.spike, local: parameters.local };
    let is_repeated = |k: usize| bits[k] & reasons::DUPLICATE != 0;
    let found = row_deviations(rows, &flows, shared.is_some(), is_repeated, &limits);
    // No grain flows backwards.
    let is_spike = |k: usize| found[k].is_spike || flows.shifted[k] < 0.0;
    mark(bits, reasons::SPIKE, |k| flows.is_first[k] && is_spike(k));
    mark(bits, reasons::LOCAL, |k| flows.is_first[k] && !is_spike(k) && found[k].is_local);
}

/// The middle of the ground of each row, in metres.
pub(crate) struct Middle {
    x: Vec<f64>,
    y: Vec<f64>,
}

impl Middle {
    /// Moves rows to the middle of what they cut; polygons, which have no antenna, are there already.
    pub(crate) fn new(rows: &TrackRows, antenna: Option<f64>) -> Self {
        let ahead = |k: usize| antenna.map_or(0.0, |antenna| antenna - 0.5 * rows.distance[k]);
        let (x, y) = (0..rows.len())
            .map(|k| (rows.x[k] + ahead(k) * rows.heading[k].cos(), rows.y[k] + ahead(k) * rows.heading[k].sin()))
            .unzip();
        Self { x, y }
    }

    pub(crate) fn location(&self) -> (&[f64], &[f64]) {
        (&self.x, &self.y)
    }

    /// Marks rows within some metres of the boundary.
    pub(crate) fn mark_edge(&self, pass: &[i32], boundary: &[Polygons], metres: f64, bits: &mut [u32]) {
        let edges = outer_edges(boundary);
        mark(bits, reasons::EDGE, |k| pass[k] > 0 && self.is_near(&edges, k, metres));
    }

    /// Whether a row is within some metres of an edge.
    fn is_near(&self, edges: &[[Point; 2]], k: usize, metres: f64) -> bool {
        let (x, y) = (self.x[k], self.y[k]);
        edges.iter().any(|[[ax, ay], [bx, by]]| {
            let (dx, dy) = (bx - ax, by - ay);
            let squared = dx * dx + dy * dy;
            let share = if squared > 0.0 { (((x - ax) * dx + (y - ay) * dy) / squared).clamp(0.0, 1.0) } else { 0.0 };
            (ax + share * dx - x).hypot(ay + share * dy - y) < metres
        })
    }
}
