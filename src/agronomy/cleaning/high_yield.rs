//! Tests the mean yield of a cleaned harvest against the highest yields that are known of its crop.

use crate::cleaning::clean_rows::CleanRows;
use crate::columns::crops::Crop;
use crate::columns::derived::HECTARE;
use crate::columns::market_moisture::layer_crop;
use crate::columns::values::CanonicalValues;
use headland_reader::archive::{Code, Diagnostic};
use headland_reader::layer::Layer;

/// Tonnes per hectare that no field has as its mean: above the record yields of single plots or fields, rounded up generously.
///
/// Records: Guinness World Records for wheat (17.96 t/ha, United Kingdom 2022; 17.40, New Zealand 2020), barley (16.21) and
/// oilseed rape (7.19); National Corn Growers Association, yield contest (corn 623.8 bu/ac, 2023); Georgia Corn and Soybean
/// Production (soybean 218.3 bu/ac, 2024); National Sorghum Producers, yield contest (sorghum above 240 bu/ac). The others
/// are estimates: twice the yield of good fields. Roots and cotton are as harvested.
const MOST: &[(&str, f64)] = &[
    ("barley", 19.0),
    ("bean", 9.0),
    ("canola", 10.0),
    ("corn", 45.0),
    ("faba bean", 12.0),
    ("flax", 6.0),
    ("lentil", 8.0),
    ("oats", 16.0),
    ("pea", 12.0),
    ("potato", 180.0),
    ("rice", 25.0),
    ("rye", 18.0),
    ("seed cotton", 15.0),
    ("sorghum", 22.0),
    ("soybean", 17.0),
    ("sugar beet", 230.0),
    ("sunflower", 9.0),
    ("triticale", 19.0),
    ("wheat", 21.0),
];

/// A diagnostic if the mean is above any of its crop.
pub(crate) fn high_yield(layer: &Layer, rows: &CleanRows) -> Option<Diagnostic> {
    let kg = rows.masses.best()?;
    let values = CanonicalValues::new(layer, None);
    let crop = layer_crop(layer).or_else(|| values.common_text("crop").and_then(Crop::find))?;
    let most = MOST.iter().find(|(name, _)| *name == crop.name).map(|(_, tonnes)| *tonnes)?;
    let counted = (0..kg.len()).filter(|k| rows.used[*k] && rows.has_rate(*k) && kg[*k].is_finite());
    let [mass, ground] = counted.fold([0.0, 0.0], |sums, k| [sums[0] + kg[k], sums[1] + rows.ground.coverage.fresh[k]]);
    let mean = mass / ground * HECTARE / 1_000.0;
    (mean > most).then(|| {
        let message = format!(
            "the mean yield of {mean:.1} t/ha is above the {most} t/ha that fields of {} have at most: a unit of the flow, the \
             interval, the distance or the width is wrong, or the flow is a sum over several rows; the values are kept",
            crop.name
        );
        Diagnostic::new(Code::YieldHigh, message)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_limit_is_of_a_known_crop() {
        for (name, _) in MOST {
            assert_eq!(Crop::find(name).map(|crop| crop.name), Some(*name), "a limit of this name is never compared");
        }
    }
}
