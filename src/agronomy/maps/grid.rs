//! Maps of cleaned jobs: mass and ground on square cells or plots.

use std::collections::HashMap;
use std::sync::Arc;

use arrow_array::{ArrayRef, Int64Array, LargeStringArray};
use arrow_schema::{DataType, Field};

use crate::cleaning::clean_rows::CleanRows;
use crate::cleaning::cleaned::Cleaned;
use crate::cleaning::diagnostics::not_shifted;
use crate::cleaning::left_out::left_out;
use crate::columns::added::field;
use crate::columns::canonical::JobKind;
use crate::columns::cell_values::nullable;
use crate::columns::derived::HECTARE;
use crate::columns::provenance as keys;
use crate::ground::group_ground::GroupGround;
use crate::ground::seasons::Seasons;
use crate::maps::cells_and_plots::{Targets, beside, plots_layer, system_of_ground};
use crate::maps::spread_ground::Part;
use crate::maps::title::map_title;
use crate::maps::weighed_total::scale_factors;
use crate::rows::gather::{RowGroups, gather, row_groups};
use headland_base::error::{Error, Kind, Result};
use headland_reader::archive::{Code, Diagnostic};
use headland_reader::layer::Layer;
use headland_reader::layer::crs::{Crs, OwnPlane};

/// Largest relative error of a sum over cells.
const TOLERANCE: f64 = 1e-9;

/// Where a map is made, and what it is scaled to.
#[derive(Clone, Debug, Default)]
pub struct GridOptions {
    /// Side of square cells in metres; not used with plots.
    pub cell: f64,
    /// Columns whose values get rows of their own; `None` for seasons and jobs whose ground is apart.
    pub by: Option<Vec<String>>,
    /// Metric system of the cells; the UTM zone of the field by default.
    pub crs: Option<Crs>,
    /// Weighed wet kilograms of all machines, or of some: machine and kilograms.
    pub total: Vec<(Option<i64>, f64)>,
}

/// Makes a map. `plots` is a layer of polygons, whose columns and geometry are kept.
pub fn grid(cleaned: &Cleaned, plots: Option<&Layer>, options: &GridOptions) -> Result<Layer> {
    let rows = cleaned.rows.as_ref();
    let layer = cleaned.layer();
    let factors = scale_factors(rows, &options.total)?;
    let groups = match &options.by {
        Some(names) => row_groups(layer, names)?,
        None if cleaned.seasons.is_one() => RowGroups::default(),
        None => RowGroups::numbered(&cleaned.seasons.of_row, cleaned.seasons.all.len()),
    };
    let group_of: Vec<u32> = rows.rows.row.iter().map(|row| groups.of_row.get(*row).copied().unwrap_or(0)).collect();
    let own = options.by.is_some().then(|| GroupGround::find(rows, &group_of, &cleaned.seasons)).flatten();
    let (coverage, own) = match &own {
        Some(own) if own.are_products => (&own.coverage, None),
        own => (&rows.ground.coverage, own.as_ref().map(|own| &own.coverage)),
    };
    let map = match plots {
        Some(plots) => Targets::from_plots(rows, (coverage, own), plots)?,
        None => Targets::from_cells(rows, (coverage, own), options.cell, options.crs.as_ref())?,
    };
    let sums = sum_parts(rows, &map, &group_of, !groups.of_row.is_empty(), &factors.by_row);
    check_sums(rows, &map, (&sums, &coverage.fresh), &factors.by_row)?;
    let targets: Vec<u32> = sums.iter().map(|sums| sums.target).collect();
    let mut results = result_columns(rows, &map, &sums);
    results.extend(map.centres(&targets));
    let mut columns: Vec<(Field, ArrayRef)> = Vec::new();
    let representatives: Vec<u32> = sums.iter().map(|sums| groups.first_row(sums.group)).collect();
    let own = [cleaned.seasons.column.to_owned()];
    let names = options.by.as_deref().unwrap_or(if own[0].is_empty() { &[] } else { &own });
    for name in names {
        let (field, array) = gather(layer, "by", name, &representatives)?;
        columns.push((beside(&field, &results), array));
    }
    if options.by.is_none() && own[0].is_empty() && !cleaned.seasons.is_one() {
        columns.extend(season_columns(&cleaned.seasons, &sums));
    }
    columns.extend(results);
    let metadata = |layer: Layer| {
        let crop = layer_entry(cleaned.layer(), keys::CROP);
        let layer = layer
            .with_diagnostics(factors.diagnostics)
            .with_diagnostics(not_shifted(rows))
            .with_diagnostics(left_out(rows))
            .with_diagnostics(map.plot_diagnostics(coverage))
            .with_diagnostics(mass_diagnostic(rows));
        let title = map_title(cleaned.layer(), None);
        layer
            .with_entry(keys::KIND, None)
            .with_entry(keys::CROP, crop.as_deref())
            .with_entry(keys::JOB_NAME, Some(&title))
    };
    match plots {
        Some(plots) => plots_layer(plots, &targets, columns).map(metadata),
        None => map.cells_layer(layer, &targets, columns).map(|cells| {
            let own = rows.plane.own().map(OwnPlane::diagnostic);
            metadata(cells.with_diagnostics(own.into_iter().collect()))
        }),
    }
}

impl Cleaned {
    /// The system of cells if none is requested.
    pub fn usual_crs(&self) -> Result<Crs> {
        system_of_ground(&self.rows)
    }
}

/// Crop and year of each line.
fn season_columns(seasons: &Seasons, sums: &[Sums]) -> [(Field, ArrayRef); 2] {
    let season = |sums: &Sums| seasons.all.get(sums.group as usize);
    let crops: LargeStringArray = sums.iter().map(|sums| season(sums)?.crop.as_deref()).collect();
    let years: Int64Array = sums.iter().map(|sums| season(sums)?.year.map(i64::from)).collect();
    [
        (field("crop", DataType::LargeUtf8, ""), Arc::new(crops) as ArrayRef),
        (field("year", DataType::Int64, ""), Arc::new(years) as ArrayRef),
    ]
}

/// A diagnostic if only ground is mapped.
fn mass_diagnostic(rows: &CleanRows) -> Vec<Diagnostic> {
    if rows.masses.wet.is_some() || rows.amount.is_some() {
        return Vec::new();
    }
    let what = if rows.kind == JobKind::Yield { "flow or yield" } else { "applied rate" };
    let message = format!(
        "only the ground is mapped: no {what} is in a known unit; pass `units=` or `columns=` to `headland.harmonize`"
    );
    vec![Diagnostic::new(Code::MassUnknown, message)]
}

fn layer_entry(layer: &Layer, key: &str) -> Option<String> {
    layer.metadata().iter().find(|(known, _)| known == key).map(|(_, value)| value.clone())
}

/// Sums of one cell or plot, and one group.
#[derive(Clone, Copy, Debug, Default)]
struct Sums {
    target: u32,
    group: u32,
    /// Wet and dry kilograms, or the amount.
    amounts: [f64; 2],
    /// Ground behind the rates, and all worked ground, in m2.
    m2: f64,
    covered: f64,
    /// Swaths of jobs that apply something, in m2: overlap counts twice.
    applied: f64,
    /// Of these, the swaths with a rate.
    applied_m2: f64,
    rows: i64,
    /// Rate and its square, weighted by area.
    rates: [f64; 2],
}

/// Wet and dry kilograms of a row on the map, or its amount and nothing; `None` for rows that do not count.
fn amounts(rows: &CleanRows, factors: &[f64], k: usize) -> Option<[f64; 2]> {
    if !rows.used[k] {
        return None;
    }
    let Some(kg) = &rows.masses.wet else {
        return rows.amount.as_ref().map(|amount| [amount[k], f64::NAN]).filter(|amount| amount[0].is_finite());
    };
    let dry = rows.masses.dry.as_ref().map_or(f64::NAN, |dry| dry[k]);
    (rows.has_rate(k) && kg[k].is_finite()).then(|| [kg[k] * factors[k], dry * factors[k]])
}

/// Sums of the parts by target and group. Without groups, each target has one line.
fn sum_parts(rows: &CleanRows, map: &Targets, group_of: &[u32], is_grouped: bool, factors: &[f64]) -> Vec<Sums> {
    let mut sums: Vec<Sums> = Vec::new();
    let mut lines: HashMap<u32, usize> = HashMap::new();
    let is_harvest = rows.kind == JobKind::Yield;
    let same_target = |a: &Part, b: &Part| a.target == b.target;
    let mut parts = map.parts.chunk_by(same_target).peekable();
    let mut applied = map.applied.chunk_by(same_target).peekable();
    let mut by_group = map.by_group.as_deref().unwrap_or_default().chunk_by(same_target).peekable();
    for target in (0_u32..).take(map.areas.len()) {
        lines.clear();
        let first = sums.len();
        let mut line = |sums: &mut Vec<Sums>, group: u32| {
            *lines.entry(group).or_insert_with(|| {
                sums.push(Sums { target, group, ..Sums::default() });
                sums.len() - 1
            })
        };
        let group = |k: usize| if is_grouped { group_of[k] } else { 0 };
        if !is_grouped {
            line(&mut sums, 0);
        }
        let is_own = |parts: &&[Part]| parts.first().is_some_and(|part| part.target == target);
        for part in parts.next_if(is_own).into_iter().flatten() {
            let k = part.row as usize;
            let index = line(&mut sums, group(k));
            sums[index].covered += part.area;
            if is_harvest {
                sums[index].add(amounts(rows, factors, k), part.area, rows.ground.coverage.fresh[k]);
            } else if map.by_group.is_none() && amounts(rows, factors, k).is_some() {
                // A row without a rate is no rate of 0.
                sums[index].m2 += part.area;
            }
        }
        for part in by_group.next_if(is_own).into_iter().flatten() {
            let k = part.row as usize;
            if amounts(rows, factors, k).is_some() {
                let index = line(&mut sums, group(k));
                sums[index].m2 += part.area;
            }
        }
        for part in applied.next_if(is_own).into_iter().flatten() {
            let k = part.row as usize;
            let index = line(&mut sums, group(k));
            // One pass applies all products of a mix.
            let is_again = rows.rows.is_mixed_in(k) && group_of[k] == group_of[k - 1];
            sums[index].applied += if is_again { 0.0 } else { part.area };
            let ground = sums[index].m2;
            sums[index].add(amounts(rows, factors, k), part.area, rows.ground.coverage.full[k]);
            sums[index].applied_m2 += sums[index].m2 - ground;
            sums[index].m2 = ground;
        }
        sums[first..].sort_unstable_by_key(|sums| sums.group);
    }
    sums
}

impl Sums {
    /// Adds the share of a row that `area` of its `whole` ground has.
    fn add(&mut self, amounts: Option<[f64; 2]>, area: f64, whole: f64) {
        let Some([wet, dry]) = amounts else { return };
        let share = area / whole;
        self.amounts[0] += wet * share;
        self.amounts[1] += dry * share;
        self.m2 += area;
        self.rows += 1;
        let rate = if dry.is_finite() { dry } else { wet } / whole * HECTARE;
        self.rates[0] += rate * area;
        self.rates[1] += rate * rate * area;
    }
}

/// Checks that nothing is lost: the targets and what is outside hold what the rows hold.
fn check_sums(rows: &CleanRows, map: &Targets, (sums, ground_of): (&[Sums], &[f64]), factors: &[f64]) -> Result<()> {
    if map.can_overlap {
        return Ok(());
    }
    let is_harvest = rows.kind == JobKind::Yield;
    let (mut mass, mut ground) = (0.0, 0.0);
    for (k, own) in ground_of.iter().enumerate() {
        let (fresh, full) = (rows.ground.coverage.fresh[k], rows.ground.coverage.full[k]);
        let has_ground = if is_harvest { fresh > 0.0 } else { full > 0.0 };
        mass += amounts(rows, factors, k).filter(|_| has_ground).map_or(0.0, |amounts| amounts[0]);
        ground += own;
    }
    let held = [sums.iter().map(|sums| sums.amounts[0]).sum(), sums.iter().map(|sums| sums.covered).sum::<f64>()];
    for (name, (rows, map)) in ["mass", "ground"].into_iter().zip([mass, ground].into_iter().zip(held)) {
        if (rows - map).abs() > TOLERANCE * rows.abs().max(1.0) {
            let message = format!("the map holds {map} of {rows} {name} of the rows; report this with the layer");
            return Err(Error::new(Kind::Value, message));
        }
    }
    Ok(())
}

/// The columns of a map.
fn result_columns(rows: &CleanRows, map: &Targets, sums: &[Sums]) -> Vec<(Field, ArrayRef)> {
    let number = |name: &str, unit: &str, pick: &dyn Fn(&Sums) -> f64| {
        (field(name, DataType::Float64, unit), nullable(sums.iter().map(pick)))
    };
    let rate = |amount: f64, m2: f64| if m2 > 0.0 { amount / m2 * HECTARE } else { f64::NAN };
    let share = |sums: &Sums| {
        let area = map.areas.get(sums.target as usize).copied().unwrap_or(f64::NAN);
        if area > 0.0 { sums.covered / area } else { f64::NAN }
    };
    let deviation = |sums: &Sums| {
        let weight = if rows.kind == JobKind::Yield { sums.m2 } else { sums.applied_m2 };
        let mean = sums.rates[0] / weight;
        if sums.rows > 1 { (sums.rates[1] / weight - mean * mean).max(0.0).sqrt() } else { f64::NAN }
    };
    let has_amount = rows.masses.wet.is_some() || rows.amount.is_some();
    let amount = |sums: &Sums| if has_amount { sums.amounts[0] } else { f64::NAN };
    let count: ArrayRef = Arc::new(sums.iter().map(|sums| Some(sums.rows)).collect::<Int64Array>());
    let mut columns = Vec::new();
    if rows.kind == JobKind::Yield {
        columns.push(number("kg_wet", "kg", &|sums| amount(sums)));
        let has_dry = rows.masses.dry.is_some();
        if has_dry {
            columns.push(with_basis(number("kg_dry", "kg", &|sums| sums.amounts[1]), rows.masses.basis.as_deref()));
        }
        columns.push(number("m2", "m2", &|sums| sums.m2));
        columns.push(number("covered", "m2", &|sums| sums.covered));
        columns.push(number("share", "", &share));
        columns.push(number("yield_wet", "kg/ha", &|sums| rate(sums.amounts[0], sums.m2)));
        if has_dry {
            let dry = number("yield_dry", "kg/ha", &|sums| rate(sums.amounts[1], sums.m2));
            columns.push(with_basis(dry, rows.masses.basis.as_deref()));
        }
        columns.push((field("rows", DataType::Int64, ""), count));
        columns.push(number("sd", "kg/ha", &deviation));
    } else {
        let per_ha = if rows.amount_unit.is_empty() { String::new() } else { format!("{}/ha", rows.amount_unit) };
        columns.push(number("amount", rows.amount_unit, &|sums| amount(sums)));
        columns.push(number("m2", "m2", &|sums| sums.m2));
        columns.push(number("covered", "m2", &|sums| sums.covered));
        columns.push(number("share", "", &share));
        columns.push(number("rate", &per_ha, &|sums| rate(amount(sums), sums.m2)));
        columns.push(number("times", "", &|sums| sums.applied / sums.covered));
        columns.push((field("rows", DataType::Int64, ""), count));
        columns.push(number("sd", &per_ha, &deviation));
    }
    columns
}

fn with_basis((field, array): (Field, ArrayRef), basis: Option<&str>) -> (Field, ArrayRef) {
    let mut metadata = field.metadata().clone();
    metadata.extend(basis.map(|basis| (keys::MOISTURE_BASIS.to_owned(), basis.to_owned())));
    (field.with_metadata(metadata), array)
}
