//! Reads a prescription as a display does: a map with errors is refused.

use super::check_content::CheckOptions;
use super::check_files::check_source;
use super::rate_column::{self, RateColumn};
use headland_agronomy::{ZoneTexts, zone_products, zone_units};
use headland_base::error::{Error, Kind, Result};
use headland_reader::archive::{ReadOptions, Severity, Source};
use headland_reader::layer::crs::Crs;
use headland_reader::layer::{self, Polygons};

/// Zones and rates of a prescription that has no errors.
#[derive(Clone, Debug)]
pub struct DisplayMap {
    /// Polygons in degrees, longitude first, and their rates, which are 0 or more.
    pub zones: Vec<(Polygons, f64)>,
    /// Unit of the rates, if the column or a text column `UNIT` states one.
    pub unit: Option<String>,
    /// Text of a column `PRODUCT`.
    pub product: Option<String>,
}

/// Reads a prescription. Errors of [`check_source`] are one error.
pub fn read_as_display(source: &Source) -> Result<DisplayMap> {
    let refused = |why: &str| Error::new(Kind::Value, format!("a display refuses the prescription map: {why}"));
    let found = check_source(source, &CheckOptions::default())?.diagnostics;
    if let Some(error) = found.iter().find(|found| found.severity() == Severity::Error) {
        return Err(refused(&error.message));
    }
    let mut map = layer::read(source, &ReadOptions::default())?;
    if map.crs().is_none() {
        map = map.with_stated_crs(&Crs::wgs84())?;
    }
    let (name, rates) = match rate_column::find(&map, None) {
        RateColumn::Found(name, rates) => (name, rates),
        RateColumn::Unknown(found) | RateColumn::Several(found, _) => return Err(refused(&found.message)),
    };
    let schema = map.schema();
    let stated = schema.field_with_name(&name).ok().and_then(|field| field.metadata().get("unit").cloned());
    let shapes = map.row_shapes("rx_id")?.polygons.unwrap_or_default();
    let zones = shapes.into_iter().zip(rates.into_iter().map(Option::unwrap_or_default)).collect();
    let first = |texts: Option<ZoneTexts>| texts.and_then(|column| column.texts.into_iter().flatten().next());
    Ok(DisplayMap { zones, unit: stated.or_else(|| first(zone_units(&map))), product: first(zone_products(&map)) })
}
