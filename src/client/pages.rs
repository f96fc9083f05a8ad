//! Reads lists page by page: each record that is present throughout is returned exactly once, despite concurrent
//! changes.
//!
//! A page is a snapshot of the list, and its `TotalCount` shows whether the list has shrunk since the previous page.
//! Then records may have moved from this page to one that was already read, so reading steps back as many pages as the
//! list shrank. In a newest-first list that is sufficient: new records are inserted at the front and only move others
//! to pages that are still to be read, where their ids are known. In other orders any change of the count causes
//! another reading for unknown records, until a reading sees no change.
//!
//! Some pages are fetched concurrently, see `prefetch.rs`. If the list changed meanwhile, it is read again page by
//! page. The memory for the ids grows with the list, see `dedup.rs`.

mod options;

use std::sync::Arc;

use arrow_array::RecordBatch;
use arrow_schema::SchemaRef;

use super::arguments::Arguments;
use super::config::check_page_size;
use super::dedup::SeenIds;
use super::fetch::{Fetcher, OnError, RawPage};
use super::prefetch::{DEPTH, Prefetch};
use super::setup::Client;
use headland_api::{Endpoint, Returns};
use headland_base::error::{Error, Kind, Result};
use headland_wire::columns::{self, to_batch};
use headland_wire::{Page, Value};

pub use options::Position;

/// Largest number of readings of a list that changes.
const MAX_READINGS: u32 = 3;

/// Largest number of steps back without a new record in between.
const MAX_STEP_BACKS: u32 = 8;

/// A list that is read during iteration. No call is made before the first page is requested.
#[derive(Debug)]
pub struct Pages {
    fetcher: Fetcher,
    single_page: Option<u64>,
    first: First,
    prefetch: Prefetch,
    seen: SeenIds,
    /// The page to read next.
    next: u64,
    /// All pages below this one were read.
    frontier: u64,
    total: Option<u64>,
    /// The page to resume at after a check of the first page. The check shows whether a page without a new record is
    /// explained by a change.
    recheck: Option<u64>,
    has_changed: bool,
    readings: u32,
    /// Records received in this reading, including known ones: a service may give two records the same id.
    received: u64,
    /// Whether the first page is read once more, to detect a change of a list that ended with missing records.
    is_comparing_first: bool,
    /// Records in a full page: services may return fewer than requested.
    page_length: u64,
    /// Steps back since the last new record.
    step_backs: u32,
    is_done: bool,
}

/// The first page, which may be read before iteration starts.
#[derive(Debug)]
enum First {
    Unread,
    Probed(RawPage),
    Returned,
}

impl Pages {
    pub(super) fn new(
        client: Client,
        row: &'static Endpoint,
        arguments: Arguments,
        page_size: Option<u32>,
        page: Option<u64>,
    ) -> Result<Self> {
        let Returns::Index(index) = row.returns else {
            return Err(Error::new(Kind::Type, format!("{} returns no list", row.full_name)));
        };
        if !row.paged && (page_size.is_some() || page.is_some()) {
            return Err(Error::new(Kind::Type, format!("{} has no pages", row.full_name)));
        }
        let page_size = page_size.unwrap_or(client.config().page_size);
        check_page_size(page_size)?;
        let warnings = Arc::clone(&client.context().warnings);
        let on_error = OnError::Raise;
        Ok(Self {
            fetcher: Fetcher { client, row, index, arguments, page_size, on_error, warnings },
            single_page: page,
            first: First::Unread,
            prefetch: Prefetch::default(),
            seen: SeenIds::default(),
            next: page.unwrap_or(0),
            frontier: 0,
            total: None,
            recheck: None,
            has_changed: false,
            readings: 1,
            received: 0,
            is_comparing_first: false,
            page_length: u64::from(page_size),
            step_backs: 0,
            is_done: false,
        })
    }

    /// The new records of the next page as Arrow columns; `None` at the end. A page may have no rows.
    pub async fn next_batch(&mut self) -> Result<Option<RecordBatch>> {
        let page = self.next_page().await?;
        page.map(|records| to_batch(self.fetcher.index.item, &records)).transpose()
    }

    /// The schema of the columns; no call is made.
    #[must_use]
    pub fn schema(&self) -> SchemaRef {
        columns::schema(self.fetcher.index.item)
    }

    /// The new records of the next page; `None` at the end. A page may be empty.
    pub async fn next_page(&mut self) -> Result<Option<Vec<Value>>> {
        let page = loop {
            if self.is_done {
                return Ok(None);
            }
            let (mut raw, is_ahead) = match self.fetch().await {
                Ok(fetched) => fetched,
                // The previous page announced this one, so the list has shrunk since. Read the previous page again.
                Err(error)
                    if self.single_page.is_none() && self.next > 0 && is_beyond_the_end(&error, self.step_backs) =>
                {
                    self.step_back(1, error)?;
                    continue;
                }
                Err(error) => return Err(error),
            };
            let page = match raw.decoded.take() {
                Some(page) => page,
                None => self.fetcher.decode_page(&raw)?,
            };
            self.check_first_page(&page)?;
            if !is_ahead || page.total_count == self.total {
                break page;
            }
            self.read_again();
        };
        self.first = First::Returned;
        if self.single_page.is_some() {
            self.is_done = true;
            return Ok(Some(page.items));
        }
        self.accept_page(page).map(Some)
    }

    /// Reads the list again page by page, because it changed while pages were fetched concurrently.
    fn read_again(&mut self) {
        self.prefetch.turn_off();
        self.next = 0;
        self.has_changed = true;
    }

    /// `TotalCount`. Reads the first page once; iteration reuses it.
    pub async fn total(&mut self) -> Result<Option<u64>> {
        if self.total.is_none() {
            self.probe_first().await?;
        }
        Ok(self.total)
    }

    /// The first record, before iteration has started. Iteration reuses the page that is read for it.
    pub async fn first(&mut self) -> Result<Option<Value>> {
        self.probe_first().await?;
        let First::Probed(raw) = &self.first else { return Ok(None) };
        let page = match &raw.decoded {
            Some(page) => page,
            None => &self.fetcher.decode_page(raw)?,
        };
        self.check_first_page(page)?;
        Ok(page.items.first().cloned())
    }

    /// Reads and stores the first page.
    async fn probe_first(&mut self) -> Result<()> {
        if matches!(self.first, First::Unread) {
            let (mut raw, _) = self.fetch().await?;
            self.total = self.fetcher.total(&mut raw)?;
            self.first = First::Probed(raw);
        }
        Ok(())
    }

    fn accept_page(&mut self, page: Page) -> Result<Vec<Value>> {
        if self.is_comparing_first {
            return self.compare_first_page(page);
        }
        let (growth, shrinkage) = match (self.total, page.total_count) {
            (Some(before), Some(now)) => (now.saturating_sub(before), before.saturating_sub(now)),
            _ => (0, 0),
        };
        self.total = page.total_count.or(self.total);
        self.has_changed |= growth > 0 || shrinkage > 0;
        let read = self.next;
        let count = u64::try_from(page.items.len()).unwrap_or(u64::MAX);
        self.received = self.received.saturating_add(count);
        if page.is_next_page {
            self.page_length = count.clamp(1, u64::from(self.fetcher.page_size));
        }
        let mut items = page.items;
        // A page is a snapshot: two records with the same id on it are different, such as the last locations of two
        // devices.
        self.seen.retain_new(&mut items);
        let is_empty = items.is_empty();
        if !is_empty {
            self.step_backs = 0;
        }
        let mut after = read.saturating_add(1);
        if let Some(resume) = self.recheck.take() {
            if is_empty && !self.has_changed {
                return Err(self.no_new_record(resume.saturating_sub(1)));
            }
            self.has_changed = true;
            if self.prefetch.has_run() {
                // The records of this page are known now, so that the check at the end would not see the change.
                self.read_again();
                return Ok(items);
            }
            after = resume;
        } else if is_empty && page.is_next_page && shrinkage == 0 && read >= self.frontier {
            // Records that were added and removed can move known ones onto this page, as long as the count permits it.
            let is_beyond = self.total.is_none_or(|total| after.saturating_mul(self.page_length) >= total);
            if self.has_changed && is_beyond {
                return Err(self.no_new_record(read));
            }
            if !self.has_changed {
                self.recheck = Some(after);
                self.next = 0;
                return Ok(items);
            }
        }
        self.frontier = self.frontier.max(after);
        self.next = after.saturating_sub(1);
        let back = shrinkage.div_ceil(self.page_length).min(self.next);
        if back > 0 {
            let error =
                self.error(format!("{} keeps shrinking and growing while it is read", self.fetcher.row.full_name));
            self.step_back(back, error)?;
        } else if page.is_next_page {
            self.next = after;
        } else {
            self.finish_reading()?;
        }
        Ok(items)
    }

    fn no_new_record(&self, page: u64) -> Error {
        self.error(format!(
            "page {page} of {} has no new record, but the service reports more pages",
            self.fetcher.row.full_name
        ))
    }

    fn step_back(&mut self, pages: u64, otherwise: Error) -> Result<()> {
        if self.step_backs >= MAX_STEP_BACKS {
            return Err(otherwise);
        }
        self.step_backs = self.step_backs.saturating_add(1);
        self.next = self.next.saturating_sub(pages);
        Ok(())
    }

    /// After the last page: reads a list that changed again, unless it is newest-first.
    fn finish_reading(&mut self) -> Result<()> {
        let seen = u64::try_from(self.seen.len()).unwrap_or(u64::MAX);
        let is_short = !self.has_changed && self.total.is_some_and(|total| seen.max(self.received) < total);
        if self.fetcher.index.newest_first && (is_short || self.prefetch.has_run()) {
            self.is_comparing_first = true;
            self.next = 0;
            return Ok(());
        }
        let differs = self.readings == 1 && self.total.is_some_and(|total| seen != total);
        if self.fetcher.index.newest_first || (!self.has_changed && !is_short && !differs) {
            self.is_done = true;
            return Ok(());
        }
        if self.readings >= MAX_READINGS {
            if is_short {
                return Err(self.missing_records());
            }
            return Err(self.error(format!(
                "{} changed during each of {MAX_READINGS} readings, so records may be missing: read it again when it \
                 no longer changes",
                self.fetcher.row.full_name
            )));
        }
        self.readings = self.readings.saturating_add(1);
        self.has_changed = false;
        self.received = 0;
        self.next = 0;
        Ok(())
    }

    /// Compares the first page at the end of a reading. The list has changed if the count differs, or if new records
    /// are at the front. If pages were fetched concurrently, a changed list is read again. Otherwise a changed list
    /// that ended short of its `TotalCount` is complete, because as many records may have been removed.
    fn compare_first_page(&mut self, page: Page) -> Result<Vec<Value>> {
        let mut items = page.items;
        items.retain(|item| !self.seen.contains(&item.identity()));
        let has_moved = page.total_count != self.total || !items.is_empty();
        let seen = u64::try_from(self.seen.len()).unwrap_or(u64::MAX).max(self.received);
        if !has_moved && !self.has_changed && self.total.is_some_and(|total| seen < total) {
            return Err(self.missing_records());
        }
        self.is_comparing_first = false;
        if has_moved && self.prefetch.has_run() {
            self.read_again();
        } else {
            self.is_done = true;
        }
        Ok(Vec::new())
    }

    fn missing_records(&self) -> Error {
        self.error(format!(
            "the service reports {} records (TotalCount), but returned {}: the list did not return the other records",
            self.total.unwrap_or_default(),
            self.seen.len()
        ))
    }

    /// The page to read next, and whether it was requested before an earlier page was received.
    async fn fetch(&mut self) -> Result<(RawPage, bool)> {
        match std::mem::replace(&mut self.first, First::Unread) {
            First::Probed(raw) => return Ok((raw, false)),
            before => self.first = before,
        }
        if let Some(raw) = self.prefetch.take(self.next) {
            return Ok((raw, true));
        }
        let pages = self.concurrent_pages();
        let mut fetched = self.fetcher.fetch_concurrently(self.next, pages).await.into_iter();
        let first = fetched.next().unwrap_or_else(|| Err(self.error("no page was requested".to_owned())))?;
        if pages > 1 {
            // A failed page is requested again in its turn.
            self.prefetch.store(self.next, fetched.map_while(Result::ok));
        }
        Ok((first, false))
    }

    /// The number of pages to request concurrently.
    fn concurrent_pages(&self) -> u64 {
        let is_in_order = self.fetcher.row.paged && self.fetcher.index.newest_first;
        if !is_in_order || self.single_page.is_some() || self.is_comparing_first || self.recheck.is_some() {
            return 1;
        }
        let promised = self.total.map_or(0, |total| total.div_ceil(self.page_length));
        let behind = promised.saturating_sub(self.next.saturating_add(1));
        let limiter = &self.fetcher.client.context().limiter;
        let slots =
            if behind >= DEPTH && limiter.is_enabled() { u64::from(limiter.budget().remaining) } else { u64::MAX };
        self.prefetch.page_count(self.next, behind, slots)
    }

    /// A first page without items is an error if the list has records: the items have another name, or are missing.
    fn check_first_page(&self, page: &Page) -> Result<()> {
        match page.total_count {
            Some(total) if self.next == 0 && total > 0 && page.items.is_empty() => Err(self.error(format!(
                "the service reports {total} records (TotalCount), but its first page has none under `{}`",
                self.fetcher.index.kind
            ))),
            _ => Ok(()),
        }
    }

    fn error(&self, message: String) -> Error {
        Error::new(Kind::Decode, message).with(|facts| facts.endpoint = Some(self.fetcher.row.full_name))
    }
}

/// Whether the error may mean that the page no longer exists. After two attempts it is a real error.
fn is_beyond_the_end(error: &Error, step_backs: u32) -> bool {
    matches!(error.kind(), Kind::NotFound | Kind::InvalidRequest) && step_backs < 2
}
