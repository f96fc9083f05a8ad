//! Selects the media type of records by `Accept` (specification 4.5).

use http::HeaderMap;
use http::header::{self, HeaderValue};

use super::variants::{ActiveVariants, Variant};
use headland_wire::Content;

/// Media type of a reply's records.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Accepted {
    pub(super) content: Content,
    /// Value of `Content-Type`.
    pub(super) media_type: &'static str,
}

impl Accepted {
    pub(super) const JSON: Self = Self { content: Content::Json, media_type: "application/json" };
    pub(super) const XML: Self = Self { content: Content::Xml, media_type: "text/xml; charset=utf-8" };
    /// For clients that accept `application/xml` but not `text/xml`.
    const APPLICATION_XML: Self = Self { content: Content::Xml, media_type: "application/xml; charset=utf-8" };
}

/// Returns the media type if `Accept` has no preference. The specification defines none: JSON, or XML under the variant
/// `xml-default`.
pub(super) fn default_media_type(variants: &ActiveVariants) -> Accepted {
    if variants.has(Variant::XmlDefault) { Accepted::XML } else { Accepted::JSON }
}

/// Returns the accepted media type with the highest weight. On a tie, the first in the header wins. `None` if no
/// supported type is accepted, such as for `text/html`.
///
/// Browsers list `application/xml` before `*/*` and therefore get XML.
pub(super) fn select_media_type(request: &HeaderMap, variants: &ActiveVariants) -> Option<Accepted> {
    let ranges: Vec<(String, f32)> = request.get_all(header::ACCEPT).iter().flat_map(parse_weights).collect();
    let preferred = default_media_type(variants);
    if ranges.is_empty() {
        return Some(preferred);
    }
    let mut best: Option<(Accepted, f32, usize)> = None;
    let offers = [Accepted::JSON, Accepted::XML, Accepted::APPLICATION_XML];
    // The default is the first offer, so it wins a tie.
    for offer in [preferred].into_iter().chain(offers) {
        let Some((weight, position)) = weight_of(offer.media_type, &ranges) else { continue };
        if best.is_none_or(|(_, most, first)| weight > most || (weight >= most && position < first)) {
            best = Some((offer, weight, position));
        }
    }
    best.map(|(offer, ..)| offer)
}

/// Returns the weight of a media type and the position of the most specific matching range ([RFC 9110,
/// 12.5.1](https://www.rfc-editor.org/rfc/rfc9110#section-12.5.1)); `None` if the type is not accepted.
fn weight_of(media_type: &str, ranges: &[(String, f32)]) -> Option<(f32, usize)> {
    let name = media_type.split(';').next().unwrap_or_default();
    let family = name.split('/').next().unwrap_or_default();
    let specificity = |range: &str| match range {
        _ if range == name => Some(2),
        "*/*" => Some(0),
        _ => range.strip_suffix("/*").filter(|own| *own == family).map(|_| 1),
    };
    let matching = ranges.iter().enumerate().filter_map(|(position, (range, weight))| {
        specificity(range).map(|specificity| (specificity, *weight, position))
    });
    // On a tie the first range wins.
    let (_, weight, position) = matching.reduce(|best, next| if next.0 > best.0 { next } else { best })?;
    (weight > 0.0).then_some((weight, position))
}

/// Parses the items of a header such as `Accept` with their weights, in lower case.
pub(super) fn parse_weights(value: &HeaderValue) -> Vec<(String, f32)> {
    let text = String::from_utf8_lossy(value.as_bytes()).to_ascii_lowercase();
    let item = |item: &str| {
        let mut parts = item.split(';').map(str::trim);
        let name = parts.next().unwrap_or_default().to_owned();
        let weight = parts.find_map(|part| part.strip_prefix("q=")).and_then(|weight| weight.trim().parse().ok());
        (name, weight.filter(|weight: &f32| weight.is_finite()).unwrap_or(1.0))
    };
    text.split(',').map(item).filter(|(name, _)| !name.is_empty()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn negotiated(values: &[&str], variants: &[&str]) -> Option<&'static str> {
        let headers = values.iter().map(|value| (header::ACCEPT, HeaderValue::from_str(value).unwrap())).collect();
        let variants: Vec<String> = variants.iter().map(|&name| name.to_owned()).collect();
        select_media_type(&headers, &ActiveVariants::parse(&variants).unwrap())
            .map(|accepted| accepted.media_type.split(';').next().unwrap())
    }

    #[test]
    fn highest_weight_wins_then_first_in_the_header() {
        let json = Some("application/json");
        for (values, expected) in [
            (&[][..], json),
            (&[""], json),
            (&["*/*"], json),
            (&["application/json"], json),
            (&["Text/XML"], Some("text/xml")),
            (&["text/xml; charset=utf-8"], Some("text/xml")),
            (&["application/xml"], Some("application/xml")),
            (&["application/*"], json),
            (&["text/*"], Some("text/xml")),
            (&["text/xml, application/json"], Some("text/xml")),
            (&["application/json, text/xml"], json),
            (&["text/xml", "application/json;q=0.9"], Some("text/xml")),
            (&["text/xml;q=0.2, application/json;q=0.9"], json),
            (&["application/json;q=0, */*;q=0.1"], Some("text/xml")),
            (&["text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8"], Some("application/xml")),
            (&["text/html, image/gif, *; q=.2, */*; q=.2"], json),
            (&["text/html"], None),
            (&["application/json;q=0"], None),
            (&["text/xml;q=0.0, application/json; q=0"], None),
            (&["application/xhtml+xml"], None),
        ] {
            assert_eq!(negotiated(values, &[]), expected, "{values:?}");
        }
    }

    #[test]
    fn variant_xml_default_applies_where_accept_names_no_type() {
        for value in [&[][..], &["*/*"]] {
            assert_eq!(negotiated(value, &["xml-default"]), Some("text/xml"));
        }
        assert_eq!(negotiated(&["application/json"], &["xml-default"]), Some("application/json"));
    }
}
