//! Columns of a harmonised layer that no longer follow from each other, since some of them were changed afterwards.

use arrow_array::cast::AsArray as _;

use crate::columns::cell_values::{arrays, flags, numbers};
use crate::columns::crops::Crop;
use crate::columns::derived::{HECTARE, STEPPED};
use crate::columns::market_moisture::{at_moisture, layer_crop, row_markets};
use crate::columns::matching::COMPLEMENT;
use crate::columns::provenance as keys;
use crate::columns::row_ratios::median;
use crate::columns::values::CanonicalValues;
use headland_reader::archive::{Code, Diagnostic};
use headland_reader::layer::Layer;
use headland_reader::layer::units::Unit;

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
    let changed = if is_again { Vec::new() } else { changed_copies(layer) };
    let parts: Vec<String> = contradictions(layer).chain(changed).chain(other_crop(layer)).collect();
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
    let (wet, worked) = (column("wet_mass", "kg"), column("worked_area", "m2"));
    let by_flow = products(&column("flow", "kg/s"), &column("interval", "s"));
    let mut found = vec![difference("wet_mass", "`flow` x `interval`", &wet, by_flow.iter().copied())];
    let (dry, moisture, market) =
        (column("dry_mass", "kg"), column("moisture", "%"), row_markets(layer).unwrap_or_default());
    let dried = wet.iter().zip(moisture.iter().zip(&market));
    let dried = dried.map(|(wet, (moisture, market))| wet * at_moisture(1.0, *moisture, *market));
    found.push(difference("dry_mass", "`wet_mass` and `moisture`", &dry, dried));
    for (name, source, mass) in
        [("yield_wet", "`wet_mass` / `worked_area`", &wet), ("yield_dry", "`dry_mass` / `worked_area`", &dry)]
    {
        // Those of a cleaning are on new ground.
        if values.metadata(name, keys::RULE) != Some(keys::CLEANED) {
            let per_ha = mass.iter().zip(&worked).map(|(kg, m2)| kg / m2 * HECTARE);
            found.push(difference(name, source, &column(name, "kg/ha"), per_ha));
        }
    }
    let has_polygons = layer.geometry_types().iter().any(|code| matches!(code % 1000, 3 | 6));
    if !has_polygons {
        let stepped = products(&column("distance", "m"), &column("swath_width", "m"));
        // The steps between positions contradict the distances, which is said of the original columns.
        if values.metadata("worked_area", keys::SOURCE) != Some(STEPPED) {
            found.push(difference("worked_area", "`distance` x `swath_width`", &worked, stepped.into_iter()));
        }
        if by_flow.is_empty() {
            let by_yield =
                products(&column("yield_wet_mass", "kg/ha"), &worked).into_iter().map(|kg| kg * (1.0 / HECTARE));
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

/// What is said of harmonised columns that differ from the original columns that they are copies of.
fn changed_copies(layer: &Layer) -> Vec<String> {
    let schema = layer.schema();
    let found = schema.fields().iter().filter_map(|field| {
        let metadata = field.metadata();
        let [source, rule, factor, unit_in] =
            [keys::SOURCE, keys::RULE, keys::FACTOR, keys::UNIT_IN].map(|key| metadata.get(key));
        let (source, factor) =
            (source?, factor?.parse::<f64>().ok().filter(|_| rule.is_none_or(|rule| rule != COMPLEMENT))?);
        let (index, original) = schema.fields().iter().enumerate().find(|(_, original)| {
            let name = original.metadata().get(keys::ORIGINAL_NAME).unwrap_or_else(|| original.name());
            name == source && !keys::is_added(original) && original.data_type().is_numeric()
        })?;
        // `to_units` converts originals as well, unless the caller stated their unit.
        let same = |text: Option<&String>| Unit::parse(text?).map(|unit| unit.to_string());
        let own_unit = same(original.metadata().get("unit"));
        if own_unit.is_some() && own_unit != same(unit_in) || shares_cells(layer, field.name(), index) {
            return None;
        }
        let expected = numbers(layer, index).into_iter().map(|value| value * factor);
        let own = numbers(layer, schema.index_of(field.name()).ok()?);
        difference(field.name(), &format!("`{}`", original.name()), &own, expected)
    });
    found.collect()
}

/// Whether a column is the same memory as another one, as where its unit is the canonical one.
fn shares_cells(layer: &Layer, name: &str, other: usize) -> bool {
    let Ok(index) = layer.schema().index_of(name) else { return false };
    arrays(layer, index).zip(arrays(layer, other)).all(|(one, other)| std::sync::Arc::ptr_eq(one, other))
}

/// A diagnostic if the caller changed which rows of a cleaned layer are used, since a cleaning starts from all rows again.
pub(crate) fn edited_use(layer: &Layer) -> Option<Diagnostic> {
    let schema = layer.schema();
    let index = |name: &str| schema.fields().iter().position(|field| field.name() == name && keys::is_cleaned(field));
    let (used, reasons, pass) = (index("used")?, index("reasons")?, index("pass_number")?);
    let used = flags(layer, used).ok()?;
    let used = used.iter().filter_map(|array| array.as_boolean_opt()).flatten();
    let rows = used.zip(numbers(layer, reasons)).zip(numbers(layer, pass));
    let is_edited = |((used, reasons), pass): &((Option<bool>, f64), f64)| match used {
        Some(true) => *pass <= 0.0,
        _ => *pass > 0.0 && *reasons == 0.0,
    };
    let count = rows.filter(is_edited).count();
    (count > 0).then(|| {
        let message = format!(
            "`used` was changed in {count} rows after the cleaning, which starts from all rows again: remove rows that shall not \
             count, or pass `keep=`"
        );
        Diagnostic::new(Code::ColumnsContradict, message)
    })
}
