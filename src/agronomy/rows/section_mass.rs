//! Mass of sections that share one flow sensor: a display logs its yield for each section of the header.

use crate::rows::track_rows::TrackRows;

/// Largest relative difference of rates that are one measurement.
const SAME_RATE: f64 = 1e-3;

/// Rows of one machine and time that share a measurement.
pub(crate) struct SharedFlow {
    groups: Vec<Vec<usize>>,
}

impl SharedFlow {
    /// Finds the rows, if at most times all sections log the same flow per ground. `None` if each section has its own.
    pub(crate) fn find(rows: &TrackRows, flow: &[f64]) -> Option<Self> {
        let mut groups: Vec<Vec<usize>> = Vec::new();
        rows.visit_moments(|group| {
            if group.iter().any(|k| rows.track[*k] != rows.track[group[0]]) {
                groups.push(group.to_vec());
            }
        });
        let (mut compared, mut same) = (0_usize, 0_usize);
        for group in &groups {
            let rates = group.iter().map(|k| flow[*k] / (rows.distance[*k] * rows.width[*k]));
            let rates: Vec<f64> = rates.filter(|rate| *rate > 0.0 && rate.is_finite()).collect();
            if rates.len() > 1 {
                let low = rates.iter().copied().fold(f64::INFINITY, f64::min);
                let high = rates.iter().copied().fold(0.0, f64::max);
                compared += 1;
                same += usize::from(high - low <= SAME_RATE * high);
            }
        }
        (compared > 0 && 5 * same > 4 * compared).then_some(Self { groups })
    }

    /// Shares the mass of each group out by new ground. Without new ground, rows keep their mass.
    pub(crate) fn share_out(&self, kg: &mut [f64], fresh: &[f64]) {
        for group in &self.groups {
            let cut = || group.iter().filter(|k| kg[**k].is_finite());
            let (mass, ground) = cut().fold((0.0, 0.0), |(mass, ground), k| (mass + kg[*k], ground + fresh[*k]));
            if ground > 0.0 {
                for k in cut().copied().collect::<Vec<_>>() {
                    kg[k] = mass * fresh[k] / ground;
                }
            }
        }
    }
}
