//! Records out as XML, by their shapes: Pascal case, records in an element of their field, items without a wrapper.

use serde_json::Value as Tree;

use super::time;
use super::value::Value;
use crate::api::{Kind, Shape};

/// The namespace of `nil`.
const INSTANCE: &str = "http://www.w3.org/2001/XMLSchema-instance";

/// An element with what it holds: text, or other elements.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Element {
    /// The name, with a prefix where it has one.
    pub name: String,
    /// The attributes.
    pub attributes: Vec<(String, String)>,
    /// The text of an element without children.
    pub text: String,
    /// The children.
    pub children: Vec<Element>,
}

impl Element {
    /// An element around others.
    #[must_use]
    pub fn new(name: &str, children: Vec<Element>) -> Self {
        Self { name: name.to_owned(), children, ..Self::default() }
    }

    /// An element around a text.
    #[must_use]
    pub fn text(name: &str, text: impl Into<String>) -> Self {
        Self { name: name.to_owned(), text: text.into(), ..Self::default() }
    }

    /// An element for null. It differs from an empty text, as `null` and `""` do in JSON.
    fn nil(name: &str) -> Self {
        let attributes = vec![("xsi:nil".to_owned(), "true".to_owned())];
        Self { name: name.to_owned(), attributes, ..Self::default() }
    }

    /// A record as an element of that name: the fields that it has, in the order of the shape, then those the table
    /// does not know.
    #[must_use]
    pub fn of(name: &str, shape: &Shape, record: &Value) -> Self {
        let mut children = Vec::with_capacity(shape.fields.len());
        for field in shape.fields.iter().filter(|field| field.derived.is_none()) {
            let wire = field.wire;
            match (field.kind, record.get(field.snake)) {
                (_, None) => {}
                // The XML of a hub is flat where its JSON nests the report (specification 2.4).
                (Kind::Record(inner), Some(value @ Value::Record(_))) => {
                    children.extend(Self::of(wire, inner, value).children);
                }
                (Kind::Records(inner, item), Some(Value::List(records))) => {
                    let records = records.iter().map(|record| Self::of(item, inner, record)).collect();
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
                    of_tree(&mut children, name, tree);
                }
            }
        }
        Self::new(name, children)
    }

    /// Whether it or an element in it is null.
    #[must_use]
    pub fn has_nil(&self) -> bool {
        self.attributes.iter().any(|(name, _)| name == "xsi:nil") || self.children.iter().any(Self::has_nil)
    }

    /// The document with this element as its root, behind `prolog`.
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

/// Writes a record as a document whose root is the shape's name.
#[must_use]
pub fn encode(shape: &Shape, record: &Value) -> String {
    Element::of(shape.name, shape, record).document("<?xml version=\"1.0\" encoding=\"utf-8\"?>")
}

/// Writes a text so that every reader gets it back. What XML cannot hold at all becomes U+FFFD.
fn write_text(out: &mut String, text: &str) {
    for c in text.chars() {
        match c {
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '&' => out.push_str("&amp;"),
            '"' => out.push_str("&quot;"),
            // Readers turn a bare one into a line feed.
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
        Value::Time(at) => Some(time::write(at)),
        Value::Null | Value::List(_) | Value::Record(_) | Value::Unknown(_) => None,
    }
}

fn of_tree(out: &mut Vec<Element>, name: &str, tree: &Tree) {
    match tree {
        Tree::Array(values) => values.iter().for_each(|value| of_tree(out, name, value)),
        Tree::Object(members) => {
            let mut children = Vec::with_capacity(members.len());
            for (name, value) in members {
                of_tree(&mut children, name, value);
            }
            out.push(Element::new(name, children));
        }
        Tree::Null => out.push(Element::nil(name)),
        Tree::String(text) => out.push(Element::text(name, text.as_str())),
        other => out.push(Element::text(name, other.to_string())),
    }
}
