//! How a list is read where that is not as usual: leniently, page by page, or on from where another process stopped.

use std::sync::Arc;

use super::super::fetch::OnError;
use super::{First, Pages};
use crate::transport::Warnings;

/// Where the reading of a list stands between two pages.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Position {
    /// The page to read next.
    pub page: u64,
    /// `TotalCount` of the last page that was read.
    pub total: Option<u64>,
    /// Whether the list is at its end.
    pub is_at_end: bool,
}

impl Pages {
    /// The same list with another way to take values that cannot be read.
    #[must_use]
    pub fn on_error(mut self, on_error: OnError) -> Self {
        self.fetcher.on_error = on_error;
        self
    }

    /// The same list, whose warnings of such values go there and not to the client's.
    #[must_use]
    pub fn with_warnings(mut self, warnings: &Arc<Warnings>) -> Self {
        self.fetcher.warnings = Arc::clone(warnings);
        self
    }

    /// The same list with no call but those that its pages need: nothing is fetched ahead.
    #[must_use]
    pub fn sequential(mut self) -> Self {
        self.prefetch.turn_off();
        self
    }

    /// Goes on with a reading that another process began, in which the records `known` came.
    #[must_use]
    pub fn resumed<'a>(mut self, position: Position, known: impl IntoIterator<Item = &'a str>) -> Self {
        for identity in known {
            self.seen.insert(identity);
        }
        self.received = u64::try_from(self.seen.len()).unwrap_or(u64::MAX);
        (self.next, self.frontier, self.total, self.is_done) =
            (position.page, position.page, position.total, position.is_at_end);
        self.first = First::Returned;
        self
    }

    /// Where the reading stands.
    #[must_use]
    pub fn position(&self) -> Position {
        Position { page: self.next, total: self.total, is_at_end: self.is_done }
    }
}
