//! Cuts the crop along the drives of the machines: grain and fresh ground of each step, and the dry mass.

use super::combine_drive::Step;
use super::cut_raster::CutGround;
use super::yield_surface::YieldSurface;
use crate::fields::deterministic_math::{i64_to_f64, round_to_i64};
use crate::fields::plane::Point;

/// Largest width of an element of the header, in metres. Three elements share a value of the surface.
const ELEMENT: f64 = 0.5;

/// A machine's drive, which starts some steps after that of the first machine.
#[derive(Debug)]
pub(super) struct MachineDrive {
    pub(super) first_step: usize,
    pub(super) steps: Vec<Step>,
    pub(super) cut: CutSteps,
}

/// What a machine cuts in each step.
#[derive(Debug, Default)]
pub(super) struct CutSteps {
    /// Wet mass in kilograms.
    pub(super) wet: Vec<f64>,
    /// Water in kilograms.
    pub(super) water: Vec<f64>,
    /// Area under the header in m².
    pub(super) swept: Vec<f64>,
    /// The part of it that was not cut before.
    pub(super) fresh: Vec<f64>,
    /// 1 where the header cuts, else 0.
    pub(super) working: Vec<f64>,
}

/// Cuts the crop in the order of time and returns the dry mass in kilograms.
pub(super) fn cut_crop(
    ground: &mut CutGround,
    surface: &YieldSurface,
    width: f64,
    machines: &mut [MachineDrive],
) -> f64 {
    let last = machines.iter().map(|machine| machine.first_step.saturating_add(machine.steps.len())).max();
    let mut dry = 0.0;
    for now in 0..last.unwrap_or(0) {
        for machine in machines.iter_mut() {
            let Some(index) = now.checked_sub(machine.first_step) else { continue };
            let Some(step) = machine.steps.get(index) else { continue };
            let before = index.checked_sub(1).and_then(|before| machine.steps.get(before)).unwrap_or(step);
            dry += cut_step(ground, surface, width, (before, step), &mut machine.cut);
        }
    }
    dry
}

fn cut_step(
    ground: &mut CutGround,
    surface: &YieldSurface,
    width: f64,
    (before, step): (&Step, &Step),
    cut: &mut CutSteps,
) -> f64 {
    let (mut wet, mut water, mut dry, mut fresh) = (0.0, 0.0, 0.0, 0.0);
    let swept = if step.is_cutting { width * step.length } else { 0.0 };
    if swept > 0.0 {
        let groups = round_to_i64((width / ELEMENT / 3.0).ceil()).max(1);
        let element = width / i64_to_f64(groups) / 3.0;
        let middle = step.cutter.moved(step.direction, -step.length / 2.0);
        let at = |aside: f64| middle.moved(step.direction.left(), aside - width / 2.0);
        for group in 0..groups {
            let aside = i64_to_f64(group) * 3.0 * element;
            let uncut = (0..3_u8)
                .filter(|part| !ground.is_cut_before(at(aside + (f64::from(*part) + 0.5) * element), step.pass))
                .count();
            let area = i64_to_f64(i64::try_from(uncut).unwrap_or(0)) * element * step.length;
            if area > 0.0 {
                let grain = surface.value_at(at(aside + 1.5 * element));
                fresh += area;
                dry += grain.dry * area;
                wet += grain.wet * area;
                water += grain.wet * area * grain.moisture / 100.0;
            }
        }
        ground.cut(swath(before, step, width), step.pass);
    }
    cut.wet.push(wet);
    cut.water.push(water);
    cut.swept.push(swept);
    cut.fresh.push(fresh);
    cut.working.push(if step.is_cutting { 1.0 } else { 0.0 });
    dry
}

/// Corners of the ground that the header sweeps in a step: between two locations of the cutter bar.
fn swath(before: &Step, step: &Step, width: f64) -> [Point; 4] {
    // The first step of a pass starts behind its own end, not where the turn ended.
    let start = if before.is_cutting && before.pass == step.pass {
        (before.cutter, before.direction)
    } else {
        (step.cutter.moved(step.direction, -step.length), step.direction)
    };
    let corner = |(location, direction): (Point, Point), aside: f64| location.moved(direction.left(), aside);
    let (end, half) = ((step.cutter, step.direction), width / 2.0);
    [corner(start, -half), corner(start, half), corner(end, half), corner(end, -half)]
}
