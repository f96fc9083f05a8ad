//! Parses JSON to a node.

use std::borrow::Cow;
use std::cell::RefCell;
use std::fmt;

use serde::Deserialize;
use serde::de::{DeserializeSeed, Deserializer, MapAccess, SeqAccess, Visitor};
use serde_json::Number;
use serde_json::de::Read;

use super::bigint::quote_big_ints;
use super::node::Node;
use super::path::{excerpt, written};
use headland_base::error::{Error, Kind};
use headland_base::names::{self, strip_bom};

/// A list of the outermost object whose items are read as soon as each is parsed, so that a page is never in memory as nodes.
#[derive(Clone, Copy)]
pub(super) struct List<'p> {
    /// Its name.
    pub(super) kind: &'static str,
    /// Reads an item.
    pub(super) read_item: &'p dyn Fn(Node<'_>),
}

/// Parses a whole body and gives it to `read`; nothing may follow the value. `serde_json` refuses what is nested more than 128 deep.
/// Messages call the body `what`, and the path of a fault starts with `root`. The items of `list` are [`Node::Read`].
pub(super) fn parse<T>(
    body: &[u8],
    what: &str,
    root: &str,
    list: Option<List<'_>>,
    read: impl FnOnce(Node<'_>) -> headland_base::error::Result<T>,
) -> headland_base::error::Result<T> {
    let body = &*quote_big_ints(strip_bom(body));
    let path = RefCell::default();
    let seed = NodeSeed { path: &path, level: list.map_or(Level::Inside, Level::Root) };
    // Checked at once, which is quicker than text by text; where it is not UTF-8, serde_json says at which line and column.
    let node = match std::str::from_utf8(body) {
        Ok(text) => whole(serde_json::Deserializer::from_str(text), seed),
        Err(_) => whole(serde_json::Deserializer::from_slice(body), seed),
    };
    match node {
        Ok(node) => read(node),
        Err(error) => {
            let why = error.to_string();
            let message = format!("the reply cannot be read as {what}: {}", excerpt(&why));
            let names: Vec<String> = path.into_inner();
            let field = (!names.is_empty()).then(|| written(root, names.iter().rev().map(Into::into)));
            Err(Error::new(Kind::Decode, message).with(|facts| facts.field = field))
        }
    }
}

/// Reads the value that is the whole body.
fn whole<'de, R: Read<'de>>(
    mut reader: serde_json::Deserializer<R>,
    seed: NodeSeed<'_>,
) -> serde_json::Result<Node<'de>> {
    let node = seed.deserialize(&mut reader)?;
    reader.end().map(|()| node)
}

/// Reads a value. An error leaves the names of the members around it, innermost first.
#[derive(Clone, Copy)]
struct NodeSeed<'p> {
    path: &'p RefCell<Vec<String>>,
    level: Level<'p>,
}

/// The place of a value in the body.
#[derive(Clone, Copy)]
enum Level<'p> {
    /// The whole body, whose object may have the list.
    Root(List<'p>),
    /// The list.
    Items(List<'p>),
    Inside,
}

/// A name, without a copy where it stands in the body as it is.
#[derive(Deserialize)]
struct Key<'a>(#[serde(borrow)] Cow<'a, str>);

impl<'de> DeserializeSeed<'de> for NodeSeed<'_> {
    type Value = Node<'de>;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<Node<'de>, D::Error> {
        deserializer.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for NodeSeed<'_> {
    type Value = Node<'de>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("JSON")
    }

    fn visit_unit<E>(self) -> Result<Node<'de>, E> {
        Ok(Node::Null)
    }

    fn visit_bool<E>(self, truth: bool) -> Result<Node<'de>, E> {
        Ok(Node::Boolean(truth))
    }

    fn visit_i64<E>(self, number: i64) -> Result<Node<'de>, E> {
        Ok(Node::Number(number.into()))
    }

    fn visit_u64<E>(self, number: u64) -> Result<Node<'de>, E> {
        Ok(Node::Number(number.into()))
    }

    fn visit_f64<E: serde::de::Error>(self, number: f64) -> Result<Node<'de>, E> {
        Number::from_f64(number).map(Node::Number).ok_or_else(|| E::custom("a number is not finite"))
    }

    fn visit_borrowed_str<E>(self, text: &'de str) -> Result<Node<'de>, E> {
        Ok(Node::Text(Cow::Borrowed(text)))
    }

    fn visit_str<E>(self, text: &str) -> Result<Node<'de>, E> {
        Ok(Node::Text(Cow::Owned(text.to_owned())))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut seq: A) -> Result<Node<'de>, A::Error> {
        let inside = Self { level: Level::Inside, ..self };
        if let Level::Items(list) = self.level {
            while let Some(item) = seq.next_element_seed(inside)? {
                (list.read_item)(item);
            }
            return Ok(Node::Read);
        }
        let mut items = Vec::new();
        while let Some(item) = seq.next_element_seed(inside)? {
            items.push(item);
        }
        Ok(Node::List(items))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Node<'de>, A::Error> {
        let mut members = Vec::new();
        let mut list = match self.level {
            Level::Root(list) => Some(list),
            Level::Items(_) | Level::Inside => None,
        };
        while let Some(Key(name)) = map.next_key()? {
            if members.is_empty() {
                // Records of lists have about so many; an empty object takes none.
                members.reserve(8);
            }
            // A list that occurs again continues the first one, which is known only when that has been read.
            let level = list.take_if(|list| names::same(&name, list.kind)).map_or(Level::Inside, Level::Items);
            match map.next_value_seed(Self { level, ..self }) {
                Ok(value) => members.push((name, value)),
                Err(error) => {
                    self.path.borrow_mut().push(excerpt(&name).into_owned());
                    return Err(error);
                }
            }
        }
        Ok(Node::Object(members))
    }
}
