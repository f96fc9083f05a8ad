//! Calls that change something and give nothing back: a prescription map is queued for a field computer.
//!
//! The specification does not show the status codes of the two conflicts (7), nor what a 200 says: a refusal is told by
//! its words, whatever the code, and a 200 has to be empty or to say in some way that it was done. What says neither
//! is an error that quotes it, because a map that only seems to be queued is missed in the field.

use http::header::CONTENT_TYPE;

use super::record::{is_page, what_came};
use super::{Arguments, Client};
use crate::api::{Endpoint, Returns};
use crate::error::{Error, Kind, Result};
use crate::transport::Whole;
use crate::wire::{Content, Value, decode_plain};

/// What a refusal says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Refusal {
    /// The same map is queued for that computer already.
    SameRecord,
    /// Another file of that name is.
    SameName,
    /// Nothing was queued, and which of the two it is remains open.
    NotQueued,
}

/// Words of which one says that it was done, where none of the others stands beside it.
const DONE: &[&str] = &[
    "ok",
    "okay",
    "queued",
    "success",
    "successful",
    "successfully",
    "succeeded",
    "sent",
    "accepted",
    "done",
    "completed",
];
const UNDONE: &[&str] = &[
    "not", "no", "never", "cannot", "unable", "fail", "fails", "failed", "failure", "error", "errors", "refused",
    "rejected", "denied", "invalid", "unknown", "missing", "expired",
];

/// Does it. A repeated request that is told that the map is queued already has done it: the first one arrived, and its
/// reply was lost.
pub(super) async fn act(client: &Client, row: &'static Endpoint, arguments: &Arguments) -> Result<()> {
    if !matches!(row.returns, Returns::Nothing) {
        return Err(Error::new(Kind::Type, format!("{} gives something back", row.full_name)));
    }
    let call = arguments.call(row, &[], None)?;
    let caller = client.caller();
    let mut attempts = caller.attempts(&call, caller.limits.call);
    let (refusal, error) = match attempts.whole().await {
        Ok(whole) => {
            let Some((refusal, error)) = objection(&whole) else { return Ok(()) };
            let error = error.with(|facts| facts.status = Some(whole.status));
            (refusal, attempts.finish(error))
        }
        // What is not queued for another reason is no conflict where the status says that the request is wrong.
        Err(error) if matches!(error.kind(), Kind::InvalidRequest | Kind::Conflict) => {
            (refusal(&unquoted(error.message())).filter(|refusal| *refusal != Refusal::NotQueued), error)
        }
        // A word that the specification does not list, with a text.
        Err(error) if error.kind() == Kind::ConversionFailed => {
            (refusal(&unquoted(error.message())), error.as_kind(Kind::InvalidRequest))
        }
        Err(error) => return Err(error),
    };
    match refusal {
        Some(Refusal::SameRecord) if attempts.may_have_arrived() => Ok(()),
        Some(_) => Err(error.as_kind(Kind::Conflict)),
        None => Err(error),
    }
}

/// What a reply with the status of success says against it; `None` where it was done.
fn objection(whole: &Whole) -> Option<(Option<Refusal>, Error)> {
    let body = whole.body.strip_prefix(b"\xEF\xBB\xBF").unwrap_or(&whole.body).trim_ascii();
    let content_type = whole.headers.get(CONTENT_TYPE).and_then(|value| value.to_str().ok());
    let is_html = content_type.is_some_and(|text| text.to_ascii_lowercase().contains("html"));
    let words = match std::str::from_utf8(body) {
        Ok("") => return None,
        Ok(text) if !is_html && !is_page(body) => words(text),
        _ => None,
    };
    let Some(words) = words else {
        let came = what_came(content_type, body);
        let message = format!("a word on whether it was done was expected, but {came} came; {LOOK}");
        return Some((None, Error::new(Kind::Decode, message)));
    };
    let said = one_line(&String::from_utf8_lossy(body));
    if let Some(refusal) = refusal(&words) {
        let message = format!("another record is in the way: {said}");
        return Some((Some(refusal), Error::new(Kind::Conflict, message)));
    }
    let message = format!("the service does not say that it was done: {said}; {LOOK}");
    (!words.is_empty() && !is_done(&words)).then(|| (None, Error::new(Kind::InvalidRequest, message)))
}

/// What to do where it stays open whether the map is queued.
const LOOK: &str = "look at the prescription maps of the field computer with the state `queued` before you repeat it";

/// What a body says in words: a text, a JSON string, or the texts of an object or of XML, without the names of fields;
/// `None` where it has no words.
fn words(text: &str) -> Option<String> {
    if Content::of(text.as_bytes()) == Some(Content::Xml) {
        let texts = text.split('<').filter_map(|part| part.split_once('>')).map(|(_, text)| text.trim());
        let words = texts.filter(|text| !text.is_empty()).collect::<Vec<_>>().join(" ");
        return Some(words).filter(|words| !words.is_empty());
    }
    match decode_plain(text.as_bytes()) {
        Ok(Value::Null) => Some(String::new()),
        Ok(Value::Boolean(truth)) => Some(if truth { "done" } else { "not done" }.to_owned()),
        Ok(Value::Text(text)) => Some(unquoted(&text)),
        Ok(Value::Record(fields)) if fields.is_empty() => Some(String::new()),
        Ok(record @ Value::Record(_)) => {
            let mut words = String::new();
            texts(&record, &mut words);
            Some(words).filter(|words| !words.trim().is_empty())
        }
        Ok(_) => None,
        Err(_) if text.starts_with(['{', '[']) => None,
        Err(_) => Some(unquoted(text)),
    }
}

/// The texts in an object and in the objects in it; what is `false` speaks against all of them.
fn texts(value: &Value, words: &mut String) {
    match value {
        Value::Text(text) => words.push_str(&unquoted(text)),
        Value::Boolean(false) => words.push_str("not"),
        Value::Record(fields) => fields.iter().for_each(|(_, value)| texts(value, words)),
        _ => {}
    }
    words.push(' ');
}

/// A text without what it quotes: a file may be called `wait.rdp`. One that quotes all that it says is left as it is.
fn unquoted(text: &str) -> String {
    let words = text.split('`').step_by(2).collect::<String>();
    if words.trim().is_empty() { text.to_owned() } else { words }
}

/// Whether words say that it was done.
fn is_done(words: &str) -> bool {
    let words = words.to_lowercase();
    let is = |list: &[&str]| words.split(|c: char| !c.is_alphanumeric()).any(|word| list.contains(&word));
    is(DONE) && !is(UNDONE) && !words.contains("n't")
}

/// Which of the two conflicts a text tells of (specification 4.3: a message that asks to wait, or one that names the
/// file name).
fn refusal(text: &str) -> Option<Refusal> {
    let text = text.to_ascii_lowercase().replace(['-', '_'], " ");
    let says = |word: &str| text.contains(word);
    let says_any = |words: &[&str]| words.iter().any(|word| text.contains(word));
    if says_any(&["same name", "same file name"])
        || (says("name") && says_any(&["conflict", "already", "duplicate", "in use", "taken"]))
    {
        Some(Refusal::SameName)
    } else if says_any(&["already", "wait", "in the queue", "in queue"]) {
        Some(Refusal::SameRecord)
    } else if says_any(&["conflict", "not queued", "not been queued", "not be queued"]) {
        Some(Refusal::NotQueued)
    } else {
        None
    }
}

fn one_line(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ").chars().take(300).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn conflicts_are_told_by_their_words() {
        for (text, expected) in [
            ("The prescription map is already queued. Please wait.", Some(Refusal::SameRecord)),
            ("Wait until the file has been delivered.", Some(Refusal::SameRecord)),
            ("This file is in the queue; wait for delivery.", Some(Refusal::SameRecord)),
            ("A file with the same name is already queued for this field computer.", Some(Refusal::SameName)),
            ("Name conflict", Some(Refusal::SameName)),
            ("Name-conflict: file not queued.", Some(Refusal::SameName)),
            ("NAME_CONFLICT", Some(Refusal::SameName)),
            ("The file was not queued.", Some(Refusal::NotQueued)),
            ("The map is queued.", None),
            ("", None),
            ("There is no field computer `9`.", None),
        ] {
            assert_eq!(refusal(text), expected, "{text}");
        }
    }
}
