//! Tests of the guarantees for readers of a map.

use proptest::prelude::*;

use super::*;
use crate::layer::crs::Crs;
use headland_base::error::Kind;

fn point(x: f64, y: f64) -> Vec<u8> {
    let mut wkb = vec![1, 1, 0, 0, 0];
    wkb.extend(x.to_le_bytes());
    wkb.extend(y.to_le_bytes());
    wkb
}

fn polygon(rings: &[&[(f64, f64)]]) -> Vec<u8> {
    let mut wkb = vec![1, 3, 0, 0, 0];
    wkb.extend(u32::try_from(rings.len()).unwrap().to_le_bytes());
    for ring in rings {
        wkb.extend(u32::try_from(ring.len()).unwrap().to_le_bytes());
        for (x, y) in *ring {
            wkb.extend(x.to_le_bytes());
            wkb.extend(y.to_le_bytes());
        }
    }
    wkb
}

/// A map on WGS 84 with a title that needs XML escapes.
fn map(geometries: &[Vec<u8>], values: Values<'_>) -> Result<String> {
    limited_map(geometries, values, (None, None))
}

fn limited_map(geometries: &[Vec<u8>], values: Values<'_>, limits: (Option<f64>, Option<f64>)) -> Result<String> {
    let transform = Crs::wgs84().to_wgs84()?;
    let geometries: Vec<Option<&[u8]>> = geometries.iter().map(|wkb| Some(wkb.as_slice())).collect();
    draw(&Drawing {
        geometries: &geometries,
        sample_of: None,
        values,
        transform: Some(&transform),
        title: "North <Forty> & \"Co\"",
        column: Some("Yld_Mass_D"),
        unit: Some("bu/ac"),
        width: None,
        limits,
    })
}

/// A field of 250 passes with 400 points each.
fn field() -> (Vec<Vec<u8>>, Vec<Option<f64>>) {
    let points = (0..250_u32).flat_map(|pass| (0..400_u32).map(move |along| (f64::from(pass), f64::from(along))));
    let wkb = points.clone().map(|(pass, along)| point(-98.2 + pass * 1e-4, 49.5 + along * 4e-5)).collect();
    (wkb, points.map(|(pass, along)| Some(60.0 + (pass / 30.0).sin() * 20.0 + along / 40.0)).collect())
}

/// The dots in tenths of a pixel, in drawing order.
fn dots(svg: &str) -> Vec<(i64, i64)> {
    let mut found = Vec::new();
    for path in svg.split("stroke=\"#").filter_map(|part| part.split("\" d=\"M").nth(1)) {
        let Some(path) = path.split('"').next().filter(|path| path.contains("h0")) else { continue };
        let (mut x, mut y) = (0, 0);
        for pair in path.split("h0").filter(|pair| !pair.is_empty()) {
            let spaced = pair.trim_start_matches('m').replace('-', " -");
            let numbers: Vec<i64> = spaced.split_whitespace().map(|number| number.parse().unwrap()).collect();
            (x, y) = (x + numbers[0], y + numbers[1]);
            found.push((x, y));
        }
    }
    found
}

/// The length of the scale bar in pixels.
fn bar(svg: &str) -> f64 {
    let path = svg.split("<path d=\"M20 ").nth(1).expect("a scale bar");
    path.split('H').nth(1).and_then(|rest| rest.split('V').next()).unwrap().parse::<f64>().unwrap() - 20.0
}

#[test]
fn large_layer_is_thinned_evenly() {
    let (wkb, values) = field();
    let svg = map(&wkb, Values::Numbers(&values)).unwrap();
    assert_eq!(svg, map(&wkb, Values::Numbers(&values)).unwrap());
    assert!(svg.len() < 200_000, "{} bytes", svg.len());
    let drawn = dots(&svg);
    assert!((6_000..=8_000).contains(&drawn.len()), "{} dots", drawn.len());
    let said = format!("draws {},{:03} of 100,000 points", drawn.len() / 1000, drawn.len() % 1000);
    assert!(svg.contains(&said), "{said}");
    // Each of 10 × 10 squares of the map has its share of the dots.
    let (west, east) = (drawn.iter().map(|dot| dot.0).min().unwrap(), drawn.iter().map(|dot| dot.0).max().unwrap());
    let (north, south) = (drawn.iter().map(|dot| dot.1).min().unwrap(), drawn.iter().map(|dot| dot.1).max().unwrap());
    let mut shares = [0_usize; 100];
    for (x, y) in &drawn {
        let (column, row) = ((x - west) * 10 / (east - west + 1), (y - north) * 10 / (south - north + 1));
        shares[usize::try_from(row * 10 + column).unwrap()] += 1;
    }
    assert!(shares.iter().all(|share| (40..=160).contains(share)), "{shares:?}");
}

#[test]
fn scale_bar_matches_the_latitude() {
    // One kilometre east and north of 60° N, from pyproj.Geod("WGS84").fwd.
    let (east, north) = (10.017_921_146_010_07, 60.008_975_664_518_4);
    for (other, is_north) in [((east, 60.0), false), ((10.0, north), true)] {
        let svg = map(&[point(10.0, 60.0), point(other.0, other.1)], Values::Numbers(&[Some(1.0), Some(2.0)])).unwrap();
        let drawn = dots(&svg);
        let (from, to) = (drawn[0], drawn[1]);
        #[expect(clippy::cast_precision_loss, reason = "pixels")]
        let apart = ((from.0 - to.0).abs() + (from.1 - to.1).abs()) as f64 / 10.0;
        assert_eq!((to.0 > from.0, to.1 < from.1), (!is_north, is_north));
        let metres = if svg.contains(">200 m<") { 200.0 } else { 500.0 };
        assert!(svg.contains(&format!(">{metres} m<")));
        let measured = apart / bar(&svg) * metres;
        assert!((measured - 1000.0).abs() < 2.0, "{measured} m instead of 1000");
    }
}

#[test]
fn map_is_labelled_and_self_contained() {
    let values = [Some(1.5), None, Some(f64::NAN), Some(12.0)];
    let wkb: Vec<Vec<u8>> = [10.0, 10.001, 10.002, 10.003].iter().map(|x| point(*x, 50.0)).collect();
    let svg = map(&wkb, Values::Numbers(&values)).unwrap();
    assert!(svg.contains("<title>North &lt;Forty&gt; &amp; &quot;Co&quot;: Yld_Mass_D in bu/ac</title>"));
    assert!(svg.contains("role=\"img\"") && svg.contains(">bu/ac<") && svg.contains(">1.5<") && svg.contains(">12<"));
    assert!(svg.contains(">no value (2)<") && svg.contains("draws 4 of 4 points"));
    for outside in ["<script", "href", "url(", "@import", " id="] {
        assert!(!svg.contains(outside), "{outside}");
    }
    assert_eq!(svg.matches("http").count(), 1, "only the name of the language");
}

#[test]
fn colours_follow_the_values() {
    let values: Vec<Option<f64>> = (0..100_u32).map(|value| Some(f64::from(value))).collect();
    let wkb: Vec<Vec<u8>> = (0..100_u32).map(|index| point(10.0 + f64::from(index) * 1e-4, 50.0)).collect();
    let svg = map(&wkb, Values::Numbers(&values)).unwrap();
    let darkest = svg.split("<path stroke=\"#440154\" d=\"").nth(1).and_then(|rest| rest.split('"').next()).unwrap();
    let brightest = svg.split("<path stroke=\"#fde725\" d=\"").nth(1).and_then(|rest| rest.split('"').next()).unwrap();
    let first = |path: &str| path[1..].split([' ', '-', 'h']).next().unwrap().parse::<i64>().unwrap();
    assert!(first(darkest) < 500 && first(brightest) > 5_000, "{darkest} {brightest}");
    for text in [">colours: 2 to 97<", ">(2nd to 98th percentile)<", ">all values: 0 to 99<"] {
        assert!(svg.contains(text), "{text}");
    }
}

#[test]
fn limits_give_several_maps_one_scale() {
    let colour_of = |values: &[Option<f64>]| {
        let wkb: Vec<Vec<u8>> = (0..10_u32).map(|index| point(10.0 + f64::from(index) * 1e-4, 50.0)).collect();
        let svg = limited_map(&wkb, Values::Numbers(values), (Some(0.0), Some(100.0))).unwrap();
        let path = svg.split("<path stroke=\"").find(|path| path.contains("50 to 53.1 bu/ac")).unwrap().to_owned();
        path[..7].to_owned()
    };
    let low: Vec<Option<f64>> = (0..10_u32).map(|value| Some(f64::from(value) + 41.5)).collect();
    let high: Vec<Option<f64>> = (0..10_u32).map(|value| Some(f64::from(value) * 10.0 + 51.0)).collect();
    assert_eq!(colour_of(&low), colour_of(&high));
}

#[test]
fn paths_are_labelled_with_their_values() {
    let wkb: Vec<Vec<u8>> = (0..3_u32).map(|index| point(10.0 + f64::from(index) * 1e-4, 50.0)).collect();
    let svg = map(&wkb, Values::Numbers(&[Some(120.0), Some(180.5), None])).unwrap();
    for label in ["120 bu/ac", "181 bu/ac", "no value"] {
        assert!(svg.contains(&format!("<title>{label}</title></path>")), "{label}: {svg}");
    }
    let svg = map(&wkb, Values::Categories(&[Some("oats & rye"), Some("corn"), None])).unwrap();
    assert!(svg.contains("<title>oats &amp; rye</title></path>"), "{svg}");
}

#[test]
fn rare_names_share_a_colour() {
    let names: Vec<String> = (0..12).map(|name| format!("Product {name} & Co")).collect();
    let values: Vec<Option<&str>> = names.iter().map(|name| Some(name.as_str())).collect();
    let wkb: Vec<Vec<u8>> = (0..12_u32).map(|index| point(10.0 + f64::from(index) * 1e-4, 50.0)).collect();
    let svg = map(&wkb, Values::Categories(&values)).unwrap();
    assert!(svg.contains(">Product 0 &amp; Co<") && svg.contains(">4 others<"));
}

#[test]
fn sample_is_labelled() {
    let wkb = [point(10.0, 50.0), point(10.1, 50.1)];
    let geometries = [Some(wkb[0].as_slice()), None, Some(wkb[1].as_slice()), None];
    let drawing = Drawing {
        geometries: &geometries,
        sample_of: Some(4),
        values: Values::None,
        transform: None,
        title: "t",
        column: None,
        unit: None,
        width: None,
        limits: (None, None),
    };
    assert!(draw(&drawing).unwrap().contains("draws 2 of 4 points, from a sample of 2"));
}

#[test]
fn unknown_unit_and_crs_are_labelled() {
    let wkb = [point(500_000.0, 5_000_000.0), point(500_100.0, 5_000_100.0)];
    let geometries: Vec<Option<&[u8]>> = wkb.iter().map(|wkb| Some(wkb.as_slice())).collect();
    let drawing = Drawing {
        geometries: &geometries,
        sample_of: None,
        values: Values::Numbers(&[Some(1.0), Some(2.0)]),
        transform: None,
        title: "t",
        column: Some("N"),
        unit: None,
        width: Some(500),
        limits: (None, None),
    };
    let svg = draw(&drawing).unwrap();
    assert!(svg.contains(">unit unknown<") && svg.contains("coordinates as they are") && svg.contains("width=\"500\""));
    assert!(!svg.contains(" m<") && !svg.contains("km<") && !svg.contains("north is up"));
}

#[test]
fn holes_stay_empty_and_overlaps_stay_filled() {
    let shell = [(10.0, 50.0), (10.01, 50.0), (10.01, 50.01), (10.0, 50.01), (10.0, 50.0)];
    let hole = [(10.002, 50.002), (10.004, 50.002), (10.004, 50.004), (10.002, 50.004)];
    let backwards: Vec<(f64, f64)> = hole.iter().rev().copied().collect();
    let expected = map(&[polygon(&[&shell, &hole])], Values::None).unwrap();
    let turned = map(&[polygon(&[&shell, &backwards])], Values::None).unwrap();
    assert!(expected.contains("draws 1 of 1 polygons") && expected.matches('z').count() >= 2);
    // With the non-zero rule, a hole needs the opposite direction of its shell, regardless of the file.
    let area = |svg: &str| {
        let path = svg.split(" d=\"M").nth(1).and_then(|rest| rest.split('"').next()).unwrap().to_owned();
        path.split("zM").map(signed_area).collect::<Vec<_>>()
    };
    let (expected, turned) = (area(&expected), area(&turned));
    assert!(expected[0] > 0 && expected[1] < 0 && turned[1] < 0, "{expected:?} {turned:?}");
}

/// Twice the area of a path `x yldx dy dx dy...`, positive if clockwise on the page.
fn signed_area(path: &str) -> i64 {
    let spaced = path.trim_end_matches('z').replace('l', " ").replace('-', " -");
    let numbers: Vec<i64> = spaced.split_whitespace().map(|number| number.parse().unwrap()).collect();
    let (mut x, mut y) = (0, 0);
    let mut corners = Vec::new();
    for pair in numbers.chunks(2) {
        (x, y) = (x + pair[0], y + pair[1]);
        corners.push((x, y));
    }
    corners.iter().zip(corners.iter().cycle().skip(1)).map(|(a, b)| a.0 * b.1 - b.0 * a.1).sum()
}

#[test]
fn small_polygons_become_squares_without_gaps() {
    let tile = |x: f64, y: f64| {
        let (x, y, w, h) = (10.0 + x * 8e-5, 50.0 + y * 8e-5, 8e-5, 8e-5);
        polygon(&[&[(x, y), (x, y + h), (x + w, y + h), (x + w, y), (x, y)]])
    };
    let wkb: Vec<Vec<u8>> =
        (0..130_u32).flat_map(|x| (0..130_u32).map(move |y| tile(f64::from(x), f64::from(y)))).collect();
    let svg = map(&wkb, Values::None).unwrap();
    let count = svg.matches("h-").count();
    let said = format!("draws {},{:03} of 16,900 polygons as squares", count / 1000, count % 1000);
    assert!(svg.contains(&said) && count <= 8_000, "{said}");
    // The squares fill the rectangle of the field.
    let side: f64 = svg.split("h-").nth(1).and_then(|rest| rest.split('z').next()).unwrap().parse().unwrap();
    // The panel is 520 pixels wide and at most 598 high. At this latitude the field is higher than wide.
    let field = 598.0 * 598.0 * 50.0_f64.to_radians().cos();
    #[expect(clippy::cast_precision_loss, reason = "a count of squares")]
    let covered = count as f64 * (side / 10.0 - 0.4).powi(2);
    assert!((0.9..1.1).contains(&(covered / field)), "{covered} of {field}");
}

#[test]
fn positions_without_a_fix_do_not_shrink_the_field() {
    let (mut wkb, mut values) = field();
    let whole = dots(&map(&wkb, Values::Numbers(&values)).unwrap()).len();
    // The last one is `no data`, not a coordinate.
    wkb.extend([point(0.0, 0.0), point(1e30, 0.0), point(-1.7e308, 0.0)]);
    values.extend([Some(0.0); 3]);
    let svg = map(&wkb, Values::Numbers(&values)).unwrap();
    assert!(dots(&svg).len().abs_diff(whole) < 100, "{} instead of {whole}", dots(&svg).len());
    assert!(svg.contains("of 100,002 points; 2 far outside"));
}

#[test]
fn empty_layer_and_single_point_are_drawn() {
    assert!(map(&[], Values::None).unwrap().contains("draws 0 of 0"));
    let svg = map(&[point(10.0, 50.0)], Values::Numbers(&[Some(3.0)])).unwrap();
    assert_eq!(dots(&svg).len(), 1);
    let same = vec![point(10.0, 50.0); 9_000];
    assert!(map(&same, Values::None).unwrap().contains("of 9,000 points"));
}

#[test]
fn bad_geometry_is_an_error_with_its_record() {
    let error = map(&[point(10.0, 50.0), vec![1, 1, 0]], Values::None).unwrap_err();
    assert_eq!((error.kind(), error.facts().record), (Kind::Archive, Some(1)));
}

proptest! {
    #[test]
    fn arbitrary_bytes_and_values_do_not_panic(
        wkb in proptest::collection::vec(proptest::collection::vec(any::<u8>(), 0..60), 0..4),
        code in 1..8_u8,
        numbers in proptest::collection::vec(proptest::option::of(any::<f64>()), 0..30),
    ) {
        let _ = map(&wkb, Values::None);
        let headed: Vec<Vec<u8>> = wkb.iter().map(|body| [&[1, code, 0, 0, 0][..], body].concat()).collect();
        let _ = map(&headed, Values::Numbers(&numbers));
        let points: Vec<Vec<u8>> = numbers.iter().map(|x| point(x.unwrap_or(0.0), 0.0)).collect();
        let svg = map(&points, Values::Numbers(&numbers)).expect("points are well-formed");
        prop_assert!(!svg.contains("NaN") && !svg.contains("inf"), "{svg}");
    }
}
