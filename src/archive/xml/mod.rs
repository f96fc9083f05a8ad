//! XML documents as flat lists of events: no entities of their own, bounded depth, errors with line and offset.
//!
//! A tree of small allocations costs many times the bytes of a document that was made to cost much. Here an element takes
//! two events of a few bytes, its name is kept once, and all texts stand in one.

pub(super) mod element;
mod encoding;
pub(super) mod source_document;
mod well_formed;

use std::collections::HashMap;
use std::collections::HashSet;
use std::ops::Range;

use quick_xml::Reader;
use quick_xml::events::{BytesStart, Event as Token};

use self::encoding::XmlText;
use self::well_formed::Checked;
use crate::archive::alloc::{check_available, try_reserve};
use crate::archive::member::Member;
use crate::error::{Error, Result};

/// Deeper than any document of field data; beyond it, whoever walks a tree by recursion is in danger.
const MAX_DEPTH: usize = 256;

/// The bytes that a name takes where it is kept and found.
const NAME_SIZE: usize = 160;

/// What an element holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Content {
    /// Text or nothing.
    Text,
    /// Elements, with nothing but white space between them.
    Elements,
    /// Elements and text.
    Mixed,
}

/// One step through a document. Names and texts are looked up in the [`Document`].
#[derive(Clone, Debug)]
pub enum Event {
    /// An element begins: its name, and what it holds.
    Open(u32, Content),
    /// An attribute of the element that began: its name and its value.
    Attribute(u32, Range<usize>),
    /// All text up to the next tag.
    Text(Range<usize>),
    /// The element that began last and is not closed ends.
    Close,
}

/// A document that is well-formed.
#[derive(Clone, Debug, Default)]
pub struct Document {
    names: Vec<String>,
    texts: String,
    events: Vec<Event>,
}

impl Document {
    /// Reads the document that a member holds; one of more than `most` bytes is refused before it is read.
    pub fn read(member: &Member, limit: u64) -> Result<Self> {
        Self::parse(member, &XmlText::read(member, member.read_all(limit)?)?, usize::MAX)
    }

    /// Reads a text; one of more than `most` elements and attributes is refused.
    fn parse(member: &Member, text: &XmlText, limit: usize) -> Result<Self> {
        let forbidden = |byte: &u8| *byte < 0x20 && !matches!(byte, b'\t' | b'\n' | b'\r');
        let control = text.text.as_bytes().iter().position(forbidden);
        if let Some(position) =
            control.or_else(|| well_formed::NONCHARACTERS.iter().find_map(|none| text.text.find(none)))
        {
            return Err(fault(member, text, position, "there is a control character, which XML does not have"));
        }
        // All texts stand in one, which moves as it grows.
        check_available(text.text.len().saturating_mul(3)).map_err(|error| error.for_member(member.name()))?;
        let mut parser = Parser::new(limit);
        let mut asked_names = 1;
        let mut reader = Reader::from_str(&text.text);
        reader.config_mut().check_comments = true;
        loop {
            let before = usize::try_from(reader.buffer_position()).unwrap_or(usize::MAX);
            let token = reader.read_event().map_err(|error| {
                let position = usize::try_from(reader.error_position()).unwrap_or(before);
                fault(member, text, position, &error.to_string())
            })?;
            let after = usize::try_from(reader.buffer_position()).unwrap_or(usize::MAX);
            let checked = match &token {
                Token::DocType(_) => well_formed::check_document_type(text.text.get(before..after).unwrap_or_default()),
                _ => Ok(()),
            };
            let inside = match &token {
                Token::Text(text) => text.find("]]>").or_else(|| text.find(|letter| !well_formed::is_space(letter))),
                _ => None,
            };
            let position = before.saturating_add(inside.unwrap_or(0));
            // An attribute has four bytes at least; a text may end, and an element begin and end.
            let steps = after.saturating_sub(before) / 4 + 3;
            try_reserve(&mut parser.document.events, steps).map_err(|error| error.for_member(member.name()))?;
            if parser.document.names.len() > asked_names {
                asked_names = asked_names.saturating_mul(2);
                check_available(asked_names.saturating_mul(NAME_SIZE))
                    .map_err(|error| error.for_member(member.name()))?;
            }
            match checked.and_then(|()| parser.handle_token(token)) {
                Ok(true) => {}
                Ok(false) => return Ok(parser.document),
                Err(message) => return Err(fault(member, text, position, &message)),
            }
        }
    }

    /// The steps through the document, in its order.
    #[must_use]
    pub fn events(&self) -> &[Event] {
        &self.events
    }

    /// A name of an element or an attribute.
    #[must_use]
    pub fn name(&self, name: u32) -> &str {
        usize::try_from(name).ok().and_then(|index| self.names.get(index)).map_or("", String::as_str)
    }

    /// A text or the value of an attribute.
    #[must_use]
    pub fn text(&self, range: &Range<usize>) -> &str {
        self.texts.get(range.clone()).unwrap_or_default()
    }
}

fn fault(member: &Member, text: &XmlText, position: usize, message: &str) -> Error {
    let (line, offset) = text.locate(position);
    let shown: String = message.chars().take(200).collect();
    member
        .fault(format!("it is no well-formed XML, line {line}: {}", shown.escape_debug()))
        .with(|facts| facts.offset = offset)
}

fn is_blank(text: &str) -> bool {
    text.chars().all(well_formed::is_space)
}

/// Why text beside the root element is refused.
const TEXT_OUTSIDE_ROOT: &str = "text stands outside of the root element";

struct Parser {
    /// The elements that are open: where each began among the events, and whether it holds elements and text.
    open: Vec<(usize, bool, bool)>,
    name_numbers: HashMap<String, u32>,
    document: Document,
    /// Where the text that is being read begins.
    text: Option<usize>,
    /// The most elements and attributes, and how many there were.
    limit: usize,
    count: usize,
    /// Whether anything but white space was met, and the document type.
    has_begun: bool,
    has_type: bool,
}

impl Parser {
    fn new(limit: usize) -> Self {
        Self {
            open: Vec::new(),
            name_numbers: HashMap::new(),
            document: Document::default(),
            text: None,
            limit,
            count: 0,
            has_begun: false,
            has_type: false,
        }
    }

    /// Takes the next token; `false` at the end of the document.
    fn handle_token(&mut self, token: Token<'_>) -> Checked<bool> {
        let is_blank = matches!(&token, Token::Text(text) if is_blank(text));
        let is_first = !self.has_begun;
        self.has_begun |= !is_blank;
        match token {
            Token::Start(tag) => self.open_element(&tag)?,
            Token::Empty(tag) => {
                self.open_element(&tag)?;
                self.close_element();
            }
            Token::End(_) => self.close_element(),
            Token::Text(text) if text.contains("]]>") => return Err("`]]>` stands in text".to_owned()),
            Token::Text(text) => self.add_text(&text.into_inner())?,
            Token::CData(_) | Token::GeneralRef(_) if self.open.is_empty() => return Err(TEXT_OUTSIDE_ROOT.to_owned()),
            Token::CData(text) => self.add_text(&text.into_inner())?,
            Token::GeneralRef(name) => {
                let mut text = String::new();
                well_formed::resolve_reference(&name.into_inner(), &mut text)?;
                self.add_resolved(&text);
            }
            Token::Eof if !self.open.is_empty() => return Err("it ends before its root element does".to_owned()),
            Token::Eof if self.document.events.is_empty() => return Err("there is no root element".to_owned()),
            Token::Eof => return Ok(false),
            // Blanks before a declaration harm nobody, though they are not allowed.
            Token::Decl(text) if is_first => well_formed::check_declaration(&text)?,
            Token::Decl(_) => return Err("a declaration stands behind the beginning of the document".to_owned()),
            Token::DocType(_) => {
                if std::mem::replace(&mut self.has_type, true) || !self.document.events.is_empty() {
                    return Err("a document type stands elsewhere than once before the root element".to_owned());
                }
            }
            Token::PI(instruction) => {
                let target = instruction.target();
                well_formed::check_name(target)?;
                if target.eq_ignore_ascii_case("xml") {
                    return Err("an instruction is called as the declaration is".to_owned());
                }
            }
            Token::Comment(_) => {}
        }
        Ok(true)
    }

    fn open_element(&mut self, tag: &BytesStart<'_>) -> Checked {
        self.close_text();
        if self.open.is_empty() && !self.document.events.is_empty() {
            return Err("a second element stands beside the root element".to_owned());
        }
        if self.open.len() >= MAX_DEPTH {
            return Err(format!("elements are nested more than {MAX_DEPTH} deep"));
        }
        if let Some((_, has_elements, _)) = self.open.last_mut() {
            *has_elements = true;
        }
        self.count_node()?;
        let name = self.intern_name(tag.name().as_ref())?;
        self.open.push((self.document.events.len(), false, false));
        self.document.events.push(Event::Open(name, Content::Text));
        let mut seen = HashSet::new();
        well_formed::parse_attributes(tag.attributes_raw(), |name, value| {
            self.count_node()?;
            let key = self.intern_name(name)?;
            if !seen.insert(key) {
                return Err(format!("the attribute `{name}` stands twice in one element"));
            }
            let start = self.document.texts.len();
            well_formed::resolve_value(value, &mut self.document.texts)?;
            self.document.events.push(Event::Attribute(key, start..self.document.texts.len()));
            Ok(())
        })
    }

    /// Counts an element or an attribute.
    fn count_node(&mut self) -> Checked {
        self.count = self.count.saturating_add(1);
        if self.count > self.limit {
            return Err(format!(
                "it has more than {} elements and attributes, which nothing of its kind needs",
                self.limit
            ));
        }
        Ok(())
    }

    fn close_element(&mut self) {
        self.close_text();
        let Some((start, has_elements, has_text)) = self.open.pop() else { return };
        let content = match (has_elements, has_text) {
            (false, _) => Content::Text,
            (true, false) => Content::Elements,
            (true, true) => Content::Mixed,
        };
        if let Some(Event::Open(_, found)) = self.document.events.get_mut(start) {
            *found = content;
        }
        self.document.events.push(Event::Close);
    }

    /// Adds to the text of the element that is open.
    fn add_text(&mut self, text: &str) -> Checked {
        if self.open.is_empty() {
            return if is_blank(text) { Ok(()) } else { Err(TEXT_OUTSIDE_ROOT.to_owned()) };
        }
        if text.contains('\r') {
            // Every end of a line is one line feed, by the rules of XML.
            self.add_resolved(&text.replace("\r\n", "\n").replace('\r', "\n"));
        } else {
            self.add_resolved(text);
        }
        Ok(())
    }

    /// Adds text as it stands to the element that is open.
    fn add_resolved(&mut self, text: &str) {
        if let Some((_, _, has_text)) = self.open.last_mut() {
            *has_text |= !is_blank(text);
            self.text.get_or_insert(self.document.texts.len());
            self.document.texts.push_str(text);
        }
    }

    fn close_text(&mut self) {
        if let Some(start) = self.text.take() {
            self.document.events.push(Event::Text(start..self.document.texts.len()));
        }
    }

    /// The number of a name.
    fn intern_name(&mut self, name: &str) -> Checked<u32> {
        if let Some(known) = self.name_numbers.get(name) {
            return Ok(*known);
        }
        well_formed::check_name(name)?;
        let number = u32::try_from(self.document.names.len()).map_err(|_| "there are too many names".to_owned())?;
        self.document.names.push(name.to_owned());
        self.name_numbers.insert(name.to_owned(), number);
        Ok(number)
    }
}
