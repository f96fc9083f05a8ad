//! Prefetch: requests a fixed number of pages concurrently, before the caller needs them.
//!
//! Only newest-first lists are prefetched. While the replies are in flight, a record can move to a later page, so that
//! no page contains it. Such a move is detected: the page has another `TotalCount`, or there are new records at the
//! front. `pages.rs` checks both, and reads a changed list again page by page. One case is not detected: within one
//! batch a record is added and removed again, and another one is removed and restored.

use std::collections::VecDeque;

use super::fetch::RawPage;

/// Number of pages that are requested concurrently.
pub(super) const DEPTH: u64 = 8;

/// Number of pages at the start that are read one by one, for callers that need only the newest records.
const FIRST_PAGES: u64 = 3;

/// Pages that were received in advance.
#[derive(Debug, Default)]
pub(super) struct Prefetch {
    ready: VecDeque<(u64, RawPage)>,
    has_run: bool,
    is_off: bool,
}

impl Prefetch {
    /// Disables prefetching and drops the stored pages.
    pub(super) fn turn_off(&mut self) {
        *self = Self { is_off: true, ..Self::default() };
    }

    /// Whether any pages were requested concurrently.
    pub(super) const fn has_run(&self) -> bool {
        self.has_run
    }

    /// Returns the page if it was received in advance. Otherwise drops all stored pages.
    pub(super) fn take(&mut self, page: u64) -> Option<RawPage> {
        if self.ready.front().is_some_and(|(number, _)| *number != page) {
            self.ready.clear();
        }
        self.ready.pop_front().map(|(_, raw)| raw)
    }

    /// The number of pages to request from `page` on. `behind` is the number of announced later pages, `slots` the
    /// number of calls that may start now.
    pub(super) fn page_count(&self, page: u64, behind: u64, slots: u64) -> u64 {
        // One slot is reserved for the check of the first page that ends the reading.
        let is_possible = !self.is_off && page >= FIRST_PAGES && behind >= DEPTH && slots > behind.saturating_add(1);
        if is_possible { DEPTH } else { 1 }
    }

    /// Stores the pages that follow `page`.
    pub(super) fn store(&mut self, page: u64, behind: impl Iterator<Item = RawPage>) {
        self.has_run = true;
        self.ready = (page.saturating_add(1)..).zip(behind).collect();
    }
}
