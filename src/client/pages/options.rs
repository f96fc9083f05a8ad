//! Options of reading a list: leniently, page by page, or resumed from another process.

use std::sync::Arc;

use super::super::fetch::OnError;
use super::{First, Pages};
use crate::transport::Warnings;

/// The position of a reading between two pages.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Position {
    /// The page to read next.
    pub page: u64,
    /// `TotalCount` of the last page that was read.
    pub total: Option<u64>,
    /// Whether the reading is complete.
    pub is_at_end: bool,
}

impl Pages {
    /// Sets what happens with unreadable values.
    #[must_use]
    pub fn on_error(mut self, on_error: OnError) -> Self {
        self.fetcher.on_error = on_error;
        self
    }

    /// Sends the warnings about unreadable values to `warnings` instead of the client's.
    #[must_use]
    pub fn with_warnings(mut self, warnings: &Arc<Warnings>) -> Self {
        self.fetcher.warnings = Arc::clone(warnings);
        self
    }

    /// Fetches no page in advance: makes only the calls that the returned pages need.
    #[must_use]
    pub fn sequential(mut self) -> Self {
        self.prefetch.turn_off();
        self
    }

    /// Resumes a reading of another process, which returned the records `known`.
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

    /// The current position.
    #[must_use]
    pub fn position(&self) -> Position {
        Position { page: self.next, total: self.total, is_at_end: self.is_done }
    }
}
