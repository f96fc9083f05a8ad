//! Where in a reply something is wrong: the path of a field, such as `JobDataDetail.Products[2].AppliedArea`; and values
//! of records that are left out because they cannot be read.

use std::borrow::Cow;
use std::cell::RefCell;

use crate::api::envelope::SERVICE_INDEX;

/// The steps to the place of a failure, innermost first: they are noted on the way out, so that reading what is right
/// costs nothing.
#[derive(Debug, Default)]
pub(super) struct FieldPath {
    steps: RefCell<Vec<Step>>,
    leniency: Option<Leniency>,
}

/// A value that cannot be read and is null instead.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Unreadable {
    /// The path of its field.
    pub path: String,
    /// What is wrong with it.
    pub why: String,
}

/// Values of records that cannot be read, and where in the list reading is.
#[derive(Debug, Default)]
struct Leniency {
    here: RefCell<Vec<Step>>,
    unreadable: RefCell<Vec<Unreadable>>,
}

#[derive(Clone, Debug)]
pub(super) enum Step {
    Field(String),
    Item(usize),
}

impl FieldPath {
    /// A trace for a list whose records may have unreadable values.
    pub(super) fn lenient() -> Self {
        Self { leniency: Some(Leniency::default()), ..Self::default() }
    }

    /// Reading enters an item of a list, or a record inside a record.
    pub(super) fn enter(&self, step: impl FnOnce() -> Step) {
        if let Some(leniency) = &self.leniency {
            leniency.here.borrow_mut().push(step());
        }
    }

    /// Reading leaves what it entered last.
    pub(super) fn leave(&self) {
        if let Some(leniency) = &self.leniency {
            leniency.here.borrow_mut().pop();
        }
    }

    /// Whether values that cannot be read are null here: in the records of a list, not in its envelope, whose values decide
    /// which records are read.
    pub(super) fn is_lenient(&self) -> bool {
        self.leniency.as_ref().is_some_and(|leniency| !leniency.here.borrow().is_empty())
    }

    /// Notes that the value of a field is null because it cannot be read. Says no where such a value is an error.
    #[must_use]
    pub(super) fn excuse(&self, field: &str, why: &str) -> bool {
        let Some(leniency) = self.leniency.as_ref().filter(|_| self.is_lenient()) else { return false };
        let here = leniency.here.borrow();
        let path = written(SERVICE_INDEX.name, here.iter().chain([&Step::Field(excerpt(field).into_owned())]));
        leniency.unreadable.borrow_mut().push(Unreadable { path, why: excerpt(why).into_owned() });
        true
    }

    /// The values that could not be read.
    pub(super) fn into_unreadable(self) -> Vec<Unreadable> {
        self.leniency.map(|leniency| leniency.unreadable.into_inner()).unwrap_or_default()
    }

    /// The failure lies in that field.
    pub(super) fn field(&self, name: &str) {
        self.steps.borrow_mut().push(Step::Field(excerpt(name).into_owned()));
    }

    /// The failure lies in that item of a list.
    pub(super) fn item(&self, index: usize) {
        self.steps.borrow_mut().push(Step::Item(index));
    }

    /// The path below `root`; `None` where the failure lies in no field.
    pub(super) fn path(&self, root: &str) -> Option<String> {
        let steps = self.steps.borrow();
        (!steps.is_empty()).then(|| written(root, steps.iter().rev()))
    }
}

fn written<'a>(root: &str, steps: impl Iterator<Item = &'a Step>) -> String {
    steps.fold(root.to_owned(), |path, step| match step {
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
