//! Limits that makers of displays document for prescriptions in shapefiles.

use crate::error::{Error, Kind, Result};

/// Documented limits of a display or a farm system; `None` where none is documented.
#[derive(Debug)]
pub(super) struct Display {
    pub(super) name: &'static str,
    /// Words that select it, without blanks and signs.
    words: &'static [&'static str],
    pub(super) zones: Option<usize>,
    pub(super) bytes: Option<u64>,
    /// Acres of all zones.
    pub(super) acres: Option<f64>,
    /// Whether shapes must have no Z and no M.
    pub(super) is_plain: bool,
    /// Whether a name has at most 8 characters, without blanks.
    pub(super) has_short_names: bool,
}

const DISPLAYS: [Display; 4] = [
    // FieldView, "Import prescriptions": at most 100 zones; rates of 0 or more.
    Display {
        name: "FieldView",
        words: &["fieldview", "climatefieldview"],
        zones: Some(100),
        bytes: None,
        acres: None,
        is_plain: false,
        has_short_names: false,
    },
    // Raven CRX+, "Rx maps": polygons on WGS 84, not in sub-folders, which are errors for all displays.
    Display {
        name: "Raven CRX+",
        words: &["raven", "ravencrx", "crx"],
        zones: None,
        bytes: None,
        acres: None,
        is_plain: false,
        has_short_names: false,
    },
    // Seed Hawk, "Prescription maps": shapes of type 5, a numeric column, 20 MB, 1,200 acres.
    Display {
        name: "Seed Hawk",
        words: &["seedhawk"],
        zones: None,
        bytes: Some(20_000_000),
        acres: Some(1_200.0),
        is_plain: true,
        has_short_names: false,
    },
    // Agrotax, "Application maps": 100 areas, 250 kB, names of 8 characters.
    Display {
        name: "Agrotax",
        words: &["agrotax"],
        zones: Some(100),
        bytes: Some(250_000),
        acres: None,
        is_plain: false,
        has_short_names: true,
    },
];

impl Display {
    /// The display that a text names, in any spelling.
    pub(super) fn find(text: &str) -> Result<&'static Self> {
        let word: String = text.chars().filter(char::is_ascii_alphanumeric).collect::<String>().to_ascii_lowercase();
        DISPLAYS.iter().find(|display| display.words.contains(&word.as_str())).ok_or_else(|| {
            let names: Vec<String> = DISPLAYS.iter().map(|display| format!("\"{}\"", display.name)).collect();
            Error::new(Kind::Value, format!("`display`: expected {}, got `{text}`", names.join(", ")))
        })
    }
}
