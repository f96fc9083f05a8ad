//! Fetches pages of a list, one or several concurrently, and decodes them.

use std::sync::Arc;

use futures_util::future::join_all;

use super::arguments::Arguments;
use super::record::content_of;
use super::setup::Client;
use crate::transport::{FullResponse, Warnings};
use headland_api::{Endpoint, Index};
use headland_base::error::{Error, Facts, Kind, Result};
use headland_wire::{Content, Page, Unreadable, decode_index, decode_index_leniently};

/// The parts that all calls of a list share.
#[derive(Debug)]
pub(super) struct Fetcher {
    pub(super) client: Client,
    pub(super) row: &'static Endpoint,
    pub(super) index: &'static Index,
    pub(super) arguments: Arguments,
    pub(super) page_size: u32,
    pub(super) on_error: OnError,
    /// Receives the warnings about unreadable values.
    pub(super) warnings: Arc<Warnings>,
}

/// What happens with an unreadable value of a record.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum OnError {
    /// The list is an error.
    #[default]
    Raise,
    /// The value is null, with a warning that names its path.
    Null,
}

/// Largest number of unreadable values that are named per page.
const MAX_NAMED: usize = 10;

/// A page as received, and the facts of its call for decoding errors.
#[derive(Debug)]
pub(super) struct RawPage {
    page: u64,
    pub(super) response: FullResponse,
    facts: Box<Facts>,
    /// The page, if it was decoded for its total count and all its values can be read.
    pub(super) decoded: Option<Page>,
}

impl Fetcher {
    /// Fetches `pages` pages concurrently.
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
        Ok(RawPage { page, response, facts: Box::new(facts), decoded: None })
    }

    /// Decodes a page. Unreadable values are null if the caller requested that.
    pub(super) fn decode_page(&self, raw: &RawPage) -> Result<Page> {
        if self.on_error == OnError::Raise {
            return self.decode(raw, decode_index);
        }
        let (page, unreadable) = self.decode(raw, decode_index_leniently)?;
        if !unreadable.is_empty() {
            self.warn(raw.page, &unreadable);
        }
        Ok(page)
    }

    /// The total count of a list, even if values of its records are unreadable. `list(pages)` asks for it, so the page is
    /// kept.
    pub(super) fn total(&self, raw: &mut RawPage) -> Result<Option<u64>> {
        let (page, unreadable) = self.decode(raw, decode_index_leniently)?;
        let total = page.total_count;
        raw.decoded = unreadable.is_empty().then_some(page);
        Ok(total)
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
        self.warnings.add(self.client.context().secrets.mask(&text).into_owned());
    }

    /// Decodes a page; an error gets the facts of its call.
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
