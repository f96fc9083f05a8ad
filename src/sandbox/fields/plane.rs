//! Local plane in metres around a field, with conversion to WGS 84 and UTM coordinates.

use super::deterministic_math::{round_to_i64, sin_cos};

/// A point or direction on the plane, in metres.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Point {
    pub(super) east: f64,
    pub(super) north: f64,
}

impl Point {
    pub(super) const fn new(east: f64, north: f64) -> Self {
        Self { east, north }
    }

    /// Returns the point `distance` metres away in `direction`.
    pub(super) fn moved(self, direction: Self, distance: f64) -> Self {
        Self::new(self.east + direction.east * distance, self.north + direction.north * distance)
    }

    /// Rotates a direction by 90 degrees to the left.
    pub(super) fn left(self) -> Self {
        Self::new(-self.north, self.east)
    }

    pub(super) fn minus(self, other: Self) -> Self {
        Self::new(self.east - other.east, self.north - other.north)
    }

    pub(super) fn dot(self, other: Self) -> f64 {
        self.east * other.east + self.north * other.north
    }

    pub(super) fn length(self) -> f64 {
        self.dot(self).sqrt()
    }

    /// Normalizes the vector to one metre.
    pub(super) fn unit(self) -> Self {
        let length = self.length();
        Self::new(self.east / length, self.north / length)
    }
}

/// Returns the area of a polygon in m², positive for counter-clockwise vertices.
pub(super) fn area(polygon: &[Point]) -> f64 {
    let next = polygon.iter().cycle().skip(1);
    polygon.iter().zip(next).map(|(a, b)| a.east * b.north - b.east * a.north).sum::<f64>() / 2.0
}

const SEMI_MAJOR: f64 = 6_378_137.0;
const FLATTENING: f64 = 1.0 / 298.257_223_563;
const ECCENTRICITY: f64 = FLATTENING * (2.0 - FLATTENING);

/// Coordinate system of written coordinates.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum CoordinateSystem {
    /// WGS 84 in degrees.
    Geographic,
    /// The northern UTM zone with that number, in metres.
    Utm(u8),
}

/// A plane tangent to the ellipsoid at the field. It preserves areas: a metre north is a metre along the meridian, a
/// metre east is a metre along the parallel of the point.
#[derive(Clone, Copy, Debug)]
pub(super) struct Plane {
    latitude: f64,
    longitude: f64,
    meridian_radius: f64,
}

impl Plane {
    /// Creates the plane around a location in degrees.
    pub(super) fn new(longitude: f64, latitude: f64) -> Self {
        let (sine, _) = sin_cos(latitude.to_radians());
        let squeeze = 1.0 - ECCENTRICITY * sine * sine;
        Self { latitude, longitude, meridian_radius: SEMI_MAJOR * (1.0 - ECCENTRICITY) / (squeeze * squeeze.sqrt()) }
    }

    /// Returns the UTM zone of the field.
    pub(super) fn zone(&self) -> u8 {
        u8::try_from(round_to_i64(((self.longitude + 180.0) / 6.0).floor()) + 1).unwrap_or(1)
    }

    /// Returns the written coordinates of a point: x and y in `system`, rounded to 0.1 mm.
    pub(super) fn coordinates(&self, location: Point, system: CoordinateSystem) -> (f64, f64) {
        let latitude = self.latitude + (location.north / self.meridian_radius).to_degrees();
        let (sine, cosine) = sin_cos(latitude.to_radians());
        let normal_radius = SEMI_MAJOR / (1.0 - ECCENTRICITY * sine * sine).sqrt();
        let longitude = self.longitude + (location.east / (normal_radius * cosine)).to_degrees();
        match system {
            CoordinateSystem::Geographic => (rounded(longitude, 1e9), rounded(latitude, 1e9)),
            CoordinateSystem::Utm(zone) => {
                let (x, y) = utm(longitude, latitude, zone);
                (rounded(x, 1e4), rounded(y, 1e4))
            }
        }
    }
}

fn rounded(value: f64, steps: f64) -> f64 {
    (value * steps).round() / steps
}

/// Transverse Mercator series of Snyder, *Map Projections: A Working Manual* (1987), page 61.
#[expect(clippy::many_single_char_names, reason = "the letters are those of the book, so that lines can be compared")]
fn utm(longitude: f64, latitude: f64, zone: u8) -> (f64, f64) {
    let central = f64::from(zone) * 6.0 - 183.0;
    let radians = latitude.to_radians();
    let (sine, cosine) = sin_cos(radians);
    let second = ECCENTRICITY / (1.0 - ECCENTRICITY);
    let normal = SEMI_MAJOR / (1.0 - ECCENTRICITY * sine * sine).sqrt();
    let tangent = sine / cosine;
    let t = tangent * tangent;
    let c = second * cosine * cosine;
    let a = (longitude - central).to_radians() * cosine;
    let a2 = a * a;
    let (e2, e4) = (ECCENTRICITY, ECCENTRICITY * ECCENTRICITY);
    let e6 = e4 * e2;
    let meridian = SEMI_MAJOR
        * ((1.0 - e2 / 4.0 - 3.0 * e4 / 64.0 - 5.0 * e6 / 256.0) * radians
            - (3.0 * e2 / 8.0 + 3.0 * e4 / 32.0 + 45.0 * e6 / 1024.0) * sin_cos(2.0 * radians).0
            + (15.0 * e4 / 256.0 + 45.0 * e6 / 1024.0) * sin_cos(4.0 * radians).0
            - (35.0 * e6 / 3072.0) * sin_cos(6.0 * radians).0);
    let x = normal
        * a
        * (1.0 + (1.0 - t + c) * a2 / 6.0 + (5.0 - 18.0 * t + t * t + 72.0 * c - 58.0 * second) * a2 * a2 / 120.0);
    let y = meridian
        + normal
            * tangent
            * a2
            * (0.5
                + (5.0 - t + 9.0 * c + 4.0 * c * c) * a2 / 24.0
                + (61.0 - 58.0 * t + t * t + 600.0 * c - 330.0 * second) * a2 * a2 / 720.0);
    (0.9996 * x + 500_000.0, 0.9996 * y)
}

/// Returns the text of the `.prj` file in GDAL's form.
pub(super) fn projection_wkt(system: CoordinateSystem) -> String {
    let geographic = "GEOGCS[\"GCS_WGS_1984\",DATUM[\"D_WGS_1984\",SPHEROID[\"WGS_1984\",6378137.0,298.257223563]],\
                      PRIMEM[\"Greenwich\",0.0],UNIT[\"Degree\",0.0174532925199433]]";
    match system {
        CoordinateSystem::Geographic => geographic.to_owned(),
        CoordinateSystem::Utm(zone) => format!(
            "PROJCS[\"WGS_1984_UTM_Zone_{zone}N\",{geographic},PROJECTION[\"Transverse_Mercator\"],\
             PARAMETER[\"False_Easting\",500000.0],PARAMETER[\"False_Northing\",0.0],\
             PARAMETER[\"Central_Meridian\",{:.1}],PARAMETER[\"Scale_Factor\",0.9996],\
             PARAMETER[\"Latitude_Of_Origin\",0.0],UNIT[\"Meter\",1.0]]",
            f64::from(zone) * 6.0 - 183.0
        ),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn utm_agrees_with_an_independent_projection() {
        let degrees = proj4rs::Proj::from_proj_string("+proj=longlat +datum=WGS84").unwrap();
        let metres = proj4rs::Proj::from_proj_string("+proj=utm +zone=14 +datum=WGS84").unwrap();
        for (longitude, latitude) in [(-99.0, 45.0), (-101.7, 41.2), (-96.1, 52.9), (-98.123_456_7, 48.765_432_1)] {
            let mut location = (f64::to_radians(longitude), f64::to_radians(latitude), 0.0);
            proj4rs::transform::transform(&degrees, &metres, &mut location).unwrap();
            let (x, y) = utm(longitude, latitude, 14);
            assert!(
                (x - location.0).abs() < 0.005 && (y - location.1).abs() < 0.005,
                "{x} {y} instead of {location:?}"
            );
        }
    }

    #[test]
    fn plane_preserves_areas_of_the_ellipsoid() {
        // The cell is between two meridians and two parallels; its area has a closed formula.
        let (north, south, width) = (45.01_f64, 45.0_f64, 0.01_f64);
        let zone = |latitude: f64| {
            let sine = latitude.to_radians().sin();
            let e = ECCENTRICITY.sqrt();
            sine / (1.0 - ECCENTRICITY * sine * sine) + (e * sine).atanh() / e
        };
        let minor = SEMI_MAJOR * (1.0 - FLATTENING);
        let expected = minor * minor * width.to_radians() * (zone(north) - zone(south)) / 2.0;
        let plane = Plane::new(10.0, 45.0);
        let metres = 500.0;
        let corner = plane.coordinates(Point::new(0.0, metres), CoordinateSystem::Geographic);
        let side = plane.coordinates(Point::new(metres, 0.0), CoordinateSystem::Geographic);
        let share = (corner.1 - 45.0) / (north - south) * (side.0 - 10.0) / width;
        let found = metres * metres / share;
        assert!((found / expected - 1.0).abs() < 3e-4, "{found} instead of {expected}");
    }
}
