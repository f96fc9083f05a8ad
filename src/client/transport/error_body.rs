//! Error messages in bodies that are no `ServiceResponse`.
//!
//! The specification shows no errors of the dispatch service (7). Comparable services answer with problem details (RFC
//! 9457: <https://www.rfc-editor.org/rfc/rfc9457>), an object with a message, or plain text.

use http::HeaderMap;
use http::header::WWW_AUTHENTICATE;
use serde_json::{Map, Value as Tree};

use headland_base::names;
use headland_base::names::strip_bom;

/// The message of an object: its most specific text, and the errors of its fields.
pub(super) fn message_from(body: &[u8]) -> Option<String> {
    let object: Map<String, Tree> = serde_json::from_slice(strip_bom(body)).ok()?;
    let member = |wire: &str| object.iter().find(|(name, _)| names::same(name, wire)).map(|(_, value)| value);
    if member("errorInfo").is_some() {
        return None;
    }
    let text = |wire: &str| member(wire).and_then(Tree::as_str).map(str::trim).filter(|text| !text.is_empty());
    let what = ["detail", "error_description", "message", "title", "error"].into_iter().find_map(text);
    let details = ["errors", "error"].into_iter().find_map(member).and_then(field_messages);
    match (what, details) {
        (Some(what), Some(details)) => Some(format!("{}: {details}", what.trim_end_matches(['.', ':']))),
        (what, details) => details.or_else(|| what.map(str::to_owned)),
    }
}

/// The errors of fields: texts by field name, or a list of texts.
fn field_messages(errors: &Tree) -> Option<String> {
    let found: Vec<String> = match errors {
        Tree::Object(errors) => errors.iter().map(|(field, why)| format!("`{field}` {}", text_of(why))).collect(),
        Tree::Array(errors) => errors.iter().map(text_of).collect(),
        _ => Vec::new(),
    };
    (!found.is_empty()).then(|| found.join("; "))
}

fn text_of(value: &Tree) -> String {
    match value {
        Tree::String(text) => text.trim().to_owned(),
        Tree::Array(several) => several.iter().map(text_of).collect::<Vec<_>>().join(", "),
        other => other.to_string(),
    }
}

/// The reason for a refused token in a bearer challenge (RFC 6750, section 3:
/// <https://www.rfc-editor.org/rfc/rfc6750#section-3>).
pub(super) fn challenge_message(headers: &HeaderMap) -> Option<String> {
    let text = headers.get(WWW_AUTHENTICATE)?.to_str().ok()?;
    let quoted = |name: &str| {
        let (_, after) = text.split_once(&format!("{name}=\""))?;
        after.split('"').next().map(str::to_owned).filter(|text| !text.is_empty())
    };
    quoted("error_description").or_else(|| quoted("error"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn error_body_in_any_form_gives_its_message_section_7() {
        for (body, expected) in [
            (
                r#"{"type":"about:blank","title":"Bad Request","status":400,"detail":"No such equipment."}"#,
                Some("No such equipment."),
            ),
            (
                r#"{"title":"One or more fields are wrong.","status":422,"errors":{"acres":["is required"],"lot":["is empty","is short"]}}"#,
                Some("One or more fields are wrong: `acres` is required; `lot` is empty, is short"),
            ),
            (r#"{"errors":["acres is required","lot is required"]}"#, Some("acres is required; lot is required")),
            (r#"{"message":"An error has occurred."}"#, Some("An error has occurred.")),
            (r#"{"error":"invalid_token","error_description":"The token expired"}"#, Some("The token expired")),
            (r#"{"error":{"acres":"is required"}}"#, Some("`acres` is required")),
            (r#"{"status":"INVALID_REQUEST","errorInfo":"no","title":"t"}"#, None),
            (r#"{"id":7}"#, None),
            ("[1]", None),
            ("plain", None),
            ("", None),
        ] {
            assert_eq!(message_from(body.as_bytes()).as_deref(), expected, "{body}");
        }
    }

    #[test]
    fn challenge_gives_its_description() {
        for (header, expected) in [
            (
                r#"Bearer error="invalid_token", error_description="The access token expired""#,
                Some("The access token expired"),
            ),
            (r#"Bearer error="invalid_token""#, Some("invalid_token")),
            ("Bearer", None),
        ] {
            let headers = [(WWW_AUTHENTICATE, header.parse().unwrap())].into_iter().collect();
            assert_eq!(challenge_message(&headers).as_deref(), expected, "{header}");
        }
    }
}
