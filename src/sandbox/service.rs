//! One request to one reply: count, fault, check, route, answer, log.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use axum::body::Body;
use chrono::{DateTime, Utc};
use http::request::Parts;
use http::{HeaderMap, HeaderValue, Method, Request as HttpRequest, Response, StatusCode, header};

use super::authenticate::{self, Checked};
use super::clock::{ServiceClock, after};
use super::dispatch::{self, Address};
use super::faults::{Asks, Fault, Faults};
use super::keys::{Grant, KeyRing};
use super::locked::locked;
use super::negotiate::{self, Accepted};
use super::query::Query;
use super::rate_limit::{RateLimit, Standing};
use super::reply::{Answer, Content, Reply};
use super::response::{Around, write};
use super::routes::{Route, methods};
use super::slow_requests::Pace;
use super::state::{Call, World};
use super::variants::Variant;
use super::{field_computers, field_hubs, grain_carts, job_data, job_files, locations, multipart, prescription_maps};
use crate::api::access_key::ACCESS_KEY;
use crate::api::{self, Endpoint, Index, Returns};
use crate::openapi::{self, Addresses};

/// Requests that the log holds at most; the oldest go first.
const LOG_LENGTH: usize = 100_000;

/// The row that answers for revoked and expired keys too.
const SUMMARY: &str = "access_key";

/// Where the service describes itself (`headland openapi`).
const DOCUMENT: &str = "/openapi.json";

/// A request that arrived.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Request {
    /// When, by the service's clock.
    pub at: DateTime<Utc>,
    /// The HTTP method.
    pub method: String,
    /// The path as sent.
    pub path: String,
    /// The query as sent.
    pub query: String,
    /// The status of the reply, also of one that was then lost; 0 where the request was not carried out.
    pub status: u16,
}

/// The service behind its listener.
pub(super) struct Service {
    pub(super) ring: KeyRing,
    pub(super) clock: ServiceClock,
    pub(super) faults: Faults,
    /// One API key is issued, so one count is enough for "per client".
    pub(super) limit: Mutex<RateLimit>,
    pub(super) log: Mutex<VecDeque<Request>>,
    pub(super) world: Arc<World>,
    pub(super) port: u16,
}

/// The connection closes without a reply.
#[derive(Clone, Copy, Debug)]
pub(super) struct Closed;

impl std::fmt::Display for Closed {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("closed on request")
    }
}

impl std::error::Error for Closed {}

impl Service {
    /// Answers one request.
    pub(super) async fn answer(&self, request: HttpRequest<Body>) -> Result<Response<Body>, Closed> {
        let (head, body) = request.into_parts();
        let (body, pace) = Pace::watch(body);
        if head.method == Method::GET && head.uri.path() == DOCUMENT {
            return Ok(self.document());
        }
        let query = Query::parse(head.uri.query().unwrap_or_default());
        let (method, path) = (head.method.as_str(), head.uri.path());
        // The dispatch service and the legacy order service have addresses, checks and limits of their own.
        let address = Address::of(path);
        let route = match address {
            Some(address) => address.route(method, path, &query),
            None => Route::find(method, path, &query),
        };
        let at = self.clock.now();
        let standing = if address.is_some() { None } else { self.count(&head.headers, at) };
        let refused = standing.and_then(|standing| standing.refused);
        let faults =
            if refused.is_some() { Vec::new() } else { self.faults.take(&route.names(), Asks::of(&route, &query)) };
        let meets = |fault: Fault| faults.contains(&fault);
        if meets(Fault::Slow) {
            tokio::time::sleep(Duration::from_secs(1)).await;
        }
        if meets(Fault::Reset) {
            self.write_down(&head, at, 0);
            return Err(Closed);
        }
        let for_file = route.is_file();
        let checked_at = if meets(Fault::Skew) { after(at, Duration::from_secs(3_600)) } else { at };
        let in_place = |fault: &Fault| match address {
            Some(_) => dispatch::in_place(*fault).or_else(|| self.in_place(*fault)),
            None => self.in_place(*fault),
        };
        let instead = refused.map(exceeded).or_else(|| faults.iter().find_map(in_place));
        let reply = match (instead, address) {
            (Some(reply), _) => {
                multipart::drain(body).await;
                reply
            }
            (None, Some(address)) => {
                dispatch::answer((&self.world, &self.ring), address, (&head, body), route, &query, &faults).await
            }
            (None, None) => self.carry_out(&head, body, route, query, checked_at).await.unwrap_or_else(|reply| reply),
        };
        let reply = pace.or_too_slow(reply);
        self.write_down(&head, at, reply.status.as_u16());
        if meets(Fault::LostReply) {
            return Err(Closed);
        }
        let around = Around {
            request: &head.headers,
            habits: &self.world.habits,
            accepted: match address {
                Some(_) => Accepted::JSON,
                None => negotiate::accepted(&head.headers, &self.world.habits)
                    .unwrap_or_else(|| negotiate::preferred(&self.world.habits)),
            },
            standing,
            date: (!meets(Fault::NoDate)).then_some(checked_at),
            for_file,
            truncated: meets(Fault::Truncated),
        };
        Ok(write(reply, &around))
    }

    /// The interface as a document, for whoever asks: it takes no keys and counts for no limit.
    fn document(&self) -> Response<Body> {
        let at = |path: &str| Some(format!("{}{path}", self.world.base));
        let addresses = Addresses {
            field_data: at(""),
            dispatch: at(Address::Dispatch.path()),
            legacy_dispatch: at(Address::LegacyDispatch.path()),
            legacy_orders: at(Address::LegacyOrders.path()),
        };
        let mut response = Response::new(Body::from(openapi::document(&addresses).to_string()));
        response.headers_mut().insert(header::CONTENT_TYPE, HeaderValue::from_static("application/json"));
        response
    }

    fn count(&self, headers: &HeaderMap, now: DateTime<Utc>) -> Option<Standing> {
        if authenticate::names_known_key(headers, &self.ring) { locked(&self.limit).arrive(now) } else { None }
    }

    fn write_down(&self, head: &Parts, at: DateTime<Utc>, status: u16) {
        let mut log = locked(&self.log);
        if log.len() >= LOG_LENGTH {
            log.pop_front();
        }
        log.push_back(Request {
            at,
            method: head.method.to_string(),
            path: head.uri.path().to_owned(),
            query: head.uri.query().unwrap_or_default().to_owned(),
            status,
        });
    }

    /// The reply that a fault puts in place of the right one.
    fn in_place(&self, fault: Fault) -> Option<Reply> {
        match fault {
            Fault::Unauthorized => {
                Some(Reply::unauthorized("signature check failed: the signature does not match the request"))
            }
            Fault::Forbidden => {
                Some(Reply::invalid(StatusCode::FORBIDDEN, "The access key does not permit these data."))
            }
            Fault::BadRequest => Some(Reply::bad_request("Something in the request is wrong.")),
            Fault::NotFound => Some(Reply::invalid(StatusCode::NOT_FOUND, "There is nothing at this address.")),
            Fault::MethodNotAllowed => {
                let reply = Reply::invalid(StatusCode::METHOD_NOT_ALLOWED, "This address does not take the method.");
                Some(reply.with(header::ALLOW, ""))
            }
            Fault::TooManyRequests => Some(exceeded(1)),
            Fault::Unavailable => Some(Reply::text(StatusCode::SERVICE_UNAVAILABLE, "Resources exhausted. Try again.")),
            Fault::ServerError => {
                Some(Reply::invalid(StatusCode::INTERNAL_SERVER_ERROR, "The service failed unexpectedly."))
            }
            Fault::MoreTime => Some(Reply::more_time(StatusCode::ACCEPTED, 1)),
            Fault::NotReady => Some(job_files::more_time(&self.world, 1)),
            Fault::NoCoverage => Some(job_files::no_coverage()),
            Fault::AlreadyQueued => Some(prescription_maps::conflict(&self.world, prescription_maps::QUEUED)),
            Fault::SameName => Some(prescription_maps::conflict(&self.world, prescription_maps::SAME_NAME)),
            Fault::Redirect => Some(
                Reply::text(StatusCode::FOUND, "Moved.")
                    .with(header::LOCATION, format!("{}/redirected", self.world.base)),
            ),
            Fault::WebPage => Some(Reply::new(
                StatusCode::OK,
                Content::WebPage("<!DOCTYPE html><html><body><h1>Please sign in</h1></body></html>\n"),
            )),
            Fault::LostReply
            | Fault::Reset
            | Fault::Truncated
            | Fault::Slow
            | Fault::NoDate
            | Fault::Skew
            | Fault::ForeignLocation
            | Fault::LoopingLocation
            | Fault::RepeatedPage => None,
        }
    }

    async fn carry_out(
        &self,
        head: &Parts,
        body: Body,
        route: Route,
        query: Query,
        checked_at: DateTime<Utc>,
    ) -> Answer {
        let (access_key, grant, row, ids) = match self.admit(head, route, checked_at) {
            Ok(admitted) => admitted,
            Err(reply) => {
                multipart::drain(body).await;
                return Err(reply);
            }
        };
        let mut ids = ids.into_iter();
        let (id, other_id) = (ids.next().unwrap_or_default(), ids.next().unwrap_or_default());
        let call = Call { customer: grant.customer, part: grant.part, id, other_id, query, now: self.clock.now() };
        let world = Arc::clone(&self.world);
        match (row.full_name, row.returns) {
            (SUMMARY, _) => {
                let summary = KeyRing::summary(&access_key, grant);
                Ok(Reply::new(StatusCode::OK, Content::Record(&ACCESS_KEY, summary)))
            }
            ("field_computers.list", Returns::Index(index)) => field_computers::list(&world, &call, index),
            ("field_computers.get", _) => field_computers::get(&world, &call),
            ("job_data.list", Returns::Index(index)) => job_data::list(&world, &call, index),
            ("job_data.get", _) => job_data::get(&world, &call),
            ("job_data.download" | "job_data.request" | "job_data.read", _) => {
                apart(move || job_files::get(&world, &call)).await
            }
            (_, Returns::Created) => {
                let arrived = multipart::read(HttpRequest::from_parts(head.clone(), body), &world.uploads).await?;
                // Later than every request that came while the upload was on its way.
                let call = Call { now: self.clock.now(), ..call };
                let take = match row.group() {
                    "job_data" => job_data::upload,
                    "prescription_maps" => prescription_maps::upload,
                    _ => grain_carts::upload,
                };
                apart(move || take(&world, &call, arrived)).await
            }
            ("grain_carts.list", Returns::Index(index)) => grain_carts::list(&world, &call, index),
            ("grain_carts.get", Returns::OneOf(index)) => grain_carts::get(&world, &call, index),
            ("grain_carts.download" | "grain_carts.read", _) => grain_carts::file(&world, &call),
            (_, Returns::Index(index) | Returns::OneOf(index)) => lists(row, &world, &call, index),
            ("prescription_maps.get", _) => prescription_maps::get(&world, &call),
            ("prescription_maps.download", _) => apart(move || prescription_maps::file(&world, &call)).await,
            ("prescription_maps.send", _) => prescription_maps::send(&world, &call),
            (_, Returns::NotImplemented) => {
                Err(Reply::invalid(StatusCode::NOT_IMPLEMENTED, format!("{} is not implemented.", row.path)))
            }
            (name, _) => Err(Reply::not_imitated(name)),
        }
    }

    /// What an access key is told that may not write (specification 5.3 has both codes).
    fn read_only(&self, path: &str) -> Reply {
        let info = "access key check failed: the access key may read and not write";
        if !self.world.habits.has(Variant::ReadOnly405) {
            return Reply::invalid(StatusCode::FORBIDDEN, info);
        }
        let mut methods = methods(api::Service::FieldData, path);
        methods.retain(|method| *method == "GET");
        Reply::invalid(StatusCode::METHOD_NOT_ALLOWED, info).with(header::ALLOW, methods.join(", "))
    }

    /// The checks, the route, the encoding: all that can be refused before an endpoint is asked.
    fn admit(
        &self,
        head: &Parts,
        route: Route,
        now: DateTime<Utc>,
    ) -> Result<(String, Grant, &'static Endpoint, Vec<String>), Reply> {
        let path = head.uri.path();
        let checked = Checked { method: head.method.as_str(), path, headers: &head.headers, port: self.port };
        let (access_key, grant) = authenticate::check(&checked, &self.ring, now).map_err(Reply::unauthorized)?;
        if !route.names().contains(&SUMMARY) {
            grant.check(now).map_err(Reply::unauthorized)?;
        }
        let is_file = route.is_file();
        let (row, ids) = route.found(head)?;
        if row.method != api::Method::Get && !grant.may_write {
            return Err(self.read_only(path));
        }
        if !is_file && negotiate::accepted(&head.headers, &self.world.habits).is_none() {
            let info = "The service answers in application/json, text/xml or application/xml; Accept allows none.";
            return Err(Reply::invalid(StatusCode::NOT_ACCEPTABLE, info));
        }
        Ok((access_key, grant, row, ids))
    }
}

/// The lists of devices, maps and locations.
fn lists(row: &Endpoint, world: &World, call: &Call, index: &'static Index) -> Answer {
    match row.full_name {
        "field_computers.prescription_maps" => prescription_maps::of_computer(world, call, index),
        "field_computers.job_data" => field_computers::job_data(world, call, index),
        "field_computers.current_locations" => locations::of_all_computers(world, call, index),
        "field_computers.current_location" => locations::newest_of_computer(world, call, index),
        "field_computers.locations" => locations::of_computer(world, call, index),
        "field_hubs.list" => field_hubs::list(world, call, index),
        "field_hubs.get" => field_hubs::get(world, call, index),
        "field_hubs.reports" => field_hubs::reports(world, call, index),
        "field_hubs.current_locations" => locations::of_all_hubs(world, call, index),
        "field_hubs.current_location" => locations::newest_of_hub(world, call, index),
        "field_hubs.locations" => locations::of_hub(world, call, index),
        "prescription_maps.list" => prescription_maps::list(world, call, index),
        "job_data.prescription_maps" => prescription_maps::of_job(world, call, index),
        name => Err(Reply::not_imitated(name)),
    }
}

fn exceeded(seconds: u64) -> Reply {
    Reply::text(StatusCode::TOO_MANY_REQUESTS, "Exceeded maximum requests.")
        .with(header::RETRY_AFTER, seconds.to_string())
}

/// Does what takes a while where other requests need not wait for it.
async fn apart(work: impl FnOnce() -> Answer + Send + 'static) -> Answer {
    tokio::task::spawn_blocking(work).await.unwrap_or_else(|_| {
        let info = "The service failed unexpectedly.";
        Err(Reply::invalid(StatusCode::INTERNAL_SERVER_ERROR, info))
    })
}
