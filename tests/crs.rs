//! Tests coordinate systems against PROJ, and against hostile text.
//!
//! The vectors were generated with pyproj 3.7.2 (PROJ 9.5.1). The texts are `CRS(code).to_wkt(...)` or as machine
//! displays write them. The points are random in the area of use. The expected values are `Transformer.from_crs(crs,
//! 4326, always_xy=True)` of the coordinates, rounded to a millimetre.

#![expect(clippy::unreadable_literal, reason = "numbers as PROJ printed them")]

use headland::error::Kind;
use headland::layer::crs::Crs;
use proptest::prelude::*;

struct Vector {
    name: &'static str,
    epsg: Option<u32>,
    /// x, y, longitude, latitude.
    points: [(f64, f64, f64, f64); 3],
    wkt: &'static str,
}

const VECTORS: &[Vector] = &[
    Vector {
        name: "utm_north_unknown_datum",
        epsg: None,
        points: [
            (444224.392, 4955892.313, -111.70466893587007, 44.75424587206331),
            (548108.749, 4912278.04, -110.39626210608152, 44.362181437006384),
            (511148.003, 5074996.811, -110.85647198649849, 45.82844458198302),
        ],
        wkt: r#"PROJCS["UTM_Zone_12_Northern_Hemisphere",GEOGCS["GCS_GRS 1980(IUGG, 1980)",DATUM["D_unknown",SPHEROID["GRS80",6378137,298.257222101]],PRIMEM["Greenwich",0],UNIT["Degree",0.017453292519943295]],PROJECTION["Transverse_Mercator"],PARAMETER["latitude_of_origin",0],PARAMETER["central_meridian",-111],PARAMETER["scale_factor",0.9996],PARAMETER["false_easting",500000],PARAMETER["false_northing",0],UNIT["Meter",1]]"#,
    },
    Vector {
        name: "utm_south_esri",
        epsg: Some(32733),
        points: [
            (271657.473, 5634906.917, 12.347993553298878, -39.40514134728466),
            (282462.578, 4979048.896, 12.224973951823543, -45.308345310726665),
            (414566.272, 1926355.598, 12.4191325439686, -72.74295893374263),
        ],
        wkt: r#"PROJCS["WGS_1984_UTM_Zone_33S",GEOGCS["GCS_WGS_1984",DATUM["D_WGS_1984",SPHEROID["WGS_1984",6378137.0,298.257223563]],PRIMEM["Greenwich",0.0],UNIT["Degree",0.0174532925199433]],PROJECTION["Transverse_Mercator"],PARAMETER["False_Easting",500000.0],PARAMETER["False_Northing",10000000.0],PARAMETER["Central_Meridian",15.0],PARAMETER["Scale_Factor",0.9996],PARAMETER["Latitude_Of_Origin",0.0],UNIT["Meter",1.0]]"#,
    },
    Vector {
        name: "lambert_us_feet_esri",
        epsg: Some(2277),
        points: [
            (2066777.189, 10633318.975, -101.07332747182488, 31.838861791030475),
            (815134.756, 10117172.623, -105.0307661911849, 30.33586502050024),
            (2894132.034, 10747222.532, -98.40297879408882, 32.13979526582917),
        ],
        wkt: r#"PROJCS["NAD_1983_StatePlane_Texas_Central_FIPS_4203_Feet",GEOGCS["GCS_North_American_1983",DATUM["D_North_American_1983",SPHEROID["GRS_1980",6378137.0,298.257222101]],PRIMEM["Greenwich",0.0],UNIT["Degree",0.0174532925199433]],PROJECTION["Lambert_Conformal_Conic"],PARAMETER["False_Easting",2296583.333],PARAMETER["False_Northing",9842500.0],PARAMETER["Central_Meridian",-100.333333333333],PARAMETER["Standard_Parallel_1",31.8833333333333],PARAMETER["Standard_Parallel_2",30.1166666666667],PARAMETER["Latitude_Of_Origin",29.6666666666667],UNIT["US survey foot",0.304800609601219]]"#,
    },
    Vector {
        name: "lambert_us_feet_gdal",
        epsg: Some(2264),
        points: [
            (1950564.068, 427616.134, -79.1649286092608, 34.92483810874127),
            (3033232.261, 93647.386, -75.59251680587226, 33.95856819821994),
            (2707862.783, 328418.248, -76.64670729075156, 34.62932162935819),
        ],
        wkt: r#"PROJCS["NAD83 / North Carolina (ftUS)",GEOGCS["NAD83",DATUM["North_American_Datum_1983",SPHEROID["GRS 1980",6378137,298.257222101,AUTHORITY["EPSG","7019"]],AUTHORITY["EPSG","6269"]],PRIMEM["Greenwich",0,AUTHORITY["EPSG","8901"]],UNIT["degree",0.0174532925199433,AUTHORITY["EPSG","9122"]],AUTHORITY["EPSG","4269"]],PROJECTION["Lambert_Conformal_Conic_2SP"],PARAMETER["latitude_of_origin",33.75],PARAMETER["central_meridian",-79],PARAMETER["standard_parallel_1",36.1666666666667],PARAMETER["standard_parallel_2",34.3333333333333],PARAMETER["false_easting",2000000],PARAMETER["false_northing",0],UNIT["US survey foot",0.304800609601219,AUTHORITY["EPSG","9003"]],AXIS["Easting",EAST],AXIS["Northing",NORTH],AUTHORITY["EPSG","2264"]]"#,
    },
    Vector {
        name: "lambert_wkt2",
        epsg: Some(2154),
        points: [
            (-117833.801, 6193349.17, -6.940277112932542, 42.376217199237665),
            (222451.153, 6969656.696, -3.61632787896725, 49.645875400401536),
            (4987.016, 6718784.095, -6.202098072386217, 47.20445769988658),
        ],
        wkt: r#"PROJCRS["RGF93 v1 / Lambert-93",BASEGEOGCRS["RGF93 v1",DATUM["Reseau Geodesique Francais 1993 v1",ELLIPSOID["GRS 1980",6378137,298.257222101,LENGTHUNIT["metre",1]]],PRIMEM["Greenwich",0,ANGLEUNIT["degree",0.0174532925199433]],ID["EPSG",4171]],CONVERSION["Lambert-93",METHOD["Lambert Conic Conformal (2SP)",ID["EPSG",9802]],PARAMETER["Latitude of false origin",46.5,ANGLEUNIT["degree",0.0174532925199433],ID["EPSG",8821]],PARAMETER["Longitude of false origin",3,ANGLEUNIT["degree",0.0174532925199433],ID["EPSG",8822]],PARAMETER["Latitude of 1st standard parallel",49,ANGLEUNIT["degree",0.0174532925199433],ID["EPSG",8823]],PARAMETER["Latitude of 2nd standard parallel",44,ANGLEUNIT["degree",0.0174532925199433],ID["EPSG",8824]],PARAMETER["Easting at false origin",700000,LENGTHUNIT["metre",1],ID["EPSG",8826]],PARAMETER["Northing at false origin",6600000,LENGTHUNIT["metre",1],ID["EPSG",8827]]],CS[Cartesian,2],AXIS["easting (X)",east,ORDER[1],LENGTHUNIT["metre",1]],AXIS["northing (Y)",north,ORDER[2],LENGTHUNIT["metre",1]],ID["EPSG",2154]]"#,
    },
    Vector {
        name: "albers_esri",
        epsg: Some(5070),
        points: [
            (752872.982, 1214897.676, -87.80968842261686, 33.708766643522225),
            (294374.264, 329813.434, -93.08655032203995, 25.97784070349199),
            (-2426597.22, 1045224.913, -121.34028428075854, 29.552789062555146),
        ],
        wkt: r#"PROJCS["NAD_1983_Contiguous_USA_Albers",GEOGCS["GCS_North_American_1983",DATUM["D_North_American_1983",SPHEROID["GRS_1980",6378137.0,298.257222101]],PRIMEM["Greenwich",0.0],UNIT["Degree",0.0174532925199433]],PROJECTION["Albers"],PARAMETER["False_Easting",0.0],PARAMETER["False_Northing",0.0],PARAMETER["Central_Meridian",-96.0],PARAMETER["Standard_Parallel_1",29.5],PARAMETER["Standard_Parallel_2",45.5],PARAMETER["Latitude_Of_Origin",23.0],UNIT["Meter",1.0]]"#,
    },
    Vector {
        name: "mercator_esri",
        epsg: None,
        points: [
            (2409843.978, -327984.105, 21.647996777807876, -2.964846375430851),
            (-2482685.083, 1610876.178, -22.302339557144425, 14.411804985738407),
            (-625378.966, -1911304.519, -5.617874835246625, -17.025630344380954),
        ],
        wkt: r#"PROJCS["WGS_1984_World_Mercator",GEOGCS["GCS_WGS_1984",DATUM["D_WGS_1984",SPHEROID["WGS_1984",6378137.0,298.257223563]],PRIMEM["Greenwich",0.0],UNIT["Degree",0.0174532925199433]],PROJECTION["Mercator"],PARAMETER["False_Easting",0.0],PARAMETER["False_Northing",0.0],PARAMETER["Central_Meridian",0.0],PARAMETER["Standard_Parallel_1",0.0],UNIT["Meter",1.0]]"#,
    },
    Vector {
        name: "web_mercator_gdal",
        epsg: Some(3857),
        points: [
            (7864841.756, 3109658.989, 70.65107556596216, 26.88938770964939),
            (-6836891.068, 1481059.869, -61.416837422446385, 13.18660812668217),
            (673166.874, 5822937.879, 6.0471609167716, 46.2651245111319),
        ],
        wkt: r#"PROJCS["WGS 84 / Pseudo-Mercator",GEOGCS["WGS 84",DATUM["WGS_1984",SPHEROID["WGS 84",6378137,298.257223563,AUTHORITY["EPSG","7030"]],AUTHORITY["EPSG","6326"]],PRIMEM["Greenwich",0,AUTHORITY["EPSG","8901"]],UNIT["degree",0.0174532925199433,AUTHORITY["EPSG","9122"]],AUTHORITY["EPSG","4326"]],PROJECTION["Mercator_1SP"],PARAMETER["central_meridian",0],PARAMETER["scale_factor",1],PARAMETER["false_easting",0],PARAMETER["false_northing",0],UNIT["metre",1,AUTHORITY["EPSG","9001"]],AXIS["Easting",EAST],AXIS["Northing",NORTH],EXTENSION["PROJ4","+proj=merc +a=6378137 +b=6378137 +lat_ts=0 +lon_0=0 +x_0=0 +y_0=0 +k=1 +units=m +nadgrids=@null +wktext +no_defs"],AUTHORITY["EPSG","3857"]]"#,
    },
    Vector {
        name: "oblique_mercator_wkt2",
        epsg: Some(3078),
        points: [
            (631170.642, 339948.911, -84.37289855297351, 43.59902737970848),
            (804423.522, 220351.757, -82.29435051542245, 42.47277610909969),
            (426933.604, 684660.726, -86.95376180692296, 46.709844360359355),
        ],
        wkt: r#"PROJCRS["NAD83 / Michigan Oblique Mercator",BASEGEOGCRS["NAD83",DATUM["North American Datum 1983",ELLIPSOID["GRS 1980",6378137,298.257222101,LENGTHUNIT["metre",1]]],PRIMEM["Greenwich",0,ANGLEUNIT["degree",0.0174532925199433]],ID["EPSG",4269]],CONVERSION["Michigan Oblique Mercator (meter)",METHOD["Hotine Oblique Mercator (variant A)",ID["EPSG",9812]],PARAMETER["Latitude of projection centre",45.3091666666667,ANGLEUNIT["degree",0.0174532925199433],ID["EPSG",8811]],PARAMETER["Longitude of projection centre",-86,ANGLEUNIT["degree",0.0174532925199433],ID["EPSG",8812]],PARAMETER["Azimuth at projection centre",337.25556,ANGLEUNIT["degree",0.0174532925199433],ID["EPSG",8813]],PARAMETER["Angle from Rectified to Skew Grid",337.25556,ANGLEUNIT["degree",0.0174532925199433],ID["EPSG",8814]],PARAMETER["Scale factor at projection centre",0.9996,SCALEUNIT["unity",1],ID["EPSG",8815]],PARAMETER["False easting",2546731.496,LENGTHUNIT["metre",1],ID["EPSG",8806]],PARAMETER["False northing",-4354009.816,LENGTHUNIT["metre",1],ID["EPSG",8807]]],CS[Cartesian,2],AXIS["easting (X)",east,ORDER[1],LENGTHUNIT["metre",1]],AXIS["northing (Y)",north,ORDER[2],LENGTHUNIT["metre",1]],ID["EPSG",3078]]"#,
    },
    Vector {
        name: "transverse_feet_esri",
        epsg: Some(26914),
        points: [
            (364033.087, 6015906.345, -101.08809279477053, 54.27298355423668),
            (368195.99, 7177909.612, -101.7647564506714, 64.70011637785302),
            (590764.54, 6559273.068, -97.41257481051105, 59.162918947659115),
        ],
        wkt: r#"PROJCS["NAD83 / UTM zone 14N",GEOGCS["NAD83",DATUM["North_American_Datum_1983",SPHEROID["GRS 1980",6378137,298.257222101,AUTHORITY["EPSG","7019"]],AUTHORITY["EPSG","6269"]],PRIMEM["Greenwich",0,AUTHORITY["EPSG","8901"]],UNIT["degree",0.0174532925199433,AUTHORITY["EPSG","9122"]],AUTHORITY["EPSG","4269"]],PROJECTION["Transverse_Mercator"],PARAMETER["latitude_of_origin",0],PARAMETER["central_meridian",-99],PARAMETER["scale_factor",0.9996],PARAMETER["false_easting",500000],PARAMETER["false_northing",0],UNIT["metre",1,AUTHORITY["EPSG","9001"]],AXIS["Easting",EAST],AXIS["Northing",NORTH],AUTHORITY["EPSG","26914"]]"#,
    },
    Vector {
        name: "seven_parameters_gdal",
        epsg: None,
        points: [
            (240803.871, 405023.025, 6.62643343316214, 51.627495028008575),
            (202777.28, 466964.941, 6.085886104359818, 52.18873975419663),
            (179252.926, 436049.643, 5.7396856094747815, 51.91241066806561),
        ],
        wkt: r#"PROJCS["unknown",GEOGCS["unknown",DATUM["Unknown based on Bessel 1841 ellipsoid",SPHEROID["Bessel 1841",6377397.155,299.1528128],TOWGS84[565.417,50.3319,465.552,-0.398957,0.343988,-1.8774,4.0725]],PRIMEM["Greenwich",0,AUTHORITY["EPSG","8901"]],UNIT["degree",0.0174532925199433,AUTHORITY["EPSG","9122"]]],PROJECTION["Oblique_Stereographic"],PARAMETER["latitude_of_origin",52.1561605555556],PARAMETER["central_meridian",5.38763888888889],PARAMETER["scale_factor",0.9999079],PARAMETER["false_easting",155000],PARAMETER["false_northing",463000],UNIT["metre",1,AUTHORITY["EPSG","9001"]],AXIS["Easting",EAST],AXIS["Northing",NORTH]]"#,
    },
    Vector {
        name: "seven_parameters_wkt2",
        epsg: None,
        points: [
            (231234.476, 545290.663, 6.519903349546266, 52.88936219546024),
            (157392.093, 482263.624, 5.4222950198678035, 52.32830441854108),
            (72984.414, 491254.399, 4.182008288257905, 52.40298404681431),
        ],
        wkt: r#"BOUNDCRS[SOURCECRS[PROJCRS["unknown",BASEGEOGCRS["unknown",DATUM["Unknown based on Bessel 1841 ellipsoid",ELLIPSOID["Bessel 1841",6377397.155,299.1528128,LENGTHUNIT["metre",1,ID["EPSG",9001]]]],PRIMEM["Greenwich",0,ANGLEUNIT["degree",0.0174532925199433],ID["EPSG",8901]]],CONVERSION["unknown",METHOD["Oblique Stereographic",ID["EPSG",9809]],PARAMETER["Latitude of natural origin",52.1561605555556,ANGLEUNIT["degree",0.0174532925199433],ID["EPSG",8801]],PARAMETER["Longitude of natural origin",5.38763888888889,ANGLEUNIT["degree",0.0174532925199433],ID["EPSG",8802]],PARAMETER["Scale factor at natural origin",0.9999079,SCALEUNIT["unity",1],ID["EPSG",8805]],PARAMETER["False easting",155000,LENGTHUNIT["metre",1],ID["EPSG",8806]],PARAMETER["False northing",463000,LENGTHUNIT["metre",1],ID["EPSG",8807]]],CS[Cartesian,2],AXIS["(E)",east,ORDER[1],LENGTHUNIT["metre",1,ID["EPSG",9001]]],AXIS["(N)",north,ORDER[2],LENGTHUNIT["metre",1,ID["EPSG",9001]]]]],TARGETCRS[GEOGCRS["WGS 84",DATUM["World Geodetic System 1984",ELLIPSOID["WGS 84",6378137,298.257223563,LENGTHUNIT["metre",1]]],PRIMEM["Greenwich",0,ANGLEUNIT["degree",0.0174532925199433]],CS[ellipsoidal,2],AXIS["latitude",north,ORDER[1],ANGLEUNIT["degree",0.0174532925199433]],AXIS["longitude",east,ORDER[2],ANGLEUNIT["degree",0.0174532925199433]],ID["EPSG",4326]]],ABRIDGEDTRANSFORMATION["Transformation from unknown to WGS84",METHOD["Position Vector transformation (geog2D domain)",ID["EPSG",9606]],PARAMETER["X-axis translation",565.417,ID["EPSG",8605]],PARAMETER["Y-axis translation",50.3319,ID["EPSG",8606]],PARAMETER["Z-axis translation",465.552,ID["EPSG",8607]],PARAMETER["X-axis rotation",-0.398957,ID["EPSG",8608]],PARAMETER["Y-axis rotation",0.343988,ID["EPSG",8609]],PARAMETER["Z-axis rotation",-1.8774,ID["EPSG",8610]],PARAMETER["Scale difference",1.0000040725,ID["EPSG",8611]]]]"#,
    },
];

const ESRI_WGS84: &str = r#"GEOGCS["GCS_WGS_1984",DATUM["D_WGS_1984",SPHEROID["WGS_1984",6378137.0,298.257223563]],PRIMEM["Greenwich",0.0],UNIT["Degree",0.0174532925199433]]"#;
const ESRI_NAD27: &str = r#"GEOGCS["GCS_North_American_1927",DATUM["D_North_American_1927",SPHEROID["Clarke_1866",6378206.4,294.9786982]],PRIMEM["Greenwich",0.0],UNIT["Degree",0.0174532925199433]]"#;

#[expect(clippy::expect_used, reason = "a misspelt name is a fault of the test")]
fn vector(name: &str) -> &'static Vector {
    VECTORS.iter().find(|vector| vector.name == name).expect("a vector of this name")
}

#[test]
fn coordinates_agree_with_proj() {
    for vector in VECTORS {
        let transform = Crs::from_wkt(vector.wkt).and_then(|crs| crs.to_wgs84()).expect(vector.name);
        assert!(!transform.is_identity(), "{}", vector.name);
        let mut xs = vector.points.map(|point| point.0);
        let mut ys = vector.points.map(|point| point.1);
        transform.apply(&mut xs, &mut ys).expect(vector.name);
        for ((x, y), (_, _, longitude, latitude)) in xs.iter().zip(&ys).zip(&vector.points) {
            let off = (x - longitude).abs().max((y - latitude).abs());
            assert!(off <= 1e-8, "{}: ({x}, {y}) instead of ({longitude}, {latitude})", vector.name);
        }
    }
}

#[test]
fn codes_are_returned_if_certain_and_never_from_a_name() {
    for vector in VECTORS {
        assert_eq!(Crs::from_wkt(vector.wkt).expect(vector.name).epsg(), vector.epsg, "{}", vector.name);
    }
    assert_eq!(Crs::from_wkt(ESRI_WGS84).expect("WGS 84").epsg(), Some(4326));
    let renamed = vector("utm_south_esri").wkt.replace("500000.0", "500001.0");
    assert_eq!(Crs::from_wkt(&renamed).expect("a system").epsg(), None);
}

#[test]
fn wgs84_and_nad83_are_not_transformed() {
    let nad83 = ESRI_WGS84.replace("WGS_1984", "North_American_1983").replace("298.257223563", "298.257222101");
    for (text, code) in [(ESRI_WGS84, 4326), (nad83.as_str(), 4269)] {
        let crs = Crs::from_wkt(text).expect("a system");
        assert_eq!((crs.epsg(), crs.wkt()), (Some(code), text));
        assert!(crs.to_wgs84().expect("a transform").is_identity());
    }
    assert_eq!(Crs::wgs84().epsg(), Some(4326));
    assert_eq!(Crs::wgs84().projjson(), Crs::from_wkt(ESRI_WGS84).expect("WGS 84").projjson());
}

#[test]
fn datum_that_needs_a_grid_is_an_error_that_names_it() {
    let crs = Crs::from_wkt(ESRI_NAD27).expect("a system");
    let error = crs.to_wgs84().expect_err("NAD27 needs a grid");
    assert!(error.message().contains("North American Datum 1927"), "{error}");
    assert!(crs.projjson().is_some(), "the system itself is known and is kept");
}

#[test]
fn unknown_projection_is_an_error_that_names_it() {
    let text = vector("utm_south_esri").wkt.replace("Transverse_Mercator", "Bonne");
    let crs = Crs::from_wkt(&text).expect("a system");
    assert!(crs.to_wgs84().expect_err("unknown").message().contains("`Bonne`"));
    assert_eq!((crs.projjson(), crs.epsg()), (None, None));
    let text = vector("lambert_us_feet_esri").wkt.replace("Standard_Parallel_2", "Standard_Parallel_3");
    assert!(Crs::from_wkt(&text).expect("a system").to_wgs84().is_err(), "a parameter left over is never ignored");
}

#[test]
fn empty_points_stay_empty_and_impossible_ones_are_errors() {
    let transform = Crs::from_wkt(vector("utm_south_esri").wkt).and_then(|crs| crs.to_wgs84()).expect("a transform");
    let (mut xs, mut ys) = ([f64::NAN, 500_000.0], [f64::NAN, 9_000_000.0]);
    transform.apply(&mut xs, &mut ys).expect("a point");
    assert!(xs[0].is_nan() && ys[0].is_nan() && (xs[1] - 15.0).abs() < 1e-9);
    let error = transform.apply(&mut [1e12], &mut [1e12]).expect_err("nowhere on the earth");
    assert!(error.message().contains("1000000000000"), "{error}");
}

#[test]
fn projjson_has_the_units_and_codes_of_the_system() {
    let json = Crs::from_wkt(vector("lambert_us_feet_esri").wkt).expect("a system").projjson().cloned().expect("json");
    let text = json.to_string();
    assert!(text.contains("US survey foot") && text.contains("Lambert Conic Conformal (2SP)"), "{text}");
    assert_eq!(json.pointer("/base_crs/id/code"), Some(&4269.into()));
    let json =
        Crs::from_wkt(vector("utm_north_unknown_datum").wkt).expect("a system").projjson().cloned().expect("json");
    assert_eq!(json.pointer("/base_crs/datum/name"), Some(&"unknown".into()));
    let json = Crs::from_wkt(vector("seven_parameters_gdal").wkt).expect("a system").projjson().cloned().expect("json");
    assert_eq!(json.pointer("/type"), Some(&"BoundCRS".into()));
}

#[test]
fn text_without_a_system_is_an_archive_error() {
    for text in ["", "EPSG:4326", "<html>", "GEOGCS[\"x\"]", "PROJCS[\"x\",UNIT[\"m\",1]]", "FOO[\"x\"]"] {
        assert_eq!(Crs::from_wkt(text).expect_err(text).kind(), Kind::Archive, "{text}");
    }
}

/// Reads a text and uses every result; only a panic or a result outside the earth fails.
fn use_all(text: &str) {
    let Ok(crs) = Crs::from_wkt(text) else { return };
    let Ok(transform) = crs.to_wgs84() else { return };
    for (x, y) in [(0.0, 0.0), (5e5, 5e6), (-111.0, 45.0), (1e9, -1e9), (f64::MAX, f64::MIN_POSITIVE)] {
        let (mut xs, mut ys) = ([x], [y]);
        if transform.apply(&mut xs, &mut ys).is_ok() {
            assert!(xs[0].is_finite() && ys[0].is_finite(), "{text}");
        }
    }
}

proptest! {
    #[test]
    fn any_text_is_a_result_or_an_error(text in ".{0,200}") {
        use_all(&text);
    }

    #[test]
    fn any_damaged_system_is_a_result_or_an_error(
        which in 0..VECTORS.len(),
        at in 0.0..1.0_f64,
        length in 0..12_usize,
        patch in "[-0-9.e\\[\\]\",A-Za-z]{0,8}",
    ) {
        let text: Vec<char> = VECTORS[which].wkt.chars().collect();
        #[expect(
            clippy::cast_possible_truncation, clippy::cast_sign_loss, clippy::cast_precision_loss, reason = "a fraction of a short text")]
        let at = (at * text.len() as f64) as usize;
        let end = (at + length).min(text.len());
        let damaged: String = text[..at].iter().copied().chain(patch.chars()).chain(text[end..].iter().copied()).collect();
        use_all(&damaged);
    }
}
