//! What the endpoints work on: the state, the generated accounts, and how the service was set up.

use std::sync::Arc;
use std::time::Duration;

use chrono::{DateTime, Utc};
use http::StatusCode;

use super::accounts::Accounts;
use super::converter::Converter;
use super::keys::Scope;
use super::query::Query;
use super::reply::{Answer, Content, Reply};
use super::store::Store;
use super::upload_files::UploadFiles;
use super::variants::{ActiveVariants, Variant};
use crate::api::Index;
use crate::wire::Value;

/// Where the production service would be: the name that `Uri` values carry under the variant `production-uri`.
const PRODUCTION_HOST: &str = "https://Fields.Example.com";

/// The service without its HTTP.
#[derive(Debug)]
pub(super) struct ServiceState {
    pub(super) store: Store,
    pub(super) uploads: UploadFiles,
    pub(super) accounts: Arc<Accounts>,
    pub(super) converter: Converter,
    pub(super) variants: ActiveVariants,
    pub(super) conversion_time: Duration,
    /// The service's own address, without a slash at the end.
    pub(super) base: String,
    /// When the logs of locations begin.
    pub(super) log_start: DateTime<Utc>,
}

/// A request that passed the checks, as the endpoints see it.
#[derive(Debug)]
pub(super) struct Call {
    pub(super) customer: u32,
    /// What of the customer's account the access key gives.
    pub(super) scope: Scope,
    /// The value of the path's parameter; empty where it has none.
    pub(super) id: String,
    /// The value of the path's second parameter; empty where it has none.
    pub(super) second_id: String,
    pub(super) query: Query,
    pub(super) now: DateTime<Utc>,
}

impl ServiceState {
    /// The absolute address of a record. `collection` is written in the mixed case of production.
    pub(super) fn uri(&self, collection: &str, id: &str) -> String {
        if self.variants.has(Variant::ProductionUri) {
            format!("{PRODUCTION_HOST}/{collection}/{id}")
        } else {
            format!("{}/{}/{id}", self.base, collection.to_ascii_lowercase())
        }
    }

    /// What `PageSize` of a list says.
    pub(super) fn page_size(&self, asked: u64, count: u64) -> u64 {
        if self.variants.has(Variant::PageSizeAsked) { asked } else { count }
    }

    /// The page of a list that is held whole.
    pub(super) fn list_page(&self, call: &Call, index: &'static Index, all: Vec<Value>) -> Answer {
        let asked = call.query.page().map_err(Reply::bad_request)?;
        let total = u64::try_from(all.len()).unwrap_or(u64::MAX);
        let bounds = asked.bounds(total);
        let to_usize = |number: u64| usize::try_from(number).unwrap_or(usize::MAX);
        let items = all.into_iter().skip(to_usize(bounds.skip)).take(to_usize(bounds.count)).collect();
        let size = self.page_size(asked.size, bounds.count);
        Ok(Reply::list(index, total, asked.page, &bounds, size, items))
    }

    /// A kept file under its name.
    pub(super) fn stored_file(&self, file: &str, name: String) -> Answer {
        let (file, length) = self.uploads.open_stored(file)?;
        Ok(Reply::new(StatusCode::OK, Content::Stored { name, file, length }))
    }
}
