//! The positions of the rows of a layer in metres, and their order by its columns.

use crate::columns::derived::Rows;
use crate::columns::row_ratios::median;
use crate::rows::logged_rows::LoggedRows;
use crate::rows::order::RowOrder;
use headland_reader::layer::Layer;
use headland_reader::layer::crs::{Crs, OwnPlane};

/// Metres of a degree of latitude.
const DEGREE: f64 = 111_195.0;
/// The position of a row without one.
const NOWHERE: (f64, f64) = (f64::NAN, f64::NAN);

/// Positions of the rows in metres, for steps between neighbours only; not a number without one. `column` gives degrees of a layer
/// without geometries.
pub(crate) fn positions<'a>(layer: &Layer, column: impl Fn(&str) -> Option<&'a [f64]>) -> (Vec<f64>, Vec<f64>) {
    let by_columns = || {
        let (x, y) = (column("longitude")?, column("latitude")?);
        let degrees = |(x, y): (&f64, &f64)| if x.abs() <= 180.0 && y.abs() <= 90.0 { (*x, *y) } else { NOWHERE };
        let (x, y) = x.iter().zip(y).map(degrees).unzip();
        Some([x, y])
    };
    // Ground needs a way to metres and says so; masses and times do not.
    let found: Option<[Vec<f64>; 2]> = layer.positions().ok().flatten().or_else(by_columns);
    let Some([mut x, mut y]) = found else { return (vec![f64::NAN; layer.len()], vec![f64::NAN; layer.len()]) };
    let [east, north] = layer
        .crs()
        .and_then(OwnPlane::new)
        .map_or_else(|| [DEGREE * median(y.clone()).to_radians().cos(), DEGREE], |own| own.metres());
    for (x, y) in x.iter_mut().zip(&mut y) {
        (*x, *y) = (*x * east, *y * north);
    }
    (x, y)
}

/// The order of the rows of a layer by its columns. `counter` counts the rows.
pub(crate) fn order(layer: &Layer, rows: &Rows, (x, y): (&[f64], &[f64]), counter: Option<&[f64]>) -> RowOrder {
    // Before units are proved, a column that is no number is empty.
    let whole = |name: &str| rows.get(name).filter(|column| column.len() == layer.len());
    #[expect(clippy::cast_possible_truncation, reason = "integers that were read as such")]
    let integers = |name: &str| -> Vec<i64> {
        whole(name).map_or_else(
            || vec![0; layer.len()],
            |column| column.iter().map(|value| if value.is_nan() { 0 } else { *value as i64 }).collect(),
        )
    };
    let machine = integers("machine");
    let mut known = machine.clone();
    known.sort_unstable();
    known.dedup();
    let position = |number: &i64| u32::try_from(known.binary_search(number).unwrap_or(0)).unwrap_or(u32::MAX);
    let source: Vec<u32> = machine.iter().map(position).collect();
    let time = seconds(rows);
    RowOrder::new(&LoggedRows {
        source: &source,
        section: &integers("section"),
        time: time.as_deref(),
        order: counter,
        x,
        y,
        distance: whole("distance").unwrap_or_default(),
        flow: whole("flow").unwrap_or_default(),
        is_geographic: layer.crs().is_none_or(Crs::is_geographic),
        has_shapes: !rows.has_buffers && layer.geometry_types().iter().any(|code| matches!(code % 1000, 3 | 6)),
    })
}

/// Seconds since the first time; `None` without times.
fn seconds(rows: &Rows) -> Option<Vec<f64>> {
    let times = rows.times.as_ref()?;
    let first = times.iter().flatten().min()?;
    #[expect(clippy::cast_precision_loss, reason = "the time of a job is far below 2^53 microseconds")]
    let seconds = |time: &Option<i64>| time.map_or(f64::NAN, |time| time.saturating_sub(*first) as f64 / 1e6);
    Some(times.iter().map(seconds).collect())
}
