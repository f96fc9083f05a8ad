//! Checks zones and rates by what displays accept, regardless of the file that they are from.

use std::collections::BTreeMap;

use super::boundary;
use super::display_limits::Display;
use super::rate_column::is_of_rates;
use headland_base::error::Result;
use headland_reader::archive::{Code, Diagnostic};
use headland_reader::layer::crs::Crs;
use headland_reader::layer::{Layer, Polygons, cut_at_antimeridian, is_around_globe};

/// Most zones of one display, and a number that many refuse.
const MANY_ZONES: [usize; 2] = [100, 1_000];

/// How to check.
#[derive(Clone, Debug, Default)]
pub struct CheckOptions {
    /// The column of rates.
    pub rate: Option<String>,
    /// The field.
    pub boundary: Option<Layer>,
    /// A display with documented limits.
    pub display: Option<String>,
}

/// What a check found.
#[derive(Clone, Debug)]
pub struct Checked {
    /// The errors first.
    pub diagnostics: Vec<Diagnostic>,
    /// The column that displays read rates from, if there is one.
    pub rate: Option<String>,
}

/// Checks a table of zones.
pub fn check_layer(layer: &Layer, options: &CheckOptions) -> Result<Checked> {
    let mut checker = Checker::new(options)?;
    let rows: Vec<usize> = (0..layer.len()).collect();
    checker.check(layer, &rows)?;
    Ok(checker.into_checked())
}

/// Collects diagnostics.
pub(super) struct Checker<'a> {
    pub(super) options: &'a CheckOptions,
    pub(super) display: Option<&'static Display>,
    pub(super) boundary: Option<Polygons>,
    diagnostics: Vec<Diagnostic>,
    /// The row of the source for each zone.
    rows: Vec<usize>,
    pub(super) rate: Option<String>,
    /// The rate of each zone; empty without a column of rates.
    pub(super) rates: Vec<Option<f64>>,
    /// The square metres, counted once, of zones whose polygons or holes do not add up to their ground.
    pub(super) ground_once: BTreeMap<usize, f64>,
}

impl<'a> Checker<'a> {
    pub(super) fn new(options: &'a CheckOptions) -> Result<Self> {
        let display = options.display.as_deref().map(Display::find).transpose()?;
        let boundary = options.boundary.as_ref().map(boundary::polygons).transpose()?;
        Ok(Self {
            options,
            display,
            boundary,
            diagnostics: Vec::new(),
            rows: Vec::new(),
            rate: None,
            rates: Vec::new(),
            ground_once: BTreeMap::new(),
        })
    }

    pub(super) fn into_checked(mut self) -> Checked {
        let rate = self.rate.take();
        Checked { diagnostics: self.into_diagnostics(), rate }
    }

    /// The errors first, each severity in the order of detection.
    pub(super) fn into_diagnostics(mut self) -> Vec<Diagnostic> {
        let rank = |diagnostic: &Diagnostic| {
            let severity = diagnostic.severity();
            headland_reader::archive::Severity::ALL.iter().position(|known| *known == severity)
        };
        self.diagnostics.sort_by_key(rank);
        // A ring can be open and too short; the first finding of a row suffices. Several columns can have rates.
        let mut seen = std::collections::BTreeSet::new();
        let of_column =
            |found: &Diagnostic| found.message.split('`').nth(1).filter(|_| is_of_rates(found.code)).map(str::to_owned);
        let is_new =
            |found: &Diagnostic| found.record.is_none() || seen.insert((found.code, found.record, of_column(found)));
        self.diagnostics.retain(is_new);
        self.diagnostics
    }

    pub(super) fn has(&self, code: Code) -> bool {
        self.diagnostics.iter().any(|found| found.code == code)
    }

    pub(super) fn push(&mut self, diagnostic: Diagnostic) {
        self.diagnostics.push(diagnostic);
    }

    pub(super) fn report(&mut self, code: Code, message: impl Into<String>) {
        self.push(Diagnostic::new(code, message));
    }

    /// Reports zones, by the number of the first.
    pub(super) fn report_zones(&mut self, code: Code, zones: &[usize], what: &str, advice: &str) {
        let Some(row) = zones.first().map(|zone| self.row(*zone)) else { return };
        let count = zones.len();
        let subject = if count == 1 { format!("row {row}") } else { format!("{count} rows (first: row {row})") };
        let message = format!("{subject}: {what}; {advice}");
        self.push(Diagnostic::new(code, message).at_record(row as u64));
    }

    pub(super) fn row(&self, zone: usize) -> usize {
        self.rows.get(zone).copied().unwrap_or(zone)
    }

    /// Checks zones; `rows` has the row of the source for each.
    pub(super) fn check(&mut self, layer: &Layer, rows: &[usize]) -> Result<()> {
        self.rows = rows.to_vec();
        if layer.is_empty() {
            self.report(Code::RxNoFeatures, "there is no zone in the file; a display has nothing to apply");
            return Ok(());
        }
        // What is missing or lost was reported with its file.
        let is_damaged = self.has(Code::RxFileMissing) || self.has(Code::MemberLost);
        let columns = layer.schema().fields().len() - usize::from(layer.geometry_index().is_some());
        if columns > 0 || !is_damaged {
            self.check_rates(layer);
        }
        self.check_counts(layer.len());
        if (layer.geometry_index().is_some() || !is_damaged) && self.check_types(layer) {
            self.check_geometry(layer)?;
        }
        Ok(())
    }

    fn check_counts(&mut self, zones: usize) {
        if let Some(display) = self.display
            && let Some(most) = display.zones.filter(|most| zones > *most)
        {
            let message = format!("{} accepts at most {most} zones, there are {zones}", display.name);
            self.report(Code::DisplayLimit, message);
        }
        if let Some(most) = MANY_ZONES.iter().rev().find(|most| zones > **most) {
            let message = format!(
                "there are {zones} zones, and displays with a limit of {most} refuse them; round the rates with `step`, \
                 so that neighbours merge, or merge small zones with `min_area`"
            );
            self.report(Code::ManyZones, message);
        }
    }

    /// Checks types of shapes. Returns whether there are polygons to check.
    fn check_types(&mut self, layer: &Layer) -> bool {
        let types = layer.geometry_types().to_vec();
        let is_polygon = |code: &u32| matches!(code % 1000, 3 | 6);
        let null: Vec<usize> =
            layer.geometries().enumerate().filter(|(_, wkb)| wkb.is_none()).map(|(row, _)| row).collect();
        let is_broken = layer.diagnostics().iter().any(|found| found.code == Code::BrokenShape);
        if !is_broken {
            self.report_zones(Code::RxNullShape, &null, "there is no shape", "draw it or delete the row");
        }
        let triangles = layer.diagnostics().iter().any(|found| found.code == Code::Triangles);
        if triangles || !types.iter().all(is_polygon) || layer.geometry_index().is_none() {
            let is_other = |wkb: &[u8]| {
                !wkb.get(1..5).is_some_and(|code| is_polygon(&u32::from_le_bytes(code.try_into().unwrap_or_default())))
            };
            let row = layer.geometries().position(|wkb| wkb.is_some_and(is_other)).unwrap_or(0);
            let message = format!("row {row} is not a polygon; a display needs areas with a rate, not points or lines");
            self.push(Diagnostic::new(Code::RxNotPolygons, message).at_record(row as u64));
        }
        if types.iter().any(|code| code / 1000 > 0) {
            let message = "shapes have Z or M values, which some displays refuse; write plain polygons (type 5)";
            self.report(Code::RxZOrM, message);
            if let Some(display) = self.display.filter(|display| display.is_plain) {
                self.report(Code::DisplayLimit, format!("{} accepts plain polygons (type 5) only", display.name));
            }
        }
        types.iter().any(is_polygon)
    }

    fn check_geometry(&mut self, layer: &Layer) -> Result<()> {
        let is_wgs84 = layer.crs().is_none_or(|crs| crs.epsg() == Some(4326) || crs.is_same(&Crs::wgs84()));
        let stated = if let Some(crs) = layer.crs() {
            if !is_wgs84 {
                let message = format!(
                    "the coordinate system is `{}`, and displays expect WGS 84 in degrees (EPSG:4326); transform the zones",
                    crs.name()
                );
                self.report(Code::RxNotWgs84, message);
            }
            layer.clone()
        } else if layer.crs_wkt().is_some() {
            let message = "the coordinate system is unknown, and displays expect WGS 84 in degrees (EPSG:4326)";
            self.report(Code::RxNotWgs84, message);
            return Ok(());
        } else {
            if !self.has(Code::NoPrj) {
                let message = "no coordinate system is stated, and displays read coordinates as WGS 84 in degrees; state it \
                               in a .prj, or in a table with `set_crs`";
                self.report(Code::NoPrj, message);
            }
            layer.clone().with_stated_crs(&Crs::wgs84())?
        };
        let Ok(shapes) = stated.row_shapes("source") else { return Ok(()) };
        let polygons = self.usable_polygons(layer, shapes.polygons, &shapes.not_finite, &shapes.short);
        if is_wgs84 && !self.check_degrees(&polygons) {
            return Ok(());
        }
        let crs = shapes.own.as_ref().map_or_else(Crs::wgs84, |own| own.crs().clone());
        self.check_ground(&polygons, &crs);
        Ok(())
    }

    /// Reports zones whose polygons are empty, unknown or around the globe. Returns the polygons, cut at the antimeridian.
    fn usable_polygons(
        &mut self,
        layer: &Layer,
        polygons: Option<Vec<Polygons>>,
        not_finite: &[usize],
        short: &[usize],
    ) -> Vec<Polygons> {
        let polygons = polygons.unwrap_or_else(|| vec![Vec::new(); layer.len()]);
        let (what, advice) = ("a coordinate is not finite or means `no data`", "write the zone again");
        self.report_zones(Code::RxOutsideDegrees, not_finite, what, advice);
        self.report_zones(Code::RxInvalidRing, short, "a ring has fewer than three vertices", "delete it");
        let is_known = |row: &usize| not_finite.binary_search(row).is_ok() || short.binary_search(row).is_ok();
        let rows = layer.geometries().zip(&polygons).enumerate();
        let empty: Vec<usize> = rows
            .filter(|(_, (wkb, polygons))| wkb.is_some() && polygons.is_empty())
            .map(|(row, _)| row)
            .filter(|row| !is_known(row))
            .collect();
        self.report_zones(Code::RxNullShape, &empty, "the shape is empty", "draw it or delete the row");
        let is_wide = |zone: &Polygons| zone.iter().flatten().any(|ring| is_around_globe(ring));
        let wide: Vec<usize> =
            polygons.iter().enumerate().filter(|(_, zone)| is_wide(zone)).map(|(row, _)| row).collect();
        if wide.is_empty() {
            return polygons;
        }
        let what = "a ring is wider than 180 degrees and runs around the globe";
        let advice = "cut it at the antimeridian (RFC 7946, section 3.1.9), as `Prescription` does";
        self.report_zones(Code::RxInvalidRing, &wide, what, advice);
        polygons.into_iter().map(cut_at_antimeridian).collect()
    }

    /// Checks that coordinates are longitude and latitude.
    fn check_degrees(&mut self, polygons: &[Polygons]) -> bool {
        let fits = |point: &[f64; 2]| point[0].abs() <= 180.0 && point[1].abs() <= 90.0;
        let swapped = |point: &[f64; 2]| fits(&[point[1], point[0]]);
        let points = |zone: &Polygons| zone.iter().flatten().flatten().copied().collect::<Vec<[f64; 2]>>();
        let outside: Vec<usize> = polygons
            .iter()
            .enumerate()
            .filter(|(_, zone)| !zone.iter().flatten().flatten().all(fits))
            .map(|(row, _)| row)
            .collect();
        if !outside.is_empty() {
            let is_swapped = polygons.iter().flatten().flatten().flatten().all(swapped);
            let (code, what, advice) = if is_swapped {
                (Code::RxLatitudeFirst, "latitude is before longitude", "exchange x and y")
            } else {
                (Code::RxOutsideDegrees, "coordinates are not degrees", "transform the zones to WGS 84 (EPSG:4326)")
            };
            self.report_zones(code, &outside, what, advice);
            return false;
        }
        let Some(boundary) = &self.boundary else { return true };
        let all: Vec<[f64; 2]> = polygons.iter().flat_map(points).collect();
        let field = extent(boundary.iter().flatten().flatten().copied());
        let exchanged = extent(all.iter().map(|[x, y]| [*y, *x]));
        if !meets(extent(all.iter().copied()), field) && meets(exchanged, field) {
            self.report_zones(Code::RxLatitudeFirst, &[0], "latitude is before longitude", "exchange x and y");
            return false;
        }
        true
    }
}

/// Least and largest x and y.
fn extent(points: impl Iterator<Item = [f64; 2]>) -> [f64; 4] {
    let empty = [f64::INFINITY, f64::INFINITY, f64::NEG_INFINITY, f64::NEG_INFINITY];
    points.fold(empty, |[west, south, east, north], [x, y]| [west.min(x), south.min(y), east.max(x), north.max(y)])
}

fn meets(one: [f64; 4], other: [f64; 4]) -> bool {
    one[0] <= other[2] && other[0] <= one[2] && one[1] <= other[3] && other[1] <= one[3]
}
