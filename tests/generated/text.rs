//! Formats Python: names of types, wrapped docstrings.

/// First line of every generated file.
pub(crate) const MARK: &str = "# Generated from the table in `src/api`; change that and run `make generate`.\n";

const WIDTH: usize = 116;

/// `field_computers` becomes `FieldComputers`, and so does `field.computers`.
pub(crate) fn pascal(snake: &str) -> String {
    snake
        .split(['_', '.'])
        .map(|word| {
            let mut chars = word.chars();
            chars.next().map(|first| first.to_uppercase().collect::<String>() + chars.as_str()).unwrap_or_default()
        })
        .collect()
}

/// Wraps `text` to the line width, with `indent` before each line.
pub(crate) fn wrap(text: &str, indent: &str) -> String {
    let mut lines = Vec::new();
    let mut line = String::new();
    for word in text.split_whitespace() {
        if !line.is_empty() && indent.len() + line.chars().count() + 1 + word.chars().count() > WIDTH {
            lines.push(std::mem::take(&mut line));
        }
        if !line.is_empty() {
            line.push(' ');
        }
        line.push_str(word);
    }
    lines.push(line);
    lines.iter().map(|line| format!("{indent}{line}\n")).collect()
}

/// Splits documentation into its first sentence and the rest.
pub(crate) fn summary(doc: &str) -> (&str, &str) {
    match doc.split_once(". ") {
        Some((first, rest)) => (first, rest),
        None => (doc.trim_end_matches('.'), ""),
    }
}

/// An entry of a docstring's list: `name (type): text.`, with indented continuation lines.
pub(crate) fn entry(head: &str, text: &str, indent: &str) -> String {
    let hanging = format!("{indent}    ");
    let wrapped = wrap(&format!("{head}: {text}"), &hanging);
    format!("{indent}{}", wrapped.strip_prefix(&hanging).unwrap_or(&wrapped))
}
