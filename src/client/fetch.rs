//! The calls of a list, one page or several together; and what pages are read into.

use std::sync::Arc;

use futures_util::future::join_all;

use super::arguments::Arguments;
use super::record::content_of;
use super::setup::Client;
use crate::api::{Endpoint, Index};
use crate::error::{Error, Facts, Kind, Result};
use crate::transport::{Notices, Whole};
use crate::wire::columns::Batch;
use crate::wire::{Content, Page, Unreadable, Value, decode_index_leniently, decode_total};

/// What the calls of a list have in common.
#[derive(Debug)]
pub(super) struct Fetcher {
    pub(super) client: Client,
    pub(super) row: &'static Endpoint,
    pub(super) index: &'static Index,
    pub(super) arguments: Arguments,
    pub(super) page_size: u32,
    pub(super) on_error: OnError,
    /// Where warnings of values go that cannot be read.
    pub(super) warnings: Arc<Notices>,
}

/// What is done with a value of a record that cannot be read.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum OnError {
    /// The list is an error.
    #[default]
    Raise,
    /// The value is null, with a warning that names its path.
    Null,
}

/// So many values that cannot be read are named for each page.
const NAMED: usize = 10;

/// A page as it came, and the facts of its call, should it turn out to be wrong.
#[derive(Debug)]
pub(super) struct Arrived {
    page: u64,
    pub(super) whole: Whole,
    facts: Box<Facts>,
}

/// How a page is read.
pub type Decode<R> = fn(Content, &[u8], &'static Index) -> Result<Page<R>>;

/// What the records of a page are read into.
pub trait Records {
    /// How many there are.
    fn count(&self) -> usize;

    /// The records of a page that was read into values.
    fn of_page(page: Page, index: &'static Index) -> Result<Page<Self>>
    where
        Self: Sized;

    /// Leaves out the records for which `keep` says no; it is asked by what tells them apart.
    fn keep(&mut self, keep: impl FnMut(&str) -> bool);
}

impl Records for Vec<Value> {
    fn count(&self) -> usize {
        self.len()
    }

    fn of_page(page: Page, _: &'static Index) -> Result<Page<Self>> {
        Ok(page)
    }

    fn keep(&mut self, mut keep: impl FnMut(&str) -> bool) {
        self.retain(|item| keep(&item.identity()));
    }
}

impl Records for Batch {
    fn count(&self) -> usize {
        self.len()
    }

    fn of_page(page: Page, index: &'static Index) -> Result<Page<Self>> {
        Self::of_page(&page, index)
    }

    fn keep(&mut self, keep: impl FnMut(&str) -> bool) {
        self.retain(keep);
    }
}

impl Fetcher {
    /// Fetches so many pages at once.
    pub(super) async fn together(&self, page: u64, pages: u64) -> Vec<Result<Arrived>> {
        join_all((page..page.saturating_add(pages)).map(|page| self.ask(page))).await
    }

    async fn ask(&self, page: u64) -> Result<Arrived> {
        let mut paging = Vec::new();
        if self.row.paged {
            paging.push(("pageSize", self.page_size.to_string()));
            paging.push(("page", page.to_string()));
        }
        let call = self.arguments.call(self.row, &paging, None)?;
        let caller = self.client.caller();
        let mut attempts = caller.attempts(&call, caller.limits.call);
        let whole = attempts.whole().await?;
        let facts = attempts.finish(Error::new(Kind::Decode, "")).facts().clone();
        Ok(Arrived { page, whole, facts: Box::new(facts) })
    }

    /// Reads a page; where its records have values that cannot be read, these are null if the caller wants that.
    pub(super) fn page<R: Records>(&self, arrived: &Arrived, decode: Decode<R>) -> Result<Page<R>> {
        let error = match self.decode(arrived, decode) {
            Err(error) if self.on_error == OnError::Null && error.kind() == Kind::Decode => error,
            read => return read,
        };
        // Read once more with all its tolerance, which most pages do without.
        let (page, unreadable) = self.decode(arrived, decode_index_leniently)?;
        if unreadable.is_empty() {
            return Err(error);
        }
        self.warn(arrived.page, &unreadable);
        R::of_page(page, self.index)
    }

    /// The total count of a list, whatever its records are like.
    pub(super) fn total(&self, arrived: &Arrived) -> Result<Option<u64>> {
        match self.decode(arrived, decode_total) {
            Err(_) if self.on_error == OnError::Null => {
                self.decode(arrived, decode_index_leniently).map(|(page, _)| page.total_count)
            }
            read => read,
        }
    }

    fn warn(&self, page: u64, unreadable: &[Unreadable]) {
        let named: Vec<String> =
            unreadable.iter().take(NAMED).map(|value| format!("`{}` ({})", value.path, value.why)).collect();
        let more = match unreadable.len().saturating_sub(NAMED) {
            0 => String::new(),
            more => format!(" and {more} more on this page"),
        };
        let (row, named) = (self.row.full_name, named.join(", "));
        let text = format!("{row}, page {page}: values that cannot be read are None: {named}{more}");
        self.warnings.add(self.client.caller().secrets.masked(&text).into_owned());
    }

    /// Reads what came; an error has the facts of its call.
    fn decode<T>(
        &self,
        arrived: &Arrived,
        decode: impl FnOnce(Content, &[u8], &'static Index) -> Result<T>,
    ) -> Result<T> {
        let Arrived { whole, facts, .. } = arrived;
        content_of(whole, self.client.caller().accept)
            .and_then(|content| decode(content, &whole.body, self.index))
            .map_err(|error| {
                self.client.caller().masked_error(error).with(|own| {
                    let (field, offset) = (own.field.take(), own.offset);
                    *own = Facts { field, offset, status: Some(whole.status), ..(**facts).clone() };
                })
            })
    }
}
