//! Arguments of a call, checked against its row before any call is made.

use std::borrow::Cow;

use bytes::Bytes;
use chrono::SubsecRound as _;
use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, percent_decode_str, utf8_percent_encode};

use crate::transport::Call;
use headland_api::row::{Returns, Takes};
use headland_api::{Endpoint, Parameter, Place};
use headland_base::error::{Error, Kind, Result};
use headland_base::times::iso;

/// The values of a call's parameters, in the form in which they are sent.
#[derive(Clone, Debug)]
pub struct Arguments {
    row: &'static Endpoint,
    values: Vec<(&'static Parameter, String)>,
}

impl Arguments {
    /// Checks each text against its parameter, fills in defaults, and reports missing parameters.
    ///
    /// A file of the multipart body is passed with the upload instead.
    pub fn new(row: &'static Endpoint, given: &[(&str, String)]) -> Result<Self> {
        for (index, (name, _)) in given.iter().enumerate() {
            if row.parameter(name).is_none() {
                return Err(wrong(row, Kind::Type, format!("{} has no parameter `{name}`", row.full_name)));
            }
            if given.iter().take(index).any(|(before, _)| before == name) {
                return Err(wrong(row, Kind::Type, format!("`{name}` is given twice")));
            }
        }
        let mut values = Vec::with_capacity(row.parameters.len());
        for parameter in row.parameters {
            let text = given.iter().find(|(name, _)| *name == parameter.name).map(|(_, text)| text.as_str());
            match (text.or(parameter.default), parameter.place) {
                (Some(text), _) => {
                    let text = check(parameter, text).map_err(|why| {
                        let hint = if is_tree(row, text) { AS_TREE } else { "" };
                        wrong(row, Kind::Value, format!("`{}` of {} {why}{hint}", parameter.name, row.full_name))
                    })?;
                    values.push((parameter, text));
                }
                (None, Place::Path | Place::Body) => {
                    return Err(wrong(row, Kind::Type, format!("{} needs `{}`", row.full_name, parameter.name)));
                }
                (None, Place::Query | Place::Part) => {}
            }
        }
        Ok(Self { row, values })
    }

    /// Checks the text of one parameter for a call that is not made yet; the error names it `shown`.
    pub fn check(parameter: &Parameter, text: &str, shown: &str) -> Result<()> {
        check(parameter, text).map(drop).map_err(|why| Error::new(Kind::Value, format!("{shown} {why}")))
    }

    /// The value of a parameter by its Python name.
    #[must_use]
    pub fn get(&self, name: &str) -> Option<&str> {
        self.values.iter().find(|(parameter, _)| parameter.name == name).map(|(_, text)| text.as_str())
    }

    /// The texts for the multipart body, in addition to the file, by their names on the wire.
    pub(super) fn parts(&self) -> Vec<(&'static str, &str)> {
        let is_part = |(parameter, _): &&(&'static Parameter, String)| parameter.place == Place::Part;
        self.values.iter().filter(is_part).map(|(parameter, text)| (parameter.wire, text.as_str())).collect()
    }

    /// The call with these values and additional query parameters.
    pub(super) fn call(
        &self,
        row: &'static Endpoint,
        more: &[(&'static str, String)],
        mut content: Option<(String, Bytes)>,
    ) -> Result<Call> {
        if !std::ptr::eq(row, self.row) {
            let message = format!("arguments of {} were passed to {}", self.row.full_name, row.full_name);
            return Err(wrong(row, Kind::Type, message));
        }
        let mut path = row.path.to_owned();
        let mut query = Vec::new();
        for (parameter, text) in &self.values {
            match parameter.place {
                Place::Path => path = path.replace(&format!("{{{}}}", parameter.wire), &encode(text)),
                Place::Query => query.push((parameter.wire, text.clone())),
                Place::Body => content = Some(("application/json".to_owned(), Bytes::from(text.clone()))),
                Place::Part => {}
            }
        }
        query.extend_from_slice(more);
        Ok(Call { row, path, query, next: None, content })
    }
}

fn wrong(row: &'static Endpoint, kind: Kind, message: String) -> Error {
    Error::new(kind, message).with(|facts| facts.endpoint = Some(row.full_name))
}

/// Longest text of an id, number, time or word. An address may have about 65,000 characters.
const LONGEST: usize = 1_000;

/// Advice for XML, the only format that is not a layer.
const AS_TREE: &str = "; XML is not a table: `headland.read_tree` reads the file of `job_data.download`";

fn is_tree(row: &Endpoint, text: &str) -> bool {
    matches!(row.returns, Returns::Layer) && text.eq_ignore_ascii_case("XML")
}

/// The value in the form in which it is sent, or the reason why it is invalid.
fn check(parameter: &Parameter, text: &str) -> std::result::Result<String, String> {
    let length = text.chars().count();
    if length > LONGEST && !matches!(parameter.takes, Takes::File | Takes::Mapping | Takes::MappingOrList) {
        return Err(format!("has {length} characters, but the limit is {LONGEST}"));
    }
    match parameter.takes {
        Takes::Id => check_id(text),
        Takes::Number if text.parse::<u64>().is_ok() => Ok(text.to_owned()),
        Takes::Number => Err(format!("is `{text}`: expected a whole number >= 0")),
        // Strict ISO 8601 with whole seconds: some services fail on fractions (field notes).
        Takes::Time => Ok(iso::write(&iso::stated(text)?.trunc_subsecs(0))),
        Takes::Word if !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'-') => {
            Ok(text.to_owned())
        }
        Takes::Word => Err(format!("is `{text}`: expected letters, digits and dashes")),
        Takes::OneOf(words) => words
            .iter()
            .find(|word| word.eq_ignore_ascii_case(text))
            .map(|word| (*word).to_owned())
            .ok_or_else(|| format!("is `{text}`: expected {}", words.join(", "))),
        Takes::File => Err("is passed with the upload itself".to_owned()),
        // Sent as written, with its order, its blanks and all digits of its numbers.
        Takes::Mapping => match serde_json::from_str::<serde_json::Map<String, serde_json::Value>>(text) {
            Ok(_) => Ok(text.to_owned()),
            Err(error) => Err(format!("is not a JSON object: {error}")),
        },
        Takes::MappingOrList => match serde_json::from_str::<serde_json::Value>(text) {
            Ok(serde_json::Value::Object(_) | serde_json::Value::Array(_)) => Ok(text.to_owned()),
            Ok(_) => Err("is neither a JSON object nor a list".to_owned()),
            Err(error) => Err(format!("is not JSON: {error}")),
        },
    }
}

/// The id in the form in which it is sent, or the reason why no call can contain it.
pub fn check_id(text: &str) -> std::result::Result<String, String> {
    if text.is_empty() {
        return Err("is empty".to_owned());
    }
    if text.trim().is_empty() {
        return Err(format!("is {text:?}, which is only blanks"));
    }
    if text.trim() != text {
        return Err(format!("is {text:?}, which begins or ends with a blank"));
    }
    if text == "." || text.contains("..") {
        return Err(format!("is `{text}`, which would change the path of the request"));
    }
    if let Some(c) = text.chars().find(|c| matches!(c, '/' | '\\' | '?' | '#') || c.is_control()) {
        return Err(format!("contains {c:?}, which ids cannot contain"));
    }
    Ok(text.to_owned())
}

/// All characters that are not unreserved (RFC 3986, section 2.3: <https://www.rfc-editor.org/rfc/rfc3986#section-2.3>).
const RESERVED: &AsciiSet = &NON_ALPHANUMERIC.remove(b'-').remove(b'.').remove(b'_').remove(b'~');

/// Percent-encodes all characters that are not unreserved.
pub(super) fn encode(text: &str) -> String {
    utf8_percent_encode(text, RESERVED).to_string()
}

/// Decodes percent-encoding; invalid encoding is kept unchanged.
pub(super) fn decode(text: &str) -> String {
    percent_decode_str(text).decode_utf8().map_or_else(|_| text.to_owned(), Cow::into_owned)
}

#[cfg(test)]
mod tests {
    use super::*;
    use headland_api as api;

    fn arguments(row: &str, given: &[(&str, &str)]) -> Result<Arguments> {
        let given: Vec<(&str, String)> = given.iter().map(|(name, text)| (*name, (*text).to_owned())).collect();
        Arguments::new(api::row(row).unwrap(), &given)
    }

    #[test]
    fn values_are_normalised_before_sending() {
        let row = api::row("job_data.list").unwrap();
        let call =
            arguments("job_data.list", &[("date", "2026-09-01 10:30:00.250+02:00")]).unwrap().call(row, &[], None);
        assert_eq!(call.unwrap().query, [("date", "2026-09-01T08:30:00Z".to_owned())]);
        let row = api::row("job_data.download").unwrap();
        let call = arguments("job_data.download", &[("id", "a b%2Fü"), ("format", "shp")]).unwrap();
        let call = call.call(row, &[], None).unwrap();
        assert_eq!((call.path.as_str(), &call.query[0]), ("/jobdata/a%20b%252F%C3%BC", &("format", "SHP".to_owned())));
        assert_eq!(decode("a%20b%252F%C3%BC"), "a b%2Fü");
        assert_eq!(decode("%zz%4"), "%zz%4");
    }

    #[test]
    fn invalid_values_are_value_errors() {
        for id in [
            "",
            ".",
            "..",
            "a/b",
            "..\\x",
            "a?b",
            "a#b",
            "a\r\nb",
            "\u{7f}",
            "   ",
            " a",
            "a\t",
            "a\u{a0}",
            &*"x".repeat(1_001),
        ] {
            let error = arguments("job_data.get", &[("id", id)]).unwrap_err();
            assert_eq!(error.kind(), Kind::Value, "{id:?}");
            assert_eq!(error.facts().endpoint, Some("job_data.get"));
        }
        for (row, given) in [
            ("job_data.list", ("date", "yesterday")),
            ("job_data.list", ("date", "")),
            ("job_data.download", ("format", "PDF")),
        ] {
            let error = arguments(
                row,
                &[("id", "1"), given]
                    .into_iter()
                    .filter(|(name, _)| *name != "id" || row != "job_data.list")
                    .collect::<Vec<_>>(),
            )
            .unwrap_err();
            assert_eq!(error.kind(), Kind::Value, "{given:?}: {error}");
        }
    }

    #[test]
    fn too_long_value_error_states_only_its_length() {
        assert!(arguments("job_data.get", &[("id", &"\u{e4}".repeat(1_000))]).is_ok());
        for (row, given) in [
            ("dispatch.field_operations.complete", ("id", "x".repeat(70_000))),
            ("job_data.prescription_maps", ("id", "x".repeat(70_000))),
            ("job_data.list", ("date", "0".repeat(70_000))),
        ] {
            let error = Arguments::new(api::row(row).unwrap(), &[(given.0, given.1)]).unwrap_err();
            assert_eq!(error.kind(), Kind::Value, "{error}");
            assert!(error.message().contains("70000 characters") && error.message().len() < 200, "{error}");
        }
    }

    #[test]
    fn unknown_missing_and_duplicate_parameters_are_type_errors() {
        for (row, given) in [
            ("job_data.get", vec![]),
            ("job_data.get", vec![("id", "1"), ("colour", "red")]),
            ("job_data.get", vec![("id", "1"), ("id", "2")]),
        ] {
            assert_eq!(arguments(row, &given).unwrap_err().kind(), Kind::Type, "{given:?}");
        }
    }
}
