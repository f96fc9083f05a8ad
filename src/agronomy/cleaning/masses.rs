//! Masses of rows: wet and dry, on the ground where the grain was cut and as they were logged.

use crate::cleaning::delays::PlacedFlow;
use crate::cleaning::steps::Moisture;
use crate::columns::market_moisture::{at_moisture, basis_of};
use crate::ground::swath_coverage::Coverage;
use crate::rows::section_mass::SharedFlow;
use crate::rows::track_rows::TrackRows;

/// Kilograms of each row; NaN is null. There are none without a flow.
pub(crate) struct Masses {
    /// Wet kilograms of the ground of rows in passes.
    pub(crate) wet: Option<Vec<f64>>,
    /// The same at the market moisture.
    pub(crate) dry: Option<Vec<f64>>,
    /// As logged, without a shift: dry if those are known.
    pub(crate) logged: Option<Vec<f64>>,
    /// Where it was cut, of the rows without `wet`: dry if those are known.
    pub(crate) outside: Option<Vec<f64>>,
    /// Percent of water of `dry`, or `several`.
    pub(crate) basis: Option<String>,
    /// Rows of a moment whose sections have one flow per ground.
    pub(crate) shared: Option<SharedFlow>,
}

/// How masses become dry.
struct Drying<'a> {
    /// Percent of water of each row, at its ground and on the market.
    moisture: Option<&'a [f64]>,
    market: Option<&'a [f64]>,
    /// Whether grain below the market moisture gains.
    expand: bool,
}

impl Drying<'_> {
    fn dry(&self, kg: &[f64]) -> Option<Vec<f64>> {
        let (moisture, market) = (self.moisture?, self.market?);
        let factor = |(moisture, market): (&f64, &f64)| {
            let factor = at_moisture(1.0, *moisture, *market);
            if self.expand { factor } else { factor.min(1.0) }
        };
        Some(kg.iter().zip(moisture.iter().zip(market)).map(|(kg, row)| kg * factor(row)).collect())
    }
}

impl Masses {
    /// Computes the masses from the flow. Rows that `is_cut` excludes cut nothing; sections with one sensor share its mass by
    /// their new ground. `market` is the market moisture of each row in percent; with `expand`, grain below it gains.
    pub(crate) fn new(
        rows: &TrackRows,
        flow: &PlacedFlow,
        coverage: &Coverage,
        is_cut: impl Fn(usize) -> bool,
        (moisture, market, expand): (&Moisture, Option<&[f64]>, bool),
    ) -> Self {
        let drying = Drying { moisture: moisture.shifted.as_deref(), market, expand };
        let basis = market.and_then(basis_of);
        let Some((logged, shifted)) = flow.both() else {
            return Self { wet: None, dry: None, logged: None, outside: None, basis, shared: None };
        };
        let kg = |flow: &[f64], k: usize| flow[k] * rows.interval[k];
        let mut wet: Vec<f64> = (0..rows.len()).map(|k| if is_cut(k) { kg(shifted, k) } else { f64::NAN }).collect();
        let shared = SharedFlow::find(rows, logged);
        if let Some(shared) = &shared {
            shared.share_out(&mut wet, &coverage.fresh);
        }
        let logged: Vec<f64> = (0..rows.len()).map(|k| kg(logged, k)).collect();
        let outside = (0..rows.len()).map(|k| if is_cut(k) { f64::NAN } else { kg(shifted, k) }).collect();
        let [logged, outside] = [logged, outside].map(|kg: Vec<f64>| drying.dry(&kg).unwrap_or(kg));
        Self { dry: drying.dry(&wet), wet: Some(wet), logged: Some(logged), outside: Some(outside), basis, shared }
    }

    /// Dry kilograms, or wet ones where the moisture is not known.
    pub(crate) fn best(&self) -> Option<&Vec<f64>> {
        self.dry.as_ref().or(self.wet.as_ref())
    }
}
