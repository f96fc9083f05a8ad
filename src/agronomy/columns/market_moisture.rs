//! The water at which grain is sold: stated, or by the crop of each row. Dries harmonised rows to it.

use std::collections::HashMap;
use std::fmt;
use std::sync::Arc;

use arrow_array::cast::AsArray;
use arrow_array::{ArrayRef, LargeStringArray};
use arrow_schema::{DataType, Field};

use crate::columns::cell_values::{arrays, nullable, numbers};
use crate::columns::convert::known_crop;
use crate::columns::crops::Crop;
use crate::columns::provenance as keys;
use crate::rows::result_columns::{replace_columns, without_columns};
use headland_base::error::{Error, Result};
use headland_reader::layer::Layer;

/// Name of the column with the percentage of each row.
pub(crate) const MARKET: &str = "market_moisture";

/// No grain is sold with more percent of water.
const MOST: f64 = 40.0;

/// Percent of water at which grain is sold, as the caller states it: that of a crop, or of all crops.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct MarketMoisture(Vec<(Option<&'static str>, f64)>);

impl MarketMoisture {
    /// Checks what is stated. A name that is no crop, a share such as 0.14, and a percentage outside 0 to 40, are errors.
    pub fn new(stated: Vec<(Option<String>, f64)>) -> Result<Self> {
        let checked = stated.into_iter().map(|(crop, percent)| {
            if !(0.0..=MOST).contains(&percent) {
                let message = format!("`{MARKET}`: expected a percentage of water from 0 to {MOST}, got {percent}");
                return Err(Error::for_argument(MARKET, message));
            }
            // No grain has so little water, and 0 is that of dry matter.
            if percent > 0.0 && percent < 1.0 {
                let meant = (percent * 1e4).round() / 100.0;
                let message =
                    format!("`{MARKET}`: {percent} is a share, but a percentage is expected: did you mean {meant}?");
                return Err(Error::for_argument(MARKET, message));
            }
            Ok((crop.as_deref().map(known_crop).transpose()?.map(|crop| crop.name), percent))
        });
        Ok(Self(checked.collect::<Result<_>>()?))
    }

    /// Whether nothing is stated.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// What is stated for a crop, else what is stated for all crops.
    fn stated(&self, crop: Option<&Crop>) -> Option<f64> {
        let percent = |crop: Option<&str>| self.0.iter().find(|(name, _)| *name == crop).map(|(_, percent)| *percent);
        crop.and_then(|crop| percent(Some(crop.name))).or_else(|| percent(None))
    }

    /// The market moisture of a row: stated, else that of its crop.
    pub(crate) fn of(&self, crop: Option<&Crop>) -> Option<f64> {
        self.stated(crop).or_else(|| crop?.market_moisture)
    }
}

impl fmt::Display for MarketMoisture {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (number, (crop, percent)) in self.0.iter().enumerate() {
            let before = if number == 0 { "" } else { ", " };
            write!(f, "{before}{}{percent}", crop.map(|crop| format!("{crop} ")).unwrap_or_default())?;
        }
        Ok(())
    }
}

/// The crop that the metadata of a harmonised layer name.
pub(crate) fn layer_crop(layer: &Layer) -> Option<&'static Crop> {
    layer.metadata().iter().find(|(key, _)| key == keys::CROP).and_then(|(_, name)| Crop::find(name))
}

/// The crop of each row by texts: `default` where the text is null, `None` where it is no known crop.
pub(crate) fn crops_of<'a>(
    texts: impl Iterator<Item = &'a ArrayRef>,
    default: Option<&'static Crop>,
) -> Vec<Option<&'static Crop>> {
    let mut known: HashMap<&str, Option<&'static Crop>> = HashMap::new();
    let texts = texts.filter_map(|array| array.as_string_opt::<i64>()).flat_map(|array| array.iter());
    texts.map(|text| text.map_or(default, |text| *known.entry(text).or_insert_with(|| Crop::find(text)))).collect()
}

/// A mass at `to` percent of water that has `from` percent now. A mass of 1 gives the factor.
pub(crate) fn at_moisture(mass: f64, from: f64, to: f64) -> f64 {
    mass * (100.0 - from) / (100.0 - to)
}

fn added(layer: &Layer, name: &str) -> Option<usize> {
    layer.schema().fields().iter().position(|field| field.name() == name && keys::is_added(field))
}

/// The market moisture of each row of a harmonised harvest: its own column, else that of the dry mass, else that of the
/// crop. Not a number where it is unknown; `None` if it is unknown for all rows.
pub(crate) fn row_markets(layer: &Layer) -> Option<Vec<f64>> {
    if let Some(index) = added(layer, MARKET) {
        return Some(numbers(layer, index));
    }
    let schema = layer.schema();
    let stated = added(layer, "dry_mass").and_then(|index| schema.field(index).metadata().get(keys::MOISTURE_BASIS));
    let percent = stated.and_then(|basis| basis.parse().ok()).or_else(|| layer_crop(layer)?.market_moisture)?;
    Some(vec![percent; layer.len()])
}

/// The water of dry columns as metadata state it: a percentage, or `several`. `None` if it is unknown for all rows.
pub(crate) fn basis_of(markets: &[f64]) -> Option<String> {
    let mut known = markets.iter().filter(|percent| percent.is_finite());
    let first = known.next()?;
    let is_one = known.all(|percent| percent.total_cmp(first).is_eq());
    Some(if is_one { first.to_string() } else { keys::SEVERAL.to_owned() })
}

/// Dries harmonised rows to what is stated. Rows that name no crop get `crop`; the others keep theirs.
pub(crate) fn dry_again(layer: Layer, crop: Option<&'static Crop>, stated: &MarketMoisture) -> Result<Layer> {
    let layer = without_columns(layer)?;
    let texts = added(&layer, "crop");
    let default = crop.or_else(|| layer_crop(&layer));
    let crops = texts.map_or_else(|| vec![default; layer.len()], |index| crops_of(arrays(&layer, index), default));
    let unknown = || vec![f64::NAN; layer.len()];
    let before = row_markets(&layer).unwrap_or_else(unknown);
    let market = |(crop, before): (Option<&'static Crop>, &f64)| {
        let kept = before.is_finite().then_some(*before);
        stated.stated(crop).or(kept).or_else(|| stated.of(crop)).unwrap_or(f64::NAN)
    };
    let after: Vec<f64> = crops.iter().copied().zip(&before).map(market).collect();
    let Some(basis) = basis_of(&after) else { return Ok(layer) };
    let column = |name: &str| added(&layer, name).map_or_else(unknown, |index| numbers(&layer, index));
    let moisture = column("moisture");
    let mut changed: Vec<(Field, ArrayRef)> = Vec::new();
    for (wet, dry) in [("wet_mass", "dry_mass"), ("yield_wet", "yield_dry")] {
        let Some(template) = added(&layer, dry).or_else(|| added(&layer, wet)) else { continue };
        let dried = |name: &str, from: &[f64]| -> Vec<f64> {
            let rows = column(name).into_iter().zip(from).zip(&after);
            rows.map(|((mass, from), to)| at_moisture(mass, *from, *to)).collect()
        };
        // What the display dried stays the source of a row, also where it has no moisture.
        let rows = dried(dry, &before).into_iter().zip(dried(wet, &moisture));
        let values = rows.map(|(dry, wet)| if dry.is_finite() { dry } else { wet });
        let mut metadata = layer.schema().field(template).metadata().clone();
        metadata.insert(keys::MOISTURE_BASIS.to_owned(), basis.clone());
        changed.push((Field::new(dry, DataType::Float64, true).with_metadata(metadata), nullable(values)));
    }
    if let Some(index) = added(&layer, MARKET) {
        changed.push((layer.schema().field(index).clone(), nullable(after)));
    }
    if let Some((index, crop)) = texts.zip(crop) {
        let names = arrays(&layer, index).filter_map(|array| array.as_string_opt::<i64>());
        let names = names.flat_map(|array| array.iter()).map(|name| name.or(Some(crop.name)));
        let names: ArrayRef = Arc::new(names.collect::<LargeStringArray>());
        changed.push((layer.schema().field(index).clone(), names));
    }
    replace_columns(layer, changed)
}
