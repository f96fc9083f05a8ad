//! The dispatch service and the legacy order service: their addresses and the token of a call.

use std::sync::Arc;

use http::HeaderValue;

use super::config::{Config, Token};
use crate::limiter::{Limiter, StoreLocation};
use crate::transport::{Auth, BaseUrl, ServiceContext, Skew, Transport};
use headland_api::{Endpoint, Service};
use headland_base::error::{Error, Kind, Result};
use headland_base::secret::Secret;
use headland_base::secret_masking::SecretKind;
use headland_wire::Content;

/// The configured services other than the field data API.
#[derive(Debug)]
pub(super) struct Services {
    dispatch: DispatchService,
    legacy_orders: DispatchService,
}

#[derive(Debug)]
struct DispatchService {
    context: Option<ServiceContext>,
    token: Option<Token>,
    labels: ServiceLabels,
}

/// Names of a service and its arguments in messages.
#[derive(Debug)]
struct ServiceLabels {
    service: &'static str,
    address: &'static str,
    token: &'static str,
}

impl Services {
    /// Creates contexts like that of the field data API, each with its own address and token. They contain no API keys,
    /// and the rate limit of the field data API does not count their calls (specification 8).
    pub(super) fn new(
        config: &Config,
        like: &ServiceContext,
        mut connect: impl FnMut(&BaseUrl) -> Result<Arc<dyn Transport>>,
    ) -> Result<Self> {
        let mut configure = |address: Option<(&'static str, &str)>, token: &Option<Token>, labels: ServiceLabels| {
            if let Some(Token::Fixed(token)) = token {
                check(labels.token, token)?;
            }
            let context = match address {
                Some((argument, address)) => {
                    let base = BaseUrl::from_argument(argument, address)?;
                    let fixed = match token {
                        Some(Token::Fixed(token)) => Some(token.clone()),
                        _ => None,
                    };
                    Some(ServiceContext {
                        limiter: Limiter::unshared(
                            &StoreLocation::Memory,
                            base.as_str(),
                            "",
                            &[],
                            Arc::clone(&like.clock),
                        ),
                        transport: connect(&base)?,
                        auth: Auth::Bearer(fixed),
                        base,
                        skew: Arc::new(Skew::default()),
                        accept: Content::Json,
                        ..like.clone()
                    })
                }
                None => None,
            };
            Ok(DispatchService { context, token: token.clone(), labels })
        };
        let dispatch = config.dispatch_url.as_deref().map(|address| ("dispatch_url", address));
        // Specification 4.6 lists the legacy rows with both base addresses and requires neither. The address named
        // after the orders is the more specific one, so it takes precedence.
        let orders = config.legacy_orders_url.as_deref().map(|address| ("legacy_orders_url", address));
        let legacy = config.legacy_dispatch_url.as_deref().map(|address| ("legacy_dispatch_url", address));
        if let (Some(_), Some((argument, unused))) = (orders, legacy) {
            BaseUrl::from_argument(argument, unused)?;
        }
        Ok(Self {
            dispatch: configure(
                dispatch,
                &config.dispatch_token,
                ServiceLabels { service: "dispatch service", address: "`dispatch_url`", token: "dispatch_token" },
            )?,
            legacy_orders: configure(
                orders.or(legacy),
                &config.legacy_token,
                ServiceLabels {
                    service: "legacy order service",
                    address: "`legacy_orders_url` or `legacy_dispatch_url`",
                    token: "legacy_token",
                },
            )?,
        })
    }

    /// Closes their connections.
    pub(super) fn close(&self) {
        for context in [&self.dispatch, &self.legacy_orders].into_iter().filter_map(|service| service.context.as_ref())
        {
            context.transport.close();
        }
    }

    /// The context of a row's service, with the token of this call if there is one. `None` for the field data API.
    pub(super) fn context(
        &self,
        row: &'static Endpoint,
        call_token: Option<&Secret>,
    ) -> Result<Option<ServiceContext>> {
        let configured = match row.service() {
            Service::FieldData => return Ok(None),
            Service::Dispatch => &self.dispatch,
            Service::LegacyOrders => &self.legacy_orders,
        };
        let ServiceLabels { service, address, token } = configured.labels;
        let missing = |what: &str, argument: &str| {
            let message = format!("no {what} configured for the {service}: pass {argument}");
            Error::new(Kind::Configuration, message).with(|facts| facts.endpoint = Some(row.full_name))
        };
        let context = configured.context.as_ref().ok_or_else(|| missing("address", address))?;
        if configured.token.is_none() && call_token.is_none() {
            return Err(missing("token", &format!("`{token}`")));
        }
        Ok(Some(match call_token {
            Some(call_token) => {
                check(token, call_token).map_err(|error| error.with(|facts| facts.endpoint = Some(row.full_name)))?;
                let secrets = context.secrets.with(SecretKind::Token, call_token);
                ServiceContext { auth: Auth::Bearer(Some(call_token.clone())), secrets, ..context.clone() }
            }
            None => context.clone(),
        }))
    }
}

/// Checks that a token can be sent.
fn check(argument: &str, token: &Secret) -> Result<()> {
    let text = token.expose();
    let wrong = |why: &str| Err(Error::new(Kind::Configuration, format!("{argument} {why}")));
    if text.is_empty() {
        wrong("is empty")
    } else if text.chars().any(char::is_whitespace) || !text.is_ascii() || HeaderValue::from_str(text).is_err() {
        wrong(
            "contains a blank, line end or other character that tokens cannot contain; pass the token without `Bearer`",
        )
    } else {
        Ok(())
    }
}
