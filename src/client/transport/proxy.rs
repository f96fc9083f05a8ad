//! The proxy of calls, as the environment or the system sets it.

use hyper_util::client::proxy::matcher::Matcher;

use super::BaseUrl;

/// The proxy for calls to `base`, without its password. Loopback addresses use none.
#[must_use]
pub fn proxy_for(base: &BaseUrl) -> Option<String> {
    let address = base.as_str().parse::<http::Uri>().ok().filter(|_| !base.is_loopback())?;
    let proxy = Matcher::from_system().intercept(&address)?;
    let host = proxy.uri().host()?;
    Some(proxy.uri().port_u16().map_or_else(|| host.to_owned(), |port| format!("{host}:{port}")))
}

/// The variable that should set a proxy for calls to `base`, but is ignored because it states no address of one. Its value
/// may contain a password.
#[must_use]
pub fn ignored_proxy(base: &BaseUrl) -> Option<&'static str> {
    let address = base.as_str().parse::<http::Uri>().ok().filter(|_| base.is_https() && !base.is_loopback())?;
    let variables = ["HTTPS_PROXY", "https_proxy", "ALL_PROXY", "all_proxy"].into_iter();
    let mut set =
        variables.filter_map(|name| Some((name, std::env::var(name).ok().filter(|value| !value.is_empty())?)));
    let (name, value) = set.next()?;
    Matcher::builder().https(value).build().intercept(&address).is_none().then_some(name)
}
