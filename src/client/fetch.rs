//! The calls of a list, one page or several together; and what pages are read into.

use std::sync::Arc;

use futures_util::future::join_all;

use super::arguments::Arguments;
use super::record::content_of;
use super::setup::Client;
use crate::api::{Endpoint, Index};
use crate::error::{Error, Facts, Kind, Result};
use crate::transport::{FullResponse, Warnings};
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
    pub(super) warnings: Arc<Warnings>,
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
const MAX_NAMED: usize = 10;

/// A page as it came, and the facts of its call, should it turn out to be wrong.
#[derive(Debug)]
pub(super) struct RawPage {
    page: u64,
    pub(super) response: FullResponse,
    facts: Box<Facts>,
}

/// How a page is read.
pub type Decode<R> = fn(Content, &[u8], &'static Index) -> Result<Page<R>>;

/// What the records of a page are read into.
pub trait Records {
    /// How many there are.
    fn count(&self) -> usize;

    /// The records of a page that was read into values.
    fn from_page(page: Page, index: &'static Index) -> Result<Page<Self>>
    where
        Self: Sized;

    /// Leaves out the records for which `retain` says no; it is asked by what tells them apart.
    fn retain(&mut self, keep: impl FnMut(&str) -> bool);
}

impl Records for Vec<Value> {
    fn count(&self) -> usize {
        self.len()
    }

    fn from_page(page: Page, _: &'static Index) -> Result<Page<Self>> {
        Ok(page)
    }

    fn retain(&mut self, mut keep: impl FnMut(&str) -> bool) {
        self.retain(|item| keep(&item.identity()));
    }
}

impl Records for Batch {
    fn count(&self) -> usize {
        self.len()
    }

    fn from_page(page: Page, index: &'static Index) -> Result<Page<Self>> {
        Self::of_page(&page, index)
    }

    fn retain(&mut self, keep: impl FnMut(&str) -> bool) {
        self.retain(keep);
    }
}

impl Fetcher {
    /// Fetches so many pages at once.
    pub(super) async fn fetch_concurrently(&self, page: u64, pages: u64) -> Vec<Result<RawPage>> {
        join_all((page..page.saturating_add(pages)).map(|page| self.request(page))).await
    }

    async fn request(&self, page: u64) -> Result<RawPage> {
        let mut paging = Vec::new();
        if self.row.paged {
            paging.push(("pageSize", self.page_size.to_string()));
            paging.push(("page", page.to_string()));
        }
        let call = self.arguments.call(self.row, &paging, None)?;
        let context = self.client.context();
        let mut attempts = context.attempts(&call, context.timeouts.call);
        let response = attempts.read_full().await?;
        let facts = attempts.finish(Error::new(Kind::Decode, "")).facts().clone();
        Ok(RawPage { page, response, facts: Box::new(facts) })
    }

    /// Reads a page; where its records have values that cannot be read, these are null if the caller wants that.
    pub(super) fn decode_page<R: Records>(&self, raw: &RawPage, decode: Decode<R>) -> Result<Page<R>> {
        let error = match self.decode(raw, decode) {
            Err(error) if self.on_error == OnError::Null && error.kind() == Kind::Decode => error,
            read => return read,
        };
        // Read once more with all its tolerance, which most pages do without.
        let (page, unreadable) = self.decode(raw, decode_index_leniently)?;
        if unreadable.is_empty() {
            return Err(error);
        }
        self.warn(raw.page, &unreadable);
        R::from_page(page, self.index)
    }

    /// The total count of a list, whatever its records are like.
    pub(super) fn total(&self, raw: &RawPage) -> Result<Option<u64>> {
        match self.decode(raw, decode_total) {
            Err(_) if self.on_error == OnError::Null => {
                self.decode(raw, decode_index_leniently).map(|(page, _)| page.total_count)
            }
            read => read,
        }
    }

    fn warn(&self, page: u64, unreadable: &[Unreadable]) {
        let named: Vec<String> =
            unreadable.iter().take(MAX_NAMED).map(|value| format!("`{}` ({})", value.path, value.why)).collect();
        let more = match unreadable.len().saturating_sub(MAX_NAMED) {
            0 => String::new(),
            more => format!(" and {more} more on this page"),
        };
        let (row, named) = (self.row.full_name, named.join(", "));
        let text = format!("{row}, page {page}: values that cannot be read are None: {named}{more}");
        self.warnings.add(self.client.context().secrets.masked(&text).into_owned());
    }

    /// Reads what came; an error has the facts of its call.
    fn decode<T>(&self, raw: &RawPage, decode: impl FnOnce(Content, &[u8], &'static Index) -> Result<T>) -> Result<T> {
        let RawPage { response, facts, .. } = raw;
        content_of(response, self.client.context().accept)
            .and_then(|content| decode(content, &response.body, self.index))
            .map_err(|error| {
                self.client.context().masked_error(error).with(|own| {
                    let (field, offset) = (own.field.take(), own.offset);
                    *own = Facts { field, offset, status: Some(response.status), ..(**facts).clone() };
                })
            })
    }
}
