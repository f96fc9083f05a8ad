//! The log of a sprayer that applies a prescription map, from a model of its own: lag, overlaps, a section that is off.

use chrono::{DateTime, Duration, Timelike as _, Utc};

use super::attributes::{Cells, Table};
use super::deterministic_math::{i64_to_f64, round_to_i64, scaled, unscaled, usize_to_f64};
use super::plane::{CoordinateSystem, Plane, Point};
use super::shapefile_writer::LayerWriter;
use super::units::METRIC;
use super::zip_writer::{unit_sidecar, write_zip};
use headland_base::error::{Error, Kind, Result};
use headland_reader::layer::Polygons;

/// Sections of the boom and their width in metres.
const SECTIONS: usize = 4;
const SECTION: f64 = 6.0;
/// Metres driven in a second, which is the interval of rows.
const STEP: f64 = 4.0;
/// Side of the cells that ground is counted on. Passes, sections and steps are multiples of it.
const CELL: f64 = 0.5;
/// Largest number of cells: 1,000 ha.
const MAX_CELLS: usize = 40_000_000;
/// The part of the target by which a rate may differ.
const TOLERANCE: f64 = 0.10;
/// Decimals of rates.
const DECIMALS: u8 = 3;
/// Seconds of a turn.
const TURN: i64 = 20;

/// How a map is sprayed.
#[derive(Clone, Debug)]
pub struct SprayOptions {
    /// Seconds that the rate is behind the target.
    pub lag: usize,
    /// Part of the boom that covers the pass before.
    pub overlap: f64,
    /// Whether the last section is off in a third of every second pass.
    pub sections_off: bool,
    /// Name of the product.
    pub product: String,
    /// Unit of the rates, such as `L/ha`.
    pub unit: &'static str,
    /// End of the work.
    pub end: DateTime<Utc>,
}

/// Truth of a sprayed map. Ground is in m² and counted once. Amounts are in that of the rates' unit.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct SprayTruth {
    /// Number of records.
    pub rows: usize,
    /// Seconds of the work.
    pub seconds: i64,
    /// Sum of width times distance with the boom on.
    pub area: f64,
    /// Ground below the target by more than a tenth.
    pub under: f64,
    /// Ground within a tenth of the target.
    pub within: f64,
    /// Ground above the target by more than a tenth.
    pub over: f64,
    /// Ground that no section sprayed where one was off.
    pub off: f64,
    /// Product that the map asked for, on full swaths and on the ground where a section was off.
    pub asked: f64,
    /// Product that was applied.
    pub applied: f64,
    /// Least, mean and largest target.
    pub targets: [f64; 3],
}

/// A zone: rings with their extent (west, south, east, north), and the rate in units of its last decimal.
struct Zone {
    rings: Vec<Vec<Point>>,
    extent: [f64; 4],
    rate: i64,
}

impl Zone {
    fn new(rings: Vec<Vec<Point>>, rate: f64) -> Self {
        let none = [f64::MAX, f64::MAX, f64::MIN, f64::MIN];
        let extent = rings.iter().flatten().fold(none, |[west, south, east, north], at| {
            [west.min(at.east), south.min(at.north), east.max(at.east), north.max(at.north)]
        });
        Self { rings, extent, rate: scaled(rate, DECIMALS) }
    }

    /// Whether an odd number of edges is east of a location.
    fn contains(&self, at: Point) -> bool {
        let [west, south, east, north] = self.extent;
        let is_east = |(a, b): &(&Point, &Point)| {
            (a.north > at.north) != (b.north > at.north)
                && at.east < (b.east - a.east) * (at.north - a.north) / (b.north - a.north) + a.east
        };
        let crossings =
            |ring: &Vec<Point>| ring.iter().zip(ring.iter().cycle().skip(1)).filter(|edge| is_east(edge)).count();
        (west..=east).contains(&at.east)
            && (south..=north).contains(&at.north)
            && self.rings.iter().map(crossings).sum::<usize>() % 2 == 1
    }
}

/// A step of a section. Rates are in units of their last decimal.
struct Step {
    middle: Point,
    /// 1 to the east, -1 to the west.
    direction: f64,
    pass: i64,
    section: i64,
    second: i64,
    target: i64,
    rate: i64,
    is_on: bool,
    is_in_zone: bool,
}

/// Returns the zip of shapefiles that a display would write, and the truth. `layer` names the members. A map without
/// ground to spray, or with more than a field, is an error.
pub fn spray_map(layer: &str, zones: &[(Polygons, f64)], options: &SprayOptions) -> Result<(Vec<u8>, SprayTruth)> {
    let wrong = |message: &str| Error::new(Kind::Value, message.to_owned());
    let plane = plane_of(zones);
    let (longitude, latitude) = plane.coordinates(Point::new(0.0, 0.0), CoordinateSystem::Geographic);
    let to_plane = |[x, y]: &[f64; 2]| {
        // The plane has no inverse, but is linear along each axis. Written coordinates are rounded, so a long way is
        // measured.
        let way = 10_000.0;
        let (_, up) = plane.coordinates(Point::new(0.0, way), CoordinateSystem::Geographic);
        let north = (y - latitude) / (up - latitude) * way;
        let (right, _) = plane.coordinates(Point::new(way, north), CoordinateSystem::Geographic);
        Point::new((x - longitude) / (right - longitude) * way, north)
    };
    let zones: Vec<Zone> = zones
        .iter()
        .map(|(polygons, rate)| {
            Zone::new(polygons.iter().flatten().map(|ring| ring.iter().map(to_plane).collect()).collect(), *rate)
        })
        .collect();
    let steps = drive(&zones, options).ok_or_else(|| wrong("the prescription map is larger than a field"))?;
    let truth = truth(&steps, options)
        .ok_or_else(|| wrong("the prescription map has no ground with a rate above 0 that the sprayer reaches"))?;
    let start = options.end - Duration::seconds(truth.seconds);
    let writer =
        LayerWriter { plane: &plane, system: CoordinateSystem::Geographic, date: start.date_naive(), code_page: false };
    let table = table(&steps, options, start);
    // The display logs where the boom is at the end of each step.
    let ends = steps.iter().map(|step| step.middle.moved(Point::new(step.direction, 0.0), STEP / 2.0));
    let mut members = writer.points(layer, &table, ends)?;
    members.push(unit_sidecar(layer, &table));
    Ok((write_zip(&members, start.naive_utc())?, truth))
}

/// The plane around the middle of the zones.
fn plane_of(zones: &[(Polygons, f64)]) -> Plane {
    let corners = || zones.iter().flat_map(|(polygons, _)| polygons).flatten().flatten();
    let middle = |axis: fn(&[f64; 2]) -> f64| {
        let (low, high) = corners().map(axis).fold((f64::MAX, f64::MIN), |(low, high), at| (low.min(at), high.max(at)));
        f64::midpoint(low, high)
    };
    Plane::new(middle(|[x, _]| *x), middle(|[_, y]| *y))
}

/// Drives passes to and fro over the extent of the zones. `None`: the extent is larger than a field.
fn drive(zones: &[Zone], options: &SprayOptions) -> Option<Vec<Step>> {
    let whole = |[west, south, east, north]: [f64; 4], [w, s, e, n]: [f64; 4]| {
        [west.min(w), south.min(s), east.max(e), north.max(n)]
    };
    let [west, south, east, north] = zones.iter().map(|zone| zone.extent).reduce(whole)?;
    let [west, south] = [west, south].map(|side| (side / STEP).floor() * STEP);
    if (east - west) * (north - south) > usize_to_f64(MAX_CELLS) * CELL * CELL {
        return None;
    }
    let width = SECTION * usize_to_f64(SECTIONS);
    let spacing = (width * (1.0 - options.overlap) / CELL).round().max(1.0) * CELL;
    let count = usize::try_from(round_to_i64(((east - west) / STEP).ceil())).ok()?.max(1);
    let seconds = |steps: usize| round_to_i64(usize_to_f64(steps));
    let (mut steps, mut clock, mut pass) = (Vec::new(), 0, 0);
    let mut level = south + width / 2.0;
    while level - width / 2.0 < north {
        pass += 1;
        let is_back = pass % 2 == 0;
        for section in 0..SECTIONS {
            let across = level + (usize_to_f64(section) + 0.5) * SECTION - width / 2.0;
            let middles: Vec<Point> = (0..count)
                .map(|number| if is_back { count - 1 - number } else { number })
                .map(|place| Point::new(west + (usize_to_f64(place) + 0.5) * STEP, across))
                .collect();
            let targets: Vec<Option<i64>> =
                middles.iter().map(|at| zones.iter().find(|zone| zone.contains(*at)).map(|zone| zone.rate)).collect();
            let mut switched_on = 0;
            for (number, (middle, own)) in middles.into_iter().zip(&targets).enumerate() {
                // Outside of the zones, the display asks for nothing.
                let target = own.unwrap_or(0);
                // The rate is right where the section switches on, then behind the target.
                switched_on = if target == 0 { number + 1 } else { switched_on };
                let late = targets.get(number.saturating_sub(options.lag).max(switched_on)).copied().flatten();
                let is_third = (count / 3..2 * count / 3).contains(&number);
                let is_on = target > 0 && !(options.sections_off && is_back && is_third && section + 1 == SECTIONS);
                steps.push(Step {
                    middle,
                    direction: if is_back { -1.0 } else { 1.0 },
                    pass,
                    section: seconds(section) + 1,
                    second: clock + seconds(number),
                    target,
                    rate: late.filter(|_| is_on).unwrap_or(0),
                    is_on,
                    is_in_zone: own.is_some(),
                });
            }
        }
        clock += seconds(count) + TURN;
        level += spacing;
    }
    // All sections of a moment are logged if one is in a zone: the display logs a rate of 0, too, with the boom off.
    steps.sort_by_key(|step| (step.second, step.section));
    let moments = steps.chunk_by(|one, other| one.second == other.second);
    let kept: Vec<bool> =
        moments.flat_map(|moment| vec![moment.iter().any(|step| step.is_in_zone); moment.len()]).collect();
    let mut kept = kept.into_iter();
    steps.retain(|_| kept.next().unwrap_or(false));
    Some(steps)
}

/// Counts ground on cells: each belongs to the first step that sprays it, else to one whose section is off. `None`: no
/// step sprays.
fn truth(steps: &[Step], options: &SprayOptions) -> Option<SprayTruth> {
    let least = |coordinate: fn(&Step) -> f64| steps.iter().map(coordinate).fold(f64::MAX, f64::min);
    let most = |coordinate: fn(&Step) -> f64| steps.iter().map(coordinate).fold(f64::MIN, f64::max);
    let (west, south) = (least(|step| step.middle.east) - STEP / 2.0, least(|step| step.middle.north) - SECTION / 2.0);
    let cells = |span: f64| usize::try_from(round_to_i64(span / CELL)).unwrap_or(0);
    let columns = cells(most(|step| step.middle.east) + STEP / 2.0 - west);
    let lines = cells(most(|step| step.middle.north) + SECTION / 2.0 - south);
    let mut is_taken = vec![false; columns.checked_mul(lines)?];
    let mut take = |step: &Step| {
        let left = cells(step.middle.east - STEP / 2.0 - west);
        let low = cells(step.middle.north - SECTION / 2.0 - south);
        let mut fresh = 0;
        for line in low..low + cells(SECTION) {
            for cell in is_taken.iter_mut().skip(line * columns + left).take(cells(STEP)) {
                fresh += usize::from(!std::mem::replace(cell, true));
            }
        }
        usize_to_f64(fresh) * CELL * CELL
    };
    let per_area = if options.unit.ends_with("/ac") { 4_046.856_422_4 } else { 10_000.0 };
    let amount = |rate: i64, m2: f64| unscaled(rate, DECIMALS) * m2 / per_area;
    let seconds = steps.iter().map(|step| step.second + 1).max()?;
    let mut truth = SprayTruth { rows: steps.len(), seconds, ..SprayTruth::default() };
    for step in steps.iter().filter(|step| step.is_on) {
        let ground = take(step);
        let error = i64_to_f64(step.rate - step.target) / i64_to_f64(step.target);
        match error {
            _ if error.abs() <= TOLERANCE => truth.within += ground,
            _ if error < 0.0 => truth.under += ground,
            _ => truth.over += ground,
        }
        truth.area += STEP * SECTION;
        truth.asked += amount(step.target, STEP * SECTION);
        truth.applied += amount(step.rate, STEP * SECTION);
    }
    for step in steps.iter().filter(|step| !step.is_on && step.target > 0) {
        let ground = take(step);
        truth.off += ground;
        truth.asked += amount(step.target, ground);
    }
    let targets: Vec<i64> = steps.iter().filter(|step| step.is_on).map(|step| step.target).collect();
    let mean = unscaled(targets.iter().sum(), DECIMALS) / usize_to_f64(targets.len());
    let [least, most] = [*targets.iter().min()?, *targets.iter().max()?].map(|target| unscaled(target, DECIMALS));
    truth.targets = [least, mean, most];
    Some(truth)
}

/// The columns of the display.
fn table(steps: &[Step], options: &SprayOptions, start: DateTime<Utc>) -> Table {
    let mut table = Table::new();
    let whole = |pick: fn(&Step) -> i64| steps.iter().map(move |step| Some(pick(step)));
    let times = || steps.iter().map(|step| start + Duration::seconds(step.second));
    table.add_numbers("PASS", "1", (6, 0), whole(|step| step.pass));
    table.add_numbers("SECTION", "1", (4, 0), whole(|step| step.section));
    table.add_column("DATE", Cells::Dates(times().map(|time| time.date_naive()).collect()));
    table.add_column("TIME", Cells::Times(times().map(|time| time.num_seconds_from_midnight()).collect()));
    table.add_numbers("SWATHWIDTH", METRIC.length.0, (8, 3), whole(|_| scaled(SECTION, 3)));
    table.add_numbers("DISTANCE", METRIC.length.0, (8, 3), whole(|_| scaled(STEP, 3)));
    table.add_numbers("CYCLE", "s", (6, 2), whole(|_| 100));
    table.add_numbers("SPEED", METRIC.speed.0, (6, 2), whole(|_| scaled(STEP / METRIC.speed.1, 2)));
    table.add_numbers("HEADING", "deg", (6, 1), whole(|step| if step.direction < 0.0 { 2_700 } else { 900 }));
    table.add_numbers("TARGETRATE", options.unit, (10, DECIMALS), whole(|step| step.target));
    table.add_numbers("APPLDRATE", options.unit, (10, DECIMALS), whole(|step| step.rate));
    table.add_column("BOOMON", Cells::Booleans(steps.iter().map(|step| step.is_on).collect()));
    table.add_constant("PRODUCT", 24, &options.product);
    table
}
