//! Where in a reply something is wrong: the path of a field, such as `JobDataDetail.Products[2].AppliedArea`.

use std::borrow::Cow;
use std::cell::RefCell;

/// The steps to the place of a failure, innermost first: they are noted on the way out, so that reading what is right
/// costs nothing.
#[derive(Debug, Default)]
pub(super) struct Trace(RefCell<Vec<Step>>);

#[derive(Debug)]
enum Step {
    Field(String),
    Item(usize),
}

impl Trace {
    /// The failure lies in that field.
    pub(super) fn field(&self, name: &str) {
        self.0.borrow_mut().push(Step::Field(shown(name).into_owned()));
    }

    /// The failure lies in that item of a list.
    pub(super) fn item(&self, index: usize) {
        self.0.borrow_mut().push(Step::Item(index));
    }

    /// The path below `root`; `None` where the failure lies in no field.
    pub(super) fn path(&self, root: &str) -> Option<String> {
        let steps = self.0.borrow();
        let mut path = root.to_owned();
        for step in steps.iter().rev() {
            match step {
                Step::Field(name) => {
                    path.push('.');
                    path.push_str(name);
                }
                Step::Item(index) => {
                    path.push('[');
                    path.push_str(&index.to_string());
                    path.push(']');
                }
            }
        }
        (!steps.is_empty()).then_some(path)
    }
}

/// As much of a text as fits into a message: what a reply holds may be as long as the reply.
pub(super) fn shown(text: &str) -> Cow<'_, str> {
    const MOST: usize = 200;
    match text.char_indices().nth(MOST) {
        Some((end, _)) => Cow::Owned(format!("{}...", text.get(..end).unwrap_or_default())),
        None => Cow::Borrowed(text),
    }
}
