//! The step that looks at API key and signature, and at how the service reads what is signed.

use super::steps::{ACCESS_KEY, MOST_CALLS, Steps};
use super::{Variation, advice};
use crate::transport::Probe;
use headland_base::error::{Error, Kind, Result};
use headland_wire::Value;

/// A check of the service that a refusal names.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Check {
    ApiKey,
    Signature,
    AccessKey,
}

impl Steps<'_> {
    /// API key and signature.
    pub(super) async fn signature(&mut self, seen: &Probe<Value>) -> Result<()> {
        let failed = failed_check(&seen.outcome);
        let error = match &seen.outcome {
            Err(error) if error.kind() == Kind::Authentication && failed != Some(Check::AccessKey) => error,
            _ => {
                self.ok("signature", "the service accepts API key and signature");
                return Ok(());
            }
        };
        if failed == Some(Check::ApiKey) {
            return self.fail("signature", error, advice::API_KEY);
        }
        self.path_as_written(error).await?;
        self.host_alone(error).await?;
        let next_step = format!(
            "{}copy shared_secret again: it must be the one issued together with this api_key. If it is, a proxy may \
             change the host or the path that the service receives: base_url must have the host name of the operator, \
             not `{}` if that is an alias",
            if failed.is_some() { "" } else { advice::UNNAMED },
            self.client.address().1
        );
        self.fail("signature", error, next_step)
    }

    /// Looks whether the service signs the path as it is written, against specification 5.4.
    async fn path_as_written(&mut self, error: &Error) -> Result<()> {
        let client = self.client;
        let (base, path) = (client.address().0, client.context().base.prefix());
        let low = path.to_lowercase();
        if low == path || self.calls >= MOST_CALLS {
            return Ok(());
        }
        let found = self.call(ACCESS_KEY, Variation { prefix: Some(&low), ..Variation::default() }).await?.outcome;
        let seen = format!("{error}; the service signs `{path}` as it is written, not in lower case");
        if found.as_ref().is_err_and(|found| found.kind() == Kind::NotFound) {
            return self.fail_seeing("signature", error, seen, advice::SIGN_LOWER_CASE);
        }
        if is_signed(&found) {
            let root = base.strip_suffix(path).unwrap_or(base);
            let next_step = format!("set base_url to {root}{low}: in lower case both are the same");
            return self.fail_seeing("signature", error, seen, next_step);
        }
        Ok(())
    }

    /// Looks whether the service signs the host without the port that is sent.
    async fn host_alone(&mut self, error: &Error) -> Result<()> {
        let host = self.client.address().1;
        let Some((name, _)) = host.rsplit_once(':').filter(|(_, port)| port.parse::<u16>().is_ok()) else {
            return Ok(());
        };
        if self.calls >= MOST_CALLS {
            return Ok(());
        }
        let variation = Variation { signed_host: Some(name), ..Variation::default() };
        if !is_signed(&self.call(ACCESS_KEY, variation).await?.outcome) {
            return Ok(());
        }
        let seen = format!("{error}; the service signs the host as `{name}`, without the port that is sent");
        let next_step = format!(
            "ask the operator for a URL without a port, or to check the signature over `Host` as it is sent: `{host}`"
        );
        self.fail_seeing("signature", error, seen, next_step)
    }
}

/// The check that the service names, where it names one.
fn failed_check(outcome: &Result<Value>) -> Option<Check> {
    let error = outcome.as_ref().err().filter(|error| error.kind() == Kind::Authentication)?;
    let said = error.facts().check.as_ref()?.to_lowercase().replace([' ', '_', '-'], "");
    let checks = [("apikey", Check::ApiKey), ("signature", Check::Signature), ("accesskey", Check::AccessKey)];
    let mut named = checks.into_iter().filter(|(words, _)| said.contains(words)).map(|(_, check)| check);
    named.next().filter(|_| named.next().is_none())
}

/// Whether the service got past the signature.
fn is_signed(outcome: &Result<Value>) -> bool {
    outcome.is_ok() || failed_check(outcome) == Some(Check::AccessKey)
}
