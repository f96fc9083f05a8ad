//! Shared state of the endpoints: store, generated accounts and settings.

use std::time::Duration;

use chrono::{DateTime, Utc};
use http::{StatusCode, header};

use super::accounts::Accounts;
use super::database::Database;
use super::keys::Scope;
use super::paging::PageBounds;
use super::query::Query;
use super::reply::{Answer, Content, Reply};
use super::upload_files::UploadFiles;
use super::variants::{ActiveVariants, Variant};
use headland_api::{Endpoint, Index};
use headland_wire::Value;

/// Production host of `Uri` values under the variant `production-uri`.
const PRODUCTION_HOST: &str = "https://Fields.Example.com";

/// The service without HTTP.
#[derive(Debug)]
pub(super) struct ServiceState {
    pub(super) store: Database,
    pub(super) uploads: UploadFiles,
    pub(super) accounts: Accounts,
    pub(super) variants: ActiveVariants,
    pub(super) conversion_time: Duration,
    /// Base URL without a trailing slash.
    pub(super) base: String,
    /// Start of the location logs.
    pub(super) log_start: DateTime<Utc>,
}

/// An authorized request to an endpoint.
#[derive(Debug)]
pub(super) struct Call {
    pub(super) row: &'static Endpoint,
    pub(super) customer: u32,
    /// Scope of the access key.
    pub(super) scope: Scope,
    /// First path parameter; empty without one.
    pub(super) id: String,
    /// Second path parameter; empty without one.
    pub(super) second_id: String,
    pub(super) query: Query,
    pub(super) now: DateTime<Utc>,
}

impl ServiceState {
    /// Returns the absolute URI of a record. `collection` is in the letter case of production.
    pub(super) fn uri(&self, collection: &str, id: &str) -> String {
        if self.variants.has(Variant::ProductionUri) {
            format!("{PRODUCTION_HOST}/{collection}/{id}")
        } else {
            format!("{}/{}/{id}", self.base, collection.to_ascii_lowercase())
        }
    }

    /// Returns a page of a list.
    pub(super) fn page(&self, index: &'static Index, bounds: &PageBounds, items: Vec<Value>) -> Reply {
        let size = if self.variants.has(Variant::PageSizeAsked) { bounds.asked.size } else { bounds.count };
        Reply::list(index, bounds, size, items)
    }

    /// Returns a page of a list that is in memory.
    pub(super) fn list_page(&self, call: &Call, index: &'static Index, all: Vec<Value>) -> Answer {
        let bounds =
            call.query.page().map_err(Reply::bad_request)?.bounds(u64::try_from(all.len()).unwrap_or(u64::MAX));
        let to_usize = |number: u64| usize::try_from(number).unwrap_or(usize::MAX);
        let items = all.into_iter().skip(to_usize(bounds.skip)).take(to_usize(bounds.count)).collect();
        Ok(self.page(index, &bounds, items))
    }

    /// Returns 201 with the address of a new record.
    pub(super) fn created(&self, collection: &str, id: &str) -> Reply {
        let uri = self.uri(collection, id);
        let reply = Reply::text(StatusCode::CREATED, uri.clone());
        if self.variants.has(Variant::CreatedInBody) { reply } else { reply.with_header(header::LOCATION, uri) }
    }

    /// Returns a stored file under its file name.
    pub(super) fn stored_file(&self, file: &str, name: String) -> Answer {
        let (file, length) = self.uploads.open_stored(file)?;
        Ok(Reply::new(StatusCode::OK, Content::Stored { name, file, length }))
    }
}
