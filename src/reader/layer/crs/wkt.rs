//! Parser of the WKT grammar: keywords, brackets, texts and numbers, for WKT1 and WKT2.

use headland_base::error::{Error, Kind, Result};

/// Nesting limit, which bounds the recursion. Real texts nest six or seven deep.
const MAX_DEPTH: usize = 24;
/// Length limit in bytes. Real texts have 1 to 10 KB.
const MAX_LENGTH: usize = 256 * 1024;

/// `KEYWORD[argument, ...]`.
#[derive(Clone, Debug)]
pub(super) struct Node {
    /// In upper case, since the grammar ignores case.
    pub(super) keyword: String,
    arguments: Vec<Argument>,
}

#[derive(Clone, Debug)]
enum Argument {
    Text(String),
    Number(f64),
    Word(String),
    Node(Node),
}

impl Node {
    /// The first child with one of these keywords.
    pub(super) fn child(&self, keywords: &[&str]) -> Option<&Self> {
        self.nodes().find(|node| keywords.contains(&node.keyword.as_str()))
    }

    /// Every child with this keyword.
    pub(super) fn children(&self, keyword: &'static str) -> impl Iterator<Item = &Self> {
        self.nodes().filter(move |node| node.keyword == keyword)
    }

    fn nodes(&self) -> impl Iterator<Item = &Self> {
        self.arguments.iter().filter_map(|argument| match argument {
            Argument::Node(node) => Some(node),
            _ => None,
        })
    }

    /// The text of an argument; for most keywords, argument 0 is the name.
    pub(super) fn text(&self, index: usize) -> Option<&str> {
        match self.arguments.get(index) {
            Some(Argument::Text(text) | Argument::Word(text)) => Some(text),
            _ => None,
        }
    }

    /// The number of an argument.
    pub(super) fn number(&self, index: usize) -> Option<f64> {
        match self.arguments.get(index) {
            Some(Argument::Number(number)) => Some(*number),
            _ => None,
        }
    }

    /// The code of `AUTHORITY["EPSG","4326"]` or `ID["EPSG",4326]` directly below this node. Numbers of ESRI, which some
    /// texts state as those of EPSG, are larger.
    pub(super) fn epsg(&self) -> Option<u32> {
        let node = self.child(&["AUTHORITY", "ID"])?;
        if !matches!(node.text(0)?.to_ascii_uppercase().as_str(), "EPSG" | "ESRI") {
            return None;
        }
        match node.arguments.get(1)? {
            Argument::Text(text) | Argument::Word(text) => text.trim().parse().ok(),
            Argument::Number(number) => format!("{number}").parse().ok(),
            Argument::Node(_) => None,
        }
    }
}

/// Parses a text with one root node.
pub(super) fn parse(text: &str) -> Result<Node> {
    if text.len() > MAX_LENGTH {
        return Err(invalid_wkt(0, "it is too long for a coordinate system"));
    }
    let mut parser = Parser { text, offset: 0 };
    let keyword = parser.read_word();
    let Some(Argument::Node(node)) = parser.read_after_word(keyword, 0)? else {
        return Err(invalid_wkt(parser.offset, "it does not begin with a keyword and a bracket, such as `GEOGCS[`"));
    };
    Ok(node)
}

/// The quotes that end a text with this first quote. Word processors replace straight quotes by curly ones, which are
/// U+FFFD if their code page is read as UTF-8.
fn closing_quotes(first: char) -> Option<&'static [char]> {
    match first {
        '"' => Some(&['"']),
        '\u{201c}' | '\u{201d}' | '\u{201e}' => Some(&['\u{201c}', '\u{201d}']),
        '\u{fffd}' => Some(&['\u{fffd}']),
        _ => None,
    }
}

fn invalid_wkt(offset: usize, what: &str) -> Error {
    Error::new(Kind::Archive, format!("the coordinate system (.prj) cannot be parsed: {what}"))
        .with(|facts| facts.offset = u64::try_from(offset).ok())
}

struct Parser<'a> {
    text: &'a str,
    offset: usize,
}

impl<'a> Parser<'a> {
    fn rest(&self) -> &'a str {
        self.text.get(self.offset..).unwrap_or("")
    }

    fn skip(&mut self, length: usize) {
        self.offset = self.offset.saturating_add(length).min(self.text.len());
    }

    fn peek(&mut self) -> Option<char> {
        let rest = self.rest();
        let trimmed = rest.trim_start_matches(|c: char| c.is_whitespace() || c == '\0' || c == '\u{feff}');
        self.skip(rest.len().saturating_sub(trimmed.len()));
        trimmed.chars().next()
    }

    fn take(&mut self, wanted: &[char]) -> bool {
        let found = self.peek().filter(|found| wanted.contains(found));
        self.skip(found.map_or(0, char::len_utf8));
        found.is_some()
    }

    /// Reads letters, digits and signs up to the next punctuation.
    fn read_word(&mut self) -> &'a str {
        self.peek();
        let rest = self.rest();
        let is_end = |c: char| matches!(c, '[' | ']' | '(' | ')' | ',') || closing_quotes(c).is_some();
        let end = rest.find(|c: char| is_end(c) || c.is_whitespace());
        let word = end.and_then(|end| rest.get(..end)).unwrap_or(rest);
        self.skip(word.len());
        word
    }

    /// Reads a text in quotes. A doubled quote is a literal quote.
    fn read_quoted(&mut self, quote: char, closing: &[char]) -> Result<String> {
        let start = self.offset;
        self.skip(quote.len_utf8());
        let mut text = String::new();
        loop {
            let rest = self.rest();
            let Some((end, found)) = rest.char_indices().find(|(_, found)| closing.contains(found)) else {
                return Err(invalid_wkt(start, "a string has no closing quote"));
            };
            text.push_str(rest.get(..end).unwrap_or(""));
            self.skip(end.saturating_add(found.len_utf8()));
            if !self.rest().starts_with(found) {
                return Ok(text);
            }
            text.push(found);
            self.skip(found.len_utf8());
        }
    }

    fn read_argument(&mut self, depth: usize) -> Result<Argument> {
        if let Some((quote, closing)) = self.peek().and_then(|quote| Some((quote, closing_quotes(quote)?))) {
            return Ok(Argument::Text(self.read_quoted(quote, closing)?));
        }
        let word = self.read_word();
        self.read_after_word(word, depth)?.ok_or_else(|| invalid_wkt(self.offset, "an argument is missing"))
    }

    fn read_after_word(&mut self, word: &str, depth: usize) -> Result<Option<Argument>> {
        if word.is_empty() {
            return Ok(None);
        }
        if !self.take(&['[', '(']) {
            return Ok(Some(match word.parse::<f64>() {
                Ok(number) if number.is_finite() => Argument::Number(number),
                _ => Argument::Word(word.to_owned()),
            }));
        }
        if depth >= MAX_DEPTH {
            return Err(invalid_wkt(self.offset, "it is nested too deeply"));
        }
        let mut arguments = Vec::new();
        while !self.take(&[']', ')']) {
            if !arguments.is_empty() && !self.take(&[',']) {
                return Err(invalid_wkt(self.offset, "a comma or a closing bracket is missing"));
            }
            arguments.push(self.read_argument(depth.saturating_add(1))?);
        }
        Ok(Some(Argument::Node(Node { keyword: word.to_ascii_uppercase(), arguments })))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn wkt1_and_wkt2_give_names_numbers_and_codes() {
        let node =
            parse("\u{feff} Geogcs [\"a \"\"b\"\"\", UNIT(\"Degree\",1.5e-2),AUTHORITY[\"EPSG\",\"4326\"]]\n").unwrap();
        assert_eq!(node.keyword, "GEOGCS");
        assert_eq!(node.text(0), Some("a \"b\""));
        assert_eq!(node.child(&["UNIT"]).and_then(|unit| unit.number(1)), Some(0.015));
        assert_eq!(node.epsg(), Some(4326));
        assert_eq!(parse("GEOGCRS[\"x\",ID[\"EPSG\",4269]]").unwrap().epsg(), Some(4269));
    }

    #[test]
    fn broken_text_is_an_error() {
        for text in ["", "GEOGCS", "GEOGCS[", "GEOGCS[\"a", "GEOGCS[\"a\" 1]", "GEOGCS[,]", "+proj=longlat", "[]"] {
            let error = parse(text).unwrap_err();
            assert_eq!(error.kind(), Kind::Archive, "{text}");
            assert!(error.message().contains(".prj"), "{text}: {error}");
        }
        assert!(parse(&"A[".repeat(10_000)).unwrap_err().message().contains("too deeply"));
    }
}
