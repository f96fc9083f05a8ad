//! Masks secrets in the bodies of replies: whole values and names of records, long secrets inside them, and any part of a
//! plain text.

use super::bigint::text_length;
use super::path::excerpt;
use headland_base::names::strip_bom;
use headland_base::secret_masking::{SecretKind, Secrets};

/// A body whose secrets are masked.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Masked {
    /// The body.
    pub body: Vec<u8>,
    /// The kind and the path of each masked value; empty for plain text.
    pub fields: Vec<(SecretKind, String)>,
}

/// Masks the secrets in a body. `None`: there are none.
///
/// A name or value of JSON or XML is masked if it is a secret as a whole. In a longer one, such as a link, secrets of 20
/// characters or more are masked; shorter ones may occur by chance. A field that `is_own` assigns to that kind of secret
/// is unchanged.
#[must_use]
pub fn mask(body: &[u8], secrets: &Secrets, is_own: fn(SecretKind, &str) -> bool) -> Option<Masked> {
    if !secrets.may_be_in(body) {
        return None;
    }
    let mut out =
        Masker { body, secrets, is_own, masked: Vec::with_capacity(body.len()), copied: 0, fields: Vec::new() };
    match strip_bom(body).trim_ascii_start().first() {
        Some(b'{' | b'[') => mask_json(&mut out),
        Some(b'<') if !is_page(body) => mask_xml(&mut out),
        _ => return mask_text(body, secrets),
    }
    if out.fields.is_empty() {
        return None;
    }
    out.masked.extend_from_slice(body.get(out.copied..).unwrap_or_default());
    Some(Masked { body: out.masked, fields: out.fields })
}

/// Whether a body starts like a web page.
#[must_use]
pub fn is_page(body: &[u8]) -> bool {
    let start = String::from_utf8_lossy(body.get(..body.len().min(512)).unwrap_or_default()).to_ascii_lowercase();
    start.contains("<!doctype html") || start.contains("<html")
}

fn mask_text(body: &[u8], secrets: &Secrets) -> Option<Masked> {
    let text = std::str::from_utf8(body).ok()?;
    let masked = secrets.mask(text);
    (masked != text).then(|| Masked { body: masked.into_owned().into_bytes(), fields: Vec::new() })
}

/// The masked body, up to `copied`.
struct Masker<'a> {
    body: &'a [u8],
    secrets: &'a Secrets,
    is_own: fn(SecretKind, &str) -> bool,
    masked: Vec<u8>,
    copied: usize,
    fields: Vec<(SecretKind, String)>,
}

impl Masker<'_> {
    /// Masks the secrets between two offsets. `path` returns the path of the field.
    fn mask(&mut self, start: usize, end: usize, path: impl FnOnce() -> String) {
        let found = self.secrets.find_in_data(self.body.get(start..end).unwrap_or_default());
        let Some(kind) = found.first().map(|(_, kind, _)| *kind) else { return };
        let path = path();
        if (self.is_own)(kind, &path) {
            return;
        }
        for (range, _, mask) in found {
            self.replace(start.saturating_add(range.start), start.saturating_add(range.end), mask);
        }
        self.fields.push((kind, path));
    }

    /// Masks the secrets in the tag of an element between two offsets, its name and attributes. The result is a name.
    fn mask_tag(&mut self, start: usize, end: usize, path: impl FnOnce() -> String) {
        let tag = self.body.get(start..end).unwrap_or_default();
        let name = local_name(tag);
        let found = match self.secrets.find_exact(name) {
            Some((kind, mask)) => {
                let after = tag.iter().position(u8::is_ascii_whitespace).unwrap_or(tag.len());
                vec![(after.saturating_sub(name.len())..after, kind, mask)]
            }
            None => self.secrets.find_in_data(tag),
        };
        let Some(kind) = found.first().map(|(_, kind, _)| *kind) else { return };
        for (range, _, mask) in found {
            let name = format!("hidden{}", mask.trim_start_matches("(hidden)"));
            self.replace(start.saturating_add(range.start), start.saturating_add(range.end), &name);
        }
        self.fields.push((kind, path()));
    }

    fn replace(&mut self, start: usize, end: usize, mask: &str) {
        self.masked.extend_from_slice(self.body.get(self.copied..start).unwrap_or_default());
        self.masked.extend_from_slice(mask.as_bytes());
        self.copied = end;
    }
}

/// A step of the path to a value of JSON.
enum Step<'a> {
    Name(&'a [u8]),
    Item(usize),
}

fn mask_json(out: &mut Masker<'_>) {
    let body = out.body;
    let mut path = Vec::new();
    let mut at = 0;
    while let Some(byte) = body.get(at) {
        let rest = body.get(at..).unwrap_or_default();
        let length = if *byte == b'"' { text_length(rest) } else { 1 };
        let end = at.saturating_add(length);
        match byte {
            b'{' => path.push(Step::Name(b"")),
            b'[' => path.push(Step::Item(0)),
            b'}' | b']' => drop(path.pop()),
            b',' => {
                if let Some(Step::Item(index)) = path.last_mut() {
                    *index = index.saturating_add(1);
                }
            }
            b'"' => {
                let (start, stop) = (at.saturating_add(1), end.saturating_sub(1));
                let is_name = body.get(end..).unwrap_or_default().trim_ascii_start().first() == Some(&b':');
                if let (true, Some(Step::Name(name))) = (is_name, path.last_mut()) {
                    *name = body.get(start..stop).unwrap_or_default();
                }
                let secrets = out.secrets;
                out.mask(start, stop, || json_path(&path, secrets));
            }
            _ => {}
        }
        at = end;
    }
}

fn json_path(steps: &[Step<'_>], secrets: &Secrets) -> String {
    let text = |step: &Step<'_>| match step {
        Step::Name(name) => format!(".{}", masked_name(name, secrets)),
        Step::Item(index) => format!("[{index}]"),
    };
    let path: String = steps.iter().map(text).collect();
    path.strip_prefix('.').unwrap_or(&path).to_owned()
}

fn masked_name(name: &[u8], secrets: &Secrets) -> String {
    excerpt(&secrets.mask(&String::from_utf8_lossy(name))).into_owned()
}

fn mask_xml(out: &mut Masker<'_>) {
    let (body, secrets) = (out.body, out.secrets);
    let mut path: Vec<&[u8]> = Vec::new();
    let mut at = 0;
    while at < body.len() {
        let rest = body.get(at..).unwrap_or_default();
        let find = |what: &[u8]| rest.windows(what.len()).position(|found| found == what).unwrap_or(rest.len());
        let after = |what: &[u8]| find(what).saturating_add(what.len());
        let length = if rest.starts_with(b"<!--") {
            after(b"-->")
        } else if rest.starts_with(CDATA) {
            let (start, stop) = (at.saturating_add(CDATA.len()), at.saturating_add(find(b"]]>")));
            out.mask(start, stop, || xml_path(&path, secrets));
            after(b"]]>")
        } else if rest.starts_with(b"<") {
            let end = find(b">");
            let (start, is_empty) = match rest.get(1) {
                Some(b'/') => {
                    path.pop();
                    (2, false)
                }
                Some(b'!' | b'?') => (end, false),
                _ => (1, rest.get(end.saturating_sub(1)) == Some(&b'/')),
            };
            let stop = if is_empty { end.saturating_sub(1) } else { end };
            let tag = rest.get(start..stop).unwrap_or_default();
            out.mask_tag(at.saturating_add(start), at.saturating_add(stop), || {
                let names: Vec<&[u8]> = path.iter().copied().chain([local_name(tag)]).collect();
                xml_path(&names, secrets)
            });
            if start == 1 && !is_empty {
                path.push(local_name(tag));
            }
            after(b">")
        } else {
            let stop = find(b"<");
            out.mask(at, at.saturating_add(stop), || xml_path(&path, secrets));
            stop
        };
        at = at.saturating_add(length);
    }
}

const CDATA: &[u8] = b"<![CDATA[";

/// The name of an element without prefix and attributes.
fn local_name(tag: &[u8]) -> &[u8] {
    let name = tag.split(u8::is_ascii_whitespace).next().unwrap_or_default();
    name.rsplit(|byte| *byte == b':').next().unwrap_or_default()
}

fn xml_path(path: &[&[u8]], secrets: &Secrets) -> String {
    path.iter().map(|name| masked_name(name, secrets)).collect::<Vec<_>>().join(".")
}

#[cfg(test)]
mod tests {
    use super::*;
    use headland_base::secret::Secret;

    fn read(body: &str) -> Option<(String, Vec<String>)> {
        let secrets = Secrets::default()
            .with(SecretKind::AccessKey, &Secret::new("key/of-the+farm"))
            .with(SecretKind::Token, &Secret::new("tok"));
        let masked = mask(body.as_bytes(), &secrets, |_, path| path == "Own")?;
        let fields = masked.fields.into_iter().map(|(_, path)| path).collect();
        Some((String::from_utf8(masked.body).unwrap(), fields))
    }

    #[test]
    fn whole_values_are_masked_with_their_paths() {
        for (body, expected, paths) in [
            (
                r#"{"TotalCount":2,"JobData":[{"ID":"1"},{"Name":"key\/of-the\u002bfarm","X":{"A":["tok"]}}]}"#,
                r#"{"TotalCount":2,"JobData":[{"ID":"1"},{"Name":"...farm","X":{"A":["(hidden)"]}}]}"#,
                vec!["JobData[1].Name", "JobData[1].X.A[0]"],
            ),
            (r#"["key%2Fof-the%2Bfarm"]"#, r#"["...farm"]"#, vec!["[0]"]),
            (r#"{"key/of-the+farm":1}"#, r#"{"...farm":1}"#, vec!["...farm"]),
            (
                "<?xml?><!-- tok --><a:Index><JobData x='1'><Name> tok </Name><b/><C><![CDATA[tok]]></C></JobData></a:Index>",
                "<?xml?><!-- tok --><a:Index><JobData x='1'><Name>(hidden)</Name><b/><C><![CDATA[(hidden)]]></C></JobData></a:Index>",
                vec!["Index.JobData.Name", "Index.JobData.C"],
            ),
            ("OK key/of-the+farm", "OK ...farm", vec![]),
            ("<HTML><p>OK key/of-the+farm</p>", "<HTML><p>OK ...farm</p>", vec![]),
            ("\"the key/of-the+farm\"", "\"the ...farm\"", vec![]),
        ] {
            assert_eq!(read(body), Some((expected.to_owned(), paths.iter().map(ToString::to_string).collect())));
        }
    }

    #[test]
    fn long_secrets_inside_values_and_names_are_masked() {
        let secrets = Secrets::default()
            .with(SecretKind::AccessKey, &Secret::new("0123456789abcdefGHIJ"))
            .with(SecretKind::ApiKey, &Secret::new("0123456789abcdefghi"));
        let own = |_: SecretKind, path: &str| path == "Own";
        for (body, expected, paths) in [
            (
                r#"{"Uri":"https://x.org/V1/jobdata/5?accesskey=0123456789ABCDEFghij&a=1","Own":"0123456789abcdefGHIJ"}"#,
                r#"{"Uri":"https://x.org/V1/jobdata/5?accesskey=...GHIJ&a=1","Own":"0123456789abcdefGHIJ"}"#,
                vec!["Uri"],
            ),
            (
                r#"{"of-0123456789abcdefGHIJ":["0123456789abcdefGHIJ,0123456789abcdef\u0047HIJ"]}"#,
                r#"{"of-...GHIJ":["...GHIJ,...GHIJ"]}"#,
                vec!["of-...GHIJ", "of-...GHIJ[0]"],
            ),
            (
                "<a><Uri>x?k=0123456789abcdefGHIJ</Uri><k0123456789abcdefGHIJ>1</k0123456789abcdefGHIJ><b c='0123456789abcdefGHIJ'/></a>",
                "<a><Uri>x?k=...GHIJ</Uri><khidden...GHIJ>1</khidden...GHIJ><b c='hidden...GHIJ'/></a>",
                vec!["a.Uri", "a.k...GHIJ", "a.k...GHIJ", "a.b"],
            ),
            ("<a><x:0123456789abcdefghi/></a>", "<a><x:hidden...fghi/></a>", vec!["a....fghi"]),
        ] {
            let masked = mask(body.as_bytes(), &secrets, own).unwrap();
            assert_eq!(String::from_utf8(masked.body).unwrap(), expected);
            assert_eq!(masked.fields.into_iter().map(|(_, path)| path).collect::<Vec<_>>(), paths);
        }
        assert_eq!(mask(br#"{"a":"of 0123456789abcdefghi"}"#, &secrets, own), None, "short ones may occur by chance");
    }

    #[test]
    fn parts_of_values_are_unchanged() {
        for body in [
            r#"{"Own":"tok","Name":"field key/of-the+farm 7","B":"to\"tok\"","C":"\"tok"}"#,
            "<a><Name>field key/of-the+farm</Name><B>a tok</B></a>",
            "a tok",
            "{\"a\":\"",
            "<a",
            "",
        ] {
            assert_eq!(read(body), None, "{body}");
        }
    }

    #[test]
    fn truncated_bodies_do_not_panic() {
        for body in [r#"{"a":"tok"#, r#"{"a":"tok\"#, "<a>tok", "<a><![CDATA[tok", "<!-- tok", "]}\"tok\"", "</a>tok"] {
            let _ = read(body);
        }
    }
}
