//! Small XML documents as trees of elements, for lookups by name.

use super::encoding::XmlText;
use super::{Document, Event};
use crate::archive::member::Member;
use headland_base::error::Result;
use headland_base::names::same;

/// Most elements and attributes, since each needs many times its bytes.
const MAX_NODES: usize = 1 << 17;

/// An element with its attributes, its text and its children.
#[derive(Clone, Debug, Default)]
pub struct Element {
    name: String,
    attributes: Vec<(String, String)>,
    text: String,
    children: Vec<Element>,
}

impl Element {
    /// The root of the document in a member of at most `limit` bytes.
    pub fn read(member: &Member, limit: u64) -> Result<Self> {
        Self::read_with_text(member, limit).map(|(root, _)| root)
    }

    /// The root, and the document as text in UTF-8.
    pub fn read_with_text(member: &Member, limit: u64) -> Result<(Self, String)> {
        let text = XmlText::read(member, member.read_all(limit)?)?;
        let document = Document::parse(member, &text, MAX_NODES)?;
        let mut open: Vec<Self> = Vec::new();
        let mut root = Self::default();
        for event in document.events() {
            match event {
                Event::Open(name, _) => {
                    open.push(Self { name: document.name(*name).to_owned(), ..Self::default() });
                }
                Event::Attribute(name, value) => {
                    if let Some(element) = open.last_mut() {
                        let value = document.text(value).to_owned();
                        element.attributes.push((document.name(*name).to_owned(), value));
                    }
                }
                Event::Text(text) => {
                    if let Some(element) = open.last_mut() {
                        element.text.push_str(document.text(text));
                    }
                }
                Event::Close => {
                    let Some(element) = open.pop() else { continue };
                    match open.last_mut() {
                        Some(parent) => parent.children.push(element),
                        None => root = element,
                    }
                }
            }
        }
        Ok((root, text.text))
    }

    /// The name without its prefix.
    #[must_use]
    pub fn name(&self) -> &str {
        local(&self.name)
    }

    /// Whether it has this name, in any letter case and with any prefix.
    #[must_use]
    pub fn is_named(&self, name: &str) -> bool {
        same(self.name(), name)
    }

    /// Its text, trimmed.
    #[must_use]
    pub fn text(&self) -> &str {
        self.text.trim()
    }

    /// The direct child elements.
    #[must_use]
    pub fn children(&self) -> &[Self] {
        &self.children
    }

    /// The first direct child with this name.
    #[must_use]
    pub fn child(&self, name: &str) -> Option<&Self> {
        self.children.iter().find(|child| child.is_named(name))
    }

    /// The text of the child or the attribute with this name; `None` if it is blank.
    #[must_use]
    pub fn value(&self, name: &str) -> Option<&str> {
        let attribute =
            || self.attributes.iter().find(|(key, _)| same(local(key), name)).map(|(_, value)| value.trim());
        self.child(name).map(Self::text).or_else(attribute).filter(|value| !value.is_empty())
    }

    /// All elements with this name, at any depth.
    #[must_use]
    pub fn find_all(&self, name: &str) -> Vec<&Self> {
        let mut found = Vec::new();
        let mut queue = vec![self];
        while let Some(element) = queue.pop() {
            if element.is_named(name) {
                found.push(element);
            }
            queue.extend(element.children.iter().rev());
        }
        found
    }
}

fn local(name: &str) -> &str {
    name.rsplit(':').next().unwrap_or(name)
}
