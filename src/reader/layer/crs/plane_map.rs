//! Maps the local plane of a field to a metric coordinate system, with a polynomial.

use super::definition::Definition;
use super::own_plane::MAX_STRETCH;
use super::transform::Transform;
use super::utm::{invalid, name_argument, utm};
use super::{Crs, LocalPlane, OwnPlane};
use headland_base::error::{Kind, Result};

/// Largest error of the polynomial in metres.
const MAX_ERROR: f64 = 1e-4;

/// Coefficients for each power of x and y: degree 3, those of higher degree are zero.
const POWERS: usize = 4;

/// Nodes and weights of the Gauss-Legendre quadrature with 5 nodes, which is exact to degree 9.
const NODES: [(f64, f64); 5] = [
    (-0.906_179_845_938_664, 0.236_926_885_056_189_08),
    (-0.538_469_310_105_683_1, 0.478_628_670_499_366_47),
    (0.0, 0.568_888_888_888_888_9),
    (0.538_469_310_105_683_1, 0.478_628_670_499_366_47),
    (0.906_179_845_938_664, 0.236_926_885_056_189_08),
];

/// Coefficients of the Legendre polynomials of degree 0 to 3.
const LEGENDRE: [[f64; POWERS]; POWERS] =
    [[1.0, 0.0, 0.0, 0.0], [0.0, 1.0, 0.0, 0.0], [-0.5, 0.0, 1.5, 0.0], [0.0, -1.5, 0.0, 2.5]];

/// A map from a local plane to a projected system in metres, within 0.1 mm inside the extent of a field.
#[derive(Clone, Debug)]
pub struct PlaneMap {
    middle: [f64; 2],
    /// The inverse of half the width and height of the extent.
    scale: [f64; 2],
    /// Coefficients of x and y, by the power of the scaled x and the power of the scaled y.
    terms: [[[f64; POWERS]; POWERS]; 2],
    /// Metres of a coordinate of the system: 1, or those of the layer's own plane.
    metres: [f64; 2],
}

impl PlaneMap {
    /// Fits the map for points within `extent`: least and largest x and y in the plane.
    ///
    /// Errors name the argument `crs`: it is not a projected system in metres, its datum is not supported, it stretches
    /// lengths, or the extent is too large for the polynomial.
    pub fn new(plane: &LocalPlane, crs: &Crs, [west, south, east, north]: [f64; 4]) -> Result<Self> {
        let middle = [f64::midpoint(west, east), f64::midpoint(south, north)];
        let transform = prepare(plane, crs, middle)?;
        let metres = plane.own().map_or([1.0; 2], OwnPlane::metres);
        // One metre suffices for a single point.
        let half = [((east - west) / 2.0).max(1.0), ((north - south) / 2.0).max(1.0)];
        let exact = |[u, v]: [f64; 2]| {
            let [x, y] = plane.unproject([middle[0] + u * half[0], middle[1] + v * half[1]]);
            let found = transform.as_ref().map_or(Some([x * metres[0], y * metres[1]]), |known| known.invert(x, y));
            found.ok_or_else(|| {
                invalid(format!(
                    "cannot map the field to `{}`: the position ({x}, {y}) is outside that system; {}",
                    crs.name(),
                    advice(plane, middle)
                ))
            })
        };
        // The coefficients of Legendre polynomials are independent sums. The differences to the middle lose no digits.
        let origin = exact([0.0; 2])?;
        let mut terms = [[[0.0; POWERS]; POWERS]; 2];
        for (u, weight_u) in NODES {
            for (v, weight_v) in NODES {
                let found = exact([u, v])?;
                for ((terms, found), origin) in terms.iter_mut().zip(found).zip(origin) {
                    add_node(terms, [u, v], weight_u * weight_v * (found - origin));
                }
            }
        }
        for (terms, origin) in terms.iter_mut().zip(origin) {
            if let Some(constant) = terms.first_mut().and_then(|row| row.first_mut()) {
                *constant += origin;
            }
        }
        let map = Self { middle, scale: half.map(f64::recip), terms, metres };
        map.check_lengths(plane, crs)?;
        let steps = || (0..6).map(|step| f64::from(step) * 0.4 - 1.0);
        let mut worst: f64 = 0.0;
        for (u, v) in steps().flat_map(|u| steps().map(move |v| (u, v))) {
            let expected = exact([u, v])?;
            let found = map.apply([middle[0] + u * half[0], middle[1] + v * half[1]]);
            worst = worst.max((found[0] - expected[0]).abs()).max((found[1] - expected[1]).abs());
        }
        if worst <= MAX_ERROR {
            return Ok(map);
        }
        let [width, height] = half.map(|half| half * 2.0 / 1e3);
        let other = advice(plane, middle);
        // The zone of the field may be the one that does not fit.
        let other = if other.contains(crs.name()) { String::new() } else { format!(", or {other}") };
        Err(invalid(format!(
            "the field is too large for one map in `{}`: its extent is {width:.1} km x {height:.1} km, and positions \
             would be {:.1} mm off (limit {} mm); take each field by itself{other}",
            crs.name(),
            worst * 1e3,
            MAX_ERROR * 1e3,
        )))
    }

    /// Metres of a coordinate of the system.
    #[must_use]
    pub fn metres(&self) -> [f64; 2] {
        self.metres
    }

    /// Checks that metres of the system are metres on the ground: a side of a cell would be something else.
    fn check_lengths(&self, plane: &LocalPlane, crs: &Crs) -> Result<()> {
        let origin = self.apply(self.middle);
        let ratios = [[1.0, 0.0], [0.0, 1.0]].map(|[x, y]| {
            let moved = self.apply([self.middle[0] + x, self.middle[1] + y]);
            (moved[0] - origin[0]).hypot(moved[1] - origin[1])
        });
        let Some(ratio) = ratios.into_iter().max_by(|a, b| (a - 1.0).abs().total_cmp(&(b - 1.0).abs())) else {
            return Ok(());
        };
        if (ratio - 1.0).abs() <= MAX_STRETCH {
            return Ok(());
        }
        Err(invalid(format!(
            "invalid `crs`: 10 m in `{}` are {:.1} m on the ground here; {}",
            crs.name(),
            10.0 / ratio,
            advice(plane, self.middle)
        )))
    }

    /// Maps a point of the plane to the coordinates of the system in metres.
    #[must_use]
    pub fn apply(&self, [x, y]: [f64; 2]) -> [f64; 2] {
        let (u, v) = ((x - self.middle[0]) * self.scale[0], (y - self.middle[1]) * self.scale[1]);
        self.terms.map(|[[a, b, c, d], [e, f, g, _], [h, i, ..], [j, ..]]| {
            let rows = [((d * v + c) * v + b) * v + a, (g * v + f) * v + e, i * v + h];
            ((j * u + rows[2]) * u + rows[1]) * u + rows[0]
        })
    }
}

/// Adds the value at a node to the coefficients.
fn add_node(terms: &mut [[f64; POWERS]; POWERS], [u, v]: [f64; 2], value: f64) {
    let at = |polynomial: &[f64; POWERS], t: f64| polynomial.iter().rev().fold(0.0, |sum, term| sum * t + term);
    for (i, in_u) in LEGENDRE.iter().enumerate() {
        for (j, in_v) in LEGENDRE.iter().enumerate().take(POWERS.saturating_sub(i)) {
            // The square of a Legendre polynomial of degree n has the integral 2 / (2 n + 1).
            #[expect(clippy::cast_precision_loss, reason = "degrees are below 4")]
            let norm = (i as f64 + 0.5) * (j as f64 + 0.5);
            let weight = value * norm * at(in_u, u) * at(in_v, v);
            for (row, factor_u) in terms.iter_mut().zip(in_u) {
                for (term, factor_v) in row.iter_mut().zip(in_v) {
                    *term += weight * factor_u * factor_v;
                }
            }
        }
    }
}

/// The transform of the system of a map; `None` for the layer's own plane.
fn prepare(plane: &LocalPlane, crs: &Crs, middle: [f64; 2]) -> Result<Option<Transform>> {
    if let Some(own) = plane.own() {
        if own.crs().is_same(crs) {
            return Ok(None);
        }
        let (name, wanted) = (own.crs().name(), crs.name());
        return Err(invalid(format!(
            "invalid `crs`: there is no known way from `{name}`, the system of the rows, to `{wanted}`; leave `crs` out"
        )));
    }
    let found = match &crs.definition {
        Definition::Projected(system) if (system.unit.factor - 1.0).abs() < 1e-9 => {
            return crs.to_wgs84().map(Some).map_err(|error| error.with_kind(Kind::Value).with(name_argument));
        }
        Definition::Projected(system) => format!("is in units of {} m", system.unit.factor),
        Definition::Geographic(_) => "is in degrees".to_owned(),
        Definition::Other(reason) => format!("cannot be used: {reason}"),
    };
    Err(invalid(format!(
        "invalid `crs`: expected a system in metres, but `{}` {found}; {}",
        crs.name(),
        advice(plane, middle)
    )))
}

/// What to pass instead of a system: the UTM zone of the field.
fn advice(plane: &LocalPlane, middle: [f64; 2]) -> String {
    let [longitude, latitude] = plane.unproject(middle);
    let zone = utm(longitude, latitude).ok().and_then(|zone| zone.code()).filter(|_| plane.own().is_none());
    zone.map_or_else(
        || "leave `crs` out".to_owned(),
        |zone| format!("pass `crs=\"{zone}\"`, the UTM zone of the field"),
    )
}

#[cfg(test)]
#[path = "plane_map_tests.rs"]
mod tests;
