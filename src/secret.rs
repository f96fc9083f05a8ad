//! A text that cannot be printed: the shared secret, tokens.

use std::fmt;

/// A secret. It has no `Display`, its `Debug` shows nothing of it, and only [`Secret::expose`] gives it away.
#[derive(Clone, PartialEq, Eq)]
pub struct Secret(String);

impl Secret {
    /// Takes the text out of sight.
    #[must_use]
    pub fn new(text: impl Into<String>) -> Self {
        Self(text.into())
    }

    /// The text itself, for the one place that signs or sends it.
    #[must_use]
    pub fn expose(&self) -> &str {
        &self.0
    }
}

impl fmt::Debug for Secret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Secret(hidden)")
    }
}

/// Shortens a key to what tells two of them apart in a message: its last four characters.
#[must_use]
pub fn hint(key: &str) -> String {
    let count = key.chars().count();
    if count < 12 {
        return "(hidden)".to_owned();
    }
    let tail: String = key.chars().skip(count.saturating_sub(4)).collect();
    format!("...{tail}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_of_a_secret_is_printed() {
        let secret = Secret::new("AAECAwQFBgcICQ==");
        assert_eq!(format!("{secret:?}"), "Secret(hidden)");
        assert_eq!(hint("ApiKeyAbC123-long"), "...long");
        assert_eq!(hint("short"), "(hidden)");
    }
}
