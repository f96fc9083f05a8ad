//! The path of a field in a reply, such as `JobDataDetail.Products[2].AppliedArea`, and values that cannot be read.

use std::borrow::Cow;

/// A value that cannot be read and is null instead.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Unreadable {
    /// The path of its field.
    pub path: String,
    /// What is wrong with it.
    pub why: String,
}

#[derive(Clone, Copy, Debug)]
pub(super) enum Step<'a> {
    Field(&'a str),
    Item(usize),
}

impl<'a> From<&'a String> for Step<'a> {
    fn from(name: &'a String) -> Self {
        Self::Field(name)
    }
}

/// The path of these steps below `root`.
pub(super) fn written<'a>(root: &str, steps: impl IntoIterator<Item = Step<'a>>) -> String {
    steps.into_iter().fold(root.to_owned(), |path, step| match step {
        Step::Field(name) => format!("{path}.{name}"),
        Step::Item(index) => format!("{path}[{index}]"),
    })
}

/// As much of a text as fits into a message: what a reply holds may be as long as the reply.
pub(super) fn excerpt(text: &str) -> Cow<'_, str> {
    const MOST: usize = 200;
    match text.char_indices().nth(MOST) {
        Some((end, _)) => Cow::Owned(format!("{}...", text.get(..end).unwrap_or_default())),
        None => Cow::Borrowed(text),
    }
}
