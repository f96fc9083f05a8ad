//! Raw lists of the dispatch service and the legacy order service, in pages that follow `Location` (specification 4.7).
//!
//! A server's own limit may be below `$top`, and the specification does not say whether the last page has a `Location`.
//! So a short page alone is not the end. A `Location` is followed while pages have records. Without a `Location`,
//! `$skip` counts the pages until one is short.

use std::collections::HashSet;

use http::header::LOCATION;

use super::arguments::Arguments;
use super::config::check_page_size;
use super::dispatch_call::decode_json;
use super::setup::Client;
use crate::transport::NextLink;
use headland_api::{self as api, Endpoint, Returns};
use headland_base::error::{Error, Kind, Result};
use headland_base::names::strip_bom;
use headland_base::secret::Secret;
use headland_wire::Value;

/// The header with the total count of the list.
const TOTAL: &str = "x-total-count";

/// A list that is read during iteration. No call is made before the first page is requested.
#[derive(Debug)]
pub struct LinkPages {
    client: Client,
    row: &'static Endpoint,
    kind: &'static api::Listing,
    arguments: Arguments,
    is_one_page: bool,
    /// The page to read next; `None` at the end.
    next: Option<NextLink>,
    first: Option<Page>,
    /// The addresses that were read.
    visited: HashSet<NextLink>,
    /// Identities of the received records.
    seen: HashSet<String>,
    received: u64,
    total: Option<u64>,
    /// Whether the count changed while the list was read.
    has_changed: bool,
}

/// A page as received.
#[derive(Debug)]
struct Page {
    items: Vec<Value>,
    total: Option<u64>,
    location: Option<String>,
}

impl LinkPages {
    pub(super) fn new(
        client: Client,
        row: &'static Endpoint,
        arguments: Arguments,
        page_size: Option<u32>,
        page: Option<u64>,
    ) -> Result<Self> {
        let Returns::Listing(kind) = row.returns else {
            return Err(Error::new(Kind::Type, format!("{} returns no raw list", row.full_name)));
        };
        let page_size = page_size.unwrap_or(client.config().page_size);
        check_page_size(page_size)?;
        let mut list = Self {
            client,
            row,
            kind,
            arguments,
            is_one_page: page.is_some(),
            next: None,
            first: None,
            visited: HashSet::new(),
            seen: HashSet::new(),
            received: 0,
            total: None,
            has_changed: false,
        };
        list.next = Some(list.resolve_location(&page_query(u64::from(page_size), page.unwrap_or(0)))?);
        Ok(list)
    }

    /// Sets the token of subsequent calls, as [`Client::with_token`] does.
    pub fn set_token(&mut self, token: Option<Secret>) {
        self.client = self.client.with_token(token);
    }

    /// Whether the next page needs a call: false at the end, and if the page was already received.
    #[must_use]
    pub fn needs_request(&self) -> bool {
        self.next.is_some() && self.first.is_none()
    }

    /// The new records of the next page; `None` at the end. A page may be empty.
    pub async fn next_page(&mut self) -> Result<Option<Vec<Value>>> {
        let Some(next) = self.next.clone() else { return Ok(None) };
        let page = match self.first.take() {
            Some(page) => page,
            None => self.request(&next).await?,
        };
        self.has_changed |= self.total.is_some_and(|before| page.total.is_some_and(|now| now != before));
        self.total = page.total.or(self.total);
        if self.is_one_page {
            self.next = None;
            return Ok(Some(page.items));
        }
        self.accept_page(next, page).map(Some)
    }

    /// The total count of the list, if the service states it. Reads the first page once; iteration reuses it.
    pub async fn total(&mut self) -> Result<Option<u64>> {
        if self.visited.is_empty()
            && self.first.is_none()
            && let Some(next) = self.next.clone()
        {
            let page = self.request(&next).await?;
            self.total = page.total;
            self.first = Some(page);
        }
        Ok(self.total)
    }

    fn accept_page(&mut self, read: NextLink, page: Page) -> Result<Vec<Value>> {
        let count = u64::try_from(page.items.len()).unwrap_or(u64::MAX);
        if count == 0 {
            self.check_count()?;
            self.next = None;
            return Ok(page.items);
        }
        self.received = self.received.saturating_add(count);
        let known = self.seen.len();
        let mut items = page.items;
        // A record with an id is returned once. Two records without an id may be equal.
        items.retain(|item| self.seen.insert(identity(item)) || item.get("id").is_none());
        if self.seen.len() == known {
            return Err(self.error(format!(
                "a page of {} has only records of earlier pages: the service's paging goes in circles",
                self.row.full_name
            )));
        }
        let next = match page.location {
            Some(location) => Some(self.resolve_location(&location)?),
            None => self.next_by_skip(&read, count)?,
        };
        self.visited.insert(read);
        if next.as_ref().is_some_and(|next| self.visited.contains(next)) {
            return Err(self.error(format!(
                "the next page of {} was already read: the service's paging goes in circles",
                self.row.full_name
            )));
        }
        if next.is_none() {
            self.check_count()?;
        }
        self.next = next;
        Ok(items)
    }

    /// The page after one with `count` records and without a `Location`.
    fn next_by_skip(&self, read: &NextLink, count: u64) -> Result<Option<NextLink>> {
        if self.total.is_some_and(|total| self.received >= total) {
            return Ok(None);
        }
        let (Some(top), Some(skip)) = (read.number("$top"), read.number("$skip")) else { return Ok(None) };
        if count >= top {
            return self.resolve_location(&page_query(top, skip.saturating_add(1))).map(Some);
        }
        // The count is larger than the first page: the server's own limit is below the requested size. With that limit
        // as the page size, client and server count pages alike.
        if skip == 0 && self.total.is_some() {
            return self.resolve_location(&page_query(count, 1)).map(Some);
        }
        Ok(None)
    }

    /// Checks that an unchanged list returned as many records as its count states.
    fn check_count(&self) -> Result<()> {
        match self.total {
            Some(total) if !self.has_changed && self.received < total => Err(self.error(format!(
                "the service reports {total} {} ({TOTAL}), but returned {}: the list did not return the other records",
                self.kind.name, self.received
            ))),
            _ => Ok(()),
        }
    }

    /// The address that a `Location` of this list means, if the token may be sent there.
    fn resolve_location(&self, location: &str) -> Result<NextLink> {
        let context = self.client.context_for(self.row)?;
        let path = self.arguments.call(self.row, &[], None)?.path;
        context.base.next_link(&path, location).map_err(|why| {
            context.masked_error(self.error(format!(
                "the next page of {} has another address: {why}. It was not requested, because the token is only for \
                 the given address",
                self.row.full_name
            )))
        })
    }

    async fn request(&self, next: &NextLink) -> Result<Page> {
        let context = self.client.context_for(self.row)?;
        let mut call = self.arguments.call(self.row, &[], None)?;
        call.next = Some(next.clone());
        let mut attempts = context.attempts(&call, context.timeouts.call);
        let response = attempts.read_full().await?;
        let text = |name: &str| response.headers.get(name).and_then(|value| value.to_str().ok()).map(str::trim);
        let body = strip_bom(&response.body).trim_ascii();
        // An empty body is a list without records, as with 204.
        let decoded = if body.is_empty() { Ok(Value::List(Vec::new())) } else { decode_json(&response.headers, body) };
        let items = match decoded {
            Ok(Value::List(items)) => Ok(items),
            Ok(_) => Err(Error::new(Kind::Decode, format!("expected a list of {}, got no list", self.kind.name))),
            Err(error) => Err(error),
        };
        let items = items.map_err(|error| attempts.finish(error.with(|facts| facts.status = Some(response.status))))?;
        let location = text(LOCATION.as_str()).filter(|location| !location.is_empty()).map(str::to_owned);
        Ok(Page { items, total: text(TOTAL).and_then(|count| count.parse().ok()), location })
    }

    fn error(&self, message: String) -> Error {
        Error::new(Kind::Decode, message).with(|facts| facts.endpoint = Some(self.row.full_name))
    }
}

fn page_query(top: u64, skip: u64) -> String {
    format!("?$top={top}&$skip={skip}&$count=true")
}

/// Identifies a record by its id, or without an id by all its fields.
fn identity(item: &Value) -> String {
    match item.get("id") {
        Some(Value::Text(id)) => id.clone(),
        _ => format!("{item:?}"),
    }
}
