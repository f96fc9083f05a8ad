//! Body of an upload: `multipart/form-data` with one file and texts (specification 4.3).

use bytes::Bytes;

use super::file_name::LONGEST_NAME;

/// A file to send.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UploadFile {
    /// Its name, which becomes the name of the record.
    pub name: String,
    /// Its bytes.
    pub content: Bytes,
}

/// Checks that the service will keep a name unchanged; the error states why it would not.
///
/// Services truncate names at folder separators and trim blanks, and headers cannot contain control characters.
pub(super) fn check_name(name: &str) -> Result<(), String> {
    if name.is_empty() {
        return Err("needs a name".to_owned());
    }
    if name.len() > LONGEST_NAME {
        return Err(format!("has a name of {} bytes, but the limit is {LONGEST_NAME}", name.len()));
    }
    let why = if name.contains(['/', '\\']) {
        "which contains a path separator"
    } else if name.contains(char::is_control) {
        "which contains a control character"
    } else if name.trim() != name {
        "which begins or ends with a blank"
    } else if name.trim_matches('.').is_empty() {
        "which is not a file name"
    } else {
        return Ok(());
    };
    Err(format!("is called {name:?}, {why}: the service would not keep that name; choose another"))
}

/// The content type and the body of a form: `texts` as (entry, text), then the file with the name `name` as the entry
/// `field`. In the file name only quotes are escaped, as in a quoted string (RFC 7578, section 4.2:
/// <https://www.rfc-editor.org/rfc/rfc7578#section-4.2>). A percent sign is unchanged.
pub(super) fn form(field: &str, name: &str, content: &[u8], texts: &[(&str, &str)]) -> (String, Bytes) {
    let boundary = boundary();
    let name = name.replace('"', "\\\"");
    let text = |(entry, text): &(&str, &str)| {
        format!("--{boundary}\r\nContent-Disposition: form-data; name=\"{entry}\"\r\n\r\n{text}\r\n")
    };
    let texts: Vec<String> = texts.iter().map(text).collect();
    let head = format!(
        "{}--{boundary}\r\nContent-Disposition: form-data; name=\"{field}\"; filename=\"{name}\"\r\n\
         Content-Type: application/octet-stream\r\n\r\n",
        texts.concat()
    );
    let tail = format!("\r\n--{boundary}--\r\n");
    let mut body = Vec::with_capacity(head.len().saturating_add(content.len()).saturating_add(tail.len()));
    body.extend_from_slice(head.as_bytes());
    body.extend_from_slice(content);
    body.extend_from_slice(tail.as_bytes());
    (format!("multipart/form-data; boundary={boundary}"), body.into())
}

/// A random boundary of 128 bits, which the content does not contain.
fn boundary() -> String {
    format!("headland-{:032x}", fastrand::u128(..))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn file_name_is_sent_unchanged_and_cannot_inject_headers() {
        for name in ["a\"b.zip", "\"", "50%22 <a>:b|c?.zip", ".hidden", "con.zip", "f\u{e4}lder; x=1.zip"] {
            assert_eq!(check_name(name), Ok(()), "{name}");
            let (_, body) = form("FileName", name, b"PK", &[]);
            let text = String::from_utf8(body.to_vec()).unwrap();
            let sent = text.split_once("filename=\"").unwrap().1.split_once("\"\r\n").unwrap().0;
            assert_eq!(sent.replace("\\\"", "\""), name, "{text}");
            assert_eq!(sent.matches('"').count(), sent.matches("\\\"").count(), "{text}");
            assert_eq!(text.matches("\r\n\r\n").count(), 1, "{text}");
        }
    }

    #[test]
    fn file_name_that_cannot_be_sent_is_an_error() {
        for (name, says) in [
            ("", "needs a name"),
            ("evil\"\r\nX-Injected: 1.zip", "control character"),
            ("a\tb.zip", "control character"),
            ("folder/a.zip", "separator"),
            ("C:\\a.zip", "separator"),
            (" lead.zip", "begins or ends with a blank"),
            ("trail.zip\u{a0}", "begins or ends with a blank"),
            ("..", "not a file name"),
            (&*"x".repeat(256), "256 bytes"),
        ] {
            let why = check_name(name).unwrap_err();
            assert!(why.contains(says), "{name:?}: {why}");
        }
    }
}
