//! Client: calls, pages, downloads, uploads and conversions.

mod arguments;
mod config;
mod conversion;
mod dedup;
mod delivery;
mod destination;
mod dispatch_call;
mod dispatch_services;
mod doctor;
mod download;
mod fetch;
mod file_check;
mod file_name;
mod link_pages;
mod links;
mod lost_upload;
mod map_sending;
mod multipart;
mod own_uploads;
mod pages;
mod poll_once;
mod prefetch;
mod products;
mod queue_map;
mod receive_file;
mod record;
mod send_plan;
mod setup;
mod shapefile_zip;
mod upload;
pub mod upload_rules;

/// Rate limits: exact windows, headers of the server, and a budget shared between processes.
pub mod limiter;

pub mod signing;

/// Requests and replies, and the attempt loop with its retries.
pub mod transport;

use crate::transport::Probe;
pub use crate::transport::Timeouts;
use headland_api::Endpoint;
use headland_base::error::{Error, Result};
use headland_wire::Value;

pub use arguments::Arguments;
pub use arguments::check_id;
pub use config::{Config, LimiterState, Token};
pub use conversion::Conversion;
pub use delivery::Delivery;
pub use destination::{Delivered, Target};
pub use doctor::{Finding, Variation, about_setting};
pub use fetch::OnError;
pub use link_pages::LinkPages;
pub use links::ResolvedLink;
pub use lost_upload::Created;
pub use map_sending::{SentMap, Wait};
pub use multipart::UploadFile;
pub use pages::{Pages, Position};
pub use poll_once::PollResult;
pub use products::{Rows, flatten};
pub use send_plan::{PlannedMap, SendPlan};
pub use setup::Client;
pub use shapefile_zip::zip_shapefile;

impl Client {
    /// Reads a record; null if the service returns an empty list for it.
    pub async fn detail(&self, row: &'static Endpoint, arguments: &Arguments) -> Result<Value> {
        record::detail(self, row, arguments).await
    }

    /// Reads a record and returns its parts as rows of one table.
    pub async fn rows(&self, row: &'static Endpoint, arguments: &Arguments) -> Result<Rows> {
        products::rows(self, row, arguments).await
    }

    /// Finds the call for an address in a record, on the configured base; no call is made.
    pub fn resolve_link(&self, uri: &str) -> Result<ResolvedLink> {
        links::resolve(&self.context().base, uri)
    }

    /// A lazy list: no call is made before its `next_page` or `total`.
    pub fn pages(
        &self,
        row: &'static Endpoint,
        arguments: Arguments,
        page_size: Option<u32>,
        page: Option<u64>,
    ) -> Result<Pages> {
        Pages::new(self.clone(), row, arguments, page_size, page)
    }

    /// A lazy list of the dispatch service or the legacy order service, see [`Client::pages`].
    pub fn link_pages(
        &self,
        row: &'static Endpoint,
        arguments: Arguments,
        page_size: Option<u32>,
        page: Option<u64>,
    ) -> Result<LinkPages> {
        LinkPages::new(self.clone(), row, arguments, page_size, page)
    }

    /// Makes a call of the dispatch service or the legacy order service and returns the reply; null if it is empty.
    pub async fn payload(&self, row: &'static Endpoint, arguments: &Arguments) -> Result<Value> {
        dispatch_call::payload(self, row, arguments).await
    }

    /// Downloads a file of at most `max_bytes` bytes (`None`: 4 GiB), waiting for its conversion until the deadline of
    /// the call.
    pub async fn download(
        &self,
        row: &'static Endpoint,
        arguments: &Arguments,
        target: Target,
        max_bytes: Option<u64>,
    ) -> Result<Delivered> {
        download::download(self, row, arguments, target, max_bytes).await
    }

    /// Sends a command that returns no data, such as queuing a map for a field computer.
    pub async fn send_command(&self, row: &'static Endpoint, arguments: &Arguments) -> Result<()> {
        queue_map::send_command(self, row, arguments).await
    }

    /// Uploads a file, with the arguments as texts in the form. It is sent once: if its reply is lost, the list shows
    /// whether it was stored.
    pub async fn upload(&self, row: &'static Endpoint, arguments: &Arguments, file: UploadFile) -> Result<Created> {
        upload::upload(self, row, arguments, file).await
    }

    /// Queues a prescription map for a field computer, and waits for its delivery if requested.
    pub async fn send_map(&self, map: &str, computer: &str, wait: Wait) -> Result<SentMap> {
        map_sending::send_map(self, map, computer, wait).await
    }

    /// Uploads a file and queues it for a field computer. What an interrupted send has done is not done again.
    pub async fn send_file(&self, file: UploadFile, computer: &str, wait: Wait) -> Result<SentMap> {
        map_sending::send_file(self, file, computer, wait).await
    }

    /// Reads what a send would collide with; sends nothing.
    pub async fn plan_send(&self, map: &PlannedMap, computer: &str) -> Result<SendPlan> {
        send_plan::plan(self, map, computer).await
    }

    /// Resumes the wait for a delivery by its [`Delivery::id`], also from another process.
    pub fn delivery(&self, id: &str) -> Result<Delivery> {
        Delivery::resume(self.clone(), id)
    }

    /// A handle for a file that the service may have to create first. No call is made yet.
    pub fn conversion(&self, row: &'static Endpoint, arguments: Arguments) -> Result<Conversion> {
        Conversion::new(self.clone(), row, arguments)
    }

    /// Resumes a conversion by its [`Conversion::id`], also from another process.
    pub fn resume(&self, id: &str) -> Result<Conversion> {
        Conversion::resume(self.clone(), id)
    }

    /// Finds out why calls fail, with at most three calls; `source` names the origin of the settings.
    ///
    /// Calls `report` with each finding before the next call. Returns the number of calls and the error that a call
    /// would end with.
    pub async fn diagnose(&self, source: &str, report: &(dyn Fn(Finding) + Sync)) -> (u32, Option<Error>) {
        doctor::diagnose(self, source, report).await
    }

    /// Makes a call without arguments once and returns the facts of its reply, to diagnose failing calls.
    pub async fn examine(&self, row: &'static Endpoint, variation: Variation<'_>) -> Result<Probe<Value>> {
        doctor::examine(self, row, variation).await
    }
}
