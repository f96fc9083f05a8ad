//! Planes in metres, in which the geometry of a field is computed.
//!
//! The usual plane is the Lambert azimuthal equal-area projection of the ellipsoid. Formulas: Snyder, "Map Projections: A
//! Working Manual", 1987, chapter 24, <https://doi.org/10.3133/pp1395>. Areas are exact. Lengths within 10 km of the
//! origin are exact to 1e-6 of their size.

use super::{Crs, OwnPlane};
use crate::layer::area::{E2, SEMI_MAJOR, authalic_q};
use headland_base::error::Result;

/// Latitude limit of the origin in degrees, since the formulas of a pole differ.
const MAX_LATITUDE: f64 = 89.9;

/// A plane in metres around an origin: x to the east, y to the north.
#[derive(Clone, Debug)]
pub enum LocalPlane {
    /// The equal-area plane of degrees on WGS 84.
    Earth(EqualArea),
    /// The plane of the layer's own system, which has no way to WGS 84, moved to an origin in its coordinates.
    Own(Box<OwnPlane>, [f64; 2]),
}

impl LocalPlane {
    /// Creates the plane around a longitude and latitude in degrees. If one is not finite, all results are NaN.
    #[must_use]
    pub fn new(longitude: f64, latitude: f64) -> Self {
        Self::Earth(EqualArea::new(longitude, latitude))
    }

    /// Creates the plane around a position in the coordinates of a system. An error if these are no lengths there.
    pub fn new_own(own: OwnPlane, origin: [f64; 2]) -> Result<Self> {
        own.check_scale(origin)?;
        Ok(Self::Own(Box::new(own), origin))
    }

    /// The layer's own plane, if there is no way to WGS 84.
    #[must_use]
    pub fn own(&self) -> Option<&OwnPlane> {
        match self {
            Self::Earth(_) => None,
            Self::Own(own, _) => Some(own),
        }
    }

    /// The system of the coordinates that are mapped to the plane.
    pub fn crs(&self) -> Crs {
        self.own().map_or_else(Crs::wgs84, |own| own.crs().clone())
    }

    /// Maps coordinates to metres in place, up to the length of the shorter slice: degrees on WGS 84, or those of the own
    /// system. NaN in one coordinate is NaN in both.
    pub fn to_plane(&self, xs: &mut [f64], ys: &mut [f64]) {
        match self {
            Self::Earth(plane) => plane.to_plane(xs, ys),
            Self::Own(..) => {
                for (x, y) in xs.iter_mut().zip(ys) {
                    [*x, *y] = self.project([*x, *y]);
                }
            }
        }
    }

    /// Maps one position to the plane.
    #[must_use]
    pub fn project(&self, [x, y]: [f64; 2]) -> [f64; 2] {
        match self {
            Self::Earth(plane) => plane.project([x, y]),
            Self::Own(..) if x.is_nan() || y.is_nan() => [f64::NAN; 2],
            Self::Own(own, origin) => {
                let [east, north] = own.metres();
                [(x - origin[0]) * east, (y - origin[1]) * north]
            }
        }
    }

    /// Maps one point of the plane to the coordinates that it has.
    #[must_use]
    pub fn unproject(&self, [x, y]: [f64; 2]) -> [f64; 2] {
        match self {
            Self::Earth(plane) => plane.unproject([x, y]),
            Self::Own(own, origin) => {
                let [east, north] = own.metres();
                [origin[0] + x / east, origin[1] + y / north]
            }
        }
    }
}

/// The Lambert azimuthal equal-area plane of degrees on WGS 84.
#[derive(Clone, Debug)]
pub struct EqualArea {
    /// Longitude of the origin in degrees.
    longitude: f64,
    /// Sine and cosine of the authalic latitude of the origin.
    sine: f64,
    cosine: f64,
    /// Radius of the authalic sphere in metres.
    radius: f64,
    /// Ratio of the east-west scale of the sphere to that of the ellipsoid, `D` in Snyder.
    stretch: f64,
    eccentricity: f64,
    /// `authalic_q` at the pole.
    pole: f64,
}

impl EqualArea {
    /// Creates the plane around a longitude and latitude in degrees. If one is not finite, all results are NaN.
    fn new(longitude: f64, latitude: f64) -> Self {
        let eccentricity = E2.sqrt();
        let pole = authalic_q(1.0, eccentricity);
        let (sine, cosine) = latitude.clamp(-MAX_LATITUDE, MAX_LATITUDE).to_radians().sin_cos();
        let authalic_sine = authalic_q(sine, eccentricity) / pole;
        let authalic_cosine = (1.0 - authalic_sine * authalic_sine).sqrt();
        let radius = SEMI_MAJOR * (pole / 2.0).sqrt();
        let stretch = SEMI_MAJOR * cosine / ((1.0 - E2 * sine * sine).sqrt() * radius * authalic_cosine);
        Self { longitude, sine: authalic_sine, cosine: authalic_cosine, radius, stretch, eccentricity, pole }
    }

    /// Maps longitudes and latitudes in degrees to metres in place, up to the length of the shorter slice.
    ///
    /// Longitudes may differ from the origin by a full turn. NaN in one coordinate is NaN in both.
    fn to_plane(&self, xs: &mut [f64], ys: &mut [f64]) {
        for (x, y) in xs.iter_mut().zip(ys) {
            let (sine_east, cosine_east) = wrapped(*x - self.longitude).to_radians().sin_cos();
            let sine = authalic_q(y.to_radians().sin(), self.eccentricity) / self.pole;
            let cosine = (1.0 - sine * sine).max(0.0).sqrt();
            let scale = self.radius * (2.0 / (1.0 + self.sine * sine + self.cosine * cosine * cosine_east)).sqrt();
            *x = scale * self.stretch * cosine * sine_east;
            *y = scale / self.stretch * (self.cosine * sine - self.sine * cosine * cosine_east);
            if x.is_nan() || y.is_nan() {
                (*x, *y) = (f64::NAN, f64::NAN);
            }
        }
    }

    /// Maps metres to longitudes and latitudes in degrees in place, up to the length of the shorter slice.
    ///
    /// Longitudes are within 180 degrees. NaN in one coordinate is NaN in both.
    fn to_wgs84(&self, xs: &mut [f64], ys: &mut [f64]) {
        for (x, y) in xs.iter_mut().zip(ys) {
            let (east, north) = (*x / (self.stretch * self.radius), *y * self.stretch / self.radius);
            let squared = east * east + north * north;
            let cosine_angle = 1.0 - squared / 2.0;
            // The sine of the angle from the origin, divided by its chord.
            let ratio = (1.0 - squared / 4.0).sqrt();
            let sine = cosine_angle * self.sine + north * ratio * self.cosine;
            let longitude = (east * ratio).atan2(self.cosine * cosine_angle - self.sine * north * ratio);
            *x = wrapped(self.longitude + longitude.to_degrees());
            *y = self.geodetic_sine(sine).asin().to_degrees();
            if x.is_nan() || y.is_nan() {
                (*x, *y) = (f64::NAN, f64::NAN);
            }
        }
    }

    /// Maps one longitude and latitude in degrees to the plane.
    fn project(&self, [longitude, latitude]: [f64; 2]) -> [f64; 2] {
        let (mut x, mut y) = ([longitude], [latitude]);
        self.to_plane(&mut x, &mut y);
        let ([x], [y]) = (x, y);
        [x, y]
    }

    /// Maps one point of the plane to longitude and latitude in degrees.
    fn unproject(&self, [x, y]: [f64; 2]) -> [f64; 2] {
        let (mut longitude, mut latitude) = ([x], [y]);
        self.to_wgs84(&mut longitude, &mut latitude);
        let ([longitude], [latitude]) = (longitude, latitude);
        [longitude, latitude]
    }

    /// The sine of the latitude whose authalic latitude has this sine. Each step squares the error, from 2e-3.
    fn geodetic_sine(&self, authalic_sine: f64) -> f64 {
        let wanted = authalic_sine * self.pole;
        let mut sine = authalic_sine;
        for _ in 0..3 {
            let flat = 1.0 - E2 * sine * sine;
            sine += (wanted - authalic_q(sine, self.eccentricity)) * flat * flat / (2.0 * (1.0 - E2));
        }
        sine.clamp(-1.0, 1.0)
    }
}

/// A longitude or a difference of longitudes, within 180 degrees.
fn wrapped(degrees: f64) -> f64 {
    if degrees.abs() <= 180.0 { degrees } else { degrees - 360.0 * (degrees / 360.0).round() }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Origin, position and its coordinates in the plane, from pyproj 3.7.2 with PROJ 9.5.1
    /// (`+proj=laea +lon_0=... +lat_0=... +ellps=WGS84`).
    #[rustfmt::skip]
    const POSITIONS: &[([f64; 2], [f64; 2], [f64; 2])] = &[
        ([-111.0, 45.6], [-111.0, 45.6], [0.0, 0.0]),
        ([-111.0, 45.6], [-110.95, 45.63], [3_898.902_072_560_537_4, 3_335.524_496_828_035_4]),
        ([-111.0, 45.6], [-111.2, 45.75], [-15_562.324_383_030_931, 16_691.070_798_147_553]),
        ([-111.0, 45.6], [-110.78, 45.43], [17_216.002_972_653_44, -18_870.617_364_139_107]),
        ([5.0, 0.0], [5.05, 0.03], [5_565.973_795_925_203, 3_317.228_555_576_117_3]),
        ([5.0, 0.0], [4.8, 0.15], [-22_263.830_142_869_007, 16_586.162_279_300_588]),
        ([149.5, -45.0], [149.3, -44.85], [-15_810.405_295_894_896, 16_650.132_574_304_48]),
        ([149.5, -45.0], [149.72, -45.17], [17_294.982_151_420_278, -18_916.063_608_102_1]),
        ([25.0, 65.0], [24.8, 65.15], [-9_382.178_211_768_558, 16_738.864_611_052_533]),
        ([25.0, 65.0], [25.22, 64.83], [10_444.491_523_762_315, -18_935.398_113_705_75]),
        ([179.97, -17.0], [-179.98, -16.97], [5_325.136_138_313_178, 3_319.398_446_624_205]),
        ([179.97, -17.0], [179.77, -16.85], [-21_314.005_286_541_62, 16_589.489_120_792_84]),
        ([179.97, -17.0], [-179.81, -17.17], [23_405.710_222_908_932, -18_826.995_840_532_75]),
    ];

    fn distance(a: [f64; 2], b: [f64; 2]) -> f64 {
        (a[0] - b[0]).hypot(a[1] - b[1])
    }

    #[test]
    fn plane_agrees_with_proj_within_a_micrometre() {
        let mut worst = [0.0_f64; 2];
        for (origin, position, expected) in POSITIONS {
            let plane = LocalPlane::new(origin[0], origin[1]);
            worst[0] = worst[0].max(distance(plane.project(*position), *expected));
            let back = plane.unproject(*expected);
            let metres = [(back[0] - position[0]) * 111_320.0, (back[1] - position[1]) * 111_320.0];
            worst[1] = worst[1].max(distance(metres, [0.0; 2]));
        }
        assert!(worst[0] < 1e-7 && worst[1] < 1e-7, "{worst:?}");
    }

    #[test]
    fn not_a_number_stays_and_shorter_slice_counts() {
        let plane = EqualArea::new(10.0, 50.0);
        let (mut xs, mut ys) = ([f64::NAN, 10.0, 10.0], [50.0, f64::NAN]);
        plane.to_plane(&mut xs, &mut ys);
        assert!(xs[..2].iter().chain(&ys).all(|value| value.is_nan()));
        assert_eq!(xs[2].to_bits(), 10.0_f64.to_bits());
        assert!(LocalPlane::new(f64::NAN, 50.0).project([10.0, 50.0]).iter().all(|value| value.is_nan()));
        assert!(plane.unproject([f64::NAN, 0.0]).iter().all(|value| value.is_nan()));
    }

    #[test]
    fn pole_and_far_positions_are_finite() {
        for latitude in [90.0, -90.0, 89.5, 0.0] {
            let plane = LocalPlane::new(0.0, latitude);
            for position in [[0.0, 90.0], [359.0, -89.0], [100.0, 0.0]] {
                let found = plane.unproject(plane.project(position));
                assert!(
                    found[0].is_finite() && (found[1] - position[1]).abs() < 1e-6,
                    "{latitude} {position:?} {found:?}"
                );
            }
        }
    }

    /// Areas agree with those on the ellipsoid: a square of the plane has its area in degrees as well.
    #[test]
    fn area_of_a_square_is_exact() {
        let plane = LocalPlane::new(-100.0, 52.0);
        let corners = [[9e3, 9e3], [9.1e3, 9e3], [9.1e3, 9.1e3], [9e3, 9.1e3]].map(|corner| plane.unproject(corner));
        let mut wkb = vec![1, 3, 0, 0, 0, 1, 0, 0, 0, 4, 0, 0, 0];
        wkb.extend(corners.iter().flatten().flat_map(|number| number.to_le_bytes()));
        let area = crate::layer::area::area([Some(wkb.as_slice())], Some(&crate::layer::crs::Crs::wgs84()));
        assert!((area.unwrap().unwrap() / 1e4 - 1.0).abs() < 1e-6);
    }
}
