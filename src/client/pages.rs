//! Lists, page by page: each record that is there throughout comes exactly once, whatever is added or removed
//! meanwhile.
//!
//! A page is a snapshot of the list, and its `TotalCount` tells whether the list has shrunk since the page before:
//! records may then have moved from this page to one that was read already, so reading goes back as many pages as it
//! shrank. Where the newest come first, that is all: what is added comes in front and only moves records to pages
//! that are still to be read, where ids tell what is known. In other orders any change of the count means that the
//! list is read again for what is unknown, until a reading saw no change.
//!
//! No page is kept. What grows with a list is the memory of its ids, see `seen.rs`.

use arrow_array::RecordBatch;
use arrow_schema::SchemaRef;

use super::Client;
use super::arguments::Arguments;
use super::config::check_page_size;
use super::record::content_of;
use super::seen::Seen;
use crate::api::{Endpoint, Index, Returns};
use crate::error::{Error, Kind, Result};
use crate::wire::columns::{self, Batch, decode_batch};
use crate::wire::{Content, Page, Value, decode_index};

/// So many readings of a list that moves are tried.
const READINGS: u32 = 3;

/// So many steps back without a new record in between are tried.
const SETBACKS: u32 = 8;

/// A list that is read as it is iterated over. No call is made before the first page is asked for.
#[derive(Debug)]
pub struct Pages {
    client: Client,
    row: &'static Endpoint,
    index: &'static Index,
    arguments: Arguments,
    page_size: u32,
    only: Option<u64>,
    first: First,
    seen: Seen,
    /// The page to read next.
    next: u64,
    /// The pages below this one have been read.
    frontier: u64,
    total: Option<u64>,
    /// Where to go on after a look at the first page, which tells whether a page without a new record is explained.
    doubt: Option<u64>,
    moved: bool,
    readings: u32,
    /// Records that came in this reading, known ones too: a service may give two the same id.
    came: u64,
    /// Whether the first page is read once more, to see whether the list moved where records are missing at its end.
    recount: bool,
    /// Records in a page that is full: services may give fewer than were asked for.
    full: u64,
    /// Steps back since the last new record.
    setbacks: u32,
    done: bool,
}

/// The page that is read first, which may be looked at before anybody iterates.
#[derive(Debug)]
enum First {
    Unread,
    LookedAt(Page),
    Given,
}

/// How a page is read.
type Decode<R> = fn(Content, &[u8], &'static Index) -> Result<Page<R>>;

/// What the records of a page are read into.
trait Records {
    fn count(&self) -> usize;

    /// Leaves out the records for which `keep` says no; it is asked by what tells them apart.
    fn keep(&mut self, keep: impl FnMut(&str) -> bool);
}

impl Records for Vec<Value> {
    fn count(&self) -> usize {
        self.len()
    }

    fn keep(&mut self, mut keep: impl FnMut(&str) -> bool) {
        self.retain(|item| keep(&item.identity()));
    }
}

impl Records for Batch {
    fn count(&self) -> usize {
        self.len()
    }

    fn keep(&mut self, keep: impl FnMut(&str) -> bool) {
        self.retain(keep);
    }
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
            return Err(Error::new(Kind::Type, format!("{} gives no list", row.full_name)));
        };
        if !row.paged && (page_size.is_some() || page.is_some()) {
            return Err(Error::new(Kind::Type, format!("{} has no pages", row.full_name)));
        }
        let page_size = page_size.unwrap_or(client.config().page_size);
        check_page_size(page_size)?;
        Ok(Self {
            client,
            row,
            index,
            arguments,
            page_size,
            only: page,
            first: First::Unread,
            seen: Seen::default(),
            next: page.unwrap_or(0),
            frontier: 0,
            total: None,
            doubt: None,
            moved: false,
            readings: 1,
            came: 0,
            recount: false,
            full: u64::from(page_size),
            setbacks: 0,
            done: false,
        })
    }

    /// The records of the next page that were not given yet; `None` at the end. A page may turn out empty.
    pub async fn next_page(&mut self) -> Result<Option<Vec<Value>>> {
        self.next_as(decode_index, |page, _| Ok(page)).await
    }

    /// The same as Arrow columns; a page may come in several parts, or in none.
    pub async fn next_batches(&mut self) -> Result<Option<Vec<RecordBatch>>> {
        let batch = self.next_as(decode_batch, |page, index| Batch::of_page(&page, index)).await?;
        Ok(batch.map(Batch::into_parts))
    }

    /// The schema of the columns; no call is made.
    #[must_use]
    pub fn schema(&self) -> SchemaRef {
        columns::schema(self.index.item)
    }

    /// Reads the next page with `decode`, or turns the one that was looked at into the same with `convert`.
    async fn next_as<R: Records>(
        &mut self,
        decode: Decode<R>,
        convert: impl FnOnce(Page, &'static Index) -> Result<Page<R>>,
    ) -> Result<Option<R>> {
        if self.done {
            return Ok(None);
        }
        let page = match std::mem::replace(&mut self.first, First::Unread) {
            First::LookedAt(page) => convert(page, self.index)?,
            First::Unread | First::Given => loop {
                match self.read(self.next, decode).await {
                    Ok(page) => break page,
                    // The page before promised this one, so the list has shrunk since: look there again.
                    Err(error) if self.only.is_none() && self.next > 0 && is_beyond_the_end(&error, self.setbacks) => {
                        self.step_back(1, error)?;
                    }
                    Err(error) => return Err(error),
                }
            },
        };
        self.first = First::Given;
        if self.only.is_some() {
            self.done = true;
            return Ok(Some(page.items));
        }
        self.take(page).map(Some)
    }

    /// `TotalCount`; reads the first page once, and iteration goes on from it.
    pub async fn total(&mut self) -> Result<Option<u64>> {
        if self.total.is_none() {
            self.look().await?;
        }
        Ok(self.total)
    }

    /// The first record, as long as nothing was iterated over; iteration goes on from the page that is read for it.
    pub async fn first(&mut self) -> Result<Option<&Value>> {
        self.look().await?;
        Ok(match &self.first {
            First::LookedAt(page) => page.items.first(),
            First::Unread | First::Given => None,
        })
    }

    /// Reads the first page and keeps it.
    async fn look(&mut self) -> Result<()> {
        if matches!(self.first, First::Unread) {
            let page = self.read(self.next, decode_index).await?;
            self.total = page.total_count;
            self.first = First::LookedAt(page);
        }
        Ok(())
    }

    fn take<R: Records>(&mut self, page: Page<R>) -> Result<R> {
        if self.recount {
            return self.compare(page);
        }
        let (grown, fallen) = match (self.total, page.total_count) {
            (Some(before), Some(now)) => (now.saturating_sub(before), before.saturating_sub(now)),
            _ => (0, 0),
        };
        self.total = page.total_count.or(self.total);
        self.moved |= grown > 0 || fallen > 0;
        let read = self.next;
        let count = u64::try_from(page.items.count()).unwrap_or(u64::MAX);
        self.came = self.came.saturating_add(count);
        if page.is_next_page {
            self.full = count.clamp(1, u64::from(self.page_size));
        }
        let mut items = page.items;
        items.keep(|identity| self.seen.insert(identity));
        let is_empty = items.count() == 0;
        if !is_empty {
            self.setbacks = 0;
        }
        let mut after = read.saturating_add(1);
        if let Some(resume) = self.doubt.take() {
            if is_empty && !self.moved {
                return Err(self.nothing_new(resume.saturating_sub(1)));
            }
            self.moved = true;
            after = resume;
        } else if is_empty && page.is_next_page && fallen == 0 && read >= self.frontier {
            // Records that were added and removed push known ones onto this page, as long as the count allows it.
            let is_beyond = self.total.is_none_or(|total| after.saturating_mul(self.full) >= total);
            if self.moved && is_beyond {
                return Err(self.nothing_new(read));
            }
            if !self.moved {
                self.doubt = Some(after);
                self.next = 0;
                return Ok(items);
            }
        }
        self.frontier = self.frontier.max(after);
        self.next = after.saturating_sub(1);
        let back = fallen.div_ceil(self.full).min(self.next);
        if back > 0 {
            let error = self.error(format!("{} keeps shrinking and growing while it is read", self.row.full_name));
            self.step_back(back, error)?;
        } else if page.is_next_page {
            self.next = after;
        } else {
            self.end()?;
        }
        Ok(items)
    }

    fn nothing_new(&self, page: u64) -> Error {
        self.error(format!(
            "page {page} of {} has no new record, and yet the service promises more pages",
            self.row.full_name
        ))
    }

    fn step_back(&mut self, pages: u64, otherwise: Error) -> Result<()> {
        if self.setbacks >= SETBACKS {
            return Err(otherwise);
        }
        self.setbacks = self.setbacks.saturating_add(1);
        self.next = self.next.saturating_sub(pages);
        Ok(())
    }

    /// After the last page: a list without a promised order that moved is read again.
    fn end(&mut self) -> Result<()> {
        let seen = u64::try_from(self.seen.len()).unwrap_or(u64::MAX);
        let is_short = !self.moved && self.total.is_some_and(|total| seen.max(self.came) < total);
        if self.index.newest_first && is_short {
            self.recount = true;
            self.next = 0;
            return Ok(());
        }
        let differs = self.readings == 1 && self.total.is_some_and(|total| seen != total);
        if self.index.newest_first || (!self.moved && !is_short && !differs) {
            self.done = true;
            return Ok(());
        }
        if self.readings >= READINGS {
            if is_short {
                return Err(self.short());
            }
            return Err(self.error(format!(
                "{} changed during each of {READINGS} readings, so that records may be missing: read it again when \
                 it is quiet",
                self.row.full_name
            )));
        }
        self.readings = self.readings.saturating_add(1);
        self.moved = false;
        self.came = 0;
        self.next = 0;
        Ok(())
    }

    /// A list that ended short of its `TotalCount` has moved where the count is another now, or where new records
    /// stand in front: as many may have been removed, and nothing that was there throughout is missing.
    fn compare<R: Records>(&mut self, page: Page<R>) -> Result<R> {
        let mut items = page.items;
        items.keep(|identity| !self.seen.contains(identity));
        if page.total_count == self.total && items.count() == 0 {
            return Err(self.short());
        }
        self.done = true;
        items.keep(|_| false);
        Ok(items)
    }

    fn short(&self) -> Error {
        self.error(format!(
            "the service promises {} records (TotalCount) and gave {}: the others cannot be had by reading the list",
            self.total.unwrap_or_default(),
            self.seen.len()
        ))
    }

    async fn read<R: Records>(&self, page: u64, decode: Decode<R>) -> Result<Page<R>> {
        let mut paging = Vec::new();
        if self.row.paged {
            paging.push(("pageSize", self.page_size.to_string()));
            paging.push(("page", page.to_string()));
        }
        let call = self.arguments.call(self.row, &paging, None)?;
        let caller = self.client.caller();
        let mut attempts = caller.attempts(&call, caller.limits.call);
        let whole = attempts.whole().await?;
        content_of(&whole, caller.accept)
            .and_then(|content| decode(content, &whole.body, self.index))
            .and_then(|read| if page == 0 { self.must_hold_items(read) } else { Ok(read) })
            .map_err(|error| attempts.finish(error.with(|facts| facts.status = Some(whole.status))))
    }

    /// No first page is empty while there are records: its items stand under another name, or are missing.
    fn must_hold_items<R: Records>(&self, page: Page<R>) -> Result<Page<R>> {
        match page.total_count {
            Some(total) if total > 0 && page.items.count() == 0 => Err(self.error(format!(
                "the service promises {total} records (TotalCount), but its first page has none under `{}`",
                self.index.kind
            ))),
            _ => Ok(page),
        }
    }

    fn error(&self, message: String) -> Error {
        Error::new(Kind::Decode, message).with(|facts| facts.endpoint = Some(self.row.full_name))
    }
}

/// Whether the error may mean that there is no such page any more; asked twice, it means what it says.
fn is_beyond_the_end(error: &Error, setbacks: u32) -> bool {
    matches!(error.kind(), Kind::NotFound | Kind::InvalidRequest) && setbacks < 2
}
