//! Pages that are requested together, a fixed number at once, before the caller asks for them.
//!
//! Only a list whose newest records come first is read so. A record can move to a later page while the replies cross, so
//! that it is on none of them. Such a move shows: the page has another `TotalCount`, or records stand in front that were
//! not there before. `pages.rs` looks at both, and reads the list again page by page if it moved. A record that is added
//! and removed again while the replies of one batch cross, with another one removed and restored, would not show.

use std::collections::VecDeque;

use super::fetch::RawPage;

/// Pages that are requested at once.
pub(super) const DEPTH: u64 = 8;

/// Pages at the start that are read one by one, for callers who want only the newest records.
const FIRST_PAGES: u64 = 3;

/// The pages that came and were not asked for yet.
#[derive(Debug, Default)]
pub(super) struct Prefetch {
    ready: VecDeque<(u64, RawPage)>,
    has_run: bool,
    is_off: bool,
}

impl Prefetch {
    /// Requests no pages together from now on, and drops those that came.
    pub(super) fn turn_off(&mut self) {
        *self = Self { is_off: true, ..Self::default() };
    }

    /// Whether pages were requested together.
    pub(super) const fn has_run(&self) -> bool {
        self.has_run
    }

    /// The page if it came already. All other pages are dropped if it did not.
    pub(super) fn take(&mut self, page: u64) -> Option<RawPage> {
        if self.ready.front().is_some_and(|(number, _)| *number != page) {
            self.ready.clear();
        }
        self.ready.pop_front().map(|(_, raw)| raw)
    }

    /// The number of pages to request from `page` on; `behind` more are promised, and `slots` calls may start now.
    pub(super) fn page_count(&self, page: u64, behind: u64, slots: u64) -> u64 {
        // One slot is left for the look at the first page that ends the reading.
        let is_possible = !self.is_off && page >= FIRST_PAGES && behind >= DEPTH && slots > behind.saturating_add(1);
        if is_possible { DEPTH } else { 1 }
    }

    /// Keeps the pages that came behind `page`.
    pub(super) fn store(&mut self, page: u64, behind: impl Iterator<Item = RawPage>) {
        self.has_run = true;
        self.ready = (page.saturating_add(1)..).zip(behind).collect();
    }
}
