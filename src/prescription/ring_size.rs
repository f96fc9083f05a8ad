//! Computes the area and the perimeter of rings in degrees, in metres and to a percent.

/// Area and perimeter of an outer ring with its holes, in metres, to a percent.
pub(super) fn measure_all(rings: &[Vec<[f64; 2]>]) -> [f64; 2] {
    let mut sums = [0.0; 2];
    for (number, ring) in rings.iter().enumerate() {
        let [area, perimeter] = measure(ring);
        sums = [sums[0] + if number == 0 { area } else { -area }, sums[1] + perimeter];
    }
    sums
}

/// Area and perimeter of a ring, as [`measure_all`] has them.
pub(super) fn measure(ring: &[[f64; 2]]) -> [f64; 2] {
    const METRES: f64 = 111_320.0;
    let Some([x0, y0]) = ring.first() else { return [0.0; 2] };
    let east = METRES * y0.to_radians().cos();
    let local = |[x, y]: &[f64; 2]| [(x - x0) * east, (y - y0) * METRES];
    let (mut doubled, mut perimeter) = (0.0, 0.0);
    for (from, to) in ring.iter().zip(ring.iter().cycle().skip(1)) {
        let ([x, y], [u, v]) = (local(from), local(to));
        doubled += x * v - u * y;
        perimeter += (u - x).hypot(v - y);
    }
    [f64::abs(doubled) / 2.0, perimeter]
}
