//! Generates the fields of an account: invented names, boundaries and soils in plausible but anonymous locations.

use std::f64::consts::TAU;
use std::sync::Arc;

use super::deterministic_math::{sin_cos, usize_to_f64};
use super::plane::{Plane, Point, area};
use super::rng::{Surface, noise, stream, uniform};

/// A field.
#[derive(Debug)]
pub(super) struct Field {
    /// Name given by the grower.
    pub(super) name: &'static str,
    /// Local plane around the field.
    pub(super) plane: Plane,
    /// Boundary on the plane, counter-clockwise.
    pub(super) boundary: Vec<Point>,
    /// Area inside the boundary in m².
    pub(super) area: f64,
    /// Direction of the rows.
    pub(super) rows: Point,
    /// Soil fertility, around 1.
    pub(super) soil: Surface,
    /// Elevation in metres above sea level is `lowest` times this surface.
    pub(super) relief: Surface,
    pub(super) lowest: f64,
}

/// Side length of the squares of management zones, in metres.
pub(super) const ZONE_SIDE: f64 = 45.0;

impl Field {
    /// Returns the value of the management zone at a location: the first value for poor soil, the last for rich soil.
    /// Zones consist of squares, as in prescription maps.
    pub(super) fn zone_value(&self, location: Point, values: [f64; 3]) -> f64 {
        let middle = |metres: f64| ((metres / ZONE_SIDE).floor() + 0.5) * ZONE_SIDE;
        let soil = self.soil.value_at(Point::new(middle(location.east), middle(location.north)));
        let [poor, usual, rich] = values;
        if soil < 0.9 {
            poor
        } else if soil > 1.08 {
            rich
        } else {
            usual
        }
    }
}

/// Number of fields of an account.
pub(super) const FIELDS: usize = 6;

const NAMES: &[&str] = &[
    "North Eighty",
    "Mill Bottom",
    "Long Acre",
    "Creek Side",
    "Barn Quarter",
    "Sandy Rise",
    "Lower Meadow",
    "Stone Hill",
    "West Forty",
    "Windbreak",
    "Gravel Pit",
    "River Bend",
    "Cattle Gate",
    "Schoolhouse",
];

/// Centres of wide farming regions in degrees; none is a real farm.
const REGIONS: &[(f64, f64)] =
    &[(-98.6, 45.2), (-103.9, 47.6), (-89.2, 41.3), (-105.2, 50.9), (10.9, 52.1), (26.4, 46.9)];

/// Generates the fields of a seed. The first is the largest: it has the job with 100,000 points.
pub(super) fn fields(seed: u64) -> Vec<Arc<Field>> {
    let mut rng = stream(seed, &[1]);
    let mut names = NAMES.to_vec();
    rng.shuffle(&mut names);
    let region = REGIONS.get(rng.usize(..REGIONS.len())).copied().unwrap_or((-98.6, 45.2));
    let corner = (region.0 + uniform(&mut rng, -0.4, 0.4), region.1 + uniform(&mut rng, -0.4, 0.4));
    names
        .into_iter()
        .take(FIELDS)
        .enumerate()
        .map(|(index, name)| {
            // Two rows of three, so that fields do not overlap.
            let column = usize_to_f64(index % 3) + uniform(&mut rng, -0.1, 0.1);
            let row = usize_to_f64(index / 3) + uniform(&mut rng, -0.1, 0.1);
            let plane = Plane::new(corner.0 + column * 0.028, corner.1 + row * 0.019);
            let hectares = if index == 0 { uniform(&mut rng, 52.0, 60.0) } else { uniform(&mut rng, 11.0, 45.0) };
            Arc::new(build_field(&mut rng, name, plane, hectares))
        })
        .collect()
}

fn build_field(rng: &mut fastrand::Rng, name: &'static str, plane: Plane, hectares: f64) -> Field {
    let boundary = random_boundary(rng, hectares * 10_000.0);
    let radius = (hectares * 10_000.0 / 3.0).sqrt();
    // Rows follow the longest edge.
    let longest = boundary
        .iter()
        .zip(boundary.iter().cycle().skip(1))
        .map(|(a, b)| b.minus(*a))
        .max_by(|a, b| a.length().total_cmp(&b.length()))
        .unwrap_or(Point::new(0.0, 1.0));
    Field {
        name,
        plane,
        area: area(&boundary),
        boundary,
        rows: longest.unit(),
        soil: Surface::new(rng, 6, 0.35, radius),
        relief: Surface::new(rng, 4, 0.02, radius),
        lowest: uniform(rng, 180.0, 700.0),
    }
}

/// Generates an irregular polygon with 4 to 9 vertices around the origin and exactly that area.
fn random_boundary(rng: &mut fastrand::Rng, wanted: f64) -> Vec<Point> {
    let vertices = rng.usize(4..=9);
    let turn = rng.f64() * TAU;
    let stretch = uniform(rng, 0.75, 1.3);
    let mut polygon: Vec<Point> = (0..vertices)
        .map(|vertex| {
            let angle = turn + TAU * (usize_to_f64(vertex) + uniform(rng, -0.2, 0.2)) / usize_to_f64(vertices);
            let (sine, cosine) = sin_cos(angle);
            let reach = 1.0 + 0.07 * noise(rng);
            Point::new(cosine * reach * stretch, sine * reach / stretch)
        })
        .collect();
    let size = (wanted / area(&polygon)).sqrt();
    for vertex in &mut polygon {
        *vertex = Point::new(vertex.east * size, vertex.north * size);
    }
    polygon
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fields_have_plausible_size_and_vertex_count() {
        for seed in 0..50 {
            for field in fields(seed) {
                let hectares = field.area / 10_000.0;
                assert!((10.0..=60.0).contains(&hectares), "{} has {hectares} ha", field.name);
                assert!((4..=9).contains(&field.boundary.len()));
                assert!((area(&field.boundary) - field.area).abs() < 1e-6);
            }
        }
    }
}
