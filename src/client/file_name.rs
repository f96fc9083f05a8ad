//! File name of a download: the suggestion of `Content-Disposition`, made safe for any folder.

use http::HeaderMap;
use http::header::CONTENT_DISPOSITION;

use super::arguments::decode;

/// Longest file name of common file systems, in bytes.
pub(super) const LONGEST_NAME: usize = 255;

/// Longest name in bytes: file systems accept 255, and the `.part` file needs some.
const MAX_BYTES: usize = 180;

/// The sanitised name that the headers suggest; `None` if nothing usable is left.
pub(super) fn suggested_name(headers: &HeaderMap) -> Option<String> {
    let text = headers.get(CONTENT_DISPOSITION).map(|value| String::from_utf8_lossy(value.as_bytes()).into_owned())?;
    clean(&parse(&text)?)
}

/// The name in the header: `filename*` (RFC 8187: <https://www.rfc-editor.org/rfc/rfc8187>) before `filename` (RFC
/// 6266: <https://www.rfc-editor.org/rfc/rfc6266>).
fn parse(text: &str) -> Option<String> {
    let mut plain = None;
    for parameter in split(text).into_iter().skip(1) {
        let Some((name, value)) = parameter.split_once('=') else { continue };
        let value = value.trim();
        if name.trim().eq_ignore_ascii_case("filename*") {
            let mut parts = value.splitn(3, '\'');
            if let (Some(charset), Some(_), Some(encoded)) = (parts.next(), parts.next(), parts.next())
                && charset.eq_ignore_ascii_case("utf-8")
            {
                return Some(decode(encoded));
            }
        } else if name.trim().eq_ignore_ascii_case("filename") {
            plain = Some(unquote(value));
        }
    }
    plain
}

/// Splits at semicolons outside quotes.
fn split(text: &str) -> Vec<String> {
    let (mut parts, mut quoted, mut escaped) = (vec![String::new()], false, false);
    for c in text.chars() {
        if c == ';' && !quoted {
            parts.push(String::new());
            continue;
        }
        if c == '"' && !escaped {
            quoted = !quoted;
        }
        escaped = quoted && c == '\\' && !escaped;
        if let Some(part) = parts.last_mut() {
            part.push(c);
        }
    }
    parts
}

/// Removes quotes. A backslash only escapes a quote or itself: services send Windows paths unescaped.
fn unquote(value: &str) -> String {
    match value.strip_prefix('"').and_then(|value| value.strip_suffix('"')) {
        Some(inner) => inner.replace("\\\"", "\"").replace("\\\\", "\\"),
        None => value.to_owned(),
    }
}

/// Sanitises a name: no folders, no control characters, no reserved names or characters, not hidden. `None` if nothing
/// is left.
pub(super) fn clean(name: &str) -> Option<String> {
    let last = name.rsplit(['/', '\\']).next().unwrap_or_default();
    let kept: String = last
        .chars()
        .filter(|c| !c.is_control() && !is_invisible(*c))
        .map(|c| if matches!(c, '<' | '>' | ':' | '"' | '|' | '?' | '*') { '_' } else { c })
        .collect();
    let trimmed = kept.trim_start_matches(|c: char| c == '.' || c.is_whitespace());
    let trimmed = trimmed.trim_end_matches(|c: char| c == '.' || c.is_whitespace());
    if trimmed.is_empty() {
        return None;
    }
    let stem = trimmed.split('.').next().unwrap_or_default().trim_end().to_ascii_uppercase();
    let is_device = matches!(stem.as_str(), "CON" | "PRN" | "AUX" | "NUL")
        || (stem.len() == 4
            && (stem.starts_with("COM") || stem.starts_with("LPT"))
            && stem.ends_with(|c: char| c.is_ascii_digit()));
    Some(truncate(&if is_device { format!("_{trimmed}") } else { trimmed.to_owned() }))
}

/// Characters that reorder or hide text, so that a name looks like another one.
fn is_invisible(c: char) -> bool {
    matches!(c, '\u{200B}'..='\u{200F}' | '\u{202A}'..='\u{202E}' | '\u{2060}'..='\u{2069}' | '\u{FEFF}')
}

/// Truncates a name before its last extension.
fn truncate(name: &str) -> String {
    if name.len() <= MAX_BYTES {
        return name.to_owned();
    }
    let extension = name.rfind('.').and_then(|dot| name.get(dot..)).filter(|extension| extension.len() <= 16);
    let extension = extension.unwrap_or_default();
    let mut end = MAX_BYTES.saturating_sub(extension.len());
    while !name.is_char_boundary(end) {
        end = end.saturating_sub(1);
    }
    format!("{}{extension}", name.get(..end).unwrap_or_default())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn content_disposition_name_is_sanitised() {
        for (header, expected) in [
            (r#"attachment; filename="job 31.zip""#, Some("job 31.zip")),
            ("attachment; filename=plain.zip", Some("plain.zip")),
            ("attachment; filename=\"x.zip\"; filename*=UTF-8''f%C3%A4ld%20%2F1.zip", Some("1.zip")),
            ("attachment; filename*=utf-8'en'f%C3%A4ld.zip", Some("fäld.zip")),
            (r#"attachment; filename="a;b\"c.zip""#, Some("a;b_c.zip")),
            (r#"attachment; filename="../../etc/passwd""#, Some("passwd")),
            (r#"attachment; filename="C:\jobs\7.zip""#, Some("7.zip")),
            (r#"attachment; filename="..""#, None),
            (r#"attachment; filename=".bashrc""#, Some("bashrc")),
            (r#"attachment; filename="con.zip""#, Some("_con.zip")),
            (r#"attachment; filename="Lpt1""#, Some("_Lpt1")),
            ("attachment; filename=\"a\u{202e}piz.exe\"", Some("apiz.exe")),
            (r#"attachment; filename="   ""#, None),
            ("attachment", None),
            ("inline; filename=trailing. ", Some("trailing")),
        ] {
            let found = parse(header).and_then(|name| clean(&name));
            assert_eq!(found.as_deref(), expected, "{header}");
        }
    }

    #[test]
    fn long_name_is_truncated_before_its_extension() {
        let name = clean(&format!("{}.jdp.zip", "ä".repeat(300))).unwrap();
        assert!(name.len() <= MAX_BYTES && name.ends_with("ä.zip"), "{name}");
    }
}
