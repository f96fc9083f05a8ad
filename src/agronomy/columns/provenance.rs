//! Provenance of harmonised columns, as Arrow field metadata.

use std::collections::HashMap;

use arrow_schema::Field;

use headland_reader::layer::Layer;

/// The original column, or the columns that a computed one follows from.
pub(crate) const SOURCE: &str = "headland:source";
/// How the column was found.
pub(crate) const RULE: &str = "headland:rule";
/// The unit of the source as it spells it.
pub(crate) const UNIT_IN: &str = "headland:unit_in";
/// What the values of the source were multiplied by.
pub(crate) const FACTOR: &str = "headland:factor";
/// What proves the unit, where nothing states it.
pub(crate) const EVIDENCE: &str = "headland:evidence";
/// `mass`, `volume` or `count`: what a rate measures.
pub(crate) const QUANTITY: &str = "headland:quantity";
/// Percent of water at which a dry mass is stated.
pub(crate) const MOISTURE_BASIS: &str = "headland:moisture_basis";
/// Its value for a column whose rows have different ones.
pub(crate) const SEVERAL: &str = "several";
/// Kilograms in a bushel.
pub(crate) const KG_PER_BUSHEL: &str = "headland:kg_per_bushel";
/// On an original column without a known unit: the canonical column that it would be.
pub(crate) const CANONICAL: &str = "headland:canonical";
/// On an original column that was renamed: its name.
pub(crate) const ORIGINAL_NAME: &str = "headland:original_name";

/// The rule of columns of a concatenation.
pub(crate) const CONCATENATED: &str = "concat";

/// The rule of columns that cleaning adds.
pub(crate) const CLEANED: &str = "clean";

/// Metadata of a harmonised layer: its kind.
pub(crate) const KIND: &str = "headland:kind";
/// Metadata of a harmonised layer: the crop that its dry mass is of.
pub(crate) const CROP: &str = "headland:crop";
/// Metadata of a layer: the name of its job, where it was stated.
pub(crate) const JOB_NAME: &str = "headland:job_name";

const ALL: &[&str] = &[RULE, UNIT_IN, FACTOR, EVIDENCE, QUANTITY, MOISTURE_BASIS, KG_PER_BUSHEL];

/// Whether a column was added by harmonising.
pub(crate) fn is_added(field: &Field) -> bool {
    field.metadata().contains_key(SOURCE)
}

/// Whether a column was added by cleaning.
pub(crate) fn is_cleaned(field: &Field) -> bool {
    field.metadata().get(RULE).is_some_and(|rule| rule == CLEANED)
}

/// Whether a layer was harmonised. It has no canonical column if all its units are unknown.
pub(crate) fn is_harmonized(layer: &Layer) -> bool {
    layer.metadata().iter().any(|(key, _)| key == KIND) || layer.schema().fields().iter().any(|field| is_added(field))
}

/// Whether a layer is a concatenation, whose rows say where they come from.
pub(crate) fn is_concatenated(layer: &Layer) -> bool {
    let rule = |field: &Field| field.metadata().get(RULE).is_some_and(|rule| rule == CONCATENATED);
    layer.schema().fields().iter().any(|field| rule(field))
}

/// How each harmonised column came about: pairs of key and value, without the prefix of the metadata. Original columns
/// whose unit is unknown are entries without `factor`.
#[must_use]
pub fn provenance(layer: &Layer) -> Vec<Vec<(String, String)>> {
    let entry = |field: &Field| {
        let metadata: &HashMap<String, String> = field.metadata();
        let (column, source) = match (metadata.get(SOURCE), metadata.get(CANONICAL)) {
            (Some(source), _) => (field.name().clone(), source.clone()),
            (None, Some(canonical)) => (canonical.clone(), field.name().clone()),
            (None, None) => return None,
        };
        let mut pairs = vec![("column".to_owned(), column), ("source".to_owned(), source)];
        let unit =
            if metadata.contains_key(CANONICAL) { Some("unknown") } else { metadata.get("unit").map(String::as_str) };
        pairs.extend(unit.map(|unit| ("unit".to_owned(), unit.to_owned())));
        let short = |key: &str| key.trim_start_matches("headland:").to_owned();
        pairs.extend(ALL.iter().filter_map(|key| Some((short(key), metadata.get(*key)?.clone()))));
        Some(pairs)
    };
    layer.schema().fields().iter().filter_map(|field| entry(field)).collect()
}
