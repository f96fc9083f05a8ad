//! Parser of XML documents to flat lists of events, with a depth limit and errors with line and offset.
//!
//! It expands no custom entities. A flat list bounds the memory of hostile documents, where a tree would need many
//! times their size. An element takes two small events, each name is stored once, and all texts are in one string.

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
use headland_base::error::{Error, Result};

/// Largest depth. Field data stay far below, and recursive readers of a tree need a bound.
const MAX_DEPTH: usize = 256;

/// Approximate bytes per distinct name, in the list and in the map.
const NAME_SIZE: usize = 160;

/// The content of an element.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Content {
    /// Text, or nothing.
    Text,
    /// Elements, separated by white space only.
    Elements,
    /// Elements and text.
    Mixed,
}

/// One event of a document. The [`Document`] stores the names and texts.
#[derive(Clone, Debug)]
pub enum Event {
    /// Start of an element: its name and its content.
    Open(u32, Content),
    /// An attribute of the element that was opened last: its name and its value.
    Attribute(u32, Range<usize>),
    /// All text up to the next tag.
    Text(Range<usize>),
    /// End of the innermost open element.
    Close,
}

/// A well-formed document ([XML 1.0](https://www.w3.org/TR/xml/)).
#[derive(Clone, Debug, Default)]
pub struct Document {
    names: Vec<String>,
    texts: String,
    events: Vec<Event>,
}

impl Document {
    /// Reads the document in a member; an error if the member has more than `limit` bytes.
    pub fn read(member: &Member, limit: u64) -> Result<Self> {
        Self::parse(member, &XmlText::read(member, member.read_all(limit)?)?, usize::MAX)
    }

    /// Parses a text; an error if it has more than `limit` elements and attributes.
    fn parse(member: &Member, text: &XmlText, limit: usize) -> Result<Self> {
        let forbidden = |byte: &u8| *byte < 0x20 && !matches!(byte, b'\t' | b'\n' | b'\r');
        let control = text.text.as_bytes().iter().position(forbidden);
        if let Some(position) =
            control.or_else(|| well_formed::NONCHARACTERS.iter().find_map(|none| text.text.find(none)))
        {
            return Err(fault(member, text, position, "it contains a control character, which is not allowed in XML"));
        }
        // All texts are in one string, which is copied when it grows.
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
            // An attribute has at least four bytes. A token may end a text, and begin and end an element.
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

    /// The events in the order of the document.
    #[must_use]
    pub fn events(&self) -> &[Event] {
        &self.events
    }

    /// The name of an element or an attribute.
    #[must_use]
    pub fn name(&self, name: u32) -> &str {
        usize::try_from(name).ok().and_then(|index| self.names.get(index)).map_or("", String::as_str)
    }

    /// A text, or the value of an attribute.
    #[must_use]
    pub fn text(&self, range: &Range<usize>) -> &str {
        self.texts.get(range.clone()).unwrap_or_default()
    }
}

fn fault(member: &Member, text: &XmlText, position: usize, message: &str) -> Error {
    let (line, offset) = text.locate(position);
    let shown: String = message.chars().take(200).collect();
    member
        .fault(format!("it is not well-formed XML, line {line}: {}", shown.escape_debug()))
        .with(|facts| facts.offset = offset)
}

fn is_blank(text: &str) -> bool {
    text.chars().all(well_formed::is_space)
}

const TEXT_OUTSIDE_ROOT: &str = "there is text outside the root element";

struct Parser {
    /// The open elements: the index of the start event, and whether there are child elements and text.
    open: Vec<(usize, bool, bool)>,
    name_numbers: HashMap<String, u32>,
    document: Document,
    /// Start of the current text.
    text: Option<usize>,
    /// The limit of elements and attributes, and their number so far.
    limit: usize,
    count: usize,
    /// Whether there was anything but white space, and whether there was a document type.
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

    /// Handles the next token; `false` at the end of the document.
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
            Token::Text(text) if text.contains("]]>") => return Err("text contains `]]>`".to_owned()),
            Token::Text(text) => self.add_text(&text.into_inner())?,
            Token::CData(_) | Token::GeneralRef(_) if self.open.is_empty() => return Err(TEXT_OUTSIDE_ROOT.to_owned()),
            Token::CData(text) => self.add_text(&text.into_inner())?,
            Token::GeneralRef(name) => {
                let mut text = String::new();
                well_formed::resolve_reference(&name.into_inner(), &mut text)?;
                self.add_resolved(&text);
            }
            Token::Eof if !self.open.is_empty() => return Err("it ends inside the root element".to_owned()),
            Token::Eof if self.document.events.is_empty() => return Err("there is no root element".to_owned()),
            Token::Eof => return Ok(false),
            // XML forbids blanks before a declaration, but they are harmless.
            Token::Decl(text) if is_first => well_formed::check_declaration(&text)?,
            Token::Decl(_) => return Err("an XML declaration is not at the beginning of the document".to_owned()),
            Token::DocType(_) => {
                if std::mem::replace(&mut self.has_type, true) || !self.document.events.is_empty() {
                    return Err("a document type declaration is allowed once, before the root element".to_owned());
                }
            }
            Token::PI(instruction) => {
                let target = instruction.target();
                well_formed::check_name(target)?;
                if target.eq_ignore_ascii_case("xml") {
                    return Err("a processing instruction has the reserved name `xml`".to_owned());
                }
            }
            Token::Comment(_) => {}
        }
        Ok(true)
    }

    fn open_element(&mut self, tag: &BytesStart<'_>) -> Checked {
        self.close_text();
        if self.open.is_empty() && !self.document.events.is_empty() {
            return Err("there is more than one root element".to_owned());
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
                return Err(format!("the attribute `{name}` occurs twice in one element"));
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
                "it has more than {} elements and attributes, the limit for this kind of file",
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

    /// Adds to the text of the open element.
    fn add_text(&mut self, text: &str) -> Checked {
        if self.open.is_empty() {
            return if is_blank(text) { Ok(()) } else { Err(TEXT_OUTSIDE_ROOT.to_owned()) };
        }
        if text.contains('\r') {
            // XML normalises all line ends to a line feed (section 2.11).
            self.add_resolved(&text.replace("\r\n", "\n").replace('\r', "\n"));
        } else {
            self.add_resolved(text);
        }
        Ok(())
    }

    /// Adds text to the open element without changes.
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

    /// The number of a name, which is stored if it is new.
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
