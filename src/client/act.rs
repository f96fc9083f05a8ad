//! Calls that change something and give nothing back: a prescription map is queued for a field computer.
//!
//! The specification does not show the status codes of the two conflicts (7): a refusal is told by its words, whatever
//! the code, and a 200 that carries such words is a refusal, too.

use super::{Arguments, Client};
use crate::api::{Endpoint, Returns};
use crate::error::{Error, Kind, Result};

/// What a refusal says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Refusal {
    /// The same map is queued for that computer already.
    SameRecord,
    /// Another file of that name is.
    SameName,
}

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
            let text = String::from_utf8_lossy(&whole.body);
            let Some(refusal) = refusal(&text) else { return Ok(()) };
            let message = format!("another record is in the way: {}", one_line(&text));
            let error = Error::new(Kind::Conflict, message).with(|facts| facts.status = Some(whole.status));
            (Some(refusal), attempts.finish(error))
        }
        Err(error) if matches!(error.kind(), Kind::InvalidRequest | Kind::Conflict) => {
            (refusal(error.message()), error)
        }
        // A word that the specification does not list, with a text.
        Err(error) if error.kind() == Kind::ConversionFailed => {
            (refusal(error.message()), error.as_kind(Kind::InvalidRequest))
        }
        Err(error) => return Err(error),
    };
    match refusal {
        Some(Refusal::SameRecord) if attempts.may_have_arrived() => Ok(()),
        Some(_) => Err(error.as_kind(Kind::Conflict)),
        None => Err(error),
    }
}

/// Which of the two conflicts a text tells of (specification 4.3: a message that asks to wait, or one that names the
/// file name).
fn refusal(text: &str) -> Option<Refusal> {
    let text = text.to_ascii_lowercase();
    let says = |word: &str| text.contains(word);
    if says("same name") || says("same file name") || says("name conflict") || (says("already") && says("name")) {
        Some(Refusal::SameName)
    } else if says("already") || says("please wait") {
        Some(Refusal::SameRecord)
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
            ("A file with the same name is already queued for this field computer.", Some(Refusal::SameName)),
            ("Name conflict", Some(Refusal::SameName)),
            ("The map is queued.", None),
            ("", None),
            ("There is no field computer `9`.", None),
        ] {
            assert_eq!(refusal(text), expected, "{text}");
        }
    }
}
