//! A reply as it is written, before its shape is known: values by name, the same for JSON and XML.

use std::borrow::Cow;
use std::fmt;

use serde_json::{Map, Number, Value as Tree};

use super::path::excerpt;

/// A value of a reply.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Node<'a> {
    /// The null of JSON, or an element that is nil.
    Null,
    /// An element without content: an empty text, list or record.
    Empty,
    Boolean(bool),
    Number(Number),
    Text(Cow<'a, str>),
    List(Vec<Node<'a>>),
    /// A list whose items were read while it was parsed.
    Read,
    /// The members in the order of the reply. A name may occur several times.
    Object(Vec<(Cow<'a, str>, Node<'a>)>),
}

impl Node<'_> {
    /// The value of a field that no shape names. Members with the same name become a list.
    pub(super) fn into_tree(self) -> Tree {
        match self {
            Self::Null | Self::Empty | Self::Read => Tree::Null,
            Self::Boolean(truth) => Tree::Bool(truth),
            Self::Number(number) => Tree::Number(number),
            Self::Text(text) => Tree::String(text.into_owned()),
            Self::List(items) => items.into_iter().map(Node::into_tree).collect(),
            Self::Object(members) => {
                let mut object = Map::new();
                for (name, member) in members {
                    let tree = member.into_tree();
                    match object.get_mut(&*name) {
                        None => drop(object.insert(name.into_owned(), tree)),
                        Some(Tree::Array(items)) => items.push(tree),
                        Some(first) => *first = Tree::Array(vec![first.take(), tree]),
                    }
                }
                Tree::Object(object)
            }
        }
    }
}

/// The value in the words of an error.
impl fmt::Display for Node<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Null => f.write_str("null"),
            Self::Empty => f.write_str("an empty element"),
            Self::Boolean(truth) => write!(f, "{truth}"),
            Self::Number(number) => write!(f, "{number}"),
            Self::Text(text) => write!(f, "`{}`", excerpt(text)),
            Self::List(_) | Self::Read => f.write_str("a list"),
            Self::Object(members) => match members.first() {
                Some((name, _)) => write!(f, "an object that contains `{}`", excerpt(name)),
                None => f.write_str("an object"),
            },
        }
    }
}
