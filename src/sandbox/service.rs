//! Processes one request: rate limit, faults, authentication, routing, reply and request log.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use axum::body::Body;
use chrono::{DateTime, Utc};
use http::request::Parts;
use http::{HeaderMap, HeaderValue, Method, Request as HttpRequest, Response, StatusCode, header};

use super::authenticate::{self, AuthRequest};
use super::clock::{ServiceClock, add_span};
use super::dispatch::{self, Address};
use super::faults::{Fault, FaultTarget, Faults};
use super::keys::{Grant, KeyRing};
use super::locked::locked;
use super::negotiate::{self, Accepted};
use super::query::Query;
use super::rate_limit::{RateLimit, WindowState};
use super::reply::{Answer, Content, Reply};
use super::response::{ResponseOptions, to_response};
use super::routes::{Route, allowed_methods};
use super::service_state::{Call, ServiceState};
use super::variants::Variant;
use super::{field_computers, field_hubs, grain_carts, job_data, job_files, multipart, prescription_maps};
use headland_api::access_key::ACCESS_KEY;
use headland_api::openapi::{self, Addresses};
use headland_api::{self as api, Endpoint, Returns};

/// Maximum number of logged requests; the oldest are dropped.
const MAX_LOGGED_REQUESTS: usize = 100_000;

/// The endpoint that revoked and expired keys may call.
const ACCESS_KEY_ROW: &str = "access_key";

/// Path of the API description (`headland openapi`).
const OPENAPI_PATH: &str = "/openapi.json";

/// A received request.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Request {
    /// Time of receipt on the service's clock.
    pub received_at: DateTime<Utc>,
    /// The HTTP method.
    pub method: String,
    /// The path as sent.
    pub path: String,
    /// The query as sent.
    pub query: String,
    /// Status of the reply, including a lost reply; 0 if the request was not processed.
    pub status: u16,
}

/// The service without its listener.
pub(super) struct Service {
    pub(super) ring: KeyRing,
    pub(super) clock: ServiceClock,
    pub(super) faults: Faults,
    /// There is one API key, so one counter is enough for the limit per client.
    pub(super) rate_limit: Mutex<RateLimit>,
    pub(super) log: Mutex<VecDeque<Request>>,
    pub(super) state: Arc<ServiceState>,
    pub(super) port: u16,
}

/// Error that closes the connection without a reply.
#[derive(Clone, Copy, Debug)]
pub(super) struct ConnectionClosed;

impl std::fmt::Display for ConnectionClosed {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("closed on request")
    }
}

impl std::error::Error for ConnectionClosed {}

impl Service {
    /// Returns the response to a request.
    pub(super) async fn answer(&self, request: HttpRequest<Body>) -> Result<Response<Body>, ConnectionClosed> {
        let (head, body) = request.into_parts();
        if head.method == Method::GET && head.uri.path() == OPENAPI_PATH {
            return Ok(self.document());
        }
        let query = Query::parse(head.uri.query().unwrap_or_default());
        let (method, path) = (head.method.as_str(), head.uri.path());
        // Both dispatch services have their own addresses, token checks and limits.
        let address = Address::from_path(path);
        let route = match address {
            Some(address) => address.route(method, path, &query),
            None => Route::find(method, path, &query),
        };
        let now = self.clock.now();
        let window = if address.is_some() { None } else { self.count_request(&head.headers, now) };
        let retry_after = window.and_then(|window| window.retry_after);
        let faults = if retry_after.is_some() {
            Vec::new()
        } else {
            self.faults.take(&route.names(), FaultTarget::from_request(&route, &query))
        };
        let has_fault = |fault: Fault| faults.contains(&fault);
        if has_fault(Fault::Slow) {
            tokio::time::sleep(Duration::from_secs(1)).await;
        }
        if has_fault(Fault::Reset) {
            self.log_request(&head, now, 0);
            return Err(ConnectionClosed);
        }
        let is_file_request = route.is_file();
        let checked_at = if has_fault(Fault::Skew) { add_span(now, Duration::from_secs(3_600)) } else { now };
        let fault_reply = |fault: &Fault| match address {
            Some(_) => dispatch::fault_reply(*fault).or_else(|| self.fault_reply(*fault)),
            None => self.fault_reply(*fault),
        };
        let replacement = retry_after.map(rate_limited).or_else(|| faults.iter().find_map(fault_reply));
        let reply = match (replacement, address) {
            (Some(reply), _) => {
                multipart::drain(body).await;
                reply
            }
            (None, Some(address)) => {
                dispatch::answer((&self.state, &self.ring), address, (&head, body), route, &query, &faults).await
            }
            (None, None) => self.handle(&head, body, route, query, checked_at).await.unwrap_or_else(|reply| reply),
        };
        self.log_request(&head, now, reply.status.as_u16());
        if has_fault(Fault::LostReply) {
            return Err(ConnectionClosed);
        }
        let options = ResponseOptions {
            request_headers: &head.headers,
            variants: &self.state.variants,
            accepted: match address {
                Some(_) => Accepted::JSON,
                None => negotiate::select_media_type(&head.headers, &self.state.variants)
                    .unwrap_or_else(|| negotiate::default_media_type(&self.state.variants)),
            },
            rate_limit: window,
            date: (!has_fault(Fault::NoDate)).then_some(checked_at),
            is_file_request,
            is_truncated: has_fault(Fault::Truncated),
        };
        Ok(to_response(reply, &options))
    }

    /// Returns the API description (`headland openapi`). It requires no keys and does not count for the rate limit.
    fn document(&self) -> Response<Body> {
        let url = |path: &str| Some(format!("{}{path}", self.state.base));
        let addresses = Addresses {
            field_data: url(""),
            dispatch: url(Address::Dispatch.path()),
            legacy_dispatch: url(Address::LegacyDispatch.path()),
            legacy_orders: url(Address::LegacyOrders.path()),
        };
        let mut response = Response::new(Body::from(openapi::document(&addresses).to_string()));
        response.headers_mut().insert(header::CONTENT_TYPE, HeaderValue::from_static("application/json"));
        response
    }

    fn count_request(&self, headers: &HeaderMap, now: DateTime<Utc>) -> Option<WindowState> {
        if authenticate::names_known_key(headers, &self.ring) {
            locked(&self.rate_limit).count_request(now)
        } else {
            None
        }
    }

    fn log_request(&self, head: &Parts, received_at: DateTime<Utc>, status: u16) {
        let mut log = locked(&self.log);
        if log.len() >= MAX_LOGGED_REQUESTS {
            log.pop_front();
        }
        log.push_back(Request {
            received_at,
            method: head.method.to_string(),
            path: head.uri.path().to_owned(),
            query: head.uri.query().unwrap_or_default().to_owned(),
            status,
        });
    }

    /// Returns the reply of a fault that replaces the normal reply.
    fn fault_reply(&self, fault: Fault) -> Option<Reply> {
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
                let reply = Reply::invalid(StatusCode::METHOD_NOT_ALLOWED, "This address does not accept the method.");
                Some(reply.with_header(header::ALLOW, ""))
            }
            Fault::TooManyRequests => Some(rate_limited(1)),
            Fault::Unavailable => Some(Reply::text(StatusCode::SERVICE_UNAVAILABLE, "Resources exhausted. Try again.")),
            Fault::ServerError => {
                Some(Reply::invalid(StatusCode::INTERNAL_SERVER_ERROR, "The service failed unexpectedly."))
            }
            Fault::MoreTime => Some(Reply::more_time(StatusCode::ACCEPTED, 1)),
            Fault::NotReady => Some(job_files::more_time(&self.state, 1)),
            Fault::NoCoverage => Some(job_files::no_coverage()),
            Fault::AlreadyQueued => Some(prescription_maps::conflict(&self.state, prescription_maps::ALREADY_QUEUED)),
            Fault::SameName => Some(prescription_maps::conflict(&self.state, prescription_maps::SAME_NAME)),
            Fault::Redirect => Some(
                Reply::text(StatusCode::FOUND, "Moved.")
                    .with_header(header::LOCATION, format!("{}/redirected", self.state.base)),
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

    async fn handle(&self, head: &Parts, body: Body, route: Route, query: Query, checked_at: DateTime<Utc>) -> Answer {
        let (access_key, grant, row, ids) = match self.authorize(head, route, checked_at) {
            Ok(authorized) => authorized,
            Err(reply) => {
                multipart::drain(body).await;
                return Err(reply);
            }
        };
        let mut ids = ids.into_iter();
        let (id, second_id) = (ids.next().unwrap_or_default(), ids.next().unwrap_or_default());
        if row.full_name == ACCESS_KEY_ROW {
            let summary = KeyRing::summary(&access_key, grant);
            return Ok(Reply::new(StatusCode::OK, Content::Record(&ACCESS_KEY, summary)));
        }
        let state = Arc::clone(&self.state);
        let upload = match row.returns {
            Returns::Created => {
                Some(multipart::read_upload(HttpRequest::from_parts(head.clone(), body), &state.uploads).await?)
            }
            _ => None,
        };
        let Grant { customer, scope, .. } = grant;
        // The current time, so that it is later than all requests received during an upload.
        let call = Call { row, customer, scope, id, second_id, query, now: self.clock.now() };
        let answer = move || {
            let answer = match row.group() {
                "field_computers" => field_computers::handle(&state, &call),
                "field_hubs" => field_hubs::handle(&state, &call),
                "prescription_maps" => prescription_maps::handle(&state, &call, upload),
                "job_data" => job_data::handle(&state, &call, upload),
                "grain_carts" => grain_carts::handle(&state, &call, upload),
                _ => None,
            };
            answer.unwrap_or_else(|| Err(not_implemented(row)))
        };
        // Files of grain carts are small. Those of jobs and maps take the time of a disk.
        let is_slow = match row.returns {
            Returns::Created => true,
            Returns::File | Returns::Conversion | Returns::Layer => row.group() != "grain_carts",
            _ => false,
        };
        if is_slow { run_blocking(answer).await } else { answer() }
    }

    /// Returns the reply to a write request with a read-only key (specification 5.3 has both codes).
    fn read_only_reply(&self, path: &str) -> Reply {
        let info = "access key check failed: the access key may read but not write";
        if !self.state.variants.has(Variant::ReadOnly405) {
            return Reply::invalid(StatusCode::FORBIDDEN, info);
        }
        let mut methods = allowed_methods(api::Service::FieldData, path);
        methods.retain(|method| *method == "GET");
        Reply::invalid(StatusCode::METHOD_NOT_ALLOWED, info).with_header(header::ALLOW, methods.join(", "))
    }

    /// Performs all checks before the endpoint runs: signature, grant, route, method and `Accept`.
    fn authorize(
        &self,
        head: &Parts,
        route: Route,
        now: DateTime<Utc>,
    ) -> Result<(String, Grant, &'static Endpoint, Vec<String>), Reply> {
        let path = head.uri.path();
        let checked = AuthRequest { method: head.method.as_str(), path, headers: &head.headers, port: self.port };
        let (access_key, grant) = authenticate::authenticate(&checked, &self.ring, now).map_err(Reply::unauthorized)?;
        if !route.names().contains(&ACCESS_KEY_ROW) {
            grant.check(now).map_err(Reply::unauthorized)?;
        }
        let is_file = route.is_file();
        let (row, ids) = route.into_row(head)?;
        if row.method != api::Method::Get && !grant.may_write {
            return Err(self.read_only_reply(path));
        }
        if !is_file && negotiate::select_media_type(&head.headers, &self.state.variants).is_none() {
            let info = "The service answers in application/json, text/xml or application/xml; Accept allows none.";
            return Err(Reply::invalid(StatusCode::NOT_ACCEPTABLE, info));
        }
        Ok((access_key, grant, row, ids))
    }
}

fn not_implemented(row: &Endpoint) -> Reply {
    if row.is_implemented() {
        Reply::not_supported(row.full_name)
    } else {
        Reply::invalid(StatusCode::NOT_IMPLEMENTED, format!("{} is not implemented.", row.path))
    }
}

fn rate_limited(seconds: u64) -> Reply {
    Reply::text(StatusCode::TOO_MANY_REQUESTS, "Exceeded maximum requests.")
        .with_header(header::RETRY_AFTER, seconds.to_string())
}

/// Runs blocking work without blocking other requests.
async fn run_blocking(work: impl FnOnce() -> Answer + Send + 'static) -> Answer {
    tokio::task::spawn_blocking(work).await.unwrap_or_else(|_| {
        let info = "The service failed unexpectedly.";
        Err(Reply::invalid(StatusCode::INTERNAL_SERVER_ERROR, info))
    })
}
