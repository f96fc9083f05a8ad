//! Model of the grain's way through a combine, from the header to a sensor: a transport delay and two mixing stages.
//!
//! Searcy et al. (1989, Trans. ASAE) describe a combine as a transport delay followed by a first-order response, and
//! Birrell et al. (1996, Comput. Electron. Agric.) compare such models. Here the response has two well-mixed stages in
//! series: threshing and cleaning, then the elevator. Each stage releases a fixed share of its content in a step. The
//! model therefore conserves mass, and the mean residence time of a stage is exactly its time constant.

use crate::fields::deterministic_math::{i64_to_f64, round_to_i64};

/// Seconds of a simulated step.
pub(super) const STEP: f64 = 0.5;

/// Delay and mixing between the header and a sensor.
#[derive(Clone, Copy, Debug)]
pub(super) struct Transport {
    /// Mean delay in seconds, mixing included.
    delay: f64,
    /// Seconds without any response.
    lag: f64,
    /// Time constants of the mixing stages in seconds.
    stages: [f64; 2],
}

impl Transport {
    /// Creates the model with that mean delay in seconds, mixing included.
    pub(super) fn new(delay: f64, stages: [f64; 2]) -> Self {
        let mixing: f64 = stages.iter().sum();
        Self { delay, lag: (delay - mixing).max(0.0), stages }
    }

    /// Mean delay in seconds: the first moment of the response to an impulse.
    pub(super) fn delay(&self) -> f64 {
        self.delay
    }

    /// Returns the amounts that reach the sensor in each step, from the amounts that enter the header. The result has
    /// as many steps; what is still inside the machine after the last step is not part of it.
    pub(super) fn apply(&self, entering: &[f64]) -> Vec<f64> {
        let steps = self.lag / STEP;
        let whole = steps.floor();
        let share = steps - whole;
        let whole = usize::try_from(round_to_i64(whole)).unwrap_or(0);
        let amount = |index: Option<usize>| index.and_then(|index| entering.get(index)).copied().unwrap_or(0.0);
        let mut contents = [0.0; 2];
        (0..entering.len())
            .map(|step| {
                let earlier = step.checked_sub(whole);
                let mut flow = (1.0 - share) * amount(earlier)
                    + share * amount(earlier.and_then(|earlier| earlier.checked_sub(1)));
                for (content, constant) in contents.iter_mut().zip(self.stages) {
                    let all = *content + flow;
                    flow = all * (STEP / (constant + STEP));
                    *content = all - flow;
                }
                flow
            })
            .collect()
    }
}

/// Returns the sums of groups of `size` steps. An incomplete last group is dropped.
pub(super) fn sums(steps: &[f64], size: usize) -> Vec<f64> {
    steps.chunks_exact(size.max(1)).map(|group| group.iter().sum()).collect()
}

/// Returns the value `shift` rows after a row, linearly interpolated between two rows; `None` after the last row.
pub(super) fn shifted(values: &[f64], row: usize, shift: f64) -> Option<f64> {
    let before = shift.floor();
    let share = shift - before;
    let first = round_to_i64(before).checked_add(i64::try_from(row).ok()?)?;
    let first = usize::try_from(first).ok()?;
    let low = *values.get(first)?;
    if share <= 0.0 {
        return Some(low);
    }
    Some(low + share * (values.get(first.checked_add(1)?)? - low))
}

/// Returns the rows that use the value of `logged` after a shift: one or two rows `shift` rows earlier.
pub(super) fn places(logged: usize, shift: f64) -> impl Iterator<Item = usize> {
    let exact = i64::try_from(logged).unwrap_or(0) - round_to_i64(shift.floor());
    let first = if shift > shift.floor() { exact - 1 } else { exact };
    (first..=exact).filter_map(|row| usize::try_from(row).ok())
}

/// Converts seconds to rows.
pub(super) fn rows_in(seconds: f64, interval: i64) -> f64 {
    seconds / i64_to_f64(interval)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn transport_conserves_mass() {
        for (delay, stages) in [(8.0, [0.9, 1.1]), (11.37, [1.4, 1.4]), (14.0, [0.6, 2.1])] {
            let transport = Transport::new(delay, stages);
            let mut entering: Vec<f64> = (0..400).map(|step| f64::from(step * 37 % 101) / 17.0).collect();
            let cut: f64 = entering.iter().sum();
            entering.resize(800, 0.0);
            let found: f64 = transport.apply(&entering).iter().sum();
            assert!((found / cut - 1.0).abs() < 1e-9, "{found} instead of {cut}");
        }
    }

    #[test]
    fn mean_delay_of_an_impulse_is_the_delay() {
        for (delay, stages) in [(8.0, [0.9, 1.1]), (11.37, [1.4, 1.4]), (14.0, [0.6, 2.1])] {
            let transport = Transport::new(delay, stages);
            let mut entering = vec![0.0; 400];
            entering[0] = 1.0;
            let leaving = transport.apply(&entering);
            let mean: f64 = leaving.iter().zip(0..).map(|(flow, step)| flow * f64::from(step) * STEP).sum();
            assert!((mean - delay).abs() < 1e-9 && (transport.delay() - delay).abs() < 1e-12, "{mean} and {delay}");
        }
    }

    #[test]
    fn places_are_the_rows_that_interpolate_a_logged_row() {
        let values: Vec<f64> = (0..40).map(f64::from).collect();
        for shift in [3.0, 8.25, 11.5] {
            let expected: Vec<usize> = (0..20)
                .filter(|row| {
                    let mut other = values.clone();
                    other[20] += 1.0;
                    shifted(&values, *row, shift) != shifted(&other, *row, shift)
                })
                .collect();
            assert_eq!(places(20, shift).collect::<Vec<_>>(), expected, "{shift}");
        }
    }
}
