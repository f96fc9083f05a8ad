//! Finds and masks secrets in texts and replies of a service, also escaped and in base64.

use std::borrow::Cow;
use std::fmt;
use std::ops::Range;
use std::sync::Arc;

use base64::Engine as _;
use base64::engine::general_purpose::{STANDARD_NO_PAD, URL_SAFE_NO_PAD};

use crate::secret::{HIDDEN, Secret, hint};

/// Shorter secrets are only masked as whole texts, since inside a longer text they may occur by chance.
const SHORTEST_PART: usize = 8;

/// Shorter secrets are unchanged inside the values of a reply, which are data and may contain them by chance.
const SHORTEST_IN_DATA: usize = 20;

/// A secret inside a text: its bytes, kind and mask.
pub type Found<'a> = (Range<usize>, SecretKind, &'a str);

/// The kind of a secret.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SecretKind {
    /// The partner's API key.
    ApiKey,
    /// The customer's access key.
    AccessKey,
    /// The partner's shared secret.
    SharedSecret,
    /// A bearer token.
    Token,
}

impl SecretKind {
    /// Its name for messages.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::ApiKey => "API key",
            Self::AccessKey => "access key",
            Self::SharedSecret => "shared secret",
            Self::Token => "token",
        }
    }
}

/// The secrets of a client, to be masked in replies of a service.
///
/// A secret is found in any letter case and as the base64 of its text (both alphabets). Any of its characters may be
/// percent-encoded, escaped as in JSON, or an XML reference. Other encodings are not found.
#[derive(Clone, Default)]
pub struct Secrets {
    needles: Arc<Vec<Needle>>,
}

/// One form of a secret.
#[derive(Clone)]
struct Needle {
    text: Vec<u8>,
    kind: SecretKind,
    mask: String,
}

impl fmt::Debug for Secrets {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Secrets(hidden)")
    }
}

impl Secrets {
    /// The same secrets with one more.
    #[must_use]
    pub fn with(&self, kind: SecretKind, secret: &Secret) -> Self {
        let text = secret.expose().trim();
        let mask = match kind {
            SecretKind::ApiKey | SecretKind::AccessKey => hint(text),
            SecretKind::SharedSecret | SecretKind::Token => HIDDEN.to_owned(),
        };
        let encoded = [STANDARD_NO_PAD.encode(text), URL_SAFE_NO_PAD.encode(text)];
        let forms = std::iter::once(text.to_owned()).chain(encoded.into_iter().filter(|_| text.len() >= SHORTEST_PART));
        let mut needles = (*self.needles).clone();
        for form in forms.map(String::into_bytes) {
            if !form.is_empty() && needles.iter().all(|known| known.text != form) {
                needles.push(Needle { text: form, kind, mask: mask.clone() });
            }
        }
        Self { needles: Arc::new(needles) }
    }

    /// Whether a body may contain one of them.
    #[must_use]
    #[expect(clippy::indexing_slicing, reason = "each byte has its place among 256")]
    pub fn may_be_in(&self, body: &[u8]) -> bool {
        // Any character of a secret may be percent-encoded, escaped, or a reference.
        let escapes = b"%\\&";
        let set = |bytes: &mut dyn Iterator<Item = &u8>| {
            let mut is_in = [false; 256];
            for byte in bytes {
                is_in[usize::from(byte.to_ascii_lowercase())] = true;
                is_in[usize::from(byte.to_ascii_uppercase())] = true;
            }
            is_in
        };
        let texts = || self.needles.iter().map(|needle| needle.text.as_slice());
        let is_first = set(&mut texts().filter_map(<[u8]>::first).chain(escapes));
        // Few pairs of characters begin a secret, while many single ones do. A secret of one character has no second.
        let is_second = set(&mut texts().filter_map(|text| text.get(1)).chain(escapes));
        let has_short = texts().any(|text| text.len() == 1);
        let may_begin = |position: usize, first: &u8| {
            let second = body.get(position.saturating_add(1));
            has_short || escapes.contains(first) || second.is_some_and(|second| is_second[usize::from(*second)])
        };
        let begins = |position| self.needles.iter().any(|needle| needle.match_end(body, position).is_some());
        body.iter()
            .enumerate()
            .any(|(position, first)| is_first[usize::from(*first)] && may_begin(position, first) && begins(position))
    }

    /// The kind and the mask of the secret that is equal to the whole text.
    #[must_use]
    pub fn find_exact(&self, text: &[u8]) -> Option<(SecretKind, &str)> {
        let text = text.trim_ascii();
        let needle = self.needles.iter().find(|needle| needle.match_end(text, 0) == Some(text.len()))?;
        Some((needle.kind, &needle.mask))
    }

    /// The secret that is equal to the whole text, otherwise all long ones inside it.
    #[must_use]
    pub fn find_in_data(&self, text: &[u8]) -> Vec<Found<'_>> {
        if let Some((kind, mask)) = self.find_exact(text) {
            return vec![(0..text.len(), kind, mask)];
        }
        let long: Vec<&Needle> = self.needles.iter().filter(|needle| needle.text.len() >= SHORTEST_IN_DATA).collect();
        let (mut found, mut position) = (Vec::new(), 0);
        while position < text.len() {
            let matches = long.iter().filter_map(|needle| Some((needle.match_end(text, position)?, *needle)));
            position = match matches.max_by_key(|(end, _)| *end) {
                Some((end, needle)) => {
                    found.push((position..end, needle.kind, needle.mask.as_str()));
                    end
                }
                None => position.saturating_add(1),
            };
        }
        found
    }

    /// The text with each secret masked, for messages. A truncated text may end inside a secret.
    #[must_use]
    pub fn mask<'a>(&self, text: &'a str) -> Cow<'a, str> {
        if let Some((_, mask)) = self.find_exact(text.as_bytes()) {
            return Cow::Owned(mask.to_owned());
        }
        let bytes = text.as_bytes();
        let (mut out, mut copied, mut position) = (String::new(), 0, 0);
        while position < bytes.len() {
            let long = self.needles.iter().filter(|needle| needle.text.len() >= SHORTEST_PART);
            let found = long
                .filter_map(|needle| Some((needle.match_end_or_truncated(bytes, position)?, needle)))
                .max_by_key(|f| f.0);
            match found {
                Some((end, needle)) if text.is_char_boundary(position) && text.is_char_boundary(end) => {
                    out.push_str(text.get(copied..position).unwrap_or_default());
                    out.push_str(&needle.mask);
                    (copied, position) = (end, end);
                }
                _ => position = position.saturating_add(1),
            }
        }
        if copied == 0 {
            return Cow::Borrowed(text);
        }
        out.push_str(text.get(copied..).unwrap_or_default());
        Cow::Owned(out)
    }
}

impl Needle {
    /// The end of the match at `position`. A short secret must not be a part of a longer word.
    fn match_end(&self, text: &[u8], position: usize) -> Option<usize> {
        let (matched, end) = self.match_prefix(text, position);
        let is_word = || {
            let is_letter = |byte: Option<&u8>| byte.is_some_and(u8::is_ascii_alphanumeric);
            !is_letter(text.get(end)) && !position.checked_sub(1).is_some_and(|before| is_letter(text.get(before)))
        };
        (matched == self.text.len() && (matched >= SHORTEST_PART || is_word())).then_some(end)
    }

    /// The same, or the end of a text that is truncated in the last quarter of the secret.
    fn match_end_or_truncated(&self, text: &[u8], position: usize) -> Option<usize> {
        let (matched, end) = self.match_prefix(text, position);
        let rest = text.get(end..).unwrap_or_default();
        let is_long = matched.saturating_mul(4) >= self.text.len().saturating_mul(3);
        let is_truncated = is_long && (rest.is_empty() || rest.starts_with(b"...") || rest.first() == Some(&b'`'));
        (matched == self.text.len() || is_truncated).then_some(end)
    }

    /// The number of bytes that match at `position`, and the end of the match.
    fn match_prefix(&self, text: &[u8], position: usize) -> (usize, usize) {
        let mut end = position;
        for (matched, byte) in self.text.iter().enumerate() {
            let found = match text.get(end) {
                Some(plain) if plain.eq_ignore_ascii_case(byte) => Some(end.saturating_add(1)),
                Some(_) => decode_escape(text.get(end..).unwrap_or_default())
                    .filter(|(found, _)| found.eq_ignore_ascii_case(byte))
                    .map(|(_, length)| end.saturating_add(length)),
                None => None,
            };
            match found {
                Some(next) => end = next,
                None => return (matched, end),
            }
        }
        let padding = text.get(end..).unwrap_or_default().iter().take(2).take_while(|byte| **byte == b'=').count();
        (self.text.len(), end.saturating_add(padding))
    }
}

/// The byte that an escape at the beginning of a text means, and the length of the escape.
fn decode_escape(text: &[u8]) -> Option<(u8, usize)> {
    let code = |digits: &[u8], radix: u32| {
        let digits = std::str::from_utf8(digits).ok().filter(|digits| !digits.starts_with('+'))?;
        u8::from_str_radix(digits, radix).ok()
    };
    match text {
        [b'%', high, low, ..] => Some((code(&[*high, *low], 16)?, 3)),
        [b'\\', b'u', b'0', b'0', high, low, ..] => Some((code(&[*high, *low], 16)?, 6)),
        [b'\\', byte @ (b'/' | b'"' | b'\\'), ..] => Some((*byte, 2)),
        [b'&', rest @ ..] => {
            let name = rest.get(..rest.iter().take(8).position(|byte| *byte == b';')?)?;
            let byte = match name {
                [b'#', b'x' | b'X', digits @ ..] => code(digits, 16)?,
                [b'#', digits @ ..] => code(digits, 10)?,
                b"amp" => b'&',
                b"lt" => b'<',
                b"gt" => b'>',
                b"quot" => b'"',
                b"apos" => b'\'',
                _ => return None,
            };
            Some((byte, name.len().saturating_add(2)))
        }
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn secrets() -> Secrets {
        Secrets::default()
            .with(SecretKind::ApiKey, &Secret::new("ApiKeyAbC123-long"))
            .with(SecretKind::SharedSecret, &Secret::new("AAE+AwQ/BgcICQ=="))
            .with(SecretKind::Token, &Secret::new("short"))
    }

    #[test]
    fn debug_output_hides_the_secret() {
        let secret = Secret::new("AAECAwQFBgcICQ==");
        assert_eq!(format!("{secret:?}"), "Secret(hidden)");
        assert_eq!(format!("{:?}", secrets()), "Secrets(hidden)");
        assert_eq!(hint("ApiKeyAbC123-long"), "...long");
        assert_eq!(hint("short"), "(hidden)");
    }

    #[test]
    fn each_form_of_a_secret_is_masked() {
        for (text, expected) in [
            ("key ApiKeyAbC123-long failed", "key ...long failed"),
            ("key APIKEYABC123-LONG failed", "key ...long failed"),
            ("key ApiKeyAbC123%2dlong, ApiKeyAbC123%2Dlong", "key ...long, ...long"),
            ("key \\u0041piKeyAbC123-long", "key ...long"),
            ("key &#65;piKeyAbC123&#x2D;long.", "key ...long."),
            ("AAE+AwQ/BgcICQ==", "(hidden)"),
            ("(AAE%2BAwQ%2fBgcICQ%3D%3D)", "((hidden))"),
            ("(AAE\\u002bAwQ\\/BgcICQ==)", "((hidden))"),
            ("Basic QXBpS2V5QWJDMTIzLWxvbmc=.", "Basic ...long."),
            ("short", "(hidden)"),
            (" short\n", "(hidden)"),
            // Truncated inside a secret.
            ("`text/plain: ApiKeyAbC123-`", "`text/plain: ...long`"),
            ("the key ApiKeyAbC123-l...", "the key ...long..."),
        ] {
            assert_eq!(secrets().mask(text), expected, "{text}");
            let is_truncated = text.contains(['`']) || text.ends_with("...");
            assert_eq!(secrets().may_be_in(text.as_bytes()), !is_truncated, "{text}");
        }
    }

    #[test]
    fn long_secret_is_found_at_every_offset_of_any_body() {
        let key = Secret::new("0123456789abcdefGHIJ");
        for secrets in [
            Secrets::default().with(SecretKind::ApiKey, &key),
            Secrets::default().with(SecretKind::ApiKey, &key).with(SecretKind::Token, &Secret::new("aaaaaaaab")),
        ] {
            for length in 0..70 {
                for position in 0..=length {
                    let mut body = b"aaaaaaaa89abcdefghi0123456789abcdef-aaaaaaaaghijGHIJ_0123456789abcdef!".to_vec();
                    body.truncate(length);
                    assert!(!secrets.may_be_in(&body), "{length}");
                    body.splice(position..position, *b"0123456789ABCDEFghij");
                    assert!(secrets.may_be_in(&body), "{length} {position}");
                }
            }
        }
    }

    #[test]
    fn text_without_secrets_is_unchanged() {
        for text in ["a short text", "ApiKeyAb and ApiKeyAbC12 are parts", "AAE+AwQ", "100 %, \\ and &", "", "%", "é"]
        {
            assert_eq!(secrets().mask(text), text);
        }
        assert!(!secrets().may_be_in(b"shorter, ashort, ApiKeyAbC123-lon"));
        assert!(secrets().may_be_in(b"{\"a\":\"short\"}"));
        assert_eq!(Secrets::default().mask("x"), "x");
        assert!(!Secrets::default().may_be_in(b"x"));
    }

    #[test]
    fn text_equal_to_a_secret_yields_its_kind() {
        let secrets = secrets();
        assert_eq!(secrets.find_exact(b" ApiKeyAbC123-long "), Some((SecretKind::ApiKey, "...long")));
        assert_eq!(secrets.find_exact(b"the ApiKeyAbC123-long"), None);
        assert_eq!(secrets.find_exact(b"short"), Some((SecretKind::Token, "(hidden)")));
    }
}
