//! Checks rings and ground of zones: rings that cross, holes, overlaps, and the ground of the boundary.

use std::collections::BTreeMap;

use super::check_content::Checker;
use super::coverage::{self, Coverage, OwnGround};
use super::ring_faults::{RingFault, RingFaults};
use super::ring_size::{measure, measure_all};
use headland_reader::archive::{Code, Diagnostic};
use headland_reader::layer::crs::Crs;
use headland_reader::layer::{Layer, Polygons};

/// Overlap of zones that is an error, as a share of their ground.
const OVERLAP: f64 = 0.001;
/// Ground that is no rounding error of two edges on each other, as a share of the outer rings.
const ROUNDING: f64 = 1e-9;
/// Ground of the boundary without a zone, and of zones beyond the boundary, as a share of the boundary.
const GAP: f64 = 0.01;
const OVERHANG: f64 = 0.05;
/// Twice the area divided by the perimeter in metres, which is the width of a long strip.
const SLIVER: f64 = 1.0;

impl Checker<'_> {
    /// Checks polygons in degrees, or in the plane of `crs` if that has no way to degrees.
    pub(super) fn check_ground(&mut self, polygons: &[Polygons], crs: &Crs) {
        let found = coverage::measure(polygons, self.boundary.as_ref());
        let (overlapping, astray) = self.check_own_ground(polygons, &found.own, crs);
        self.check_rings(polygons, &overlapping, &astray);
        self.check_coverage(polygons, &found);
    }

    /// Measures the ground of zones whose polygons or holes do not add up to it. Returns those whose polygons overlap,
    /// which are reported, and those whose polygons or holes are not where they belong.
    fn check_own_ground(&mut self, polygons: &[Polygons], own: &[OwnGround], crs: &Crs) -> (Vec<usize>, Vec<usize>) {
        let (mut astray, mut twice, mut hectares) = (Vec::new(), Vec::new(), 0.0);
        for (zone, (polygons, own)) in polygons.iter().zip(own).enumerate() {
            let rounding = ROUNDING * own.outer;
            let is_astray = own.astray > rounding || own.once <= rounding || own.twice > rounding;
            if own.outer <= 0.0 || !is_astray {
                continue;
            }
            // Coordinates that are not finite were reported with their file.
            let Some(outer) = outer_area(polygons, crs) else { continue };
            let scale = outer / own.outer;
            self.ground_once.insert(zone, own.once * scale);
            if own.twice > OVERLAP * own.once {
                twice.push(zone);
                hectares += own.twice * scale / 10_000.0;
            } else {
                astray.push(zone);
            }
        }
        let what = format!(
            "polygons of one zone overlap, on {hectares:.2} ha; a display applies its rate twice or not at all there"
        );
        self.report_zones(Code::RxPartsOverlap, &twice, &what, "unite them (`union_all` of shapely)");
        (twice, astray)
    }

    /// Checks the rings of each zone. Zones in `overlapping` were reported; `astray` have a fault in any case.
    fn check_rings(&mut self, polygons: &[Polygons], overlapping: &[usize], astray: &[usize]) {
        let is_flat = |rings: &Vec<Vec<[f64; 2]>>| rings.iter().any(|ring| measure(ring)[0] == 0.0);
        let is_sliver = |rings: &Vec<Vec<[f64; 2]>>| {
            let [area, perimeter] = measure_all(rings);
            area > 0.0 && 2.0 * area / perimeter < SLIVER
        };
        let mut faults = RingFaults::default();
        let (mut found, mut sliver): (BTreeMap<RingFault, Vec<usize>>, _) = (BTreeMap::new(), Vec::new());
        for (zone, polygons) in polygons.iter().enumerate() {
            if polygons.iter().any(is_sliver) {
                sliver.push(zone);
            }
            if overlapping.binary_search(&zone).is_ok() {
                continue;
            }
            let fault = match faults.find(polygons) {
                Some(RingFault::Crossing) => Some(RingFault::Crossing),
                _ if polygons.iter().any(is_flat) => Some(RingFault::Flat),
                None if astray.binary_search(&zone).is_ok() => Some(RingFault::Astray),
                fault => fault,
            };
            if let Some(fault) = fault {
                found.entry(fault).or_default().push(zone);
            }
        }
        for (fault, zones) in found {
            let (code, what, advice) = fault.words();
            self.report_zones(code, &zones, what, advice);
        }
        let what = "a zone is narrower than a metre";
        self.report_zones(Code::Sliver, &sliver, what, "merge it with its neighbour (`min_area`)");
    }

    fn check_coverage(&mut self, polygons: &[Polygons], found: &Coverage) {
        let percent = |share: f64| format!("{:.1} %", share * 100.0);
        let share = found.overlap / found.zones;
        if let Some((one, other)) = found.worst.filter(|_| share > OVERLAP) {
            let is_one_rate = self.rates.get(one).zip(self.rates.get(other)).is_some_and(|(one, other)| one == other);
            let then = if is_one_rate {
                "with one rate; a display applies it there once or twice, so unite them (`union_all` of shapely)"
            } else {
                "with different rates; a display applies one of the two there, so cut one of them (`difference` of shapely)"
            };
            let (one, other) = (self.row(one), self.row(other));
            let message =
                format!("zones overlap on {} of their area, most in rows {one} and {other} {then}", percent(share));
            self.push(Diagnostic::new(Code::RxZonesOverlap, message).at_record(one as u64));
        }
        if let Some(display) = self.display
            && let Some(most) = display.acres
        {
            let acres = polygons.iter().flatten().map(|rings| measure_all(rings)[0]).sum::<f64>() / 4_046.856_422_4;
            if acres > most {
                let message = format!("{} accepts at most {most} acres, there are {acres:.0}", display.name);
                self.report(Code::DisplayLimit, message);
            }
        }
        if found.boundary <= 0.0 {
            return;
        }
        if found.zones - found.overhang <= 1e-9 * found.zones {
            self.report(Code::RxOutsideBoundary, "no zone is inside of the boundary; is it that of another field?");
            return;
        }
        let (gap, overhang) = (found.gap / found.boundary, found.overhang / found.boundary);
        if gap > GAP {
            let message = format!("{} of the boundary is in no zone; `default` gives it a rate", percent(gap));
            self.report(Code::BoundaryGap, message);
        }
        if overhang > OVERHANG {
            let message = format!("zones extend beyond the boundary by {} of its area; clip them", percent(overhang));
            self.report(Code::BoundaryOverhang, message);
        }
    }
}

/// The area of the outer rings in square metres.
fn outer_area(polygons: &Polygons, crs: &Crs) -> Option<f64> {
    let outer: Polygons = polygons.iter().map(|rings| rings.iter().take(1).cloned().collect()).collect();
    Layer::from_polygons("", "", Vec::new(), &[outer], crs).ok()?.areas().ok()?.into_iter().flatten().next()
}
