//! Reads the rows of a harmonised layer as arrays in a local plane.

use std::sync::Arc;

use crate::columns::canonical::JobKind;
use crate::columns::canonical_rows::layer_kind;
use crate::columns::crops::Crop;
use crate::columns::derived::HECTARE;
use crate::columns::market_moisture::row_markets;
use crate::columns::provenance as keys;
use crate::columns::row_ratios::median;
use crate::columns::values::CanonicalValues;
use crate::ground::logged_shapes::Shapes;
use crate::ground::seasons::Jobs;
use crate::rows::lengths::{filled_widths, used_distances};
use crate::rows::logged_rows::LoggedRows;
use crate::rows::mass_without_flow::{check_mass, row_mass};
use crate::rows::order::RowOrder;
use crate::rows::places::{Places, read_places};
use crate::rows::unnamed_products::numbered_products;
use headland_base::error::{Error, Result};
use headland_reader::archive::{Code, Diagnostic};
use headland_reader::layer::Layer;
use headland_reader::layer::crs::{Crs, LocalPlane};
use headland_reader::layer::units::Quantity;

/// The rule of a flow that a sensor logged.
pub(crate) const LOGGED_FLOW: &str = "flow";

/// Rows of a harmonised layer as arrays, in a local plane. NaN is null; values that are not finite are null.
#[derive(Clone, Debug)]
pub(crate) struct FieldRows {
    pub(crate) kind: JobKind,
    /// The plane around the median position.
    pub(crate) plane: LocalPlane,
    /// Metres in the plane: the point, the centroid of polygons, or the mean of other vertices.
    pub(crate) x: Vec<f64>,
    pub(crate) y: Vec<f64>,
    /// The polygons of each row in the plane, if a row has polygons.
    pub(crate) shapes: Option<Arc<Shapes>>,
    /// Seconds, above 0 in every row: logged, else computed, else 1.
    pub(crate) interval: Vec<f64>,
    /// Metres of the step of this row.
    pub(crate) distance: Vec<f64>,
    /// Metres across.
    pub(crate) width: Vec<f64>,
    /// Radians anticlockwise from east, within a half turn; NaN where it is not logged.
    pub(crate) heading: Vec<f64>,
    /// Whether the machine works. Null counts as working, since concatenated layers may lack the column. `None` without a
    /// state in any row.
    pub(crate) working: Option<Vec<bool>>,
    /// How the rows follow each other.
    pub(crate) order: RowOrder,
    /// Job and number of each machine; 0 for rows without one. A machine of several jobs is one in each.
    pub(crate) machines: Vec<(u32, i64)>,
    pub(crate) jobs: Jobs,
    /// Number of the product of each row; empty without a column of products.
    pub(crate) product: Vec<u32>,
    /// Wet mass flow in kg/s of a harvest: logged, else computed as `flow_rule` says.
    pub(crate) flow: Option<Vec<f64>>,
    /// The columns that the flow comes from; empty without a flow.
    pub(crate) flow_rule: &'static str,
    /// Water in percent of the wet mass, from 0 to 100.
    pub(crate) moisture: Option<Vec<f64>>,
    /// Applied or planted in each row, in `amount_unit`.
    pub(crate) amount: Option<Vec<f64>>,
    /// `kg`, `L` or `seeds`; empty without an amount.
    pub(crate) amount_unit: &'static str,
    /// Percent of water at which the grain of each row is sold, if it is known.
    pub(crate) market: Option<Vec<f64>>,
    pub(crate) diagnostics: Vec<Diagnostic>,
}

impl FieldRows {
    /// An error if no row says how wide it works.
    pub(crate) fn check_ground(&self, layer: &Layer) -> Result<()> {
        if self.width.iter().any(|width| *width > 0.0) || self.shapes.is_some() {
            return Ok(());
        }
        let message = format!(
            "the ground of layer `{}` is unknown: no row has a swath width above 0; pass \
             `columns={{\"swath_width\": ...}}` to `headland.harmonize`, or add such a column",
            layer.name()
        );
        Err(Error::for_argument("columns", message))
    }

    /// Reads a harmonised layer.
    ///
    /// Errors: no geometry, no position, an unknown coordinate system, and a column that is needed and whose unit is
    /// unknown. A swath width that is not logged is NaN.
    pub(crate) fn read(layer: &Layer) -> Result<Self> {
        let kind = layer_kind(layer).ok_or_else(|| {
            Error::for_argument(
                "kind",
                format!("the kind of job of layer `{}` is unknown; pass it to `headland.harmonize`", layer.name()),
            )
        })?;
        let places = read_places(layer)?;
        let named_crop =
            layer.metadata().iter().find(|(key, _)| key == keys::CROP).and_then(|(_, name)| Crop::find(name));
        let values = CanonicalValues::new(layer, named_crop.and_then(Crop::kg_per_bushel));
        let crop = named_crop.or_else(|| values.common_text("crop").and_then(Crop::find));
        let values = CanonicalValues::new(layer, crop.and_then(Crop::kg_per_bushel));
        ["distance", "swath_width"].into_iter().try_for_each(|name| values.check_unit(name))?;
        let Places { plane, x, y, areas, shapes } = places.without_buffers(layer, &values);
        let mut diagnostics = Vec::new();
        let (time, counter) = (values.seconds(), values.numbers("order", ""));
        let logged = values.numbers("distance", "m");
        let width = widths(&values, areas.as_deref(), logged.as_deref());
        let state = values.flags("working", true);
        let numbers = working_machines(values.integers("machine"), state.as_deref(), time.as_deref());
        let jobs = Jobs::read(layer);
        let (source, mut machines) = numbered(&numbers, &jobs);
        let order = RowOrder::new(&LoggedRows {
            source: &source,
            section: &values.integers("section"),
            time: time.as_deref(),
            order: counter.as_deref(),
            x: &x,
            y: &y,
            distance: logged.as_deref().unwrap_or_default(),
            flow: &values.numbers("flow", "kg/s").unwrap_or_default(),
            is_geographic: layer.crs().is_none_or(Crs::is_geographic),
            has_shapes: shapes.is_some(),
        });
        if order.separated > 0 {
            machines = (1..).take(order.separated).map(|number| (0, number)).collect();
            for (row, source) in order.source.iter().enumerate() {
                machines[*source as usize].0 = jobs.of(row);
            }
        }
        diagnostics.extend(
            order.diagnostics().into_iter().filter(|new| layer.diagnostics().iter().all(|old| old.code != new.code)),
        );
        if order.fit.is_random() {
            return Err(Error::for_argument("columns", order.unordered()));
        }
        let (interval, is_assumed) = intervals(&values, logged.as_deref(), &order, (&x, &y), &mut diagnostics);
        let distance = match logged {
            Some(logged) => used_distances(&order, (&x, &y), &interval, logged),
            None => distances(&values, areas.as_deref(), &width, &interval, (&order, &x, &y), &mut diagnostics),
        };
        let width = filled_widths(width, &order);
        let area = row_areas(&distance, &width, areas.as_deref());

        let percent = |value: f64| if (0.0..=100.0).contains(&value) { value } else { f64::NAN };
        let moisture =
            values.numbers("moisture", "%").map(|values| values.into_iter().map(percent).collect::<Vec<_>>());
        let moisture = moisture.filter(|values| values.iter().any(|value| value.is_finite()));
        let (mut flow, mut flow_rule, mut amount, mut amount_unit) = (None, "", None, "");
        if kind == JobKind::Yield {
            let found = if is_assumed { None } else { logged_flow(&values, &interval) };
            let computed = || {
                let mass = row_mass(&values, &area, moisture.as_deref(), crop, &mut diagnostics)?;
                Some((mass.kg.into_iter().zip(&interval).map(|(kg, interval)| kg / interval).collect(), mass.rule))
            };
            match found.or_else(computed) {
                Some((values, rule)) => (flow, flow_rule) = (Some(values), rule),
                None if values.numbers("flow", "kg/s").is_some() => {
                    let message = "the mass of rows is unknown: the flow is logged, but nothing gives the interval of rows; \
                                   pass `columns={\"interval\": ...}` to `headland.harmonize`";
                    return Err(Error::for_argument("columns", message.to_owned()));
                }
                None => check_mass(&values)?,
            }
        } else if let Some((values, unit)) = amounts(&values, &area) {
            (amount, amount_unit) = (Some(values), unit);
        }
        let heading = values.numbers("heading", "deg").unwrap_or_else(|| vec![f64::NAN; values.rows()]);
        Ok(Self {
            product: numbered_products(&values, (amount.as_deref(), &area), (&order, &x, &y), &mut diagnostics),
            kind,
            plane,
            heading: heading.into_iter().map(from_compass).collect(),
            working: state.or_else(|| has_amount(kind, amount.as_deref())),
            x,
            y,
            shapes,
            interval,
            distance,
            width,
            order,
            machines,
            jobs,
            flow,
            flow_rule,
            moisture,
            amount,
            amount_unit,
            market: if kind == JobKind::Yield { row_markets(layer) } else { None },
            diagnostics,
        })
    }

    /// The rows that `is_in` selects, with their machines. Columns keep all rows, so that numbers of rows are those of the layer.
    pub(crate) fn part(&self, is_in: impl Fn(usize) -> bool) -> Self {
        let mut order = self.order.part(is_in);
        let mut used: Vec<u32> = order.row.iter().map(|row| order.source[*row]).collect();
        used.sort_unstable();
        used.dedup();
        for row in &order.row {
            let position = used.binary_search(&order.source[*row]).unwrap_or(0);
            order.source[*row] = u32::try_from(position).unwrap_or(u32::MAX);
        }
        let machines = used.iter().filter_map(|machine| self.machines.get(*machine as usize).copied()).collect();
        Self { order, machines, ..self.clone() }
    }
}

/// Rows of a sprayer or planter that apply something, where no working state is logged. Null counts as working.
fn has_amount(kind: JobKind, amount: Option<&[f64]>) -> Option<Vec<bool>> {
    let amount = amount.filter(|_| kind != JobKind::Yield)?;
    Some(amount.iter().map(|amount| amount.is_nan() || *amount > 0.0).collect())
}

/// Radians anticlockwise from east, for degrees clockwise from north.
fn from_compass(degrees: f64) -> f64 {
    let turned = (90.0 - degrees).rem_euclid(360.0);
    if turned > 180.0 { (turned - 360.0).to_radians() } else { turned.to_radians() }
}

/// The logged width, else that of the polygon of a row: its area / distance.
fn widths(values: &CanonicalValues<'_>, areas: Option<&[f64]>, distances: Option<&[f64]>) -> Vec<f64> {
    let mut width = values.numbers("swath_width", "m").unwrap_or_else(|| vec![f64::NAN; values.rows()]);
    if let (Some(areas), Some(distances)) = (areas, distances) {
        for ((width, area), distance) in width.iter_mut().zip(areas).zip(distances) {
            if width.is_nan() && *distance > 0.0 {
                *width = area / distance;
            }
        }
    }
    width
}

/// Numbers of machines. A machine none of whose rows work is none: some displays log 0 while the header is up. Its rows are of
/// the machine of the row before.
fn working_machines(mut machine: Vec<i64>, working: Option<&[bool]>, time: Option<&[f64]>) -> Vec<i64> {
    let Some(working) = working else { return machine };
    let mut known: Vec<i64> =
        machine.iter().zip(working).filter(|(_, working)| **working).map(|(number, _)| *number).collect();
    known.sort_unstable();
    known.dedup();
    let is_known = |number: i64| known.binary_search(&number).is_ok();
    if known.is_empty() || machine.iter().all(|number| is_known(*number)) {
        return machine;
    }
    let mut order: Vec<usize> = (0..machine.len()).collect();
    order.sort_unstable_by(|a, b| {
        time.map_or(std::cmp::Ordering::Equal, |time| time[*a].total_cmp(&time[*b])).then(a.cmp(b))
    });
    let mut last = order.iter().map(|row| machine[*row]).find(|number| is_known(*number)).unwrap_or_default();
    for row in order {
        if is_known(machine[row]) {
            last = machine[row];
        } else {
            machine[row] = last;
        }
    }
    machine
}

/// The position of the machine of each row in its job among all different ones, and these.
fn numbered(numbers: &[i64], jobs: &Jobs) -> (Vec<u32>, Vec<(u32, i64)>) {
    let numbers: Vec<(u32, i64)> = numbers.iter().enumerate().map(|(row, number)| (jobs.of(row), *number)).collect();
    let mut all = numbers.clone();
    all.sort_unstable();
    all.dedup();
    // It stays with the cleaned rows.
    all.shrink_to_fit();
    let position = |number: &(u32, i64)| u32::try_from(all.binary_search(number).unwrap_or(0)).unwrap_or(u32::MAX);
    (numbers.iter().map(position).collect(), all)
}

/// The interval of each row, and whether it is assumed: logged, else distance / speed, else the usual one of the layer.
fn intervals(
    values: &CanonicalValues<'_>,
    distance: Option<&[f64]>,
    order: &RowOrder,
    (x, y): (&[f64], &[f64]),
    diagnostics: &mut Vec<Diagnostic>,
) -> (Vec<f64>, bool) {
    let positive = |value: f64| if value > 0.0 { value } else { f64::NAN };
    let logged = values.numbers("interval", "s");
    let is_logged = logged.is_some();
    let mut found: Vec<f64> =
        logged.map_or_else(|| vec![f64::NAN; values.rows()], |intervals| intervals.into_iter().map(positive).collect());
    let speed = values.numbers("speed", "m/s");
    if let (Some(distance), Some(speed)) = (distance, &speed) {
        for ((interval, distance), speed) in found.iter_mut().zip(distance).zip(speed) {
            if interval.is_nan() && *speed > 0.0 {
                *interval = positive(distance / speed);
            }
        }
    }
    let usual = median(found.clone());
    let (usual, source) = if usual.is_finite() {
        (usual, "distance / speed")
    } else {
        let by_time = order.intervals(x, y, distance.unwrap_or_default(), 0.0);
        by_time.map_or((1.0, ""), |intervals| (median(intervals), "time"))
    };
    if source.is_empty() {
        let message = "nothing gives the interval of rows, so it is 1 s; speeds are metres per row";
        diagnostics.push(Diagnostic::new(Code::IntervalAssumed, message));
    } else if !is_logged {
        let message = format!("the interval of rows is computed from {source}");
        diagnostics.push(Diagnostic::new(Code::StepsComputed, message));
    }
    let filled = found.into_iter().map(|interval| if interval.is_nan() { usual } else { interval });
    (filled.collect(), source.is_empty())
}

/// The distance of each row without a logged one: area / width of polygons, else the step between positions, else speed x
/// interval.
fn distances(
    values: &CanonicalValues<'_>,
    areas: Option<&[f64]>,
    width: &[f64],
    interval: &[f64],
    (order, x, y): (&RowOrder, &[f64], &[f64]),
    diagnostics: &mut Vec<Diagnostic>,
) -> Vec<f64> {
    let by_area = areas.map(|areas| {
        let length = |(area, width): (&f64, &f64)| if *width > 0.0 { area / width } else { f64::NAN };
        areas.iter().zip(width).map(length).collect::<Vec<f64>>()
    });
    let by_area = by_area.filter(|lengths| lengths.iter().any(|length| length.is_finite()));
    let (mut found, source) = match by_area {
        Some(lengths) => (lengths, "the area of the polygons and `swath_width`"),
        None => (order.distances(x, y, interval), "the step between positions"),
    };
    if let Some(speed) = values.numbers("speed", "m/s") {
        for ((distance, speed), interval) in found.iter_mut().zip(speed).zip(interval) {
            if distance.is_nan() {
                *distance = speed * interval;
            }
        }
    }
    let message = format!("the distance of rows is computed from {source}");
    diagnostics.push(Diagnostic::new(Code::StepsComputed, message));
    found
}

/// Square metres of each row: those of its polygons, else distance x width.
fn row_areas(distance: &[f64], width: &[f64], areas: Option<&[f64]>) -> Vec<f64> {
    let area = |(row, (distance, width)): (usize, (&f64, &f64))| {
        let own = areas.and_then(|areas| areas.get(row)).copied().filter(|area| *area > 0.0);
        own.unwrap_or(if *distance >= 0.0 && *width >= 0.0 { distance * width } else { f64::NAN })
    };
    distance.iter().zip(width).enumerate().map(area).collect()
}

/// The logged flow. Rows of a concatenation without one have that of their harmonised wet mass.
fn logged_flow(values: &CanonicalValues<'_>, interval: &[f64]) -> Option<(Vec<f64>, &'static str)> {
    let mut flow = values.numbers("flow", "kg/s")?;
    if let Some(kg) = values.numbers("wet_mass", "kg").filter(|_| flow.iter().any(|flow| flow.is_nan())) {
        for ((flow, kg), interval) in flow.iter_mut().zip(kg).zip(interval) {
            if flow.is_nan() {
                *flow = kg / interval;
            }
        }
    }
    Some((flow, LOGGED_FLOW))
}

/// The amount of each row and its unit: applied rate x area, else as it was harmonised.
fn amounts(values: &CanonicalValues<'_>, area: &[f64]) -> Option<(Vec<f64>, &'static str)> {
    let names = |name: &str| match values.unit(name)?.quantity().0 {
        Quantity::Mass => Some(("kg", "kg/ha")),
        Quantity::Count => Some(("seeds", "seeds/ha")),
        Quantity::Volume => Some(("L", "L/ha")),
        _ => None,
    };
    let by_rate = || {
        let (unit, rate_unit) = names("applied_rate")?;
        let rates = values.numbers("applied_rate", rate_unit)?;
        let amount: Vec<f64> = rates.iter().zip(area).map(|(rate, area)| rate * area / HECTARE).collect();
        amount.iter().any(|amount| amount.is_finite()).then_some((amount, unit))
    };
    by_rate().or_else(|| {
        let (unit, _) = names("amount")?;
        Some((values.numbers("amount", unit)?, unit))
    })
}
