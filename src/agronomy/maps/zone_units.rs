//! Texts of zones that state the unit and the product of their rates.

use arrow_array::cast::AsArray as _;
use arrow_schema::DataType;

use crate::columns::cell_values::{arrays, trimmed};
use crate::maps::column_words::{RATE_STEMS, words};
use headland_reader::layer::Layer;
use headland_reader::layer::units::Unit;

/// Names of columns of units; a word for a rate may come before, as in `Rate_Unit`.
const UNITS: &[&str] = &["unit", "units", "uom", "einheit", "unite", "unidad", "unidade"];
/// Names of columns of products; a word for a name may follow, as in `PRODUCT_NA`.
const PRODUCTS: &[&str] = &["product", "produkt", "produit", "producto", "produto", "prodotto", "prod"];
const NAMES: &[&str] = &["name", "nam", "na", "nom", "nombre", "nome"];

/// A column of texts.
#[derive(Clone, Debug)]
pub struct ZoneTexts {
    /// The name of the column.
    pub column: String,
    /// The text of each zone without blanks around it; `None` where there is none.
    pub texts: Vec<Option<String>>,
}

impl ZoneTexts {
    /// Texts that differ by `is_same`, in the order of the zones, each with its zones.
    #[must_use]
    pub fn distinct(&self, is_same: impl Fn(&str, &str) -> bool) -> Vec<(&str, Vec<usize>)> {
        let mut found: Vec<(&str, Vec<usize>)> = Vec::new();
        for (zone, text) in self.texts.iter().enumerate().filter_map(|(zone, text)| Some((zone, text.as_deref()?))) {
            match found.iter_mut().find(|(known, _)| *known == text || is_same(known, text)) {
                Some((_, zones)) => zones.push(zone),
                None => found.push((text, vec![zone])),
            }
        }
        found
    }
}

/// The column of units, such as `UNIT` or `Rate_Unit`.
#[must_use]
pub fn zone_units(zones: &Layer) -> Option<ZoneTexts> {
    let is_rate = |word: &String| RATE_STEMS.iter().any(|stem| word.starts_with(stem));
    find(zones, |words| words.split_last().is_some_and(|(last, rest)| is_in(last, UNITS) && rest.iter().all(is_rate)))
}

/// The column of products, such as `PRODUCT` or `Product Name`.
#[must_use]
pub fn zone_products(zones: &Layer) -> Option<ZoneTexts> {
    find(zones, |words| {
        words.split_first().is_some_and(|(first, rest)| {
            is_in(first, PRODUCTS) && rest.len() < 2 && rest.iter().all(|word| is_in(word, NAMES))
        })
    })
}

/// Whether two texts name one unit, in any spelling.
#[must_use]
pub fn is_same_unit(one: &str, other: &str) -> bool {
    match (Unit::parse(one), Unit::parse(other)) {
        (Some(one), Some(other)) => one == other,
        _ => Unit::spell(one).eq_ignore_ascii_case(&Unit::spell(other)),
    }
}

/// Whether two texts name one product: letter case, blanks and signs do not tell products apart.
pub(crate) fn is_same_product(one: &str, other: &str) -> bool {
    let letters = |text: &str| -> Vec<char> {
        text.chars().filter(|sign| sign.is_alphanumeric()).flat_map(char::to_lowercase).collect()
    };
    one.trim() == other.trim() || {
        let one = letters(one);
        !one.is_empty() && one == letters(other)
    }
}

fn is_in(word: &str, known: &[&str]) -> bool {
    known.contains(&word)
}

fn find(zones: &Layer, is_it: impl Fn(&[String]) -> bool) -> Option<ZoneTexts> {
    let schema = zones.schema();
    let is_text = |kind: &DataType| *kind == DataType::LargeUtf8;
    let index = schema.fields().iter().position(|field| is_text(field.data_type()) && is_it(&words(field.name())))?;
    let cells = arrays(zones, index).filter_map(|array| array.as_string_opt::<i64>()).flat_map(|array| array.iter());
    let text = |cell: Option<&str>| cell.map(trimmed).filter(|text| !text.is_empty()).map(str::to_owned);
    Some(ZoneTexts { column: schema.field(index).name().clone(), texts: cells.map(text).collect() })
}
