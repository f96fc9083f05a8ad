//! The address of the next page from `Location` (specification 4.7).
//!
//! It is parsed leniently, but only followed below the configured base address, because the request contains a token.

use reqwest::Url;

use super::BaseUrl;
use super::base_url::Address;
use super::classify::shorten;

/// The parameters of paging. A service may omit their `$` (field notes).
const NAMES: [&str; 3] = ["top", "skip", "count"];

/// The address of the next page, below the base address that it was checked against.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct NextLink(Url);

impl NextLink {
    /// The address of the request.
    pub(super) fn address(&self) -> Address {
        Address { path: self.0.path().to_owned(), url: self.0.to_string() }
    }

    /// The number that the query gives for a name.
    #[must_use]
    pub fn number(&self, name: &str) -> Option<u64> {
        self.0.query_pairs().find(|(known, _)| known == name).and_then(|(_, value)| value.parse().ok())
    }

    /// The complete address.
    #[must_use]
    pub fn as_str(&self) -> &str {
        self.0.as_str()
    }
}

impl BaseUrl {
    /// Parses the `Location` of a page of the list at `path`, an encoded path below this base. Returns the reason if it
    /// must not be followed.
    ///
    /// It may be absolute or relative, start with the word `GET `, and lack the `?` or some `$` (field notes).
    pub fn next_link(&self, path: &str, location: &str) -> Result<NextLink, String> {
        let text = location.trim();
        let text = match text.split_once(char::is_whitespace) {
            Some((word, rest)) if word.eq_ignore_ascii_case("GET") => rest.trim_start(),
            _ => text,
        };
        let text = text.split('#').next().unwrap_or_default();
        let (address, query) = split_query(text, path);
        let mut url = self.resolve(path, address)?;
        url.set_query(Some(&with_dollars(query)).filter(|query| !query.is_empty()).map(String::as_str));
        Ok(NextLink(url))
    }

    /// The address without its query, if it is below this base.
    fn resolve(&self, path: &str, address: &str) -> Result<Url, String> {
        let invalid = |why: &str| format!("`{}` {why}", shorten(address));
        let current = Url::parse(&self.address(path, &[]).url).map_err(|_| invalid("is not a valid URL"))?;
        if address.is_empty() {
            return Ok(current);
        }
        let is_absolute = Url::parse(address).is_ok();
        // The service writes paths from its own root, `/api/...`, regardless of a path prefix.
        let from_root = if is_absolute { None } else { self.resolve_from_root(address) };
        if !address.starts_with('/')
            && address.get(..4).is_some_and(|start| start.eq_ignore_ascii_case("api/"))
            && let Some(url) = from_root
        {
            return Ok(url);
        }
        let url = current.join(address).map_err(|_| invalid("is not a valid URL"))?;
        let origin =
            |url: &Url| (url.scheme().to_owned(), url.host_str().map(str::to_owned), url.port_or_known_default());
        if origin(&url) != origin(&current) || !url.username().is_empty() || url.password().is_some() {
            let shown = format!("{}://{}", url.scheme(), url.host_str().unwrap_or_default());
            let port = url.port().map_or_else(String::new, |port| format!(":{port}"));
            return Err(format!(
                "`{}{port}` is not the host of {} `{}`",
                shorten(&shown),
                self.argument(),
                self.as_str()
            ));
        }
        if self.contains(&url) {
            return Ok(url);
        }
        let outside = || format!("`{}` is not below {} `{}`", shorten(url.path()), self.argument(), self.as_str());
        from_root.ok_or_else(outside)
    }

    /// Resolves a path relative to the root of the service.
    fn resolve_from_root(&self, relative: &str) -> Option<Url> {
        let rooted = format!("{}/{}", self.as_str(), relative.trim_start_matches(['/', '\\']));
        Url::parse(&rooted).ok().filter(|url| self.contains(url))
    }

    fn contains(&self, url: &Url) -> bool {
        url.as_str().strip_prefix(self.as_str()).is_some_and(|rest| rest.is_empty() || rest.starts_with(['/', '?']))
    }
}

/// Splits address and query. Without a `?`, the query starts after the path of the list, or at the first name with a
/// `$`.
fn split_query<'a>(text: &'a str, path: &str) -> (&'a str, &'a str) {
    if let Some((address, query)) = text.split_once('?') {
        return (address, query);
    }
    let begins = |name: &str| {
        let start = text.get(..name.len()).is_some_and(|start| start.eq_ignore_ascii_case(name));
        start && text.get(name.len()..).is_some_and(|rest| rest.starts_with('='))
    };
    if NAMES.iter().any(|name| begins(name)) {
        return ("", text);
    }
    let path = path.trim_start_matches('/').to_ascii_lowercase();
    let after_path = text.to_ascii_lowercase().rfind(&path).map(|start| start.saturating_add(path.len()));
    // A path that continues with a slash is that of another resource.
    let after_path = after_path.filter(|start| !text.get(*start..).is_some_and(|rest| rest.starts_with('/')));
    let query_start = after_path.or_else(|| text.find(['$', '&'])).unwrap_or(text.len());
    text.split_at_checked(query_start).unwrap_or((text, ""))
}

/// Writes the parameters of paging as in the specification, and keeps all others unchanged.
fn with_dollars(query: &str) -> String {
    let pairs: Vec<String> = query
        .split(['&', '?'])
        .filter(|pair| !pair.is_empty())
        .map(|pair| {
            let (name, rest) = pair.split_at(pair.find('=').unwrap_or(pair.len()));
            let bare = name.trim_start_matches('$').trim_start_matches("%24");
            match NAMES.iter().find(|known| known.eq_ignore_ascii_case(bare)) {
                Some(known) => format!("${known}{rest}"),
                None => pair.to_owned(),
            }
        })
        .collect();
    pairs.join("&")
}

#[cfg(test)]
mod tests {
    use super::*;

    const PATH: &str = "/api/batches/active";

    fn next(base: &str, location: &str) -> Result<String, String> {
        let base = BaseUrl::from_argument("dispatch_url", base).unwrap();
        base.next_link(PATH, location).map(|next| next.as_str().to_owned())
    }

    #[test]
    fn location_in_any_form_gives_the_same_address_4_7() {
        let expected = "https://d.example/farm/api/batches/active?$top=2&$skip=1&$count=true";
        for front in [
            "https://d.example/farm/api/batches/active",
            "https://D.example:443/farm/api/batches/active",
            "//d.example/farm/api/batches/active",
            "/farm/api/batches/active",
            "/api/batches/active",
            "api/batches/active",
            "active",
            "",
        ] {
            for word in ["", "GET ", "get  "] {
                for query in [
                    "?$top=2&$skip=1&$count=true",
                    "?top=2&skip=1&count=true",
                    "?%24top=2&$Skip=1&$count=true",
                    "$top=2&$skip=1&count=true",
                    "?$top=2&?skip=1&count=true",
                    "top=2&$skip=1&$count=true",
                ] {
                    if front == "active" && query.starts_with("top") {
                        continue;
                    }
                    let location = format!("{word}{front}{query}");
                    assert_eq!(next("https://d.example/farm", &location).as_deref(), Ok(expected), "{location}");
                }
            }
        }
        assert_eq!(
            next("https://d.example", "/api/batches/active?$skip=1&after=a%2Fb+c").as_deref(),
            Ok("https://d.example/api/batches/active?$skip=1&after=a%2Fb+c"),
            "what is not of the paging stays as it came"
        );
    }

    #[test]
    fn location_outside_the_base_url_is_an_error() {
        for location in [
            "https://evil.example/farm/api/batches/active?$skip=1",
            "http://d.example/farm/api/batches/active?$skip=1",
            "https://d.example:8443/farm/api/batches/active?$skip=1",
            "https://d.example.evil.example/farm/api/batches/active",
            "https://joe:pass@d.example/farm/api/batches/active",
            "https://d.example/farmless/api/batches/active",
            "https://d.example/api/batches/active",
            "https://d.example/farm/../other/api",
            "https://d.example/farm/%2e%2e/other/api",
            "//evil.example/farm/api",
            "\\\\evil.example\\farm",
            "/\\evil.example/farm",
            "GET https://evil.example/farm/api/batches/active$skip=1",
            "ftp://d.example/farm/api",
            "javascript:alert(1)",
            "data:text/plain,x",
            "https://",
            "../../../other",
        ] {
            let refused = next("https://d.example/farm", location);
            assert!(refused.is_err(), "{location}: {refused:?}");
        }
        let message = next("https://d.example/farm", "https://joe:hunter2@evil.example/a?token=1").unwrap_err();
        assert!(
            message.contains("evil.example") && !message.contains("hunter2") && !message.contains("token"),
            "{message}"
        );
    }

    proptest::proptest! {
        #[test]
        fn any_location_stays_below_the_base_url_4_7(
            pieces in proptest::collection::vec(proptest::sample::select(PIECES), 0..8),
            any in ".{0,12}",
        ) {
            let location = format!("{}{any}", pieces.concat());
            for base in ["https://d.example/farm", "https://d.example", "http://127.0.0.1:8000/a/b"] {
                if let Ok(url) = next(base, &location) {
                    let rest = url.strip_prefix(base);
                    let is_below = rest.is_some_and(|rest| rest.is_empty() || rest.starts_with(['/', '?']));
                    proptest::prop_assert!(is_below, "{location} leads to {url}");
                }
            }
        }
    }

    const PIECES: &[&str] = &[
        "GET ",
        "https:",
        "http://",
        "//",
        "\\\\",
        "/",
        "\\",
        "d.example",
        "evil.example",
        "127.0.0.1",
        ":443",
        ":8000",
        "@",
        "farm",
        "a/b",
        "..",
        "%2e%2e",
        "%2f",
        "/api/batches/active",
        "api/",
        "?",
        "$",
        "$top=2",
        "skip=1",
        "&",
        "#",
        " ",
        "\t",
        ".",
        "%",
        "é",
        "\u{0}",
    ];
}
