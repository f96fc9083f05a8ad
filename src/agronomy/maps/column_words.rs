//! Words in names of columns that tell measurements from ids, years, times and coordinates, in several languages.

use crate::columns::aliases::without_accent;

/// Sums of a row in a harmonised layer. They depend on the length and width of the row, so they are no map.
pub(crate) const ROW_SUMS: &[&str] = &["worked_area", "wet_mass", "dry_mass", "market_moisture", "amount", "order"];

/// Beginnings of words for a yield, most specific first.
pub(crate) const YIELD_STEMS: &[&str] = &[
    "yield",
    "yld",
    "ertrag",
    "rendement",
    "rendt",
    "rendim",
    "rinde",
    "produtiv",
    "produttiv",
    "opbrengst",
    "plon",
    "resa",
    "skord",
    "sato",
    "udbytte",
    "avling",
    "урож",
    "产量",
];

/// Beginnings of words for a rate, most specific first.
pub(crate) const RATE_STEMS: &[&str] = &[
    "applied",
    "rate",
    "target",
    "tgt",
    "dose",
    "dosis",
    "dosi",
    "dosag",
    "ausbring",
    "aufwand",
    "menge",
    "tasa",
    "gift",
    "dawka",
    "норма",
    "seed",
    "saat",
    "pop",
    "plants",
];

/// Nutrients and products, which prescriptions use as the name of their rate.
pub(crate) const NUTRIENTS: &[&str] =
    &["n", "p", "k", "s", "nitrogen", "phosphorus", "potassium", "potash", "urea", "uan", "lime", "kalk"];

/// Words of ids, counts, years, times, coordinates, qualities of a position, and people.
const OTHER_WORDS: &[&str] = &[
    // Ids and counts.
    "id",
    "ids",
    "fid",
    "oid",
    "gid",
    "uid",
    "uuid",
    "guid",
    "objectid",
    "nr",
    "nro",
    "num",
    "number",
    "nummer",
    "numero",
    "index",
    "row",
    "rownum",
    "lfd",
    "code",
    "gridcode",
    "serial",
    "count",
    "status",
    // Years, dates and times.
    "year",
    "jahr",
    "annee",
    "an",
    "campagne",
    "anio",
    "ano",
    "anno",
    "jaar",
    "rok",
    "ar",
    "ev",
    "season",
    "saison",
    "safra",
    "год",
    "года",
    "年份",
    "年",
    "date",
    "datum",
    "fecha",
    "data",
    "time",
    "zeit",
    "heure",
    "hora",
    "hour",
    "minute",
    "second",
    "month",
    "day",
    "doy",
    "on",
    "generated",
    "created",
    "modified",
    // Coordinates and their quality.
    "x",
    "y",
    "z",
    "lat",
    "latitude",
    "latitud",
    "breite",
    "breitengrd",
    "lon",
    "long",
    "lng",
    "longitude",
    "longitud",
    "lange",
    "laenge",
    "langengrd",
    "coord",
    "coords",
    "koord",
    "point",
    "utm",
    "east",
    "easting",
    "north",
    "northing",
    "rechtswert",
    "hochwert",
    "широта",
    "широт",
    "долгота",
    "долгот",
    "经度",
    "纬度",
    "gps",
    "sats",
    "satellites",
    "dop",
    "pdop",
    "hdop",
    "vdop",
    // People and sources.
    "user",
    "username",
    "operator",
    "file",
    "filename",
    "dataset",
];

/// Ends of words that are written without a separator, such as `Erntejahr` or `XCOORD`.
const OTHER_ENDS: &[&str] = &["jahr", "year", "coord", "koord", "fieldid", "zoneid", "rowid", "objid", "featureid"];

/// Whether a name has a word for something that is never worth a map.
pub(crate) fn is_other_name(name: &str, words: &[String]) -> bool {
    let is_other =
        |word: &String| OTHER_WORDS.contains(&word.as_str()) || OTHER_ENDS.iter().any(|end| word.ends_with(end));
    // `SeedNo` is a number, `NO3` is nitrate.
    let is_number = words.last().is_some_and(|word| word == "no") && name.ends_with(char::is_alphabetic);
    is_number || words.iter().any(is_other)
}

/// The words of a name, in lower case and without accents. Signs, digits and capitals after small letters separate them.
pub(crate) fn words(name: &str) -> Vec<String> {
    let mut words = vec![String::new()];
    let mut previous_is_lower = false;
    // The accents of decomposed names are signs of their own.
    for letter in name.chars().filter(|letter| !('\u{300}'..='\u{36f}').contains(letter)) {
        let starts = letter.is_uppercase() && previous_is_lower;
        previous_is_lower = letter.is_lowercase();
        if starts || !letter.is_alphabetic() {
            words.push(String::new());
        }
        if let Some(word) = words.last_mut().filter(|_| letter.is_alphabetic()) {
            word.extend(letter.to_lowercase().map(without_accent));
        }
    }
    words.retain(|word| !word.is_empty());
    words
}

/// A text with a capital first letter.
pub(crate) fn capitalized(text: &str) -> String {
    let mut letters = text.chars();
    letters.next().map_or_else(String::new, |first| first.to_uppercase().chain(letters).collect())
}
