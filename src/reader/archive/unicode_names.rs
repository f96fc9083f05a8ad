//! Finds names regardless of their Unicode normal form: composed (NFC), or decomposed (NFD) as macOS writes them.

use std::collections::HashSet;

use icu_normalizer::ComposingNormalizerBorrowed;

use headland_base::error::{Error, Kind, Result};

/// Finds a name, or else the only one that is equal to it in NFC ([UAX #15](https://www.unicode.org/reports/tr15/));
/// `None` if there is none.
///
/// Several names with the same NFC are an error about `argument`, which shows them in ASCII.
pub fn find_name<'a>(
    argument: &str,
    wanted: &str,
    names: impl Iterator<Item = &'a str> + Clone,
) -> Result<Option<&'a str>> {
    if let Some(same) = names.clone().find(|name| *name == wanted) {
        return Ok(Some(same));
    }
    if wanted.is_ascii() {
        return Ok(None);
    }
    let nfc = ComposingNormalizerBorrowed::new_nfc();
    let composed = nfc.normalize(wanted);
    let mut seen = HashSet::new();
    let matches: Vec<&str> = names.filter(|name| nfc.normalize(name) == composed && seen.insert(*name)).collect();
    match &*matches {
        [] => Ok(None),
        [name] => Ok(Some(name)),
        several => {
            let several: Vec<String> = several.iter().map(|name| ascii_literal(name)).collect();
            let message = format!(
                "ambiguous `{argument}`: expected one of {}, which look alike, got {}",
                several.join(", "),
                ascii_literal(wanted)
            );
            Err(Error::new(Kind::Value, message))
        }
    }
}

/// A text as a Python literal in ASCII.
fn ascii_literal(text: &str) -> String {
    let escaped = |letter: char| match u32::from(letter) {
        0x20..=0x7E if !matches!(letter, '\'' | '\\') => letter.to_string(),
        code @ ..=0xFF => format!("\\x{code:02x}"),
        code @ ..=0xFFFF => format!("\\u{code:04x}"),
        code => format!("\\U{code:08x}"),
    };
    format!("'{}'", text.chars().map(escaped).collect::<String>())
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a test says what it expects by unwrapping")]
mod tests {
    use super::find_name;

    const COMPOSED: &str = "Fl\u{e4}che";
    const DECOMPOSED: &str = "Fla\u{308}che";

    #[test]
    fn name_in_the_other_normal_form_is_found() {
        for (first, second) in [(COMPOSED, DECOMPOSED), (DECOMPOSED, COMPOSED)] {
            let names = || ["Flache", first, first].into_iter();
            assert_eq!(find_name("layer", first, names()).unwrap(), Some(first));
            assert_eq!(find_name("layer", second, names()).unwrap(), Some(first));
            assert_eq!(find_name("layer", "fl\u{e4}che", names()).unwrap(), None);
        }
    }

    #[test]
    fn exact_name_comes_before_its_other_form() {
        assert_eq!(find_name("layer", DECOMPOSED, [COMPOSED, DECOMPOSED].into_iter()).unwrap(), Some(DECOMPOSED));
    }

    #[test]
    fn several_names_that_look_alike_are_an_error_in_ascii() {
        let names = ["\u{1eb9}\u{302}'", "\u{ea}\u{323}'"].into_iter();
        let error = find_name("columns", "e\u{323}\u{302}'", names).unwrap_err();
        let message = error.message();
        let expected = r"ambiguous `columns`: expected one of '\u1eb9\u0302\x27', '\xea\u0323\x27', which look alike, ";
        assert_eq!(message.strip_prefix(expected), Some(r"got 'e\u0323\u0302\x27'"), "{message}");
    }
}
