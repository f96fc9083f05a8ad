//! Tests the map from a local plane to metric systems.

use super::*;

type Reference = (u32, [f64; 2], [[f64; 2]; 3]);

/// Code, origin of the plane, and the coordinates of [`POINTS`], from pyproj 3.7.2 with PROJ 9.5.1.
///
/// PROJ inverts the plane with a series that is up to 1.5 mm off, so its exact forward projection was inverted by iteration.
#[rustfmt::skip]
const SYSTEMS: &[Reference] = &[
    (32_612, [-111.0, 45.6], [[500_000.0, 5_049_606.311_314_185], [503_998.402_323_021, 5_046_607.515_838_525], [495_002.004_134_462, 5_054_604.321_359_872]]),
    (32_612, [-108.2, 45.6], [[718_365.754_272_657, 5_053_420.020_963_444], [722_468.871_127_46, 5_050_560.949_463_424], [713_193.242_079_125, 5_058_243.133_884_277]]),
    (32_755, [149.5, -45.0], [[697_038.328_157_128, 5_014_008.982_638_382], [700_944.161_788_71, 5_010_886.671_767_676], [692_194.613_763_856, 5_019_161.163_724_056]]),
    (32_635, [25.0, 65.0], [[405_698.987_609_766, 7_209_946.446_071_797], [409_600.945_711_122, 7_206_822.356_137_236], [400_861.071_449_272, 7_215_100.673_989_867]]),
    (32_760, [179.97, -17.0], [[816_254.636_136_977, 8_118_046.931_235_324], [820_212.006_098_134, 8_114_983.946_946_175], [811_326.919_636_007, 8_123_126.242_066_703]]),
    (32_631, [5.0, 0.0], [[722_595.439_675_682, 0.0], [726_596.312_831_473, -3_000.706_866_076], [717_594.372_370_552, 5_000.930_518_553]]),
    (28_992, [5.5, 52.2], [[162_711.367_421_518, 467_993.578_928_034], [166_715.680_704_594, 465_000.081_379_683], [157_704.033_745_681, 472_985.349_256_95]]),
    (27_700, [-1.5, 52.5], [[434_039.457_286_059, 289_239.281_092_673], [438_058.692_789_321, 286_268.085_036_162], [429_006.777_204_279, 294_202.782_786_356]]),
    (3_035, [10.0, 51.0], [[4_321_000.0, 3_098_742.529_637_74], [4_325_000.084_679_755, 3_095_742.606_491_798], [4_315_999.921_585_951, 3_103_742.468_326_46]]),
];

const POINTS: [[f64; 2]; 3] = [[0.0, 0.0], [4e3, -3e3], [-5e3, 5e3]];

fn system(code: u32) -> Crs {
    Crs::from_code(&format!("EPSG:{code}")).unwrap().unwrap()
}

#[test]
fn map_agrees_with_proj_within_its_error() {
    for (code, origin, expected) in SYSTEMS {
        let plane = LocalPlane::new(origin[0], origin[1]);
        let map = PlaneMap::new(&plane, &system(*code), [-5e3, -5e3, 5e3, 5e3]).unwrap();
        for (point, expected) in POINTS.iter().zip(expected) {
            let found = map.apply(*point);
            let off = (found[0] - expected[0]).hypot(found[1] - expected[1]);
            println!("EPSG:{code} {point:?}: {off:.2e} m");
            // The inverse of seven parameters is rounded by PROJ, but consistent here.
            let limit = if matches!(code, 28_992 | 27_700) { 3e-3 } else { MAX_ERROR };
            assert!(off < limit, "EPSG:{code} {point:?}: {off} m");
        }
    }
}

/// Cell corners are transformed back exactly, so a map has to agree with that transform.
#[test]
fn map_agrees_with_the_exact_inverse() {
    for (code, origin, _) in SYSTEMS {
        let (plane, crs) = (LocalPlane::new(origin[0], origin[1]), system(*code));
        let map = PlaneMap::new(&plane, &crs, [-2e3, -1e3, 2e3, 1e3]).unwrap();
        for point in [[0.0, 0.0], [2e3, -1e3], [-1_234.5, 567.8]] {
            let [x, y] = map.apply(point);
            let (mut xs, mut ys) = ([x], [y]);
            crs.to_wgs84().unwrap().apply(&mut xs, &mut ys).unwrap();
            plane.to_plane(&mut xs, &mut ys);
            let off = (xs[0] - point[0]).hypot(ys[0] - point[1]);
            println!("EPSG:{code} {point:?}: {off:.2e} m");
            assert!(off < 2e-5, "EPSG:{code} {point:?}: {off} m");
        }
    }
}

#[test]
fn zone_follows_the_position() {
    for (longitude, latitude, code) in [
        (-111.0, 45.6, 32_612),
        (149.5, -45.0, 32_755),
        (-180.0, 10.0, 32_601),
        (179.999, -17.0, 32_760),
        (180.0, -17.0, 32_701),
        (0.0, 0.0, 32_631),
    ] {
        assert_eq!(utm(longitude, latitude).unwrap().epsg(), Some(code));
    }
    assert_eq!(utm(f64::NAN, 0.0).unwrap_err().kind(), Kind::Value);
}

#[test]
fn unsuitable_systems_and_extents_are_errors_that_name_crs() {
    let plane = LocalPlane::new(-111.0, 45.6);
    let field = [-1e3, -1e3, 1e3, 1e3];
    let fails = |crs: &Crs, extent: [f64; 4]| {
        let error = PlaneMap::new(&plane, crs, extent).unwrap_err();
        assert_eq!((error.kind(), error.facts().field.as_deref()), (Kind::Value, Some("crs")));
        error.message().into_owned()
    };
    assert!(fails(&Crs::wgs84(), field).contains("expected a system in metres, but `WGS 84` is in degrees"));
    assert!(fails(&system(2_256), field).contains("expected a system in metres"), "feet");
    let message = fails(&system(32_612), [-2e5, -1e5, 2e5, 1e5]);
    assert!(message.contains("too large") && message.contains("400.0 km x 200.0 km"), "{message}");
    assert!(fails(&system(32_612), [f64::NAN; 4]).contains("outside"));
    assert!(PlaneMap::new(&plane, &system(32_612), [3.0, 4.0, 3.0, 4.0]).is_ok(), "one point");
    assert!(PlaneMap::new(&plane, &system(32_612), [-1e4, -1e4, 1e4, 1e4]).is_ok());
}
