//! Encodes records as XML by their shapes.

use serde_json::Value as Tree;

use super::value::Value;
use headland_api::{Kind, Shape};
use headland_base::times::iso;

/// The namespace of `nil`.
const INSTANCE: &str = "http://www.w3.org/2001/XMLSchema-instance";

/// An element with text or children.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Element {
    /// The name with its prefix, if any.
    pub name: String,
    /// The attributes.
    pub attributes: Vec<(String, String)>,
    /// The text of an element without children.
    pub text: String,
    /// The children.
    pub children: Vec<Element>,
}

impl Element {
    /// Creates an element with children.
    #[must_use]
    pub fn new(name: &str, children: Vec<Element>) -> Self {
        Self { name: name.to_owned(), children, ..Self::default() }
    }

    /// Creates an element with a text.
    #[must_use]
    pub fn text(name: &str, text: impl Into<String>) -> Self {
        Self { name: name.to_owned(), text: text.into(), ..Self::default() }
    }

    /// Creates an element for null, which is not an empty text, as `null` is not `""` in JSON.
    fn nil(name: &str) -> Self {
        let attributes = vec![("xsi:nil".to_owned(), "true".to_owned())];
        Self { name: name.to_owned(), attributes, ..Self::default() }
    }

    /// Encodes a record as an element: its fields in the order of the shape, then its extra fields.
    #[must_use]
    pub fn from_record(name: &str, shape: &Shape, record: &Value) -> Self {
        let mut children = Vec::with_capacity(shape.fields.len());
        for field in shape.fields.iter().filter(|field| field.derived.is_none()) {
            let wire = field.wire;
            match (field.kind, record.get(field.snake)) {
                (_, None) => {}
                // The XML of a hub is flat where its JSON nests the report (specification 2.4).
                (Kind::Record(inner), Some(value @ Value::Record(_))) => {
                    children.extend(Self::from_record(wire, inner, value).children);
                }
                (Kind::Records(inner, item), Some(Value::List(records))) => {
                    let records = records.iter().map(|record| Self::from_record(item, inner, record)).collect();
                    children.push(Self::new(wire, records));
                }
                (_, Some(value)) => {
                    children.push(scalar(value).map_or_else(|| Self::nil(wire), |text| Self::text(wire, text)));
                }
            }
        }
        if let Value::Record(fields) = record {
            for (name, value) in fields {
                if let Value::Unknown(tree) = value {
                    push_tree(&mut children, name, tree);
                }
            }
        }
        Self::new(name, children)
    }

    /// Whether it or one of its descendants is null.
    #[must_use]
    pub fn has_nil(&self) -> bool {
        self.attributes.iter().any(|(name, _)| name == "xsi:nil") || self.children.iter().any(Self::has_nil)
    }

    /// Writes a document: `prolog`, then this element as its root.
    #[must_use]
    pub fn document(&self, prolog: &str) -> String {
        let mut out = prolog.to_owned();
        let extra = if self.has_nil() { vec![("xmlns:xsi", INSTANCE)] } else { Vec::new() };
        self.write(&mut out, &extra);
        out
    }

    fn write(&self, out: &mut String, extra: &[(&str, &str)]) {
        out.push('<');
        out.push_str(&self.name);
        let own = self.attributes.iter().map(|(name, value)| (name.as_str(), value.as_str()));
        for (name, value) in own.chain(extra.iter().copied()) {
            out.push(' ');
            out.push_str(name);
            out.push_str("=\"");
            write_text(out, value);
            out.push('"');
        }
        out.push('>');
        write_text(out, &self.text);
        for child in &self.children {
            child.write(out, &[]);
        }
        out.push_str("</");
        out.push_str(&self.name);
        out.push('>');
    }
}

/// Writes an escaped text. Characters that XML 1.0 forbids become U+FFFD.
fn write_text(out: &mut String, text: &str) {
    for c in text.chars() {
        match c {
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '&' => out.push_str("&amp;"),
            '"' => out.push_str("&quot;"),
            // Parsers convert an unescaped carriage return to a line feed.
            '\r' => out.push_str("&#13;"),
            '\t' | '\n' => out.push(c),
            '\u{0}'..='\u{1F}' | '\u{FFFE}' | '\u{FFFF}' => out.push('\u{FFFD}'),
            _ => out.push(c),
        }
    }
}

fn scalar(value: &Value) -> Option<String> {
    match value {
        Value::Boolean(truth) => Some(truth.to_string()),
        Value::Integer(number) => Some(number.to_string()),
        Value::Decimal(number) => Some(number.to_string()),
        Value::Text(text) => Some(text.clone()),
        Value::Time(at) => Some(iso::write(at)),
        Value::Null | Value::List(_) | Value::Record(_) | Value::Unknown(_) => None,
    }
}

fn push_tree(out: &mut Vec<Element>, name: &str, tree: &Tree) {
    match tree {
        Tree::Array(values) => values.iter().for_each(|value| push_tree(out, name, value)),
        Tree::Object(members) => {
            let mut children = Vec::with_capacity(members.len());
            for (name, value) in members {
                push_tree(&mut children, name, value);
            }
            out.push(Element::new(name, children));
        }
        Tree::Null => out.push(Element::nil(name)),
        Tree::String(text) => out.push(Element::text(name, text.as_str())),
        other => out.push(Element::text(name, other.to_string())),
    }
}
