//! Whole numbers beyond 64 bits in JSON: they become texts with all their digits before anybody reads them as floats.

use std::borrow::Cow;

/// No whole number of fewer digits is beyond 64 bits.
const MANY: usize = 19;

/// The body with such numbers in quotes, so that ids keep their digits and no other value is rounded without a word.
/// A copy is made only where there is one.
pub(crate) fn quoted(body: &[u8]) -> Cow<'_, [u8]> {
    if !has_many(body) {
        return Cow::Borrowed(body);
    }
    let mut out = Vec::new();
    // What is copied so far, and what the last character was that is no blank.
    let (mut copied, mut before, mut at) = (0, b':', 0_usize);
    while let Some(&byte) = body.get(at) {
        let rest = body.get(at..).unwrap_or_default();
        let end = at.saturating_add(match byte {
            b'"' => text_length(rest),
            b'-' | b'0'..=b'9' => number_length(rest),
            _ => 1,
        });
        let token = body.get(at..end).unwrap_or_default();
        // What is no JSON stays none: a name has to be a text already.
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

/// Whether so many digits stand side by side anywhere: of those, one stands at every so manieth place.
fn has_many(body: &[u8]) -> bool {
    let digits = |part: &[u8], is_back: bool| {
        let is_digit = |byte: &&u8| byte.is_ascii_digit();
        if is_back {
            part.iter().rev().take(MANY).take_while(is_digit).count()
        } else {
            part.iter().take(MANY).take_while(is_digit).count()
        }
    };
    (0..body.len()).step_by(MANY).any(|at| {
        body.split_at_checked(at).is_some_and(|(front, back)| {
            back.first().is_some_and(u8::is_ascii_digit)
                && digits(front, true).saturating_add(digits(back, false)) >= MANY
        })
    })
}

/// How long the text is that begins here, with its quotes.
pub(super) fn text_length(rest: &[u8]) -> usize {
    let mut is_escaped = false;
    let end = rest.iter().skip(1).position(|byte| {
        let is_end = *byte == b'"' && !is_escaped;
        is_escaped = *byte == b'\\' && !is_escaped;
        is_end
    });
    end.map_or(rest.len(), |end| end.saturating_add(2))
}

/// How long the number is that begins here, whatever kind of number it is.
fn number_length(rest: &[u8]) -> usize {
    rest.iter().take_while(|byte| matches!(byte, b'-' | b'+' | b'.' | b'e' | b'E' | b'0'..=b'9')).count()
}

/// Whether this is a whole number that neither 64 bits with a sign nor 64 without one can hold.
fn is_beyond(token: &[u8]) -> bool {
    let digits = token.strip_prefix(b"-").unwrap_or(token);
    let is_whole = digits.iter().all(u8::is_ascii_digit) && digits.first().is_some_and(|first| *first != b'0');
    let Ok(text) = std::str::from_utf8(token) else { return false };
    is_whole && digits.len() >= MANY && text.parse::<i64>().is_err() && text.parse::<u64>().is_err()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(body: &str) -> String {
        String::from_utf8(quoted(body.as_bytes()).into_owned()).unwrap()
    }

    #[test]
    fn whole_numbers_beyond_64_bits_are_put_in_quotes() {
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
    fn all_else_stays_as_it_is() {
        for body in [
            r#"{"a":18446744073709551615,"b":-9223372036854775808}"#,
            r#"{"a":0.12345678901234567890123,"b":1234567890123456789012e3,"c":1234567890123456789012.0}"#,
            r#"{"a":"123456789012345678901","b":"\\\":123456789012345678901"}"#,
            // None of these is JSON, before and after.
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
