//! The area of a layer: of its polygons, or worked by its rows.

use crate::columns::canonical::JobKind;
use crate::columns::cell_values::numbers;
use crate::columns::convert::{Target, to_units};
use crate::columns::harmonize::harmonize;
use crate::columns::provenance::{is_added, is_harmonized};
use crate::columns::statements::Statements;
use headland_base::error::Result;
use headland_reader::layer::Layer;

/// The canonical column of the area of each row.
const AREA: &str = "worked_area";

/// The area of the polygons, else the worked area: the sum of the canonical column `worked_area`, which a layer that is not
/// harmonised gets first. In m2; `None` without either.
pub fn area(layer: &Layer) -> Result<Option<f64>> {
    if layer.area(true)?.is_some() {
        return layer.area(false);
    }
    if is_harmonized(layer) {
        return worked_area(layer)?.map_or_else(|| layer.area(false), |area| Ok(Some(area)));
    }
    let by = |kind| harmonize(layer.clone(), &Statements { kind, ..Statements::default() });
    // Every kind of job has the columns of the ground, so the kind does not matter where the columns do not say it.
    let harmonized = by(None).or_else(|_| by(Some(JobKind::AsApplied)));
    let area = harmonized.ok().map(|layer| worked_area(&layer)).transpose()?.flatten();
    area.map_or_else(|| layer.area(false), |area| Ok(Some(area)))
}

/// The sum of the worked areas of the rows of a harmonised layer; `None` if no row has one.
fn worked_area(layer: &Layer) -> Result<Option<f64>> {
    if !layer.schema().fields().iter().any(|field| field.name() == AREA && is_added(field)) {
        return Ok(None);
    }
    let metres = Target::Columns(vec![(AREA.to_owned(), "m2".to_owned())]);
    let layer = to_units(layer.clone(), &metres, None)?;
    let areas = numbers(&layer, layer.column_index("units", AREA)?);
    let mut known = areas.into_iter().filter(|area| !area.is_nan()).peekable();
    Ok(known.peek().is_some().then(|| known.sum()))
}
