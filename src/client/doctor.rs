//! Diagnoses failing calls: a harmless call without retries, the facts of its reply, and the steps that check them.

mod advice;
mod finding;
mod signature;
mod steps;

use std::time::Duration;

use super::arguments::Arguments;
use super::record::content_of;
use super::setup::Client;
use crate::transport::{Call, FullResponse, Probe, ServiceContext};
use headland_api::{Endpoint, Returns};
use headland_base::error::{Error, Kind, Result};
use headland_wire::{Value, decode_detail, decode_index};

pub use advice::about_setting;
pub use finding::Finding;
pub(super) use steps::diagnose;

/// A longer wait for the limiter is reported instead.
const PATIENCE: Duration = Duration::from_secs(5);

/// An alternative address or signature, to find out whether it is the correct one.
#[derive(Clone, Copy, Debug, Default)]
pub struct Variation<'a> {
    /// The path prefix, instead of that of the base address.
    pub prefix: Option<&'a str>,
    /// The host in the signature, instead of the one that is sent.
    pub signed_host: Option<&'a str>,
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
    Ok(probe.and_then(|response| {
        decode(&call, &response, &context).map_err(|error| {
            // The error may quote any part of the reply.
            context.masked_error(error).with(|facts| {
                facts.endpoint = Some(row.full_name);
                facts.status = Some(response.status);
            })
        })
    }))
}

fn decode(call: &Call, response: &FullResponse, service: &ServiceContext) -> Result<Value> {
    let content = content_of(response, service.accept)?;
    match call.row.returns {
        Returns::Detail(shape) => decode_detail(content, &response.body, shape),
        Returns::Index(index) => {
            let count = decode_index(content, &response.body, index)?.total_count;
            Ok(count.and_then(|count| i64::try_from(count).ok()).map_or(Value::Null, Value::Integer))
        }
        _ => Err(Error::new(Kind::Type, format!("{} returns neither a record nor a list", call.row.full_name))),
    }
}
