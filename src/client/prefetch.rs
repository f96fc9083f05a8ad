//! Pages that are fetched together before they are asked for, where that gives the same list as one after the other.
//!
//! Reading a list whose newest records come first is safe in the order of its pages, because records only move to later
//! pages as long as the count stays. Pages that are fetched together are looked at in any order, so a record that moved
//! meanwhile could be on neither of two. What is given of them is therefore unproven until a look at the first record
//! and the count, taken after all of them have come, shows the same as the look before them: then nothing was added in
//! front, and with that nothing was removed. Where it shows something else, or one of the pages has another count, reading
//! goes back to the first unproven page, one by one; what was given already is known by its id and not given again.
//!
//! Nothing is in flight between two pages that the user asks for: nobody may ask for the second one for hours.

use std::collections::VecDeque;

use super::fetch::Arrived;
use crate::error::Result;

/// So many requests are in flight at most.
const MOST: u64 = 32;

/// Fewer pages are not worth the look that proves them.
const LEAST: u64 = 4;

/// So many pages are read one by one first: who only wants the newest records stops before.
const ALONE: u32 = 3;

/// A list that moved so often is read one by one from then on.
const MOVES: u32 = 3;

/// A limiter must have room for so many looks besides all pages that are left: where it has not, its windows and not the
/// pages make the time, and looks would only use them up.
const LOOKS: u64 = 3;

/// So many bytes of pages are kept at most, judged by the largest page so far.
const BYTES: usize = 4 * 1024 * 1024;

/// The first record of a list and its count.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Look {
    pub(super) first: Option<String>,
    pub(super) total: Option<u64>,
}

/// The page that is wanted, and what is known of the list.
#[derive(Clone, Copy, Debug)]
pub(super) struct Wanted {
    pub(super) page: u64,
    /// How many pages are promised behind it.
    pub(super) behind: u64,
    pub(super) total: Option<u64>,
    /// How many calls may start now.
    pub(super) slots: u64,
    /// Whether the list is read in its order and from its newest record on.
    pub(super) in_order: bool,
}

/// What to fetch now.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Plan {
    pub(super) page: u64,
    pub(super) pages: u64,
    pub(super) look: bool,
}

/// What comes of it.
#[derive(Debug)]
pub(super) enum Step {
    /// The page that was wanted.
    Page {
        arrived: Arrived,
        /// Whether it was fetched while a page before it was, too.
        together: bool,
    },
    /// The list has moved: reading goes on from that page.
    Moved(u64),
}

/// What was fetched and not asked for yet, and what of it is proven.
#[derive(Debug, Default)]
pub(super) struct Prefetch {
    ready: VecDeque<(u64, Arrived)>,
    /// How many pages were last fetched together.
    width: u64,
    /// How many were read one by one since the beginning, or since the list moved.
    alone: u32,
    last_look: Option<Look>,
    /// The first page of which it is not proven that the list stood still around it.
    unproven: Option<u64>,
    moves: u32,
    largest: usize,
}

impl Prefetch {
    /// One that never fetches ahead, like that of a list which moved too often.
    pub(super) fn turned_off() -> Self {
        Self { moves: MOVES, ..Self::default() }
    }

    /// The page of that number, where it has come already. What else has come is of no use then.
    pub(super) fn take(&mut self, page: u64) -> Option<Step> {
        if self.ready.front().is_some_and(|(number, _)| *number != page) {
            self.ready.clear();
        }
        self.ready.pop_front().map(|(_, arrived)| Step::Page { arrived, together: true })
    }

    /// What to fetch for the page that is wanted.
    pub(super) fn plan(&self, wanted: Wanted) -> Plan {
        let Wanted { page, behind, total, slots, in_order } = wanted;
        let has_room = slots > behind.saturating_add(LOOKS);
        let may = in_order && has_room && total.is_some() && self.moves < MOVES;
        let is_known = self.last_look.as_ref().is_some_and(|look| look.total == total);
        let mut pages = 1;
        if may && is_known && self.alone >= ALONE {
            let room = u64::try_from(BYTES.checked_div(self.largest).unwrap_or(0)).unwrap_or(MOST);
            let grown = self.width.saturating_mul(2).clamp(LEAST, MOST);
            let most = grown.min(behind.saturating_add(1)).min(room);
            pages = if most < LEAST { 1 } else { most };
        }
        let soon = may && !is_known && self.alone.saturating_add(1) >= ALONE && behind > LEAST;
        Plan { page, pages, look: self.unproven.is_some() || soon }
    }

    /// Takes what was fetched by a plan.
    pub(super) fn settle(&mut self, plan: Plan, look: Option<Look>, pages: Vec<Result<Arrived>>) -> Result<Step> {
        if let Some(page) = look.and_then(|look| self.prove(look)) {
            return Ok(Step::Moved(page));
        }
        // What failed ahead is asked for again when it is its turn, and fails then if it has to.
        let mut pages = pages.into_iter();
        let Some(first) = pages.next().transpose()? else { return Ok(Step::Moved(plan.page)) };
        let numbers = plan.page.saturating_add(1)..;
        self.ready = numbers.zip(pages.map_while(Result::ok)).collect();
        let sizes = self.ready.iter().map(|(_, page)| page).chain([&first]).map(|page| page.whole.body.len());
        self.largest = sizes.fold(self.largest, usize::max);
        let came = u64::try_from(self.ready.len()).unwrap_or(u64::MAX).saturating_add(1);
        if plan.pages > 1 {
            self.unproven = self.unproven.or(Some(plan.page.saturating_add(1)));
        }
        (self.width, self.alone) = match came {
            1 if plan.pages == 1 => (0, self.alone.saturating_add(1)),
            all if all == plan.pages => (all, self.alone),
            _ => (0, 0),
        };
        Ok(Step::Page { arrived: first, together: false })
    }

    /// Whether a look is needed before the list is whole.
    pub(super) fn is_unproven(&self) -> bool {
        self.unproven.is_some()
    }

    /// Compares a look with the one before: the page to go back to, where the list has moved.
    pub(super) fn prove(&mut self, look: Look) -> Option<u64> {
        let before = self.last_look.replace(look);
        if before.is_none() || before == self.last_look {
            self.unproven = None;
            return None;
        }
        self.moves = self.moves.saturating_add(1);
        self.go_back()
    }

    /// Whether a page that was fetched together with others shows the same list as the look before them.
    pub(super) fn is_of_this_list(&self, total: Option<u64>) -> bool {
        self.last_look.as_ref().is_some_and(|look| look.total == total)
    }

    /// The list has moved among pages that were fetched together: gives the page to go back to.
    pub(super) fn moved(&mut self) -> Option<u64> {
        self.moves = self.moves.saturating_add(1);
        self.last_look = None;
        self.go_back()
    }

    fn go_back(&mut self) -> Option<u64> {
        self.ready.clear();
        self.width = 0;
        self.alone = 0;
        self.unproven.take()
    }
}
