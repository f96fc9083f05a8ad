//! True yield and moisture of a harvest at every location: soil, season, and patches of tens of metres.

use crate::fields::deterministic_math::{i64_to_f64, round_to_i64, usize_to_f64};
use crate::fields::plane::Point;
use crate::fields::rng::{Surface, stream};

/// Smooth noise around 0: random values on a lattice, interpolated with two continuous derivatives.
#[derive(Clone, Debug)]
struct Patches {
    spacing: f64,
    /// Number of lattice points along an axis.
    side: usize,
    values: Vec<f64>,
}

impl Patches {
    /// Generates patches of at most `height` over a square of that half side around the origin.
    fn new(rng: &mut fastrand::Rng, spacing: f64, height: f64, reach: f64) -> Self {
        let side = usize::try_from(round_to_i64((2.0 * reach / spacing).ceil())).unwrap_or(0) + 2;
        let values = (0..side * side).map(|_| (2.0 * rng.f64() - 1.0) * height).collect();
        Self { spacing, side, values }
    }

    fn value_at(&self, location: Point) -> f64 {
        let middle = usize_to_f64(self.side - 1) / 2.0;
        let (column, right) = split(location.east / self.spacing + middle);
        let (row, up) = split(location.north / self.spacing + middle);
        let corner = |across: i64, along: i64| {
            let index = |at: i64| usize::try_from(at).ok().filter(|at| *at < self.side);
            let at = index(row + along).zip(index(column + across)).map(|(row, column)| row * self.side + column);
            at.and_then(|at| self.values.get(at)).copied().unwrap_or(0.0)
        };
        let low = corner(0, 0) + right * (corner(1, 0) - corner(0, 0));
        let high = corner(0, 1) + right * (corner(1, 1) - corner(0, 1));
        low + up * (high - low)
    }
}

/// Splits a lattice coordinate into the point before it and the smooth weight of the next point.
fn split(coordinate: f64) -> (i64, f64) {
    let before = coordinate.floor();
    let share = coordinate - before;
    (round_to_i64(before), share * share * share * (share * (share * 6.0 - 15.0) + 10.0))
}

/// Values of the surface at a location.
#[derive(Clone, Copy, Debug)]
pub(in crate::fields) struct Grain {
    /// Kilograms per m² at the market's moisture.
    pub(in crate::fields) dry: f64,
    /// Kilograms per m² as harvested.
    pub(in crate::fields) wet: f64,
    /// Water in percent of the wet mass.
    pub(in crate::fields) moisture: f64,
}

/// Average values of a crop.
#[derive(Clone, Copy, Debug)]
pub(in crate::fields) struct CropMeans {
    /// Yield in kg/ha at the market's moisture.
    pub(in crate::fields) dry: f64,
    /// Moisture at harvest in percent.
    pub(in crate::fields) moisture: f64,
    /// Moisture of the market in percent.
    pub(in crate::fields) market: f64,
}

/// True yield and moisture.
#[derive(Clone, Debug)]
pub(in crate::fields) struct YieldSurface {
    means: CropMeans,
    soil: Surface,
    season: Surface,
    broad: Patches,
    narrow: Patches,
    damp: Patches,
}

impl YieldSurface {
    /// Generates the surface of a seed over a field of that soil. All of the field is within `reach` metres of the
    /// origin.
    pub(in crate::fields) fn new(seed: u64, soil: &Surface, means: CropMeans, reach: f64) -> Self {
        let mut rng = stream(seed, &[21]);
        let season = Surface::new(&mut rng, 5, 0.2, reach / 1.3);
        let broad = Patches::new(&mut rng, 42.0, 0.28, reach);
        let narrow = Patches::new(&mut rng, 17.0, 0.10, reach);
        let damp = Patches::new(&mut rng, 38.0, 0.09, reach);
        Self { means, soil: soil.clone(), season, broad, narrow, damp }
    }

    /// Returns yield and moisture at a location.
    pub(in crate::fields) fn value_at(&self, location: Point) -> Grain {
        let CropMeans { dry, moisture, market } = self.means;
        let soil = self.soil.value_at(location);
        let patches = 1.0 + self.broad.value_at(location) + self.narrow.value_at(location);
        let dry = dry / 10_000.0 * (soil * self.season.value_at(location) * patches).max(0.1);
        // Richer soil dries earlier.
        let moisture = moisture * (1.0 + 0.5 * (1.0 - soil).clamp(-0.3, 0.3) + self.damp.value_at(location));
        Grain { dry, wet: dry * (100.0 - market) / (100.0 - moisture), moisture }
    }
}

/// Returns the distance of the farthest vertex from the origin, plus a margin for turns.
pub(in crate::fields) fn reach(boundary: &[Point]) -> f64 {
    boundary.iter().map(|vertex| vertex.length()).fold(0.0, f64::max) + i64_to_f64(60)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn surface() -> YieldSurface {
        let soil = Surface::new(&mut stream(3, &[1]), 6, 0.35, 250.0);
        YieldSurface::new(3, &soil, CropMeans { dry: 9_000.0, moisture: 18.0, market: 15.5 }, 400.0)
    }

    #[test]
    fn correlation_of_the_yield_fades_within_tens_of_metres() {
        let surface = surface();
        let at = |east: f64| surface.value_at(Point::new(east, 13.0)).dry;
        let profile: Vec<f64> = (-300..300).map(|metre| at(f64::from(metre))).collect();
        let mean = profile.iter().sum::<f64>() / 600.0;
        let covariance = |lag: usize| {
            profile.iter().zip(profile.iter().skip(lag)).map(|(a, b)| (a - mean) * (b - mean)).sum::<f64>()
        };
        assert!(covariance(3) > 0.9 * covariance(0), "smooth over metres");
        assert!(covariance(60) < 0.7 * covariance(0), "patches end");
    }

    #[test]
    fn dry_matter_of_wet_and_dry_yield_is_equal() {
        let grain = surface().value_at(Point::new(40.0, -70.0));
        let (wet, dry) = (grain.wet * (100.0 - grain.moisture), grain.dry * (100.0 - 15.5));
        assert!((wet / dry - 1.0).abs() < 1e-12 && (10.0..30.0).contains(&grain.moisture));
    }
}
