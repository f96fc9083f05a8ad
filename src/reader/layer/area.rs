//! Computes areas of polygons on the WGS 84 ellipsoid, or in the plane of their coordinates.
//!
//! Sides are geodesics. Vertices are mapped to the sphere of equal area (authalic latitudes), where a geodesic is a great
//! circle with a slight bend, whose area is added to that below the great circle. Sides of 50 km have areas within 1e-9
//! of those of exact geodesics. A side halfway around the earth or longer is that of a map, on which it is straight.
//! Formulas: Snyder, "Map Projections: A Working Manual", 1987, chapter 3, <https://doi.org/10.3133/pp1395>.

use std::f64::consts::PI;

use super::antimeridian;
use super::crs::{Crs, OwnPlane};
use super::wkb::{FlatCoordinates, Part};
use headland_base::error::Result;

/// The semi-major axis of WGS 84 in metres.
pub(in crate::layer) const SEMI_MAJOR: f64 = 6_378_137.0;
/// The longest side in degrees of longitude that is a great circle. Longer ones have no shortest way, or a pole on it.
const LONGEST_SIDE: f64 = 179.0;
/// The longest side in degrees of longitude or latitude that bends, and the latitude beyond which none does. Neither is
/// that of a field, and the bend is known to the first order only.
const LONGEST_BEND: f64 = 10.0;
const NEAR_POLE: f64 = 89.0;
/// The great circles that make up a longer side.
const PIECES: u16 = 720;
/// The squared eccentricity of WGS 84.
pub(in crate::layer) const E2: f64 = 0.006_694_379_990_141_317;

/// The area in square metres of all polygons in `geometries` (ISO WKB; `None` for null). `None` without polygons.
///
/// Overlaps count once per polygon. Points and lines are ignored. The planar area, if a projected system has no way to
/// WGS 84. Without `crs`, the planar area in squared units of the coordinates. Vertices that are not finite are in no area.
pub fn area<'a>(geometries: impl IntoIterator<Item = Option<&'a [u8]>>, crs: Option<&Crs>) -> Result<Option<f64>> {
    let mut total: Option<f64> = None;
    measure(geometries, crs, &mut |found| {
        if let Measured::Polygons(area) | Measured::NotFinite(area) = found {
            total = Some(area + total.unwrap_or(0.0));
        }
    })?;
    Ok(total)
}

/// The area of a geometry.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Measured {
    /// Square metres of its polygons.
    Polygons(f64),
    /// It has no polygon.
    Other,
    /// A vertex of its polygons is not finite; square metres between the others.
    NotFinite(f64),
}

impl Measured {
    /// The area; `None` if there is none or it is unknown.
    pub(super) fn known(self) -> Option<f64> {
        if let Self::Polygons(area) = self { Some(area) } else { None }
    }
}

/// The area of the polygons of one geometry on WGS 84; `None` if there is none or it is unknown.
pub(super) fn known_area(wkb: Option<&[u8]>) -> Result<Option<f64>> {
    let mut found = None;
    measure([wkb], Some(&Crs::wgs84()), &mut |area| found = area.known())?;
    Ok(found)
}

/// Passes the area of each geometry, as [`area`] has it, to `add`.
pub(super) fn measure<'a>(
    geometries: impl IntoIterator<Item = Option<&'a [u8]>>,
    crs: Option<&Crs>,
    add: &mut dyn FnMut(Measured),
) -> Result<()> {
    let own = crs.and_then(OwnPlane::new);
    let unit = own.as_ref().map_or(1.0, |own| own.metres().into_iter().product::<f64>().abs());
    let transform = crs.filter(|_| own.is_none()).map(Crs::to_wgs84).transpose()?;
    let sphere = Sphere::authalic();
    let mut flat = FlatCoordinates::default();
    let mut is_first = true;
    for (record, wkb) in geometries.into_iter().enumerate() {
        let mut total: Option<f64> = None;
        if let Some(wkb) = wkb {
            flat.read(wkb, record)?;
            if let Some(transform) = &transform {
                transform
                    .apply(&mut flat.xs, &mut flat.ys)
                    .map_err(|error| error.with(|facts| facts.record = u64::try_from(record).ok()))?;
            }
            let mut polygon = 0.0;
            for (part, xs, ys) in flat.parts() {
                let sign = match part {
                    Part::Shell => 1.0,
                    Part::Hole => -1.0,
                    Part::Point | Part::Line => continue,
                };
                let ring = if transform.is_some() { sphere.ring_area(xs, ys) } else { planar_area(xs, ys) };
                if let (Some(own), true, Some(x), Some(y)) = (&own, is_first, xs.first(), ys.first()) {
                    own.check_scale([*x, *y])?;
                }
                if part == Part::Shell {
                    // Across the antimeridian, the reader takes the hole for the shell.
                    total = Some(total.unwrap_or(0.0) + f64::abs(polygon));
                    polygon = 0.0;
                    is_first = false;
                }
                polygon += sign * ring;
            }
            total = total.map(|total| (total + polygon.abs()) * unit);
        }
        let is_lost = wkb.is_some() && flat.has_lost_vertex();
        add(total.map_or(Measured::Other, if is_lost { Measured::NotFinite } else { Measured::Polygons }));
    }
    Ok(())
}

/// The planar area of a ring, open or closed, in either direction.
fn planar_area(xs: &[f64], ys: &[f64]) -> f64 {
    let ([x0, .., last_x], [y0, .., last_y]) = (xs, ys) else { return 0.0 };
    // Coordinates relative to the first vertex lose no digits.
    let (mut previous, mut doubled) = ((last_x - x0, last_y - y0), 0.0);
    for (x, y) in xs.iter().zip(ys).map(|(x, y)| (x - x0, y - y0)) {
        doubled += previous.0 * y - x * previous.1;
        previous = (x, y);
    }
    doubled.abs() / 2.0
}

/// The authalic sphere, which has the area of the ellipsoid.
struct Sphere {
    radius_squared: f64,
    eccentricity: f64,
    /// `authalic_q` at the pole.
    pole: f64,
}

impl Sphere {
    fn authalic() -> Self {
        let eccentricity = E2.sqrt();
        let pole = authalic_q(1.0, eccentricity);
        Self { radius_squared: SEMI_MAJOR * SEMI_MAJOR * pole / 2.0, eccentricity, pole }
    }

    /// The tangent of half the authalic latitude.
    fn half_tangent(&self, latitude: f64) -> f64 {
        let sine = (authalic_q(latitude.to_radians().sin(), self.eccentricity) / self.pole).clamp(-1.0, 1.0);
        sine / (1.0 + (1.0 - sine * sine).sqrt())
    }

    /// The area of a ring, open or closed, in either direction.
    fn ring_area(&self, longitudes: &[f64], latitudes: &[f64]) -> f64 {
        let ([first, .., last], [first_latitude, .., last_latitude]) = (longitudes, latitudes) else {
            return 0.0;
        };
        if (first, first_latitude) != (last, last_latitude) {
            let closed = |values: &[f64]| values.iter().chain(values.first()).copied().collect::<Vec<f64>>();
            return self.ring_area(&closed(longitudes), &closed(latitudes));
        }
        let unwrapped = antimeridian::unwrap(longitudes);
        let longitudes = unwrapped.as_deref().unwrap_or(longitudes);
        let mut previous: Option<(f64, f64, f64)> = None;
        let mut excess = 0.0;
        for (longitude, latitude) in longitudes.iter().zip(latitudes) {
            let vertex = (*longitude, *latitude, self.half_tangent(*latitude));
            excess += previous.map_or(0.0, |previous| self.strip(previous, vertex));
            previous = Some(vertex);
        }
        let is_around_pole = previous.is_some_and(|(longitude, ..)| (longitude - first).abs() > 180.0);
        let area = if is_around_pole { 2.0 * PI - excess.abs() } else { excess.abs() };
        area * self.radius_squared
    }

    /// The spherical excess of the strip between a side and the equator. Vertices have their half tangents.
    fn strip(&self, from: (f64, f64, f64), to: (f64, f64, f64)) -> f64 {
        let excess = |step: f64, from: f64, to: f64| {
            2.0 * ((step.to_radians() / 2.0).tan() * (from + to)).atan2(1.0 + from * to)
        };
        let step = to.0 - from.0;
        if step.abs() < LONGEST_SIDE {
            return excess(step, from.2, to.2) - self.bend([from.0, from.1], [to.0, to.1]);
        }
        let tangent = |piece: u16| self.half_tangent(from.1 + (to.1 - from.1) * f64::from(piece) / f64::from(PIECES));
        (0..PIECES).map(|piece| excess(step / f64::from(PIECES), tangent(piece), tangent(piece + 1))).sum()
    }

    /// The spherical excess between the great circle and the geodesic of a side, which is right of it if positive.
    ///
    /// A curve of length L and curvature k is L³ k / 12 from its chord, and k follows from Clairaut's relation of the
    /// ellipsoid and the stretch h of the map from west to east, which is 1/h from south to north. With plain great
    /// circles, a field of 20 km is wrong by 1e-5.
    fn bend(&self, [from_x, from_y]: [f64; 2], [to_x, to_y]: [f64; 2]) -> f64 {
        let ([step, rise], latitude) = ([to_x - from_x, to_y - from_y], f64::midpoint(from_y, to_y));
        let is_short = step.abs() <= LONGEST_BEND && rise.abs() <= LONGEST_BEND;
        if !is_short || latitude.abs() > NEAR_POLE || step == 0.0 {
            return 0.0;
        }
        let [step, rise] = [step, rise].map(f64::to_radians);
        let sine = latitude.to_radians().sin();
        let authalic = authalic_q(sine, self.eccentricity) / self.pole;
        let (flat, cosine) = (1.0 - E2 * sine * sine, 1.0 - authalic * authalic);
        let stretch = self.pole / 2.0 * cosine * flat / (1.0 - sine * sine);
        let east = step * step * cosine;
        let north = (rise * (1.0 - E2) / flat).powi(2) * 2.0 / (self.pole * flat * stretch);
        step / 12.0 * ((east + 3.0 * north) * authalic - (east / stretch + 3.0 * north * stretch) * sine)
    }
}

/// `q` of equation 3-12 in Snyder, of the sine of a latitude.
pub(in crate::layer) fn authalic_q(sine: f64, eccentricity: f64) -> f64 {
    let along = eccentricity * sine;
    (1.0 - E2) * (sine / (1.0 - along * along) + along.atanh() / eccentricity)
}

#[cfg(test)]
mod tests {
    use super::*;
    use headland_base::error::Kind;

    type Rings<'a> = &'a [&'a [(f64, f64)]];

    /// A polygon as ISO WKB. Ordinates of `code` beyond X and Y are 7.
    fn polygon(code: u32, rings: Rings) -> Vec<u8> {
        let length = |items: usize| u32::try_from(items).unwrap().to_le_bytes();
        let mut wkb = vec![1];
        wkb.extend(code.to_le_bytes());
        wkb.extend(length(rings.len()));
        for ring in rings {
            wkb.extend(length(ring.len()));
            for (x, y) in *ring {
                let extra = [0, 1, 1, 2][code as usize / 1000];
                for number in [*x, *y].into_iter().chain(std::iter::repeat_n(7.0, extra)) {
                    wkb.extend(number.to_le_bytes());
                }
            }
        }
        wkb
    }

    fn assert_close(found: f64, expected: f64) {
        assert!((found / expected - 1.0).abs() < 1e-6, "{found} instead of {expected}");
    }

    const FIELD: &[(f64, f64)] = &[(-111.0, 45.5), (-110.99, 45.5), (-110.99, 45.51), (-111.0, 45.51), (-111.0, 45.5)];
    const POND: &[(f64, f64)] = &[(-110.998, 45.502), (-110.996, 45.502), (-110.996, 45.504), (-110.998, 45.504)];

    /// Expected areas are from `pyproj.Geod(ellps="WGS84").polygon_area_perimeter`.
    #[test]
    fn area_agrees_with_geodesics() {
        let cases: [(Rings, f64); 4] = [
            (&[FIELD], 868_584.697_468_757_6),
            (&[FIELD, POND], 868_584.697_468_757_6 - 34_744.606_017_112_73),
            (&[&[(10.0, 50.0), (11.0, 50.0), (11.0, 51.0), (10.0, 51.0)]], 7_892_061_583.206_543),
            (&[&[(179.99, -17.0), (-179.99, -17.0), (-179.99, -16.99), (179.99, -16.99)]], 2_357_002.901_068_210_6),
        ];
        for (rings, expected) in cases {
            let wkb = polygon(3, rings);
            assert_close(area([Some(wkb.as_slice())], Some(&Crs::wgs84())).unwrap().unwrap(), expected);
        }
        let strip = polygon(3, &[&[(151.0, -33.0), (151.0001, -33.0), (151.0001, -32.999_95), (151.0, -32.999_95)]]);
        assert_close(area([Some(strip.as_slice())], Some(&Crs::wgs84())).unwrap().unwrap(), 51.821_904_629_468_92);
    }

    /// As above, of triangles and quadrilaterals of 10 to 50 km, whose sides bend apart.
    #[test]
    fn large_areas_are_those_between_geodesics() {
        let cases: [(Rings, f64); 4] = [
            (&[&[(-111.0, 45.5), (-110.9, 45.52), (-110.93, 45.6)]], 37_344_188.653_299_33),
            (&[&[(10.0, 50.0), (10.3, 50.05), (10.2, 50.25), (9.95, 50.1)]], 388_091_338.652_080_54),
            (&[&[(151.0, -33.0), (151.4, -32.9), (151.1, -32.7)]], 570_801_504.309_951_8),
            (&[&[(20.0, 0.1), (20.3, -0.2), (20.2, 0.3)]], 738_546_259.824_046_5),
        ];
        for (rings, expected) in cases {
            let wkb = polygon(3, rings);
            let found = area([Some(wkb.as_slice())], Some(&Crs::wgs84())).unwrap().unwrap();
            assert!((found / expected - 1.0).abs() < 1e-9, "{found} instead of {expected}");
        }
    }

    #[test]
    fn vertex_that_is_not_finite_is_in_no_area_which_is_unknown_then() {
        for lost in [f64::NAN, f64::INFINITY, -1e39] {
            let ring = [FIELD[0], FIELD[1], (FIELD[2].0, lost), FIELD[2], FIELD[3]];
            let wkb = polygon(3, &[&ring]);
            let whole = area([Some(polygon(3, &[FIELD]).as_slice())], None).unwrap();
            assert_eq!(area([Some(wkb.as_slice())], None).unwrap(), whole);
            assert_eq!(known_area(Some(wkb.as_slice())).unwrap(), None);
        }
    }

    #[test]
    fn maps_of_the_world_and_caps_of_poles_have_an_area() {
        let earth = 510_065_621_724_088.4;
        let world: &[(f64, f64)] = &[(-180.0, -90.0), (180.0, -90.0), (180.0, 90.0), (-180.0, 90.0)];
        let north: &[(f64, f64)] = &[(-180.0, 0.0), (0.0, 0.0), (180.0, 0.0), (180.0, 90.0), (-180.0, 90.0)];
        let cap: &[(f64, f64)] = &[(0.0, 89.0), (90.0, 89.0), (180.0, 89.0), (-90.0, 89.0)];
        for (ring, expected) in [(world, earth), (north, earth / 2.0), (cap, 24_952_305_678.0)] {
            let wkb = polygon(3, &[ring]);
            let found = area([Some(wkb.as_slice())], Some(&Crs::wgs84())).unwrap().unwrap();
            assert!((found / expected - 1.0).abs() < 1e-5, "{found} instead of {expected}");
        }
    }

    #[test]
    fn projected_area_has_no_map_scale() {
        let utm = "PROJCS[\"u\",GEOGCS[\"g\",DATUM[\"D_WGS_1984\",SPHEROID[\"WGS_1984\",6378137,298.257223563]],\
                   PRIMEM[\"Greenwich\",0],UNIT[\"Degree\",0.0174532925199433]],PROJECTION[\"Transverse_Mercator\"],\
                   PARAMETER[\"central_meridian\",-111],PARAMETER[\"scale_factor\",0.9996],\
                   PARAMETER[\"false_easting\",500000],UNIT[\"Meter\",1]]";
        let crs = Crs::from_wkt(utm).unwrap();
        let square = [(5e5, 5e6), (500_800.0, 5e6), (500_800.0, 5_000_800.0), (5e5, 5_000_800.0)];
        let wkb = polygon(3003, &[&square]);
        assert_close(area([None, Some(wkb.as_slice())], Some(&crs)).unwrap().unwrap(), 640_512.304_842_755_5);
    }

    #[test]
    fn planar_area_needs_no_crs() {
        let far = |x: f64, y: f64| (x + 5e5, y + 5e6);
        let square = [far(0.0, 0.0), far(800.0, 0.0), far(800.0, 800.0), far(0.0, 800.0), far(0.0, 0.0)];
        let hole = [far(100.0, 100.0), far(100.0, 300.0), far(200.0, 300.0)];
        let wkb = polygon(3, &[&square, &hole]);
        assert_eq!(area([Some(wkb.as_slice())], None).unwrap(), Some(640_000.0 - 10_000.0));
        assert_eq!(area([None], None).unwrap(), None);
    }

    #[test]
    fn area_ignores_direction_and_points() {
        let backwards: Vec<(f64, f64)> = FIELD.iter().rev().copied().collect();
        let wkb = polygon(1003, &[&backwards]);
        assert_close(area([Some(wkb.as_slice())], Some(&Crs::wgs84())).unwrap().unwrap(), 868_584.697_468_757_6);
        let mut point = vec![1, 1, 0, 0, 0];
        point.extend([0; 16]);
        assert_eq!(area([Some(point.as_slice()), None], Some(&Crs::wgs84())).unwrap(), None);
    }

    #[test]
    fn bad_geometry_is_an_error_with_its_record() {
        let good = polygon(3, &[FIELD]);
        let mut wrong_count = good.clone();
        wrong_count.splice(9..13, [255; 4]);
        for bad in
            [&good[..good.len() - 1], &[], &[2, 3, 0, 0, 0], &[1, 3, 0, 0, 0, 255, 255, 255, 255], &wrong_count[..]]
        {
            let error = area([Some(good.as_slice()), Some(bad)], Some(&Crs::wgs84())).unwrap_err();
            assert_eq!((error.kind(), error.facts().record), (Kind::Archive, Some(1)));
        }
    }
}
