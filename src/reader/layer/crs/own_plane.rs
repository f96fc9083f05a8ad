//! The plane of a projected system that has no known way to WGS 84: its coordinates, in metres.

use super::definition::{Definition, Direction, Ellipsoid, Projected};
use super::transform::{on_ellipsoid, prepare};
use super::{Crs, projection};
use crate::archive::{Code, Diagnostic};
use headland_base::error::{Error, Kind, Result};

/// Lengths of a plane may differ from those on the ground by this part.
pub(super) const MAX_STRETCH: f64 = 0.01;

/// Parts of the names of projections of the whole earth, whose coordinates are no lengths.
const WORLD: &[&str] = &[
    "cylindrical",
    "platecarree",
    "mercatorvariant",
    "earth",
    "mollweide",
    "robinson",
    "sinusoidal",
    "gall",
    "miller",
    "eckert",
    "winkel",
    "grinten",
    "aitoff",
    "hammer",
    "behrmann",
    "goode",
    "quartic",
    "loximuthal",
    "perspective",
    "gnomonic",
    "orthographic",
    "twopoint",
    "cube",
    "fuller",
];

/// A projected system whose coordinates are lengths, but which has no known way to WGS 84.
#[derive(Clone, Debug)]
pub struct OwnPlane {
    crs: Crs,
    /// Metres of a coordinate to the east and to the north; negative where an axis points west or south.
    metres: [f64; 2],
    reason: String,
}

impl OwnPlane {
    /// The plane of a system; `None` if there is a way to WGS 84, or if its coordinates are no lengths.
    #[must_use]
    pub fn new(crs: &Crs) -> Option<Self> {
        let Definition::Projected(system) = &crs.definition else { return None };
        let reason = prepare(&crs.definition).err()?;
        let method = projection::normalize(&system.method);
        if on_ellipsoid(system).is_err() && WORLD.iter().any(|part| method.contains(part)) {
            return None;
        }
        let has = |direction: Direction| system.axes.contains(&direction);
        let [east, north] = [Direction::West, Direction::South].map(|axis| if has(axis) { -1.0 } else { 1.0 });
        Some(Self { crs: crs.clone(), metres: [east * system.unit.factor, north * system.unit.factor], reason })
    }

    /// The coordinate system of the layer.
    #[must_use]
    pub fn crs(&self) -> &Crs {
        &self.crs
    }

    /// Metres in a unit of each axis.
    #[must_use]
    pub fn metres(&self) -> [f64; 2] {
        self.metres
    }

    /// A diagnostic about what is computed in this plane.
    #[must_use]
    pub fn diagnostic(&self) -> Diagnostic {
        let (name, reason) = (&self.crs.name, &self.reason);
        let message = format!(
            "coordinates of `{name}` cannot be transformed to WGS 84, since {reason}; areas, swaths and maps are \
             computed in its own plane"
        );
        Diagnostic::new(Code::OwnPlane, message)
    }

    /// Checks that coordinates around a position, in units of the system, are lengths on the ground.
    pub(crate) fn check_scale(&self, position: [f64; 2]) -> Result<()> {
        let Definition::Projected(system) = &self.crs.definition else { return Ok(()) };
        let Some(stretch) = stretch(system, position) else { return Ok(()) };
        if stretch.abs() <= MAX_STRETCH {
            return Ok(());
        }
        let message = format!(
            "lengths in `{}` differ from those on the ground by {:.0} % here, and there is no way to WGS 84, since {}; \
             transform the layer with pyproj",
            self.crs.name,
            stretch * 100.0,
            self.reason
        );
        Err(Error::new(Kind::Value, message))
    }
}

/// By which part lengths in a system differ most from those on its ellipsoid. `None` if its projection is not supported.
fn stretch(system: &Projected, [x, y]: [f64; 2]) -> Option<f64> {
    let transform = on_ellipsoid(system).ok()?;
    // A hundred metres is little enough for a derivative, and much more than the rounding of coordinates.
    let step = 100.0 / system.unit.factor;
    let (mut xs, mut ys) = ([x, x + step, x], [y, y, y + step]);
    transform.apply(&mut xs, &mut ys).ok()?;
    let [east, north] = metres_of_degree(&system.base.datum.ellipsoid, ys[0]);
    let side = |x: f64, y: f64| {
        let turn = x - xs[0];
        let across = (turn - 360.0 * (turn / 360.0).round()) * east;
        across.hypot((y - ys[0]) * north)
    };
    let ratios = [100.0 / side(xs[1], ys[1]) - 1.0, 100.0 / side(xs[2], ys[2]) - 1.0];
    ratios.into_iter().max_by(|a, b| a.abs().total_cmp(&b.abs()))
}

/// Metres of a degree of longitude and of latitude.
fn metres_of_degree(ellipsoid: &Ellipsoid, latitude: f64) -> [f64; 2] {
    let flattening = if ellipsoid.inverse_flattening == 0.0 { 0.0 } else { ellipsoid.inverse_flattening.recip() };
    let squared = flattening * (2.0 - flattening);
    let (sine, cosine) = latitude.to_radians().sin_cos();
    let flat = 1.0 - squared * sine * sine;
    let across = ellipsoid.semi_major / flat.sqrt() * cosine;
    [across.to_radians(), (ellipsoid.semi_major * (1.0 - squared) / (flat * flat.sqrt())).to_radians()]
}
