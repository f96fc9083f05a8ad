//! Cells and plots of a map, and the ground of rows in them.

use std::collections::HashMap;
use std::sync::Arc;

use arrow_array::{ArrayRef, RecordBatch};
use arrow_schema::{DataType, Field, Schema};

use crate::cleaning::clean_rows::CleanRows;
use crate::columns::added::field;
use crate::columns::canonical::JobKind;
use crate::columns::cell_values::nullable;
use crate::columns::row_ratios::median;
use crate::ground::logged_shapes::Shapes;
use crate::ground::polygon_coverage::{first_owner, owned_area};
use crate::ground::swath_coverage::Coverage;
use crate::maps::spread_ground::{Part, onto_cells, onto_polygons};
use crate::rows::gather::gather_index;
use crate::rows::result_columns::{polygon_layer, polygons};
use headland_base::error::{Error, Kind, Result};
use headland_reader::archive::{Code, Diagnostic};
use headland_reader::layer::crs::{Crs, PlaneMap, utm};
use headland_reader::layer::{Layer, Polygons};

/// Smallest part of the ground outside of plots that is reported.
const TOLERANCE: f64 = 1e-9;

/// Plots overlap if this share of one of them is in others.
const LEAST_OVERLAP: f64 = 1e-3;

/// Square cells of a side in metres, in a system.
pub(crate) struct Squares {
    /// Column and row in multiples of the side.
    cells: Vec<(i64, i64)>,
    side: f64,
    crs: Crs,
    /// Metres of a coordinate of the system.
    metres: [f64; 2],
}

/// Cells or plots, and the ground of rows in them.
pub(crate) struct Targets {
    /// New ground of rows, each piece of ground once.
    pub(crate) parts: Vec<Part>,
    /// Ground of rows that counts once in each group, if groups share the ground.
    pub(crate) by_group: Option<Vec<Part>>,
    /// Whole swaths of jobs that apply something: overlap received it twice.
    pub(crate) applied: Vec<Part>,
    /// Ground of each row in no target, in m2.
    pub(crate) outside: Vec<f64>,
    /// Area of each target in m2.
    pub(crate) areas: Vec<f64>,
    /// The cells, if the targets are cells.
    cells: Option<Squares>,
    /// Whether plots may overlap, so that ground counts in several.
    pub(crate) can_overlap: bool,
    /// Plots that others overlap, and the ground in m2 that counts more than once.
    overlap: (usize, f64),
}

impl Targets {
    /// `own` is the ground of groups that share theirs.
    pub(crate) fn from_cells(
        rows: &CleanRows,
        (coverage, own): (&Coverage, Option<&Coverage>),
        cell: f64,
        crs: Option<&Crs>,
    ) -> Result<Self> {
        if !(cell > 0.0 && cell.is_finite()) {
            return Err(Error::for_argument(
                "cells",
                format!("`cells`: expected a side in metres above 0, got {cell}"),
            ));
        }
        let crs = crs.cloned().map_or_else(|| system_of_ground(rows), Ok)?;
        let [west, south, east, north] = extent_of_ground(coverage);
        let map = PlaneMap::new(&rows.plane, &crs, [west, south, east, north])?;
        let spread = |coverage: &Coverage| {
            let message = || format!("`cells`: cells of {cell} m are too many for this field; pass a larger side");
            onto_cells(coverage, |point| map.apply(point), cell).ok_or_else(|| Error::for_argument("cells", message()))
        };
        let mut found = spread(coverage)?;
        let places: HashMap<(i64, i64), u32> = found.cells.iter().copied().zip(0_u32..).collect();
        let onto_same = |coverage: &Coverage| {
            let other = spread(coverage)?;
            // A swath may end a rounding error beyond the union of all new ground.
            let target = |part: &Part| places.get(other.cells.get(part.target as usize)?).copied();
            let parts = other.parts.iter().filter_map(|part| Some(Part { target: target(part)?, ..*part }));
            let mut parts: Vec<Part> = parts.collect();
            parts.sort_unstable_by_key(|part| (part.target, part.row));
            Ok::<_, Error>(parts)
        };
        let applied = whole_swaths(rows).as_ref().map(onto_same).transpose()?.unwrap_or_default();
        let by_group = own.map(onto_same).transpose()?;
        // Cells are squares in the system, which stretches lengths; their area is that on the ground.
        let areas = cell_areas(&map, [f64::midpoint(west, east), f64::midpoint(south, north)], &found.cells, cell);
        let outside = vec![0.0; rows.passes.number.len()];
        let cells = std::mem::take(&mut found.cells);
        Ok(Self {
            parts: found.parts,
            by_group,
            applied,
            outside,
            areas,
            cells: Some(Squares { cells, side: cell, crs, metres: map.metres() }),
            can_overlap: false,
            overlap: (0, 0.0),
        })
    }

    pub(crate) fn from_plots(
        rows: &CleanRows,
        (coverage, own): (&Coverage, Option<&Coverage>),
        plots: &Layer,
    ) -> Result<Self> {
        let shapes = polygons("plots", plots, &rows.plane)?;
        let (areas, overlap) = plot_areas(&shapes)?;
        let (parts, outside) = onto_polygons(coverage, &shapes);
        let by_group = own.map(|own| onto_polygons(own, &shapes).0);
        let applied = whole_swaths(rows).map_or_else(Vec::new, |whole| onto_polygons(&whole, &shapes).0);
        Ok(Self { parts, by_group, applied, outside, areas, cells: None, can_overlap: true, overlap })
    }

    /// Diagnostics about plots that overlap, and about ground in no plot.
    pub(crate) fn plot_diagnostics(&self, coverage: &Coverage) -> Vec<Diagnostic> {
        let mut diagnostics = Vec::new();
        let (plots, overlap) = self.overlap;
        if plots > 0 {
            let which = if plots == 1 { "plot overlaps" } else { "plots overlap" };
            let message =
                format!("{plots} {which} earlier ones by {overlap:.0} m2 in all; ground there counts in each");
            diagnostics.push(Diagnostic::new(Code::PlotsOverlap, message));
        }
        let outside: f64 = self.outside.iter().sum();
        let all: f64 = coverage.fresh.iter().sum();
        if self.can_overlap && self.parts.is_empty() && all > 0.0 {
            let message = "no row works ground in a plot, so the map is empty; check the coordinate system of `plots`";
            diagnostics.push(Diagnostic::new(Code::MuchLeftOut, message));
        } else if outside > TOLERANCE * all {
            let message = format!("{outside:.0} of {all:.0} m2 of worked ground are in no plot, and not in the map");
            diagnostics.push(Diagnostic::new(Code::OutsidePlots, message));
        }
        diagnostics
    }

    /// Coordinates of the middle of cells in their system; empty for plots.
    pub(crate) fn centres(&self, targets: &[u32]) -> Vec<(Field, ArrayRef)> {
        let Some(Squares { cells, side, .. }) = &self.cells else { return Vec::new() };
        #[expect(clippy::cast_precision_loss, reason = "cells of a map are far fewer than 2^53")]
        let middle = |index: i64| (index as f64 + 0.5) * side;
        let column = |name: &str, pick: fn(&(i64, i64)) -> i64| {
            let numbers =
                targets.iter().map(|target| cells.get(*target as usize).map_or(f64::NAN, |cell| middle(pick(cell))));
            (field(name, DataType::Float64, "m"), nullable(numbers))
        };
        vec![column("x", |cell| cell.0), column("y", |cell| cell.1)]
    }

    pub(crate) fn cells_layer(&self, layer: &Layer, targets: &[u32], columns: Vec<(Field, ArrayRef)>) -> Result<Layer> {
        let Some(Squares { cells, side, crs, metres }) = &self.cells else {
            return Err(Error::for_argument("cells", "the map has no cells".to_owned()));
        };
        let square = |target: &u32| {
            let (column, line) = cells.get(*target as usize).copied().unwrap_or_default();
            #[expect(clippy::cast_precision_loss, reason = "cells of a map are far fewer than 2^53")]
            let [west, south, east, north] =
                [column, line, column.saturating_add(1), line.saturating_add(1)].map(|index| index as f64 * side);
            let corners = [[west, south], [east, south], [east, north], [west, north]];
            vec![vec![corners.map(|[x, y]| [x / metres[0], y / metres[1]]).to_vec()]]
        };
        let shapes: Vec<Polygons> = targets.iter().map(square).collect();
        polygon_layer(layer.name(), layer.source(), columns, &shapes, crs)
    }
}

/// The system of cells: the UTM zone of the median of the rows that have ground, or the rows' own plane. Without ground, it is
/// the zone of the origin of the plane, which is amid the rows.
pub(crate) fn system_of_ground(rows: &CleanRows) -> Result<Crs> {
    if let Some(own) = rows.plane.own() {
        return Ok(own.crs().clone());
    }
    let has_ground = |k: &usize| rows.ground.coverage.fresh[*k] > 0.0;
    let middle = |values: &[f64]| median((0..values.len()).filter(has_ground).map(|k| values[k]).collect());
    let middle = [middle(&rows.rows.x), middle(&rows.rows.y)];
    let middle = if middle.iter().all(|coordinate| coordinate.is_finite()) { middle } else { [0.0; 2] };
    let [longitude, latitude] = rows.plane.unproject(middle);
    utm(longitude, latitude)
}

/// Least and largest x and y of the ground in the plane; around its origin without ground.
fn extent_of_ground(coverage: &Coverage) -> [f64; 4] {
    let mut found = [f64::INFINITY, f64::INFINITY, f64::NEG_INFINITY, f64::NEG_INFINITY];
    coverage.visit_corners(|[x, y]| found = [found[0].min(x), found[1].min(y), found[2].max(x), found[3].max(y)]);
    if found[0] <= found[2] { found } else { [0.0; 4] }
}

/// A field beside columns of a map: if one has its name, in any letter case, `_original` is added to it.
pub(crate) fn beside(field: &Field, columns: &[(Field, ArrayRef)]) -> Field {
    let is_taken = columns.iter().any(|(other, _)| other.name().eq_ignore_ascii_case(field.name()));
    let name = if is_taken { format!("{}_original", field.name()) } else { field.name().clone() };
    field.clone().with_name(name)
}

/// The plots of some rows with more columns before the geometry. Columns of theirs with such a name are renamed.
pub(crate) fn plots_layer(plots: &Layer, targets: &[u32], columns: Vec<(Field, ArrayRef)>) -> Result<Layer> {
    let schema = plots.schema();
    let geometry = plots.geometry_index();
    let own = schema.fields().iter().enumerate().filter(|(index, _)| Some(*index) != geometry);
    let mut fields = Vec::new();
    let mut arrays = Vec::new();
    for (index, field) in own {
        fields.push(beside(field, &columns));
        arrays.push(gather_index(plots, index, targets)?);
    }
    for (field, array) in columns {
        fields.push(field);
        arrays.push(array);
    }
    if let Some(index) = geometry {
        fields.push(schema.field(index).clone());
        arrays.push(gather_index(plots, index, targets)?);
    }
    let place = geometry.map(|_| fields.len() - 1);
    let schema = Arc::new(Schema::new_with_metadata(fields, schema.metadata().clone()));
    let batch = RecordBatch::try_new(Arc::clone(&schema), arrays)
        .map_err(|cause| Error::new(Kind::Value, format!("the columns form no table: {cause}")))?;
    Ok(plots.clone().with_batches(schema, vec![batch], place))
}

/// Square metres on the ground of cells in the system of a map. `middle` is that of the field in the plane.
fn cell_areas(map: &PlaneMap, middle: [f64; 2], cells: &[(i64, i64)], side: f64) -> Vec<f64> {
    let origin = map.apply(middle);
    #[expect(clippy::cast_precision_loss, reason = "cells of a map are far fewer than 2^53")]
    let from_origin =
        |(column, line): (i64, i64)| [(column as f64 + 0.5) * side - origin[0], (line as f64 + 0.5) * side - origin[1]];
    // Near the middle the map is nearly a rotation, whose inverse finds the place of a cell within a metre.
    let [right, up] = [[1.0, 0.0], [0.0, 1.0]].map(|[x, y]| {
        let moved = map.apply([middle[0] + x, middle[1] + y]);
        [moved[0] - origin[0], moved[1] - origin[1]]
    });
    let determinant = right[0] * up[1] - right[1] * up[0];
    let area = |cell: &(i64, i64)| {
        let [east, north] = from_origin(*cell);
        let x = middle[0] + (east * up[1] - north * up[0]) / determinant;
        let y = middle[1] + (north * right[0] - east * right[1]) / determinant;
        let corners = [[x, y], [x + 1.0, y], [x + 1.0, y + 1.0], [x, y + 1.0]].map(|point| map.apply(point));
        side * side / crate::ground::convex_clip::area(&corners).abs()
    };
    cells.iter().map(area).collect()
}

/// The area of each plot in m2, and what later plots share with earlier ones. A plot that is not valid is an error.
fn plot_areas(plots: &[Polygons]) -> Result<(Vec<f64>, (usize, f64))> {
    let mut shapes = Shapes::default();
    for (row, plot) in (0_u32..).zip(plots) {
        shapes.push(plot, owned_area);
        if !shapes.is_valid(row) {
            let message = format!(
                "`plots`: the polygon of row {row} is not valid: its boundary crosses itself, or a hole or part overlaps \
                 another one; repair it, such as with `frame.make_valid()`"
            );
            return Err(Error::for_argument("plots", message));
        }
    }
    let order: Vec<u32> = (0_u32..).take(plots.len()).collect();
    let owned = first_owner(&shapes, &order, None).areas;
    let areas: Vec<f64> = (0..plots.len()).map(|row| shapes.area(row)).collect();
    let lost = areas.iter().zip(&owned).map(|(area, own)| area - own);
    let overlapping = lost.zip(&areas).filter(|(lost, area)| *lost > LEAST_OVERLAP * **area);
    let overlap = overlapping.fold((0, 0.0), |(plots, sum), (lost, _)| (plots + 1, sum + lost));
    Ok((areas, overlap))
}

/// Swaths without regard to earlier ones, for jobs that apply something.
fn whole_swaths(rows: &CleanRows) -> Option<Coverage> {
    (rows.kind != JobKind::Yield)
        .then(|| Coverage::whole(&rows.ground.swaths, |k| rows.ground.coverage.full[k] > 0.0 && rows.used[k]))
}
