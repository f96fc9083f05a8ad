//! The steps that find out why calls fail, in their order; the first that fails is the last.
//!
//! At most three calls are made: the access key, the same again where the clock or another reading of the address
//! explains a refusal, and the shortest list of jobs.

use std::net::IpAddr;

use chrono::TimeDelta;

use super::Variation;
use super::advice::{self, about_certificate};
use super::finding::Finding;
use crate::Client;
use crate::limiter::Budget;
use crate::transport::{Certificate, FaultKind, Probe, ignored_proxy, proxy_for};
use headland_api as api;
use headland_base::error::{Error, Kind, Result};
use headland_wire::Value;

pub(super) const MOST_CALLS: u32 = 3;
pub(super) const ACCESS_KEY: &str = "access_key";
const LIST: &str = "job_data.list";

/// Steps that fail if calls do not use the proxy of the network.
const NETWORK_STEPS: &[&str] = &["name", "connection", "TLS", "service"];

/// Seconds that a clock may be off before it is worth setting; at 120 the service refuses.
const NOTICEABLE: u64 = 30;

/// Goes through the steps and reports each finding before the next call. Returns the number of calls and the error that
/// a call would end with.
pub(crate) async fn diagnose(client: &Client, source: &str, report: &(dyn Fn(Finding) + Sync)) -> (u32, Option<Error>) {
    let mut steps = Steps::new(client, report);
    let error = steps.all(source).await.err();
    // The findings contain what these warnings would repeat.
    drop(client.take_warnings());
    (steps.calls, error)
}

pub(super) struct Steps<'a> {
    pub(super) client: &'a Client,
    report: &'a (dyn Fn(Finding) + Sync),
    /// Name and port of the address, as users write them.
    name: String,
    port: u16,
    proxy: Option<String>,
    pub(super) calls: u32,
}

impl<'a> Steps<'a> {
    pub(super) fn new(client: &'a Client, report: &'a (dyn Fn(Finding) + Sync)) -> Self {
        let base = &client.context().base;
        let (name, port) = base.name_and_port();
        Self { client, report, name: name.to_owned(), port, proxy: proxy_for(base), calls: 0 }
    }

    /// Goes through them; an error is that of the step that failed, whose finding is there.
    pub(super) async fn all(&mut self, source: &str) -> Result<()> {
        self.ok("settings", format!("{source}: {}", self.client.describe()));
        let (base, host) = self.client.address();
        self.ok("address", format!("{base}, sent and signed as the host `{host}`"));
        let before = self.client.budget();
        let seen = self.call(ACCESS_KEY, Variation::default()).await?;
        self.network_steps(&seen)?;
        self.service(&seen).await?;
        self.ok("service", "it answers");
        let seen = self.clock(seen).await?;
        self.signature(&seen).await?;
        self.access_key(&seen)?;
        let seen = self.list_call().await?;
        self.limiter(&before, &seen);
        Ok(())
    }

    /// Reports a step that calls pass.
    pub(super) fn ok(&self, name: &'static str, seen: impl Into<String>) {
        self.note(name, seen, None);
    }

    /// Reports a step that calls pass, with advice.
    fn note(&self, name: &'static str, seen: impl Into<String>, next_step: Option<&str>) {
        let next_step = next_step.map(str::to_owned);
        (self.report)(Finding { name, is_ok: true, seen: seen.into(), next_step });
    }

    /// Reports the step that calls fail at.
    pub(super) fn fail<T>(&self, name: &'static str, error: &Error, next_step: impl Into<String>) -> Result<T> {
        self.fail_seeing(name, error, error.to_string(), next_step)
    }

    pub(super) fn fail_seeing<T>(
        &self,
        name: &'static str,
        error: &Error,
        seen: String,
        next_step: impl Into<String>,
    ) -> Result<T> {
        let mut next_step = next_step.into();
        if NETWORK_STEPS.contains(&name)
            && let Some(variable) = ignored_proxy(&self.client.context().base)
        {
            next_step = advice::about_ignored_proxy(variable, &next_step);
        }
        (self.report)(Finding { name, is_ok: false, seen, next_step: Some(next_step) });
        Err(error.clone())
    }

    /// Makes a call once; a limiter without room for it is the step that fails.
    pub(super) async fn call(&mut self, name: &str, variation: Variation<'_>) -> Result<Probe<Value>> {
        let row = api::row(name).ok_or_else(|| Error::new(Kind::Value, format!("there is no call `{name}`")))?;
        match super::examine(self.client, row, variation).await {
            Err(refused) if refused.kind() == Kind::RateLimited => {
                self.fail("limiter", &refused, wait(&refused, "programs on this machine have used up the limit"))
            }
            outcome => {
                self.calls = self.calls.saturating_add(1);
                outcome
            }
        }
    }

    /// Reports name, connection and TLS, which come before a reply.
    fn network_steps(&self, seen: &Probe<Value>) -> Result<()> {
        let (name, port) = (&self.name, self.port);
        let failed = seen.outcome.as_ref().err().zip(seen.fault.as_ref());
        if let Some((error, fault)) = failed
            && fault.kind == FaultKind::Name
        {
            let named = match &self.proxy {
                Some(proxy) => format!("the proxy `{proxy}` in HTTPS_PROXY"),
                None => format!("`{name}` in base_url"),
            };
            let next_step = format!("check the spelling of {named}, and whether this machine is online");
            return self.fail("name", error, next_step);
        }
        let known = if name.parse::<IpAddr>().is_ok() { "an IP address" } else { "known" };
        let looked_up = match &self.proxy {
            Some(proxy) => format!("the proxy `{proxy}` looks up `{name}`"),
            None => format!("`{name}` is {known}"),
        };
        self.ok("name", looked_up);
        if let Some((error, fault)) = failed
            && matches!(fault.kind, FaultKind::Connect | FaultKind::Refused)
        {
            return self.fail("connection", error, self.about_connection(fault.kind));
        }
        let way =
            self.proxy.as_ref().map_or_else(|| "direct".to_owned(), |proxy| format!("through the proxy `{proxy}`"));
        self.ok("connection", format!("port {port} accepts connections, {way}"));
        if let Some((error, fault)) = failed
            && fault.kind == FaultKind::Tls
        {
            let next_step = about_certificate(Certificate::from_message(&fault.message), name, port);
            return self.fail("TLS", error, next_step);
        }
        let is_encrypted = self.client.context().base.is_https();
        let seen = if is_encrypted { "the certificate is trusted" } else { "plain http, which stays on this machine" };
        self.ok("TLS", seen);
        Ok(())
    }

    fn about_connection(&self, kind: FaultKind) -> String {
        let (name, port) = (&self.name, self.port);
        match &self.proxy {
            Some(proxy) => format!(
                "calls go through the proxy `{proxy}` because HTTPS_PROXY is set, but the proxy refuses them: correct \
                 HTTPS_PROXY, or set NO_PROXY={name} if they need no proxy"
            ),
            None if kind == FaultKind::Refused => {
                format!("nothing listens on port {port} of {name}: check the port in base_url, or start the service")
            }
            None => format!(
                "the network blocks port {port} of {name}: ask the operator of the network or firewall to \
                 allow it, or set HTTPS_PROXY if this network needs a proxy"
            ),
        }
    }

    /// Reports a failure where the reply is not the service's, or says nothing of the keys.
    async fn service(&mut self, seen: &Probe<Value>) -> Result<()> {
        let Err(error) = &seen.outcome else { return Ok(()) };
        if seen.fault.is_some() {
            let next_step = format!(
                "the server on port {} does not answer like the service: check the port in base_url; if it is right, \
                 the service hangs or is slow, so try again later or raise `timeout`",
                self.port
            );
            return self.fail("service", error, next_step);
        }
        let is_document = error.facts().is_document;
        match error.kind() {
            Kind::RateLimited => {
                let next_step = format!("{}; {}", wait(error, "others have used up the limit"), advice::SHARE);
                self.fail("limiter", error, next_step)
            }
            Kind::NotFound => self.wrong_path(error).await,
            Kind::ServiceUnavailable | Kind::NotReady => self.fail("service", error, advice::TROUBLE),
            Kind::Authentication => Ok(()),
            Kind::PermissionDenied if !is_document => Ok(()),
            Kind::Decode | Kind::Transport => self.another_server(error),
            _ if is_document => self.another_server(error),
            _ => self.fail("service", error, advice::REFUSES_ALL),
        }
    }

    /// Reports that the reply is not the service's.
    fn another_server(&self, error: &Error) -> Result<()> {
        let around = self.proxy.as_ref().map(|proxy| {
            let name = &self.name;
            format!("; HTTPS_PROXY sends calls through `{proxy}`: set NO_PROXY={name} to bypass it")
        });
        let next_step = format!(
            "another server answers instead of the service, such as a proxy or the sign-in page of a network: open {} \
             in a browser, sign in if a page requires it, and check base_url{}",
            self.client.address().0,
            around.unwrap_or_default()
        );
        self.fail("service", error, next_step)
    }

    /// Reports a path that the service does not know, after one call to the root of its host.
    async fn wrong_path(&mut self, error: &Error) -> Result<()> {
        let client = self.client;
        let (base, path) = (client.address().0, client.context().base.prefix());
        let mut next_step = advice::PATH.to_owned();
        if !path.is_empty() && self.calls < MOST_CALLS {
            let found = self.call(ACCESS_KEY, Variation { prefix: Some(""), ..Variation::default() }).await?.outcome;
            if found.as_ref().map_or_else(|error| error.kind() == Kind::Authentication, |_| true) {
                let root = base.strip_suffix(path).unwrap_or(base);
                next_step = format!("set base_url to {root}: the service is there, not below `{path}`");
            }
        }
        self.fail("service", error, next_step)
    }

    /// Measures the clock; where it explains a refusal, asks again with the right time, as calls do.
    async fn clock(&mut self, mut seen: Probe<Value>) -> Result<Probe<Value>> {
        let (skew, is_corrected) = (seen.skew, seen.is_corrected);
        if is_corrected {
            seen = self.call(ACCESS_KEY, Variation::default()).await?;
            self.service(&seen).await?;
        }
        if let (Err(error), true) = (&seen.outcome, seen.is_about_time) {
            let Some(skew) = skew else {
                let text = "the service refuses the time of the request, but sends no Date to measure the difference";
                return self.fail_seeing("clock", error, text.to_owned(), advice::SET_CLOCK);
            };
            let text = format!("{error}; {}", clock_difference(skew));
            return self.fail_seeing("clock", error, text, advice::DATES_DIFFER);
        }
        let Some(skew) = skew else {
            self.ok("clock", "not measured: the service sends no Date");
            return Ok(seen);
        };
        let text = clock_difference(skew) + if is_corrected { "; corrected for this client" } else { "" };
        let next_step = (skew.unsigned_abs() > NOTICEABLE).then_some(advice::SET_CLOCK);
        self.note("clock", text, next_step);
        Ok(seen)
    }

    /// What the service says of the access key; it answers for revoked and expired ones, too.
    fn access_key(&self, seen: &Probe<Value>) -> Result<()> {
        let ask = advice::ASK_CUSTOMER;
        let record = match &seen.outcome {
            Ok(record) => record,
            Err(error) => {
                let next_step = format!("copy access_key again as the portal shows it. If it is right, {ask}");
                return self.fail("access key", error, next_step);
            }
        };
        let contact = record.get("contact").and_then(Value::as_text).filter(|contact| !contact.is_empty());
        let ask = contact.map_or_else(|| ask.to_owned(), |contact| format!("{ask} (contact: {contact})"));
        let expires = match record.get("expiration_date_time") {
            Some(Value::Time(expires)) => Some(*expires),
            _ => None,
        };
        let skew = TimeDelta::try_seconds(seen.skew.unwrap_or(0)).unwrap_or_default();
        let now = self.client.clock().now();
        let now = now.checked_add_signed(skew).unwrap_or(now);
        if let Some(expires) = expires.filter(|expires| *expires <= now) {
            let message = format!("the access key expired at {} UTC", expires.format("%Y-%m-%d %H:%M"));
            return self.fail("access key", &Error::new(Kind::Authentication, message), ask);
        }
        if record.get("is_active").and_then(Value::as_boolean) == Some(false) {
            let message = "the access key is not active: its customer has revoked it";
            return self.fail("access key", &Error::new(Kind::Authentication, message), ask);
        }
        let until = expires.map(|expires| expires.format(", until %Y-%m-%d").to_string()).unwrap_or_default();
        self.ok("access key", format!("active{until}"));
        Ok(())
    }

    /// Asks for the shortest list of jobs.
    async fn list_call(&mut self) -> Result<Probe<Value>> {
        let seen = self.call(LIST, Variation::default()).await?;
        match &seen.outcome {
            Err(error)
                if matches!(
                    error.kind(),
                    Kind::Authentication | Kind::PermissionDenied | Kind::MethodNotAllowed | Kind::NotFound
                ) =>
            {
                let delegate = format!(
                    "the access key does not permit job data: {}, with job data delegated to you",
                    advice::ASK_CUSTOMER
                );
                let next_step = if seen.is_about_time { advice::SET_CLOCK.to_owned() } else { delegate };
                return self.fail("list call", error, next_step);
            }
            _ => self.service(&seen).await?,
        }
        let count = match seen.outcome {
            Ok(Value::Integer(count)) => format!(": {count} jobs"),
            _ => String::new(),
        };
        self.ok("list call", format!("{LIST} works{count}"));
        Ok(seen)
    }

    /// What is left of the limit, and who else uses it.
    fn limiter(&self, before: &Budget, seen: &Probe<Value>) {
        let now = self.client.budget();
        if now.windows.is_empty() {
            self.ok("limiter", "turned off (rate_limits is empty)");
            return;
        }
        let used = now
            .windows
            .iter()
            .map(|(window, used)| format!("{used} of {} calls in {} s", window.calls, window.period.as_secs_f64()));
        let used = used.collect::<Vec<_>>().join(", ");
        let others = self.others(before, seen);
        if let Some(trouble) = self.client.budget_not_shared_reason() {
            self.note("limiter", format!("{used}; {trouble}"), Some(advice::WRITABLE));
        } else if others > 0 {
            let seen = format!("{used}; {others} of them were made by others with this API key");
            self.note("limiter", seen, Some(advice::SHARE));
        } else {
            self.ok("limiter", used);
        }
    }

    /// How many calls the service counts beyond those that this machine knew of and made.
    fn others(&self, before: &Budget, seen: &Probe<Value>) -> u32 {
        let (Some(limit), Some(remaining)) = (seen.rate_limit.limit, seen.rate_limit.remaining) else { return 0 };
        let own = before.windows.iter().find(|(window, _)| window.calls == limit);
        own.map_or(0, |(_, own)| limit.saturating_sub(remaining).saturating_sub(*own).saturating_sub(self.calls))
    }
}

fn wait(error: &Error, why: &str) -> String {
    match error.facts().retry_after.filter(|wait| !wait.is_zero()) {
        Some(wait) => format!("wait {:.0} s: {why}", wait.as_secs_f64()),
        None => format!("wait a minute: {why}"),
    }
}

fn clock_difference(skew: i64) -> String {
    match skew {
        0 => "agrees with the service's to the second".to_owned(),
        1.. => format!("this machine's clock is {skew} s behind the service's"),
        _ => format!("this machine's clock is {} s ahead of the service's", skew.unsigned_abs()),
    }
}
