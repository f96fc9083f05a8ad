//! Masses of rows: wet and dry, on the ground where the grain was cut and as they were logged.

use super::clean_steps::Moisture;
use super::section_mass::SharedFlow;
use super::track_rows::TrackRows;

/// Kilograms of each row; NaN is null.
#[derive(Default)]
pub(super) struct Masses {
    /// Wet kilograms of the ground of rows in passes.
    pub(super) wet: Option<Vec<f64>>,
    /// The same at the market moisture.
    pub(super) dry: Option<Vec<f64>>,
    /// As logged, without a shift: dry if those are known.
    pub(super) logged: Option<Vec<f64>>,
}

/// How masses become dry.
pub(super) struct Drying<'a> {
    pub(super) moisture: Option<&'a Moisture>,
    /// Market moisture of each row in percent.
    pub(super) market: Option<&'a [f64]>,
    /// Whether grain below the market moisture gains.
    pub(super) expand: bool,
}

impl Drying<'_> {
    fn dry(&self, kg: &[f64]) -> Option<Vec<f64>> {
        let (moisture, market) = (self.moisture?, self.market?);
        let factor = |(moisture, market): (&f64, &f64)| {
            let factor = (100.0 - moisture) / (100.0 - market);
            if self.expand { factor } else { factor.min(1.0) }
        };
        Some(kg.iter().zip(moisture.shifted.iter().zip(market)).map(|(kg, row)| kg * factor(row)).collect())
    }
}

impl Masses {
    /// Computes the masses from the logged and the shifted flow. Rows that `is_cut` excludes cut nothing; sections with one
    /// sensor share its mass by their new ground.
    pub(super) fn new(
        rows: &TrackRows,
        (logged, shifted): (&[f64], &[f64]),
        is_cut: impl Fn(usize) -> bool,
        shared: Option<&SharedFlow>,
        fresh: &[f64],
        drying: &Drying<'_>,
    ) -> Self {
        let kg = |flow: &[f64], k: usize| flow[k] * rows.interval[k];
        let mut wet: Vec<f64> = (0..rows.len()).map(|k| if is_cut(k) { kg(shifted, k) } else { f64::NAN }).collect();
        if let Some(shared) = shared {
            shared.share_out(&mut wet, fresh);
        }
        let logged: Vec<f64> = (0..rows.len()).map(|k| kg(logged, k)).collect();
        let logged = drying.dry(&logged).unwrap_or(logged);
        Self { dry: drying.dry(&wet), wet: Some(wet), logged: Some(logged) }
    }
}
