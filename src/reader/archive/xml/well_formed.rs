//! Checks of well-formed XML: characters, names, attributes, references, the declaration and the document type.

use quick_xml::escape::resolve_predefined_entity;

/// The result of a check; the error is the reason.
pub(super) type Checked<T = ()> = std::result::Result<T, String>;

/// Forbidden characters in addition to the control characters.
pub(super) const NONCHARACTERS: [&str; 2] = ["\u{fffe}", "\u{ffff}"];

const INVALID_DOCTYPE: &str = "the document type declaration is invalid: expected the form `<!DOCTYPE a>`";

/// White space of XML.
pub(super) fn is_space(letter: char) -> bool {
    matches!(letter, ' ' | '\t' | '\r' | '\n')
}

fn begins_name(letter: char) -> bool {
    match letter {
        ':' | '_' | 'A'..='Z' | 'a'..='z' => true,
        '\u{d7}' | '\u{f7}' | '\u{37e}' => false,
        other => matches!(other,
            '\u{c0}'..='\u{2ff}' | '\u{370}'..='\u{1fff}' | '\u{200c}' | '\u{200d}' | '\u{2070}'..='\u{218f}'
            | '\u{2c00}'..='\u{2fef}' | '\u{3001}'..='\u{d7ff}' | '\u{f900}'..='\u{fdcf}' | '\u{fdf0}'..='\u{fffd}'
            | '\u{10000}'..='\u{effff}'),
    }
}

fn continues_name(letter: char) -> bool {
    matches!(letter, '-' | '.' | '0'..='9' | '\u{b7}' | '\u{300}'..='\u{36f}' | '\u{203f}' | '\u{2040}')
        || begins_name(letter)
}

/// An error if a text is not a name of an element, an attribute or an instruction.
pub(super) fn check_name(text: &str) -> Checked {
    let mut letters = text.chars();
    if letters.next().is_some_and(begins_name) && letters.all(continues_name) {
        return Ok(());
    }
    Err(format!("`{text}` is not a valid name of an element or an attribute"))
}

/// Calls `visit` with the name and the raw value of each attribute of a tag.
pub(super) fn parse_attributes(text: &str, mut visit: impl FnMut(&str, &str) -> Checked) -> Checked {
    let mut rest = text;
    loop {
        let next = rest.trim_start_matches(is_space);
        if next.is_empty() {
            return Ok(());
        }
        if next.len() == rest.len() {
            return Err("attributes are not separated by white space".to_owned());
        }
        let name = next.split(|letter| letter == '=' || is_space(letter)).next().unwrap_or_default();
        let after = next.strip_prefix(name).unwrap_or_default().trim_start_matches(is_space);
        let Some(value) = after.strip_prefix('=') else {
            return Err(format!("the attribute `{name}` has no value"));
        };
        let (value, remaining) = quoted(value.trim_start_matches(is_space))
            .ok_or_else(|| format!("the value of the attribute `{name}` is not in quotes"))?;
        if value.contains('<') {
            return Err(format!("the value of the attribute `{name}` contains a `<`, which must be written as `&lt;`"));
        }
        visit(name, value)?;
        rest = remaining;
    }
}

/// The text in quotes at the beginning, and the rest.
fn quoted(text: &str) -> Option<(&str, &str)> {
    let quote = text.chars().next().filter(|quote| matches!(quote, '"' | '\''))?;
    text.strip_prefix(quote)?.split_once(quote)
}

/// Resolves a reference `&name;`: a character number, or one of the five predefined entities.
pub(super) fn resolve_reference(name: &str, output: &mut String) -> Checked {
    let Some(number) = name.strip_prefix('#') else {
        let text = resolve_predefined_entity(name).ok_or_else(|| {
            format!("the entity `&{name};` is not one of the five predefined in XML, and others are not expanded")
        })?;
        output.push_str(text);
        return Ok(());
    };
    let (digits, radix) = number.strip_prefix('x').map_or((number, 10), |digits| (digits, 16));
    let value =
        if digits.chars().all(|digit| digit.is_digit(radix)) { u32::from_str_radix(digits, radix).ok() } else { None };
    let is_one = |letter: &char| (*letter >= ' ' || is_space(*letter)) && !matches!(letter, '\u{fffe}' | '\u{ffff}');
    let letter = value.and_then(char::from_u32).filter(is_one);
    output.push(letter.ok_or_else(|| format!("`&{name};` is not a character that XML allows"))?);
    Ok(())
}

/// Appends the value of an attribute to `output`, with its references resolved.
pub(super) fn resolve_value(text: &str, output: &mut String) -> Checked {
    // White space in attribute values becomes blanks (XML 1.0, section 3.3.3).
    let text = text.replace("\r\n", " ").replace(['\t', '\n', '\r'], " ");
    let mut parts = text.split('&');
    output.push_str(parts.next().unwrap_or_default());
    for part in parts {
        let Some((name, after)) = part.split_once(';') else {
            return Err("a `&` does not begin a reference; it must be written as `&amp;`".to_owned());
        };
        resolve_reference(name, output)?;
        output.push_str(after);
    }
    Ok(())
}

/// An error if `text`, everything between `<?` and `?>`, is not a valid declaration.
pub(super) fn check_declaration(text: &str) -> Checked {
    let mut seen: Vec<String> = Vec::new();
    let mut is_valid = true;
    parse_attributes(text.strip_prefix("xml").unwrap_or(text), |name, value| {
        let is_word = |letter: char| letter.is_ascii_alphanumeric() || matches!(letter, '.' | '_' | '-');
        is_valid &= !value.is_empty() && value.chars().all(is_word);
        is_valid &= match name {
            "version" => seen.is_empty(),
            "encoding" => value.starts_with(|letter: char| letter.is_ascii_alphabetic()) && seen == ["version"],
            "standalone" => matches!(value, "yes" | "no") && !seen.contains(&"standalone".to_owned()),
            _ => false,
        };
        seen.push(name.to_owned());
        Ok(())
    })?;
    if is_valid && seen.first().is_some_and(|first| first == "version") {
        return Ok(());
    }
    Err("its XML declaration is invalid: expected the form `<?xml version=\"1.0\" encoding=\"UTF-8\"?>`".to_owned())
}

/// An error if `text`, `<!DOCTYPE a>` or longer, names no root element. Declarations inside it are ignored.
pub(super) fn check_document_type(text: &str) -> Checked {
    let inside = text.strip_prefix("<!DOCTYPE").and_then(|text| text.strip_suffix('>'));
    let Some(text) = inside.filter(|text| text.starts_with(is_space)) else { return Err(INVALID_DOCTYPE.to_owned()) };
    let text = text.trim_matches(is_space);
    let root = text.split(|letter| letter == '[' || is_space(letter)).next().unwrap_or_default();
    check_name(root)?;
    let mut rest = text.strip_prefix(root).unwrap_or_default().trim_start_matches(is_space);
    let words = [("SYSTEM", 1), ("PUBLIC", 2)];
    if let Some((word, count)) = words.into_iter().find(|(word, _)| rest.starts_with(word)) {
        rest = rest.strip_prefix(word).unwrap_or_default();
        for _ in 0..count {
            let literal = rest.trim_start_matches(is_space);
            let found = quoted(literal).filter(|_| literal.len() < rest.len());
            (_, rest) = found.ok_or_else(|| INVALID_DOCTYPE.to_owned())?;
        }
    }
    let rest = rest.trim_start_matches(is_space);
    if rest.is_empty() || rest.starts_with('[') { Ok(()) } else { Err(INVALID_DOCTYPE.to_owned()) }
}
