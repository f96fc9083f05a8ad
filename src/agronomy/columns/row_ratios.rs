//! Medians: ratios of columns on the rows that can prove a unit, with their spread, and values of windows.

/// At most this many rows are used, evenly thinned.
const MAX_ROWS: usize = 20_000;

/// Small values are mostly noise: rows count if every operand is above this share of its values.
const LOW_QUANTILE: f64 = 0.2;

/// Operands of a ratio.
pub(crate) struct Ratio<'a> {
    /// Columns that have to be finite, positive and above their low quantile.
    pub(crate) columns: &'a [&'a [f64]],
    /// A column that has to be within 0 to 100 percent.
    pub(crate) moisture: Option<&'a [f64]>,
}

/// The ratios of the rows that qualify. `formula` is given the operands of a row and its moisture.
pub(crate) fn thinned<T>(operands: &Ratio<'_>, formula: impl Fn(&[f64], f64) -> T) -> Vec<T> {
    let rows = operands.columns.iter().map(|column| column.len()).min().unwrap_or(0);
    let step = rows.div_ceil(MAX_ROWS).max(1);
    let least: Vec<f64> = operands.columns.iter().map(|column| quantile(column, step, LOW_QUANTILE)).collect();
    let mut values = vec![0.0; operands.columns.len()];
    let mut ratios = Vec::with_capacity(rows.checked_div(step).unwrap_or(0));
    for row in (0..rows).step_by(step) {
        let mut is_usable = true;
        for ((value, column), least) in values.iter_mut().zip(operands.columns).zip(&least) {
            *value = column.get(row).copied().unwrap_or(f64::NAN);
            is_usable &= value.is_finite() && *value > 0.0 && *value >= *least;
        }
        let moisture = operands.moisture.map_or(0.0, |column| column.get(row).copied().unwrap_or(f64::NAN));
        if is_usable && (0.0..100.0).contains(&moisture) {
            ratios.push(formula(&values, moisture));
        }
    }
    ratios
}

/// The median; not a number if there is no value.
pub(crate) fn median(mut values: Vec<f64>) -> f64 {
    values.retain(|value| value.is_finite());
    quarter(&mut values, 2)
}

/// The median and the interquartile range.
pub(crate) fn median_and_range(mut values: Vec<f64>) -> (f64, f64) {
    values.retain(|value| value.is_finite());
    let [first, middle, third] = [1, 2, 3].map(|number| quarter(&mut values, number));
    (middle, third - first)
}

/// The value at a quarter of the sorted values; not a number if there is none.
fn quarter(values: &mut [f64], number: usize) -> f64 {
    let index = values.len().saturating_sub(1).saturating_mul(number) / 4;
    if values.is_empty() { f64::NAN } else { *values.select_nth_unstable_by(index, f64::total_cmp).1 }
}

fn quantile(column: &[f64], step: usize, share: f64) -> f64 {
    let mut values: Vec<f64> =
        column.iter().step_by(step).copied().filter(|value| value.is_finite() && *value > 0.0).collect();
    if values.is_empty() {
        return f64::INFINITY;
    }
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        clippy::cast_precision_loss,
        reason = "an index below the length"
    )]
    let index = (share * (values.len().saturating_sub(1)) as f64) as usize;
    *values.select_nth_unstable_by(index, f64::total_cmp).1
}

/// Medians of windows of `count` rows around each index of `values`; null values take no part.
pub(crate) fn running_median(values: &[f64], count: usize) -> Vec<f64> {
    let half = count / 2;
    let mut window: Vec<f64> = Vec::with_capacity(count + 1);
    let known = |value: Option<&f64>| value.copied().filter(|value| value.is_finite());
    let mut exchange = |gone: Option<f64>, new: Option<f64>| {
        let at = |window: &[f64], value: f64| window.partition_point(|other| *other < value);
        match (gone, new) {
            (Some(gone), Some(new)) => {
                let (from, to) = (at(&window, gone), at(&window, new));
                // Only the values between both move.
                if from < to {
                    window.copy_within(from + 1..to, from);
                    window[to - 1] = new;
                } else {
                    window.copy_within(to..from, to + 1);
                    window[to] = new;
                }
            }
            (Some(gone), None) => drop(window.remove(at(&window, gone))),
            (None, Some(new)) => window.insert(at(&window, new), new),
            (None, None) => {}
        }
        if window.is_empty() { f64::NAN } else { window[window.len() / 2] }
    };
    for value in values.iter().take(half) {
        exchange(None, known(Some(value)));
    }
    (0..values.len())
        .map(|index| {
            let gone = index.checked_sub(half + 1).map(|gone| &values[gone]);
            exchange(known(gone), known(values.get(index + half)))
        })
        .collect()
}
