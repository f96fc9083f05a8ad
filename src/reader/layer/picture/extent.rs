//! Computes the extent of a map and selects the records to draw.

use std::collections::HashMap;

use crate::layer::antimeridian;
use crate::layer::area::{E2, SEMI_MAJOR};
use crate::layer::crs::Transform;
use crate::layer::wkb::{FlatCoordinates, Part};
use headland_base::error::Result;

/// The most dots that remain distinct on a map of default size.
const MAX_DOTS: usize = 8_000;
/// The most outlines; more would be too small to see and are drawn as squares or dots.
const MAX_OUTLINES: usize = 12_000;

/// A record and its representative point.
#[derive(Clone, Copy, Debug)]
pub(super) struct Marker {
    pub(super) record: usize,
    pub(super) x: f64,
    pub(super) y: f64,
}

/// The visible extent in degrees, or in unchanged coordinates.
#[derive(Debug)]
pub(super) struct Extent {
    pub(super) markers: Vec<Marker>,
    /// `points`, `polygons`, `lines` or `records`.
    pub(super) kind: &'static str,
    pub(super) west: f64,
    pub(super) east: f64,
    pub(super) south: f64,
    pub(super) north: f64,
    /// Metres per degree of longitude and latitude; 1 for unchanged coordinates.
    pub(super) metres: (f64, f64),
    /// The number of records with a geometry.
    pub(super) total: usize,
    /// The number of outliers, which are not drawn.
    pub(super) outside: usize,
    /// The least longitude of the middle of a part: -180, or 0 if the map is around the antimeridian.
    pub(super) first: f64,
}

/// Shape of the drawn records.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Shape {
    Dots,
    /// A grid of squares, for polygons that are too many and too small. Each has the colour of the polygon at its
    /// centre.
    Squares {
        /// In metres.
        cell: f64,
    },
    Outlines,
}

/// The records to draw.
#[derive(Debug)]
pub(super) struct Selection {
    pub(super) shape: Shape,
    pub(super) markers: Vec<Marker>,
}

/// The interval of values on an axis.
#[derive(Clone, Copy)]
struct Span {
    low: f64,
    high: f64,
}

impl Span {
    const EMPTY: Self = Self { low: f64::INFINITY, high: f64::NEG_INFINITY };

    fn extended(self, low: f64, high: f64) -> Self {
        Self { low: self.low.min(low), high: self.high.max(high) }
    }

    fn from_values(values: &[f64]) -> Self {
        values.iter().fold(Self::EMPTY, |span, value| span.extended(*value, *value))
    }
}

impl Extent {
    /// The extent of geometries, around the antimeridian if it is less than half as wide there.
    pub(super) fn measure(geometries: &[Option<&[u8]>], transform: Option<&Transform>) -> Result<Self> {
        let usual = Self::measure_from(-180.0, geometries, transform)?;
        if transform.is_none() || usual.east - usual.west <= 180.0 {
            return Ok(usual);
        }
        let other = Self::measure_from(0.0, geometries, transform)?;
        Ok(if (other.east - other.west) * 2.0 < usual.east - usual.west { other } else { usual })
    }

    fn measure_from(first: f64, geometries: &[Option<&[u8]>], transform: Option<&Transform>) -> Result<Self> {
        let mut flat = FlatCoordinates::default();
        let (mut markers, mut boxes) = (Vec::with_capacity(geometries.len()), Vec::new());
        // Coordinates beyond this are invalid and count as outliers.
        let farthest = if transform.is_some() { 1e3 } else { 1e9 };
        let mut total = 0;
        let (mut points, mut lines, mut polygons) = (false, false, false);
        for (record, wkb) in geometries.iter().enumerate() {
            let Some(wkb) = wkb else { continue };
            read_geometry(&mut flat, wkb, record, transform, first)?;
            for (part, _, _) in flat.parts() {
                match part {
                    Part::Point => points = true,
                    Part::Line => lines = true,
                    Part::Shell | Part::Hole => polygons = true,
                }
            }
            let (across, along) = (Span::from_values(&flat.xs), Span::from_values(&flat.ys));
            if across.low > across.high {
                continue;
            }
            total += 1;
            if [across, along].iter().all(|span| span.low > -farthest && span.high < farthest) {
                let (x, y) = (f64::midpoint(across.low, across.high), f64::midpoint(along.low, along.high));
                markers.push(Marker { record, x, y });
                boxes.push((across, along));
            }
        }
        let kind = match (points, lines, polygons) {
            (true, false, false) => "points",
            (false, true, false) => "lines",
            (false, false, true) => "polygons",
            _ => "records",
        };
        let (visible_x, visible_y) =
            (visible_span(markers.iter().map(|marker| marker.x)), visible_span(markers.iter().map(|marker| marker.y)));
        let is_visible = |marker: &Marker| {
            (visible_x.low..=visible_x.high).contains(&marker.x) && (visible_y.low..=visible_y.high).contains(&marker.y)
        };
        let (mut across, mut along) = (Span::EMPTY, Span::EMPTY);
        for (_, (x, y)) in markers.iter().zip(&boxes).filter(|(marker, _)| is_visible(marker)) {
            (across, along) = (across.extended(x.low, x.high), along.extended(y.low, y.high));
        }
        if across.low > across.high {
            (across, along) = (Span { low: 0.0, high: 0.0 }, Span { low: 0.0, high: 0.0 });
        }
        markers.retain(is_visible);
        let middle = f64::midpoint(along.low, along.high);
        let metres = if transform.is_some() { metres_in_degree(middle) } else { (1.0, 1.0) };
        Ok(Self {
            outside: total - markers.len(),
            markers,
            kind,
            west: across.low,
            east: across.high,
            south: along.low,
            north: along.high,
            metres,
            total,
            first,
        })
    }

    /// Width and height of the extent in metres.
    pub(super) fn size(&self) -> (f64, f64) {
        ((self.east - self.west) * self.metres.0, (self.north - self.south) * self.metres.1)
    }

    /// Selects all records if they fit, else those nearest to the cell centres of a regular grid.
    pub(super) fn select(&self) -> Selection {
        let outlined = self.kind != "points" && self.markers.len() <= MAX_OUTLINES;
        if outlined || self.markers.len() <= MAX_DOTS {
            let shape = if outlined { Shape::Outlines } else { Shape::Dots };
            return Selection { shape, markers: self.markers.clone() };
        }
        let (width, height) = self.size();
        #[expect(clippy::cast_precision_loss, reason = "a count of dots on a map")]
        let most = MAX_DOTS as f64;
        // At this cell size, the full extent has as many cells as dots are allowed. A field fills a part of it.
        let mut coarse = (width * height / most).sqrt().max(width.max(height) / most);
        let mut fine = coarse / 16.0;
        while Grid::new(self, coarse).count_filled(&self.markers) > MAX_DOTS {
            coarse *= 1.25;
        }
        for _ in 0..9 {
            let cell = (coarse * fine).sqrt();
            if Grid::new(self, cell).count_filled(&self.markers) > MAX_DOTS {
                fine = cell;
            } else {
                coarse = cell;
            }
        }
        if self.kind == "points" {
            return Selection {
                shape: Shape::Dots,
                markers: Grid::new(self, coarse).nearest_to_centres(&self.markers, false),
            };
        }
        let cell = coarse.max(self.spacing(&self.markers));
        Selection {
            shape: Shape::Squares { cell },
            markers: Grid::new(self, cell).nearest_to_centres(&self.markers, true),
        }
    }

    /// The distance in metres at which the records form a closed surface. For passes nine metres apart, a finer grid
    /// has gaps.
    pub(super) fn spacing(&self, markers: &[Marker]) -> f64 {
        let (width, height) = self.size();
        #[expect(clippy::cast_precision_loss, reason = "a count of dots on a map")]
        let count = markers.len().max(1) as f64;
        let even = (width * height / count).sqrt().max(width.max(height) / count);
        let mut cell = even / 2.0;
        for _ in 0..12 {
            if cell <= 0.0 || Grid::new(self, cell).has_no_gaps(markers) {
                return cell;
            }
            cell *= 1.15;
        }
        even
    }
}

/// Reads a geometry in map coordinates, with the middle of each part in the 360 degrees from `first` on.
pub(super) fn read_geometry(
    flat: &mut FlatCoordinates,
    wkb: &[u8],
    record: usize,
    transform: Option<&Transform>,
    first: f64,
) -> Result<()> {
    flat.read(wkb, record)?;
    let Some(transform) = transform else { return Ok(()) };
    transform
        .apply(&mut flat.xs, &mut flat.ys)
        .map_err(|error| error.with(|facts| facts.record = u64::try_from(record).ok()))?;
    let mut shell = 0.0;
    flat.update_xs(|part, longitudes| {
        if let Some(unwrapped) = antimeridian::unwrap(longitudes) {
            longitudes.copy_from_slice(&unwrapped);
        }
        let (low, high) = antimeridian::range(longitudes.iter().copied());
        let middle = f64::midpoint(low, high);
        let turns = match part {
            // Invalid coordinates remain where they are.
            _ if low < -540.0 || high > 540.0 => 0.0,
            Part::Hole => ((middle - shell) / 360.0).round(),
            _ => ((middle - first) / 360.0).floor(),
        };
        for longitude in longitudes {
            *longitude -= 360.0 * turns;
        }
        if part == Part::Shell {
            shell = middle - 360.0 * turns;
        }
    });
    Ok(())
}

/// The visible interval. Displays record some positions far away, often 0, 0, before they have a fix. If the outermost
/// percent stretches the map more than fourfold, it is excluded.
fn visible_span(values: impl Iterator<Item = f64>) -> Span {
    let mut values: Vec<f64> = values.collect();
    values.sort_unstable_by(f64::total_cmp);
    let (Some(first), Some(last)) = (values.first(), values.last()) else {
        return Span::EMPTY;
    };
    let whole = Span { low: *first, high: *last };
    let trimmed = values.len() / 100;
    let (Some(low), Some(high)) = (values.get(trimmed), values.get(values.len() - 1 - trimmed)) else {
        return whole;
    };
    let inner = high - low;
    if trimmed == 0 || inner <= 0.0 || whole.high - whole.low <= 4.0 * inner {
        return whole;
    }
    Span { low: (low - inner / 4.0).max(whole.low), high: (high + inner / 4.0).min(whole.high) }
}

fn metres_in_degree(latitude: f64) -> (f64, f64) {
    let (sine, cosine) = latitude.clamp(-89.0, 89.0).to_radians().sin_cos();
    let flat = 1.0 - E2 * sine * sine;
    let across = SEMI_MAJOR / flat.sqrt() * cosine;
    let along = SEMI_MAJOR * (1.0 - E2) / (flat * flat.sqrt());
    (across.to_radians(), along.to_radians())
}

/// A grid of square cells over the extent.
struct Grid<'a> {
    extent: &'a Extent,
    cell: f64,
    columns: usize,
    rows: usize,
}

impl<'a> Grid<'a> {
    /// The most cells per side, which bounds the memory for a diagonal line of points.
    const MAX_SIDE: f64 = 4_000.0;

    fn new(extent: &'a Extent, cell: f64) -> Self {
        let (width, height) = extent.size();
        let cell = cell.max(width.max(height) / Self::MAX_SIDE).max(f64::MIN_POSITIVE);
        #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "between 0 and MAX_SIDE")]
        let cells = |size: f64| (size / cell) as usize + 1;
        Self { extent, cell, columns: cells(width), rows: cells(height) }
    }

    /// Column and row of a marker, and its squared distance from the cell centre.
    fn locate(&self, marker: &Marker) -> (usize, usize, f64) {
        let across = (marker.x - self.extent.west) * self.extent.metres.0 / self.cell;
        let along = (marker.y - self.extent.south) * self.extent.metres.1 / self.cell;
        #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "markers are inside the extent")]
        let (column, row) = (across as usize, along as usize);
        let (off_x, off_y) = (across.fract() - 0.5, along.fract() - 0.5);
        (column.min(self.columns - 1), row.min(self.rows - 1), off_x * off_x + off_y * off_y)
    }

    fn fill(&self, markers: &[Marker]) -> Vec<bool> {
        let mut filled = vec![false; self.columns * self.rows];
        for marker in markers {
            let (column, row, _) = self.locate(marker);
            if let Some(cell) = filled.get_mut(row * self.columns + column) {
                *cell = true;
            }
        }
        filled
    }

    fn count_filled(&self, markers: &[Marker]) -> usize {
        self.fill(markers).iter().filter(|cell| **cell).count()
    }

    /// The marker nearest to the centre of each cell, in record order. With `aligned`, it is moved to the centre.
    fn nearest_to_centres(&self, markers: &[Marker], aligned: bool) -> Vec<Marker> {
        let mut best: HashMap<(usize, usize), (f64, Marker)> = HashMap::new();
        for marker in markers {
            let (column, row, distance) = self.locate(marker);
            let entry = best.entry((column, row)).or_insert((distance, *marker));
            if distance < entry.0 {
                *entry = (distance, *marker);
            }
        }
        let (step_x, step_y) = (self.cell / self.extent.metres.0, self.cell / self.extent.metres.1);
        #[expect(clippy::cast_precision_loss, reason = "at most MAX_SIDE")]
        let centre = |cell: usize, step: f64, start: f64| start + (cell as f64 + 0.5) * step;
        let pick = |((column, row), (_, marker)): ((usize, usize), (f64, Marker))| {
            let (x, y) = (centre(column, step_x, self.extent.west), centre(row, step_y, self.extent.south));
            if aligned { Marker { x, y, ..marker } } else { marker }
        };
        let mut chosen: Vec<Marker> = best.into_iter().map(pick).collect();
        chosen.sort_unstable_by_key(|marker| marker.record);
        chosen
    }

    /// Whether few cells are empty between filled ones, along rows and columns.
    fn has_no_gaps(&self, markers: &[Marker]) -> bool {
        let filled = self.fill(markers);
        let is_filled = |column: usize, row: usize| filled.get(row * self.columns + column).copied().unwrap_or(false);
        let across: usize =
            (0..self.rows).map(|row| count_gaps((0..self.columns).map(|column| is_filled(column, row)))).sum();
        let along: usize =
            (0..self.columns).map(|column| count_gaps((0..self.rows).map(|row| is_filled(column, row)))).sum();
        let cells = filled.iter().filter(|cell| **cell).count();
        across.max(along) * 20 < cells
    }
}

/// The empty cells in short gaps of a row. Longer gaps are the shape of the field, a waterway or a road.
fn count_gaps(row: impl Iterator<Item = bool>) -> usize {
    const SHORT: usize = 6;
    let (mut total, mut run, mut begun) = (0, 0, false);
    for filled in row {
        if filled {
            total += if begun && run <= SHORT { run } else { 0 };
            (run, begun) = (0, true);
        } else {
            run += 1;
        }
    }
    total
}
