//! Builds the layers of a cleaning: all rows with their reasons, and the report.

use std::borrow::Cow;
use std::sync::Arc;

use arrow_array::{ArrayRef, BooleanArray, Int32Array, Int64Array, LargeStringArray};
use arrow_schema::{DataType, Field};

use crate::cleaning::balance::{Place, Sums};
use crate::cleaning::clean_rows::{CleanRows, allowed_bits};
use crate::cleaning::delays::MachineDelay;
use crate::cleaning::diagnostics::outside;
use crate::cleaning::each_season::clean_seasons;
use crate::cleaning::high_yield::high_yield;
use crate::cleaning::reasons::{POSITION, REASONS, main_reason};
use crate::cleaning::recipe::Recipe;
use crate::columns::added::field;
use crate::columns::canonical::JobKind;
use crate::columns::cell_values::nullable;
use crate::columns::derived::HECTARE;
use crate::columns::edited::edited_use;
use crate::columns::harmonize::harmonize;
use crate::columns::provenance as keys;
use crate::columns::statements::Statements;
use crate::ground::seasons::Seasons;
use crate::maps::title::map_title;
use crate::rows::field_rows::FieldRows;
use crate::rows::gather::gather;
use crate::rows::result_columns::{polygon_layer, polygons, select_columns, with_columns, without_columns};
use headland_base::error::Result;
use headland_reader::layer::Layer;

/// A cleaned job.
#[derive(Clone)]
pub struct Cleaned {
    layer: Layer,
    report: Layer,
    recipe: String,
    pub(crate) rows: Arc<CleanRows>,
    pub(crate) seasons: Arc<Seasons>,
}

impl std::fmt::Debug for Cleaned {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Cleaned").finish_non_exhaustive()
    }
}

/// Cleans a job. A layer that is not harmonised is harmonised, and one that was cleaned starts from its originals.
///
/// Seasons of harvests, and other jobs, are cleaned apart.
///
/// `recipe` is JSON of an earlier cleaning, `arguments` a JSON object of parameters that override it. `boundary` is a layer
/// of polygons around the field.
pub fn clean(layer: Layer, recipe: Option<&str>, arguments: &str, boundary: Option<&Layer>) -> Result<Cleaned> {
    let recipe = Recipe::parse(recipe, arguments)?;
    let changed = edited_use(&layer);
    let layer = harmonize(without_columns(layer)?, &Statements::default())?;
    let mut field = FieldRows::read(&layer)?;
    field.check_ground(&layer)?;
    let boundary = boundary.map(|boundary| polygons("boundary", boundary, &field.plane)).transpose()?;
    let mut diagnostics = std::mem::take(&mut field.diagnostics);
    diagnostics.extend(changed.into_iter().chain(boundary.as_ref().and_then(|boundary| outside(boundary, &field))));
    let seasons = Seasons::find(&layer, field.kind, &field.jobs);
    let (rows, said) = clean_seasons(field, &seasons, &recipe, &boundary.unwrap_or_default())?;
    diagnostics.extend(said.into_iter().chain(high_yield(&layer, &rows)));
    let recipe = rows.recipe.to_json()?;
    let report = report(&layer, &rows)?;
    let layer = with_columns(layer, columns(&rows))?.with_diagnostics(diagnostics);
    Ok(Cleaned { layer, report, recipe, rows: Arc::new(rows), seasons: Arc::new(seasons) })
}

impl Cleaned {
    /// All rows in their order, with the columns of the cleaning.
    #[must_use]
    pub fn layer(&self) -> &Layer {
        &self.layer
    }

    /// Rows, mass, ground and mean yield by reason.
    #[must_use]
    pub fn report(&self) -> &Layer {
        &self.report
    }

    /// All parameters as JSON, which replays the cleaning.
    #[must_use]
    pub fn recipe(&self) -> &str {
        &self.recipe
    }

    /// Percent of water of masses and yields of the report, or `several`; `None` if they are as harvested.
    #[must_use]
    pub fn dry_basis(&self) -> Option<&str> {
        self.rows.masses.basis.as_deref().filter(|_| self.rows.masses.dry.is_some())
    }

    /// New ground in m2 of each row, in the order of the layer.
    #[must_use]
    pub fn fresh_ground(&self) -> Vec<f64> {
        self.rows.rows.unsorted(&self.rows.ground.coverage.fresh)
    }

    /// The reasons of each row, in the order of the layer, and where it went.
    pub(crate) fn reasons(&self) -> (Vec<u32>, Vec<Place>) {
        let places: Vec<Place> = (0..self.rows.passes.number.len()).map(|k| self.rows.place(k)).collect();
        (self.rows.rows.unsorted(&self.rows.reasons), self.rows.rows.unsorted(&places))
    }

    /// Delays of the flow by machine; empty for other jobs than harvests.
    #[must_use]
    pub fn delays(&self) -> &[MachineDelay] {
        &self.rows.flow.delays
    }

    /// Delays of the moisture by machine; empty without moisture.
    #[must_use]
    pub fn moisture_delays(&self) -> &[MachineDelay] {
        &self.rows.moisture.delays
    }

    /// Whether the job is a harvest.
    #[must_use]
    pub fn is_harvest(&self) -> bool {
        self.rows.kind == JobKind::Yield
    }

    /// The locations with the rate as logged and the main reason of each row: what cleaning starts from.
    pub fn before(&self) -> Result<Layer> {
        let rows = &self.rows;
        let rate = |k: usize| {
            let amount = rows.masses.logged.as_ref().or(rows.amount.as_ref()).map_or(f64::NAN, |amount| amount[k]);
            let m2 = rows.logged_ground(k);
            if m2 > 0.0 { amount / m2 * HECTARE } else { f64::NAN }
        };
        let rates: Vec<f64> = (0..rows.passes.number.len()).map(rate).collect();
        let reasons: Vec<&str> =
            rows.reasons.iter().zip(&rows.used).map(|(bits, used)| main_reason(*bits, *used)).collect();
        let unit = if self.is_harvest() { "kg/ha".to_owned() } else { format!("{}/ha", rows.amount_unit) };
        let names: LargeStringArray = rows.rows.unsorted(&reasons).into_iter().map(Some).collect();
        let logged = field("logged", DataType::Float64, &unit);
        let mut metadata = logged.metadata().clone();
        metadata.extend(self.dry_basis().map(|basis| (keys::MOISTURE_BASIS.to_owned(), basis.to_owned())));
        let added = vec![
            (field("reason", DataType::LargeUtf8, ""), Arc::new(names) as ArrayRef),
            (logged.with_metadata(metadata), nullable(rows.rows.unsorted(&rates))),
        ];
        let schema = self.layer.schema();
        let geometry = self.layer.geometry_index();
        let kept = geometry.map(|index| (index, Arc::new(schema.field(index).clone())));
        let title = map_title(&self.layer, None);
        let layer = self.layer.clone().with_entry(keys::JOB_NAME, Some(&title));
        with_columns(select_columns(layer, kept.into_iter().collect())?, added)
    }

    /// The swaths as polygons in WGS 84, or in the layer's own plane, one row for each row with a swath and a right position.
    /// `names` are columns of the layer that they have too.
    pub fn swaths(&self, names: &[String]) -> Result<Layer> {
        let rows = &self.rows;
        let mut order: Vec<(usize, usize)> = rows.rows.row.iter().copied().zip(0..).collect();
        order.sort_unstable();
        let is_there = |k: usize| rows.ground.coverage.full[k] > 0.0 && rows.reasons[k] & POSITION == 0;
        let kept: Vec<(usize, usize)> = order.into_iter().filter(|(_, k)| is_there(*k)).collect();
        let shape = |(_, k): &(usize, usize)| {
            let mut polygons = rows.ground.swaths.polygons(*k);
            polygons.iter_mut().flatten().flatten().for_each(|corner| *corner = rows.plane.unproject(*corner));
            polygons
        };
        let shapes: Vec<_> = kept.iter().map(shape).collect();
        let places: Vec<i64> = kept.iter().map(|(row, _)| i64::try_from(*row).unwrap_or(i64::MAX)).collect();
        let mut columns = vec![(field("row", DataType::Int64, ""), Arc::new(Int64Array::from(places)) as ArrayRef)];
        columns.extend(values(rows).into_iter().map(|column| {
            let picked = Values { numbers: column.numbers.pick(&kept), ..column };
            picked.into_column()
        }));
        let of_layer: Vec<u32> = kept.iter().map(|(row, _)| u32::try_from(*row).unwrap_or(u32::MAX)).collect();
        for name in names {
            if !columns.iter().any(|(own, _)| own.name() == name) {
                columns.push(gather(&self.layer, "columns", name, &of_layer)?);
            }
        }
        let swaths = polygon_layer(self.layer.name(), self.layer.source(), columns, &shapes, &rows.plane.crs())?;
        Ok(swaths.with_entry(keys::JOB_NAME, Some(&map_title(&self.layer, None))))
    }
}

/// Cells of a column, in the order of the tracks.
enum Cells<'a> {
    Numbers(Cow<'a, [f64]>),
    Integers(Vec<i64>),
    /// Sets of reasons.
    Bits(Vec<i32>),
    Flags(Vec<bool>),
}

impl Cells<'_> {
    fn pick(&self, kept: &[(usize, usize)]) -> Self {
        match self {
            Self::Numbers(cells) => Self::Numbers(kept.iter().map(|(_, k)| cells[*k]).collect()),
            Self::Integers(cells) => Self::Integers(kept.iter().map(|(_, k)| cells[*k]).collect()),
            Self::Bits(cells) => Self::Bits(kept.iter().map(|(_, k)| cells[*k]).collect()),
            Self::Flags(cells) => Self::Flags(kept.iter().map(|(_, k)| cells[*k]).collect()),
        }
    }
}

/// A column of the cleaning.
struct Values<'a> {
    name: &'static str,
    unit: &'static str,
    basis: Option<String>,
    /// The columns that it comes from, if they are named.
    source: &'static str,
    numbers: Cells<'a>,
}

impl Values<'_> {
    fn into_column(self) -> (Field, ArrayRef) {
        let (data_type, array): (DataType, ArrayRef) = match self.numbers {
            Cells::Numbers(cells) => (DataType::Float64, nullable(cells.into_owned())),
            Cells::Integers(cells) => (DataType::Int64, Arc::new(Int64Array::from(cells))),
            Cells::Bits(cells) => (DataType::Int32, Arc::new(Int32Array::from(cells))),
            Cells::Flags(cells) => (DataType::Boolean, Arc::new(BooleanArray::from(cells))),
        };
        let field = field(self.name, data_type, self.unit);
        let mut metadata = field.metadata().clone();
        metadata.extend(self.basis.map(|basis| (keys::MOISTURE_BASIS.to_owned(), basis)));
        if !self.source.is_empty() {
            metadata.insert(keys::SOURCE.to_owned(), self.source.to_owned());
        }
        (field.with_metadata(metadata), array)
    }
}

/// The columns of a cleaning in the order of the tracks.
fn values(rows: &CleanRows) -> Vec<Values<'_>> {
    let column = |name, unit, numbers| Values { name, unit, basis: None, source: "", numbers };
    let rate = |kg: &[f64]| {
        let rate = |k: usize| if rows.has_rate(k) { kg[k] / rows.ground.coverage.fresh[k] * HECTARE } else { f64::NAN };
        Cells::Numbers((0..rows.passes.number.len()).map(rate).collect())
    };
    let numbers = |values| Cells::Numbers(Cow::Borrowed(values));
    let bits = rows.reasons.iter().map(|bits| i32::try_from(*bits).unwrap_or(i32::MAX)).collect();
    let mut values = vec![
        column("pass_number", "", Cells::Integers(rows.passes.number.iter().copied().map(i64::from).collect())),
        column("reasons", "", Cells::Bits(bits)),
        column("used", "", Cells::Flags(rows.used.clone())),
        column("share", "", numbers(&rows.ground.share)),
    ];
    if let Some(kg) = &rows.masses.wet {
        values.push(column("kg", "kg", numbers(kg)));
    }
    values.push(column("m2", "m2", numbers(&rows.ground.coverage.fresh)));
    if let Some(kg) = &rows.masses.wet {
        values.push(column("yield_wet", "kg/ha", rate(kg)));
    }
    if let Some(kg) = &rows.masses.dry {
        values.push(Values { basis: rows.masses.basis.clone(), ..column("yield_dry", "kg/ha", rate(kg)) });
    }
    if let Some(flow) = &rows.flow.shifted {
        values.push(Values { source: rows.flow.rule, ..column("flow_shifted", "kg/s", numbers(flow)) });
    }
    if let Some(moisture) = &rows.moisture.shifted {
        values.push(column("moisture_shifted", "%", numbers(moisture)));
    }
    values
}

fn columns(rows: &CleanRows) -> Vec<(Field, ArrayRef)> {
    let unsorted = |values: Values<'_>| {
        let numbers = match &values.numbers {
            Cells::Numbers(cells) => Cells::Numbers(rows.rows.unsorted(cells).into()),
            Cells::Integers(cells) => Cells::Integers(rows.rows.unsorted(cells)),
            Cells::Bits(cells) => Cells::Bits(rows.rows.unsorted(cells)),
            Cells::Flags(cells) => Cells::Flags(rows.rows.unsorted(cells)),
        };
        Values { numbers, ..values }.into_column()
    };
    values(rows).into_iter().map(unsorted).collect()
}

/// A line of the report; `rated` are amount and ground of rows with enough new ground for a rate.
#[derive(Clone, Copy, Default)]
struct Line {
    sums: Sums,
    rated: [f64; 2],
    only: i64,
}

impl Line {
    fn rate(&self) -> f64 {
        self.rated[0] / self.rated[1] * HECTARE
    }
}

/// Rows, mass, ground and mean yield: logged, by reason, and used. A row that is left out counts once in mass and
/// ground, under its first reason: with the used rows and the rest they sum to what was logged.
fn report(layer: &Layer, rows: &CleanRows) -> Result<Layer> {
    let amount = rows.masses.best().or(rows.amount.as_ref());
    let all = || 0..rows.passes.number.len();
    let sum = |is_in: &dyn Fn(usize) -> bool| {
        let mut line = Line::default();
        for k in all().filter(|k| is_in(*k)) {
            line.sums.add(rows.placed(k));
            if rows.is_in_mean(k)
                && let Some(amount) = amount.map(|amount| amount[k]).filter(|amount| amount.is_finite())
            {
                line.rated[0] += amount;
                line.rated[1] += rows.ground.coverage.fresh[k];
            }
        }
        line
    };
    let allowed = allowed_bits(rows.kind == JobKind::Yield, &rows.recipe);
    let used = sum(&|k| rows.used[k]);
    let mut lines: Vec<(&str, Line, f64, f64)> = Vec::new();
    let mut logged = Line::default();
    all().for_each(|k| logged.sums.add(rows.logged(k)));
    logged.rated = [logged.sums.amount, logged.sums.m2];
    lines.push(("logged", logged, f64::NAN, logged.rate()));
    let mut rest = Line { sums: Sums { rows: 0, ..logged.sums }, ..Line::default() };
    rest.sums.amount -= used.sums.amount;
    rest.sums.m2 -= used.sums.m2;
    for reason in REASONS {
        let is_marked = |k: usize| rows.reasons[k] & reason.bit != 0;
        let is_allowed = allowed & reason.bit != 0;
        let mut line = sum(&|k| is_marked(k) && (is_allowed || rows.reason(k) == reason.name));
        line.sums.rows = sum(&is_marked).sums.rows;
        if line.sums.rows == 0 {
            continue;
        }
        line.only = sum(&|k| rows.reasons[k] & !(allowed & !reason.bit) == reason.bit).sums.rows;
        if !is_allowed {
            rest.sums.amount -= line.sums.amount;
            rest.sums.m2 -= line.sums.m2;
        }
        // Used rows have allowed reasons only.
        let without = if is_allowed { sum(&|k| rows.used[k] && !is_marked(k)) } else { used };
        let is_kept = |k: usize| rows.passes.number[k] > 0 && rows.reasons[k] & !(allowed | reason.bit) == 0;
        let with = if is_allowed { used } else { sum(&is_kept) };
        lines.push((reason.name, line, without.rate(), with.rate()));
    }
    let left_out = sum(&|k| rows.used[k] && !rows.is_in_mean(k));
    lines.push(("little_new_ground", left_out, used.rate(), used.rate()));
    lines.push(("rest", rest, used.rate(), used.rate()));
    lines.push(("used", used, used.rate(), used.rate()));

    let is_harvest = rows.kind == JobKind::Yield;
    let (name, unit) = if is_harvest { ("kg", "kg") } else { ("amount", rows.amount_unit) };
    let per_ha = if unit.is_empty() { String::new() } else { format!("{unit}/ha") };
    let integers = |pick: &dyn Fn(&Line) -> i64| -> ArrayRef {
        Arc::new(lines.iter().map(|(_, line, ..)| Some(pick(line))).collect::<Int64Array>())
    };
    let number = |name: &str, unit: &str, cells: Vec<f64>| {
        let column = Values {
            name: "",
            unit: "",
            basis: rows.masses.basis.clone(),
            source: "",
            numbers: Cells::Numbers(cells.into()),
        };
        let (field, array) = column.into_column();
        let mut metadata = field.metadata().clone();
        metadata.insert("unit".to_owned(), unit.to_owned());
        (field.with_name(name).with_metadata(metadata), array)
    };
    let (without, with) = if is_harvest { ("yield_without", "yield_with") } else { ("rate_without", "rate_with") };
    let names: ArrayRef = Arc::new(lines.iter().map(|(name, ..)| Some(*name)).collect::<LargeStringArray>());
    let columns = vec![
        (field("reason", DataType::LargeUtf8, ""), names),
        (field("rows", DataType::Int64, ""), integers(&|line| line.sums.rows)),
        number(name, unit, lines.iter().map(|(_, line, ..)| amount.map_or(f64::NAN, |_| line.sums.amount)).collect()),
        number("ha", "ha", lines.iter().map(|(_, line, ..)| line.sums.m2 / HECTARE).collect()),
        number(without, &per_ha, lines.iter().map(|(.., without, _)| *without).collect()),
        number(with, &per_ha, lines.iter().map(|(.., with)| *with).collect()),
        (field("only", DataType::Int64, ""), integers(&|line| line.only)),
    ];
    Layer::from_columns(layer.name(), layer.source(), columns)
}
