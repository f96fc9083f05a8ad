//! Strings that cannot be printed or logged, and the hint that distinguishes keys in messages.

use std::fmt;

/// A secret. It has no `Display`, its `Debug` hides the text, and only [`Secret::expose`] returns it.
#[derive(Clone, PartialEq, Eq)]
pub struct Secret(String);

impl Secret {
    /// Wraps the text.
    #[must_use]
    pub fn new(text: impl Into<String>) -> Self {
        Self(text.into())
    }

    /// The text, for signing and sending only.
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

/// A hint that distinguishes keys in a message: the last four characters.
#[must_use]
pub fn hint(key: &str) -> String {
    let count = key.chars().count();
    if count < 12 {
        return HIDDEN.to_owned();
    }
    let tail: String = key.chars().skip(count.saturating_sub(4)).collect();
    format!("...{tail}")
}

/// The mask of a secret without a hint.
pub(crate) const HIDDEN: &str = "(hidden)";
