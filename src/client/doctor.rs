//! Finds out why calls fail: one harmless call, made once, with all that its reply says, and the steps over it.

mod advice;
mod finding;
mod signature;
mod steps;

use std::time::Duration;

use super::arguments::Arguments;
use super::record::content_of;
use super::setup::Client;
use crate::api::{Endpoint, Returns};
use crate::error::{Error, Kind, Result};
use crate::transport::{Call, FullResponse, Probe, ServiceContext};
use crate::wire::{Value, decode_detail, decode_index};

pub use advice::about_setting;
pub use finding::Finding;

/// A wait for the limiter that is longer is told instead of waited for.
const PATIENCE: Duration = Duration::from_secs(5);

/// A way of signing or addressing that differs from the configured one, to see whether it is the right one.
#[derive(Clone, Copy, Debug, Default)]
pub struct Variation<'a> {
    /// The path in front of the service's own, in place of that of the base address.
    pub prefix: Option<&'a str>,
    /// The host that is signed, in place of the one that is sent.
    pub signed_host: Option<&'a str>,
}

/// Goes through the steps and reports each finding before the next call. Returns the number of calls and the error that
/// a call would end with.
pub(super) async fn diagnose(client: &Client, source: &str, report: &(dyn Fn(Finding) + Sync)) -> (u32, Option<Error>) {
    let mut steps = steps::Steps::new(client, report);
    let error = steps.all(source).await.err();
    // The findings contain what these warnings would repeat.
    drop(client.take_warnings());
    (steps.calls, error)
}

/// Makes the call once. An error means that nothing was sent.
pub(super) async fn examine(client: &Client, row: &'static Endpoint, variation: Variation<'_>) -> Result<Probe<Value>> {
    let paging: &[(&'static str, String)] =
        if row.paged { &[("pageSize", "1".to_owned()), ("page", "0".to_owned())] } else { &[] };
    let call = Arguments::new(row, &[])?.call(row, paging, None)?;
    let context = client.context();
    let context =
        ServiceContext { base: context.base.varied(variation.prefix, variation.signed_host), ..context.clone() };
    let probe = context.probe(&call, PATIENCE).await?;
    Ok(probe.and_then(|whole| {
        decode(&call, &whole, &context).map_err(|error| {
            // What came may be anything, and is quoted.
            context.masked_error(error).with(|facts| {
                facts.endpoint = Some(row.full_name);
                facts.status = Some(whole.status);
            })
        })
    }))
}

fn decode(call: &Call, whole: &FullResponse, context: &ServiceContext) -> Result<Value> {
    let content = content_of(whole, context.accept)?;
    match call.row.returns {
        Returns::Detail(shape) => decode_detail(content, &whole.body, shape),
        Returns::Index(index) => {
            let count = decode_index(content, &whole.body, index)?.total_count;
            Ok(count.and_then(|count| i64::try_from(count).ok()).map_or(Value::Null, Value::Integer))
        }
        _ => Err(Error::new(Kind::Type, format!("{} gives neither a record nor a list", call.row.full_name))),
    }
}
