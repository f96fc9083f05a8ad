//! What something that is not a zip looks like, for a message that helps.

use crate::wire::reply;

/// A clause such as `it looks like a web page`, from the first bytes.
pub(super) fn looks_like(first: &[u8]) -> String {
    let text = String::from_utf8_lossy(first);
    let plain = text.trim_start_matches('\u{feff}').trim_start();
    let lower: String = plain.chars().take(512).collect::<String>().to_ascii_lowercase();
    if first.is_empty() {
        return "it is empty (0 bytes)".to_owned();
    }
    if lower.starts_with("<!doctype html") || lower.contains("<html") {
        return format!("it looks like a web page: `{}`", excerpt(plain));
    }
    if plain.starts_with('{') {
        if let Some(response) = reply::decode_response(first) {
            return format!(
                "it is an answer of the service, not a file: status `{}`, `{}`",
                response.status, response.error_info
            );
        }
        return format!("it looks like JSON: `{}`", excerpt(plain));
    }
    if plain.starts_with('<') {
        return format!("it looks like XML: `{}`", excerpt(plain));
    }
    let known: [(&[u8], &str); 8] = [
        (b"PK", "it starts like a zip archive, but its end is missing, so it was probably cut off"),
        (&[0x1F, 0x8B], "it looks like gzip"),
        (b"7z\xBC\xAF\x27\x1C", "it looks like a 7z archive"),
        (b"Rar!", "it looks like a RAR archive"),
        (b"%PDF", "it looks like a PDF"),
        (b"BZh", "it looks like bzip2"),
        (&[0, 0, 0x27, 0x0A], "it looks like a bare .shp, whose siblings can only be found by its path"),
        (b"PAR1", "it looks like Parquet"),
    ];
    for (magic, what) in known {
        if first.starts_with(magic) {
            return what.to_owned();
        }
    }
    format!(
        "it starts with `{}`",
        first.iter().take(16).map(|byte| byte.escape_ascii().to_string()).collect::<String>()
    )
}

fn excerpt(text: &str) -> String {
    text.chars().take(60).map(|letter| if letter.is_control() { ' ' } else { letter }).collect()
}
