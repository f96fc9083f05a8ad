//! The body of an upload: `multipart/form-data` with one file and a few texts (specification 4.3).

use bytes::Bytes;

use super::file_name::clean;

/// A file to send.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UploadFile {
    /// Its name, which becomes the name of the record.
    pub name: String,
    /// Its bytes.
    pub content: Bytes,
}

/// The name as it is sent: without folders, quotes and line ends.
pub(super) fn sent_name(name: &str) -> Option<String> {
    clean(name)
}

/// The content type and the bytes of a form: `texts` as (entry, text), then the file, called `name`, as the entry
/// `field`.
pub(super) fn form(field: &str, name: &str, content: &[u8], texts: &[(&str, &str)]) -> (String, Bytes) {
    let boundary = boundary();
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

/// A boundary that the content does not hold: 128 random bits.
fn boundary() -> String {
    format!("headland-{:032x}", fastrand::u128(..))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_cannot_break_out_of_its_header() {
        let name = sent_name("..\\evil\"\r\nX-Injected: 1.zip").unwrap();
        let (_, body) = form("FileName", &name, b"PK", &[]);
        let text = String::from_utf8(body.to_vec()).unwrap();
        assert!(text.contains("filename=\"evil_X-Injected_ 1.zip\"\r\n"), "{text}");
        assert_eq!(text.matches("\r\n\r\n").count(), 1, "{text}");
    }
}
