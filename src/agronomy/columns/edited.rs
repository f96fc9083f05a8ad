//! Columns of a harmonised layer that no longer follow from each other, since some of them were changed afterwards.

use crate::columns::crops::Crop;
use crate::columns::derived::{HECTARE, STEPPED};
use crate::columns::market_moisture::{layer_crop, row_markets};
use crate::columns::provenance as keys;
use crate::columns::row_ratios::median;
use crate::columns::values::CanonicalValues;
use headland_reader::archive::{Code, Diagnostic};
use headland_reader::layer::Layer;

/// Part by which a computed value may differ from what it follows from, and of the rows, those that may differ by more.
const SAME: f64 = 0.005;
const FEW: f64 = 0.05;

/// A diagnostic if computed columns differ from the columns that they follow from. `field_means` adds up the masses, and `clean`
/// starts from the flow, so that each of them believes another copy.
///
/// `is_again` says that the layer is harmonised again from its original columns.
pub(crate) fn edited(layer: &Layer, is_again: bool) -> Option<Diagnostic> {
    if layer.diagnostics().iter().any(|diagnostic| diagnostic.code == Code::ColumnsContradict) {
        return None;
    }
    let parts: Vec<String> = contradictions(layer).chain(other_crop(layer)).collect();
    let advice = if is_again {
        "the original columns are used again, so changes of harmonised ones are lost"
    } else {
        "change the original columns and pass `kind=` to `headland.harmonize`, or change all of these columns"
    };
    (!parts.is_empty()).then(|| Diagnostic::new(Code::ColumnsContradict, format!("{}; {advice}", parts.join(", "))))
}

fn contradictions(layer: &Layer) -> impl Iterator<Item = String> {
    let values = CanonicalValues::new(layer, None);
    let column = |name: &str, unit: &str| values.numbers(name, unit).unwrap_or_default();
    let products =
        |one: &[f64], other: &[f64]| one.iter().zip(other).map(|(one, other)| one * other).collect::<Vec<f64>>();
    let wet = column("wet_mass", "kg");
    let by_flow = products(&column("flow", "kg/s"), &column("interval", "s"));
    let mut found = vec![difference("wet_mass", "`flow` x `interval`", &wet, by_flow.iter().copied())];
    let (dry, moisture, market) =
        (column("dry_mass", "kg"), column("moisture", "%"), row_markets(layer).unwrap_or_default());
    let dried = wet.iter().zip(moisture.iter().zip(&market));
    let dried = dried.map(|(wet, (moisture, market))| wet * ((100.0 - moisture) / (100.0 - market)));
    found.push(difference("dry_mass", "`wet_mass` and `moisture`", &dry, dried));
    let has_polygons = layer.geometry_types().iter().any(|code| matches!(code % 1000, 3 | 6));
    if !has_polygons {
        let area = column("worked_area", "m2");
        let stepped = products(&column("distance", "m"), &column("swath_width", "m"));
        // The steps between positions contradict the distances, which is said of the original columns.
        if values.metadata("worked_area", keys::SOURCE) != Some(STEPPED) {
            found.push(difference("worked_area", "`distance` x `swath_width`", &area, stepped.into_iter()));
        }
        if by_flow.is_empty() {
            let by_yield =
                products(&column("yield_wet_mass", "kg/ha"), &area).into_iter().map(|kg| kg * (1.0 / HECTARE));
            found.push(difference("wet_mass", "`yield_wet_mass` x `worked_area`", &wet, by_yield));
        }
    }
    found.into_iter().flatten()
}

/// What is said of a computed column that differs from what it follows from.
fn difference(name: &str, source: &str, computed: &[f64], expected: impl Iterator<Item = f64>) -> Option<String> {
    let ratios = computed.iter().zip(expected).map(|(one, other)| one / other);
    let (mut count, mut other) = (0_usize, Vec::new());
    for ratio in ratios.filter(|ratio| *ratio > 0.0 && ratio.is_finite()) {
        count = count.saturating_add(1);
        other.extend(((ratio - 1.0).abs() > SAME).then_some(ratio));
    }
    #[expect(clippy::cast_precision_loss, reason = "rows are far fewer than 2^53")]
    let is_edited = other.len() as f64 > FEW * count as f64;
    let rows = other.len();
    is_edited.then(|| format!("`{name}` is {:.3} times what follows from {source} in {rows} rows", median(other)))
}

/// What is said of rows whose crop is not the one of the layer.
fn other_crop(layer: &Layer) -> Option<String> {
    // The caller stated another one, which is said already.
    if layer.diagnostics().iter().any(|diagnostic| diagnostic.code == Code::CropContradicts) {
        return None;
    }
    let values = CanonicalValues::new(layer, None);
    let (named, stated) = (Crop::find(values.common_text("crop")?)?, layer_crop(layer)?);
    (named != stated)
        .then(|| format!("rows name the crop `{}`, but their dry masses are those of `{}`", named.name, stated.name))
}
