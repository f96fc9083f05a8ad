//! Reproducible random streams by seed and purpose, and smooth random surfaces.

use super::plane::Point;

/// Returns the stream of a seed for a purpose. Streams of different purposes are independent.
pub(super) fn stream(seed: u64, purpose: &[u64]) -> fastrand::Rng {
    let mixed = purpose.iter().fold(mix(seed), |state, part| mix(state ^ mix(*part)));
    fastrand::Rng::with_seed(mixed)
}

/// The finalizer of [splitmix64](https://prng.di.unimi.it/splitmix64.c).
fn mix(value: u64) -> u64 {
    let value = value.wrapping_add(0x9E37_79B9_7F4A_7C15);
    let value = (value ^ (value >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    let value = (value ^ (value >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
    value ^ (value >> 31)
}

/// Returns a uniform number between two bounds.
pub(super) fn uniform(rng: &mut fastrand::Rng, low: f64, high: f64) -> f64 {
    low + rng.f64() * (high - low)
}

/// Returns noise with mean 0 and standard deviation 1, within ±3.5: a sum of four uniform numbers.
pub(super) fn noise(rng: &mut fastrand::Rng) -> f64 {
    (rng.f64() + rng.f64() + rng.f64() + rng.f64() - 2.0) * 1.732
}

/// Returns a random choice.
pub(super) fn pick<T: Copy>(rng: &mut fastrand::Rng, choices: &[T]) -> Option<T> {
    choices.get(rng.usize(..choices.len().max(1))).copied()
}

/// A smooth surface around 1: a sum of round hills and hollows.
#[derive(Clone, Debug)]
pub(super) struct Surface {
    hills: Vec<Hill>,
}

#[derive(Clone, Copy, Debug)]
struct Hill {
    top: Point,
    height: f64,
    /// Inverse square of the hill's radius.
    narrowness: f64,
}

impl Surface {
    /// Generates `hills` hills of at most `height` over a field with that radius around the origin.
    pub(super) fn new(rng: &mut fastrand::Rng, hills: usize, height: f64, radius: f64) -> Self {
        let hill = |_| {
            let reach = uniform(rng, 0.4, 0.9) * radius;
            Hill {
                top: Point::new(uniform(rng, -radius, radius), uniform(rng, -radius, radius)),
                height: uniform(rng, 0.4, 1.0) * height * if rng.bool() { 1.0 } else { -1.0 },
                narrowness: 1.0 / (reach * reach),
            }
        };
        Self { hills: (0..hills).map(hill).collect() }
    }

    /// Returns the value of the surface at a location.
    pub(super) fn value_at(&self, location: Point) -> f64 {
        let mut height = 1.0;
        for hill in &self.hills {
            let away = location.minus(hill.top);
            let inside = 1.0 - away.dot(away) * hill.narrowness;
            if inside > 0.0 {
                // Approximates a Gaussian without the exponential function.
                height += hill.height * inside * inside * inside;
            }
        }
        height
    }
}
