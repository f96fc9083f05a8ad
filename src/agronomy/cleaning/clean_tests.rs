//! Tests of cleaning on a small field with a known pattern, delay and ground.

use crate::cleaning::clean_rows::{CleanRows, clean_rows};
use crate::cleaning::reasons;
use crate::cleaning::recipe::Recipe;
use crate::columns::canonical::JobKind;
use crate::ground::seasons::Jobs;
use crate::rows::field_rows::FieldRows;
use crate::rows::logged_rows::LoggedRows;
use crate::rows::order::RowOrder;
use headland_reader::layer::crs::LocalPlane;

const WIDTH: f64 = 6.0;
const SPEED: f64 = 2.0;
const PASSES: u32 = 30;
const ROWS: u32 = 150;
/// Rows of a turn, with the header up.
const TURN: u32 = 12;

/// Yield in kg/m2: waves that are shorter than a pass.
fn pattern(x: f64, y: f64) -> f64 {
    1.0 + 0.3 * (x / 23.0).sin() * (y / 31.0).cos() + 0.15 * (x / 11.0 + y / 17.0).sin()
}

/// A field of passes to and fro, whose sensor shows the flow `delay` seconds later.
fn field(delay: u32, working: bool) -> FieldRows {
    let mut rng = fastrand::Rng::with_seed(7);
    let (mut x, mut y, mut heading, mut is_working, mut cut) = (vec![], vec![], vec![], vec![], vec![]);
    for pass in 0..PASSES {
        let is_up = pass % 2 == 0;
        let length = SPEED * f64::from(ROWS);
        for row in 0..ROWS + TURN {
            let along = if row < ROWS { SPEED * f64::from(row + 1) } else { length + f64::from(row - ROWS) };
            let turned = f64::from(row.saturating_sub(ROWS)) / f64::from(TURN);
            x.push(WIDTH * (f64::from(pass) + turned) + 0.05 * (rng.f64() - 0.5));
            y.push(if is_up { along.min(length + 3.0) } else { length - along.min(length + 3.0) });
            let straight: f64 = if is_up { 90.0 } else { -90.0 };
            heading.push((straight - if is_up { 180.0 } else { -180.0 } * turned).to_radians());
            is_working.push(row < ROWS);
            let (east, north) = (*x.last().unwrap(), *y.last().unwrap());
            let middle = north - if is_up { 1.0 } else { -1.0 };
            cut.push(if row < ROWS { pattern(east, middle) * WIDTH * SPEED } else { 0.0 });
        }
    }
    let count = x.len();
    let flow = (0..count).map(|row| {
        let seen = row.checked_sub(delay as usize).map_or(0.0, |row| cut[row]);
        seen * (1.0 + 0.03 * (rng.f64() - 0.5))
    });
    let time: Vec<f64> = (0_u32..).take(count).map(f64::from).collect();
    FieldRows {
        order: order(&time, &x, &y, &vec![0; count]),
        machines: vec![(0, 1)],
        jobs: Jobs::default(),
        product: Vec::new(),
        kind: JobKind::Yield,
        plane: LocalPlane::new(10.0, 50.0),
        shapes: None,
        interval: vec![1.0; count],
        distance: vec![SPEED; count],
        width: vec![WIDTH; count],
        working: working.then_some(is_working),
        flow: Some(flow.collect()),
        flow_rule: "flow",
        moisture: None,
        amount: None,
        amount_unit: "",
        market: None,
        diagnostics: Vec::new(),
        x,
        y,
        heading,
    }
}

fn order(time: &[f64], x: &[f64], y: &[f64], source: &[u32]) -> RowOrder {
    RowOrder::new(&LoggedRows {
        source,
        section: &vec![0; time.len()],
        time: Some(time),
        order: None,
        x,
        y,
        distance: &vec![SPEED; time.len()],
        flow: &[],
        is_geographic: true,
        has_shapes: false,
    })
}

fn clean(field: FieldRows, arguments: &str) -> CleanRows {
    clean_rows(field, Recipe::parse(None, arguments).unwrap(), &[]).unwrap()
}

fn delay(cleaned: &CleanRows) -> f64 {
    cleaned.flow.delays[0].delay.seconds.unwrap_or_else(|| panic!("{:?}", cleaned.flow.delays[0].delay.reason))
}

fn column(cleaned: &CleanRows, values: &[f64]) -> Vec<f64> {
    cleaned.rows.unsorted(values)
}

fn assert_close(one: &[f64], other: &[f64], tolerance: f64) {
    assert_eq!(one.len(), other.len());
    for (row, (a, b)) in one.iter().zip(other).enumerate() {
        assert!((a - b).abs() < tolerance || (a.is_nan() && b.is_nan()), "row {row}: {a} and {b}");
    }
}

#[test]
fn delay_is_found_with_and_without_a_working_state() {
    for seconds in [0, 4, 11] {
        for working in [true, false] {
            let cleaned = clean(field(seconds, working), "{}");
            assert!((delay(&cleaned) - f64::from(seconds)).abs() < 0.3, "{seconds} {working}: {}", delay(&cleaned));
        }
    }
}

#[test]
fn flow_without_a_pattern_is_refused() {
    let mut shuffled = field(10, true);
    let working = shuffled.working.clone().unwrap();
    let flow = shuffled.flow.as_mut().unwrap();
    let mut inside: Vec<f64> =
        flow.iter().zip(&working).filter(|(_, working)| **working).map(|(flow, _)| *flow).collect();
    fastrand::Rng::with_seed(3).shuffle(&mut inside);
    let mut next = inside.into_iter();
    for (flow, _) in flow.iter_mut().zip(&working).filter(|(_, working)| **working) {
        *flow = next.next().unwrap();
    }
    let cleaned = clean(shuffled, "{}");
    assert_eq!(cleaned.flow.delays[0].delay.seconds, None);
    assert!(cleaned.flow.delays[0].delay.reason.is_some());
}

#[test]
fn ground_is_that_of_the_passes() {
    let cleaned = clean(field(10, true), "{}");
    let covered: f64 = cleaned.ground.coverage.fresh.iter().sum();
    let expected = f64::from(PASSES * ROWS) * WIDTH * SPEED;
    assert!((covered / expected - 1.0).abs() < 0.005, "{covered} {expected}");
    let flagged = cleaned.reasons.iter().filter(|bits| **bits & reasons::NOT_WORKING != 0).count();
    assert_eq!(flagged, usize::try_from(PASSES * TURN).unwrap());
}

#[test]
fn yield_is_that_of_the_pattern() {
    let cleaned = clean(field(10, true), "{}");
    let kg = cleaned.masses.wet.as_ref().unwrap();
    let (mut squares, mut count) = (0.0, 0.0);
    for k in (0..cleaned.passes.number.len()).filter(|k| cleaned.used[*k]) {
        let sign = cleaned.rows.heading[k].sin().signum();
        let truth = pattern(cleaned.rows.x[k], cleaned.rows.y[k] - sign);
        squares += (kg[k] / cleaned.ground.coverage.fresh[k] / truth - 1.0).powi(2);
        count += 1.0;
    }
    assert!(count > 0.9 * f64::from(PASSES * ROWS), "{count}");
    assert!((squares / count).sqrt() < 0.04, "{}", (squares / count).sqrt());
}

#[test]
fn rotation_and_translation_change_nothing() {
    let original = clean(field(10, true), "{}");
    let mut moved = field(10, true);
    let angle = 0.7_f64;
    let points: Vec<(f64, f64)> = moved.x.iter().copied().zip(moved.y.iter().copied()).collect();
    moved.x = points.iter().map(|(x, y)| x * angle.cos() - y * angle.sin() + 310.0).collect();
    moved.y = points.iter().map(|(x, y)| x * angle.sin() + y * angle.cos() - 170.0).collect();
    moved.heading.iter_mut().for_each(|heading| *heading += angle);
    let moved = clean(moved, "{}");
    assert!((delay(&original) - delay(&moved)).abs() < 1e-6);
    assert_eq!(original.reasons, moved.reasons);
    assert_close(&original.ground.coverage.fresh, &moved.ground.coverage.fresh, 1e-6);
    assert_close(original.masses.wet.as_ref().unwrap(), moved.masses.wet.as_ref().unwrap(), 1e-6);
}

#[test]
fn order_of_rows_does_not_matter() {
    let original = clean(field(10, true), "{}");
    let mut order: Vec<usize> = (0..original.passes.number.len()).collect();
    fastrand::Rng::with_seed(5).shuffle(&mut order);
    let mut mixed = field(10, true);
    let pick = |values: &mut Vec<f64>| *values = order.iter().map(|row| values[*row]).collect();
    [&mut mixed.x, &mut mixed.y, &mut mixed.heading].into_iter().for_each(pick);
    let time: Vec<f64> = order.iter().map(|row| f64::from(u32::try_from(*row).unwrap())).collect();
    mixed.order = self::order(&time, &mixed.x, &mixed.y, &vec![0; time.len()]);
    pick(mixed.flow.as_mut().unwrap());
    mixed.working = mixed.working.map(|working| order.iter().map(|row| working[*row]).collect());
    let mixed = clean(mixed, "{}");
    let expected: Vec<f64> = {
        let values = column(&original, original.masses.wet.as_ref().unwrap());
        order.iter().map(|row| values[*row]).collect()
    };
    assert_close(&column(&mixed, mixed.masses.wet.as_ref().unwrap()), &expected, 1e-9);
    let bits = original.rows.unsorted(&original.reasons);
    assert_eq!(mixed.rows.unsorted(&mixed.reasons), order.iter().map(|row| bits[*row]).collect::<Vec<_>>());
}

#[test]
fn doubled_flow_doubles_the_mass() {
    let original = clean(field(10, true), "{}");
    let mut doubled = field(10, true);
    doubled.flow.as_mut().unwrap().iter_mut().for_each(|flow| *flow *= 2.0);
    let doubled = clean(doubled, "{}");
    assert_eq!(original.reasons, doubled.reasons);
    let expected: Vec<f64> = original.masses.wet.as_ref().unwrap().iter().map(|kg| 2.0 * kg).collect();
    assert_close(doubled.masses.wet.as_ref().unwrap(), &expected, 1e-9);
}

#[test]
fn recipe_replays_the_cleaning() {
    let original = clean(field(10, true), r#"{"antenna": 1.5}"#);
    let text = original.recipe.to_json().unwrap();
    let again = clean_rows(field(10, true), Recipe::parse(Some(&text), "{}").unwrap(), &[]).unwrap();
    assert_eq!(original.reasons, again.reasons);
    assert_close(original.masses.wet.as_ref().unwrap(), again.masses.wet.as_ref().unwrap(), 1e-12);
    assert_eq!(again.recipe.to_json().unwrap(), text);
}

#[test]
fn spike_is_marked_at_its_ground() {
    let mut spiked = field(10, true);
    let logged = usize::try_from(4 * (ROWS + TURN) + 80).unwrap();
    spiked.flow.as_mut().unwrap()[logged] *= 3.0;
    let cleaned = clean(spiked, r#"{"delay": 10}"#);
    let bits = cleaned.rows.unsorted(&cleaned.reasons);
    assert_ne!(bits[logged - 10] & reasons::SPIKE, 0);
    assert_eq!(bits[logged] & reasons::SPIKE, 0);
}

/// New ground in m2.
fn ground(cleaned: &CleanRows) -> f64 {
    cleaned.ground.coverage.fresh.iter().sum()
}

#[test]
fn positions_that_wander_show_as_gaps_and_overlaps_and_passes_meet_in_the_middle() {
    let field_area = f64::from(PASSES) * f64::from(ROWS) * SPEED * WIDTH;
    let steady = clean(field(10, true), "{}");
    assert!(steady.passes.gaps.gap < 0.05 && steady.passes.gaps.overlap < 0.05, "{:?}", steady.passes.gaps);
    // Positions are off by 0.3 m to the east or to the west, more or less along the pass.
    let mut wandering = field(10, true);
    for (row, x) in wandering.x.iter_mut().enumerate() {
        let (pass, row) = (row / usize::try_from(ROWS + TURN).unwrap(), row % usize::try_from(ROWS + TURN).unwrap());
        let turn = if pass % 2 == 0 { 0.0 } else { 3.0 };
        *x += 0.3 * (f64::from(u32::try_from(row).unwrap()) / 20.0 + turn).sin();
    }
    let apart = clean(wandering, "{}");
    assert!(apart.passes.gaps.gap > 0.1 && apart.passes.gaps.overlap > 0.1, "{:?}", apart.passes.gaps);
    assert!((ground(&apart) / field_area - 1.0).abs() < 0.002, "{}", ground(&apart) / field_area);
    assert!((ground(&steady) / field_area - 1.0).abs() < 0.005, "{}", ground(&steady) / field_area);
    // Overlap that is meant leaves no gaps, and the later pass has less ground.
    let mut narrow = field(10, true);
    narrow.x.iter_mut().for_each(|x| *x *= 0.9);
    let narrow = clean(narrow, "{}");
    assert!(
        narrow.passes.gaps.gap < 0.05 && (narrow.passes.gaps.overlap - 0.1 * WIDTH).abs() < 0.1,
        "{:?}",
        narrow.passes.gaps
    );
    let first = narrow
        .ground
        .coverage
        .fresh
        .iter()
        .zip(&narrow.passes.number)
        .filter(|(_, pass)| **pass == 1)
        .map(|(fresh, _)| fresh);
    let whole = f64::from(ROWS) * SPEED * WIDTH;
    assert!((first.sum::<f64>() / whole - 1.0).abs() < 0.005);
}

#[test]
fn row_without_a_delay_keeps_the_start_of_its_pass() {
    let mut two = field(10, true);
    // One pass is too little for an estimate.
    let last = usize::try_from((PASSES - 1) * (ROWS + TURN)).unwrap();
    let time: Vec<f64> = (0_u32..).take(two.x.len()).map(f64::from).collect();
    let source: Vec<u32> = (0..two.x.len()).map(|row| u32::from(row >= last)).collect();
    two.order = order(&time, &two.x, &two.y, &source);
    two.machines = vec![(0, 1), (0, 2)];
    let cleaned = clean(two, "{}");
    assert!(cleaned.flow.delays[0].delay.seconds.is_some() && cleaned.flow.delays[1].delay.seconds.is_none());
    let pass = cleaned.rows.unsorted(&cleaned.passes.number);
    assert!(pass[last] > 0, "the first rows of the second machine have no flow yet");
}
