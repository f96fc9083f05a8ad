//! Quotes JSON integers beyond 64 bits: as texts they keep all their digits, as floats they would be rounded.

use std::borrow::Cow;

/// The fewest digits of an integer beyond 64 bits.
const MIN_DIGITS: usize = 19;

/// Returns the body with such integers in quotes. Copies the body only if there is one.
#[must_use]
pub fn quote_big_ints(body: &[u8]) -> Cow<'_, [u8]> {
    // So many digits on end cover one of these places; usual bodies are not scanned.
    let places = body.iter().skip(MIN_DIGITS.saturating_sub(1)).step_by(MIN_DIGITS);
    if !places.enumerate().any(|(number, byte)| byte.is_ascii_digit() && is_long(body, number)) {
        return Cow::Borrowed(body);
    }
    let mut out = Vec::new();
    // `before` is the last character that is not white space.
    let (mut copied, mut before, mut at) = (0, b':', 0_usize);
    while let Some(&byte) = body.get(at) {
        let rest = body.get(at..).unwrap_or_default();
        let end = at.saturating_add(match byte {
            b'"' => text_length(rest),
            b'-' | b'0'..=b'9' => number_length(rest),
            _ => 1,
        });
        let token = body.get(at..end).unwrap_or_default();
        // A name stays unquoted, so that invalid JSON stays invalid.
        let is_value = matches!(before, b':' | b'[' | b',')
            && body.get(end..).unwrap_or_default().trim_ascii_start().first() != Some(&b':');
        if is_value && is_beyond(token) {
            out.extend_from_slice(body.get(copied..at).unwrap_or_default());
            out.push(b'"');
            out.extend_from_slice(token);
            out.push(b'"');
            copied = end;
        }
        if !byte.is_ascii_whitespace() {
            before = byte;
        }
        at = end;
    }
    if copied == 0 {
        return Cow::Borrowed(body);
    }
    out.extend_from_slice(body.get(copied..).unwrap_or_default());
    Cow::Owned(out)
}

/// Whether there are as many digits on end around that place.
fn is_long(body: &[u8], place: usize) -> bool {
    let at = place.saturating_add(1).saturating_mul(MIN_DIGITS).saturating_sub(1);
    let (before, after) = body.split_at_checked(at).unwrap_or_default();
    let is_digit = |byte: &&u8| byte.is_ascii_digit();
    let (before, after) = (before.iter().rev().take_while(is_digit), after.iter().take_while(is_digit));
    before.count().saturating_add(after.count()) >= MIN_DIGITS
}

/// Returns the length of the text that begins here, with its quotes.
pub(super) fn text_length(rest: &[u8]) -> usize {
    let mut is_escaped = false;
    let end = rest.iter().skip(1).position(|byte| {
        let is_end = *byte == b'"' && !is_escaped;
        is_escaped = *byte == b'\\' && !is_escaped;
        is_end
    });
    end.map_or(rest.len(), |end| end.saturating_add(2))
}

/// Returns the length of the number that begins here.
fn number_length(rest: &[u8]) -> usize {
    rest.iter().take_while(|byte| matches!(byte, b'-' | b'+' | b'.' | b'e' | b'E' | b'0'..=b'9')).count()
}

/// Whether this is an integer outside the ranges of `i64` and `u64`.
fn is_beyond(token: &[u8]) -> bool {
    let digits = token.strip_prefix(b"-").unwrap_or(token);
    let is_whole = digits.iter().all(u8::is_ascii_digit) && digits.first().is_some_and(|first| *first != b'0');
    let Ok(text) = std::str::from_utf8(token) else { return false };
    is_whole && digits.len() >= MIN_DIGITS && text.parse::<i64>().is_err() && text.parse::<u64>().is_err()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(body: &str) -> String {
        String::from_utf8(quote_big_ints(body.as_bytes()).into_owned()).unwrap()
    }

    #[test]
    fn integers_beyond_64_bits_are_quoted() {
        for (body, expected) in [
            (r#"{"a":18446744073709551616}"#, r#"{"a":"18446744073709551616"}"#),
            (r#"{"a" : [ -9223372036854775809 , 1]}"#, r#"{"a" : [ "-9223372036854775809" , 1]}"#),
            ("123456789012345678901", "\"123456789012345678901\""),
            (
                r#"["\\",123456789012345678901,{"b":123456789012345678902}]"#,
                r#"["\\","123456789012345678901",{"b":"123456789012345678902"}]"#,
            ),
        ] {
            assert_eq!(read(body), expected);
        }
    }

    #[test]
    fn other_bodies_are_unchanged() {
        for body in [
            r#"{"a":18446744073709551615,"b":-9223372036854775808}"#,
            r#"{"a":0.12345678901234567890123,"b":1234567890123456789012e3,"c":1234567890123456789012.0}"#,
            r#"{"a":"123456789012345678901","b":"\\\":123456789012345678901"}"#,
            // Invalid JSON stays invalid.
            "{123456789012345678901 : 1}",
            r#"{"a":1, 123456789012345678901: 1}"#,
            r#"{"a":000123456789012345678901}"#,
            r#"{"a":--123456789012345678901}"#,
            r#"{"a" 123456789012345678901}"#,
            r#"{"123456789012345678901"#,
            "",
        ] {
            assert_eq!(read(body), body);
        }
    }
}
