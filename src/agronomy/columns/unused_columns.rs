//! Reports columns that look like canonical ones but are not used, with the reason, in one diagnostic of a layer.

use crate::columns::aliases;
use crate::columns::canonical::{Content, JobKind, YIELDS, canonical};
use crate::columns::matching::{Match, Unused};
use crate::maps::column_words::{RATE_STEMS, YIELD_STEMS};
use headland_reader::archive::{Code, Diagnostic};
use headland_reader::layer::Layer;
use headland_reader::layer::units::{Quantity, Unit};

/// Beginnings of words for a moisture, a working width and a working state.
const MOISTURE_STEMS: &[&str] = &["moist", "mostr", "humed", "feucht", "vocht"];
const WIDTH_STEMS: &[&str] = &["swath", "swth", "arbeitsbr", "largeur", "ancho", "largura"];
const STATE_STEMS: &[&str] = &["workstat", "headerst", "boomst", "clutch", "implementst"];

impl Unused {
    /// Whether rows lose a measurement. Texts and numbers of machines can be anything, and points have the position.
    fn is_measured(&self, has_points: bool) -> bool {
        if ["longitude", "latitude"].contains(&self.canonical) {
            return !has_points;
        }
        let content = canonical(self.canonical).map(|column| column.content);
        ["", "time"].contains(&self.canonical) || matches!(content, Some(Content::Number | Content::Flag))
    }
}

/// Columns of unknown names that say a yield, a rate, a moisture, a width or a state, where no other column is used for it.
pub(crate) fn unknown_names(layer: &Layer, kind: JobKind, matches: &[Match]) -> Vec<Unused> {
    let schema = layer.schema();
    let has = |names: &[&str]| matches.iter().any(|found| names.iter().any(|name| found.canonical.starts_with(name)));
    let (rates, yields) = (["applied_rate", "target_rate", "control_rate"], ["yield", "flow"]);
    let missing: Vec<(&str, &[&str])> = [
        ("yield", YIELD_STEMS, kind == JobKind::Yield && !has(&yields)),
        ("rate", RATE_STEMS, kind != JobKind::Yield && !has(&rates)),
        ("moisture", MOISTURE_STEMS, kind == JobKind::Yield && !has(&["moisture"])),
        ("width", WIDTH_STEMS, !has(&["swath_width"])),
        ("state", STATE_STEMS, !has(&["working"])),
    ]
    .into_iter()
    .filter(|(.., is_missing)| *is_missing)
    .map(|(what, stems, _)| (what, stems))
    .collect();
    let mut unused = Vec::new();
    for (column, field) in schema.fields().iter().enumerate() {
        let plain = aliases::plain(field.name());
        let is_used = matches.iter().any(|found| found.column == column);
        if is_used || layer.geometry_index() == Some(column) || aliases::is_other(&plain) {
            continue;
        }
        if let Some(first) = second_of(&plain, kind).filter(|_| field.data_type().is_numeric()) {
            unused.push(Unused::new(
                column,
                "",
                format!("it can be one more `{first}`, of which one column is used at most"),
            ));
            continue;
        }
        // Short stems are parts of other words, such as `rate` of `operated`.
        let begins = |stem: &&str| plain.split('_').any(|word| word.starts_with(stem));
        let says = |stems: &[&str]| stems.iter().any(|stem| begins(stem) || stem.len() > 4 && plain.contains(stem));
        let unit = field.metadata().get("unit").and_then(|unit| Unit::parse(unit));
        let is_per_area = unit.is_some_and(|unit| unit.quantity().1 == Some(Quantity::Area));
        let found = missing.iter().find(|(what, stems)| says(stems) || is_per_area && ["yield", "rate"].contains(what));
        if let Some((what, _)) = found {
            unused.push(Unused::new(column, "", format!("it can be a {what}, but its name is unknown")));
        }
    }
    unused
}

/// The measurement of which a column is one more by its name, such as `Flow 2`, `Yield2` and `Flow B`.
fn second_of(plain: &str, kind: JobKind) -> Option<&'static str> {
    let without_letter = || plain.trim_end_matches(['a', 'b', 'c', 'd']).strip_suffix('_');
    let stem = plain.trim_end_matches(|letter: char| letter.is_ascii_digit());
    let stem = if stem.len() < plain.len() { stem } else { without_letter()? };
    let found = aliases::find(stem.trim_end_matches('_'))?.canonical;
    let is_measured = ["flow", "moisture", "applied_rate"].contains(&found) || YIELDS.contains(&found);
    let belongs = canonical(found).is_some_and(|column| column.kinds.contains(&kind));
    (is_measured && belongs && aliases::find(plain).is_none()).then_some(found)
}

/// One diagnostic for all columns that are not used.
pub(crate) fn report(layer: &Layer, unused: &[Unused]) -> Option<Diagnostic> {
    let schema = layer.schema();
    let one = |unused: &Unused| {
        let name = schema.field(unused.column).name();
        let role = if unused.canonical.is_empty() { String::new() } else { format!(" as `{}`", unused.canonical) };
        format!("`{name}`{role} ({})", unused.reason)
    };
    let columns: Vec<String> =
        unused.iter().filter(|unused| unused.is_measured(layer.geometry_index().is_some())).map(one).collect();
    if columns.is_empty() {
        return None;
    }
    let message = format!("not used: {}; `columns` and `units` state others", columns.join(", "));
    Some(Diagnostic::new(Code::ColumnNotUsed, message))
}
