//! Derives the command-line form of each call from its example in Python.

use headland::api::Endpoint;

/// Replacements of the names in examples: files for uploads, the working folder for downloads, a variable for a
/// mapping. Ids become shell variables of the same name.
const WORDS: &[(&str, &str)] = &[
    ("folder", "."),
    ("completion_body", "\"$BODY\""),
    ("archive", "example.jdp.zip"),
    ("shapefile", "example.zip"),
    ("cart", "example.grc"),
];

/// The command for the example of a row.
pub(crate) fn command(row: &Endpoint) -> String {
    let words: Vec<String> = arguments(row).iter().map(|argument| word(argument)).collect();
    let spaced: String = words.iter().map(|word| format!(" {word}")).collect();
    format!("headland call {}{spaced}", row.full_name)
}

/// The arguments of the call in the example, as written there.
fn arguments(row: &Endpoint) -> Vec<String> {
    let call = format!("client.{}(", row.full_name);
    let (_, rest) = row.example.split_once(&call).expect("an example makes the call of its row");
    let mut found = Vec::new();
    let (mut depth, mut current) = (0, String::new());
    for letter in rest.chars() {
        match letter {
            ')' if depth == 0 => break,
            ',' if depth == 0 => found.push(std::mem::take(&mut current)),
            _ => {
                depth += i32::from("([{".contains(letter)) - i32::from(")]}".contains(letter));
                current.push(letter);
            }
        }
    }
    found.push(current);
    found.iter().map(|argument| argument.trim().to_owned()).filter(|argument| !argument.is_empty()).collect()
}

fn word(argument: &str) -> String {
    if argument.starts_with('{') {
        return mapping(argument);
    }
    match argument.split_once('=') {
        Some((name, value)) => format!("--{} {}", name.replace('_', "-"), value_of(value)),
        None => value_of(argument),
    }
}

fn value_of(value: &str) -> String {
    if let Some(known) = WORDS.iter().find(|(name, _)| *name == value) {
        return known.1.to_owned();
    }
    let is_literal = value.starts_with('"') || value.chars().all(|letter| letter.is_ascii_digit());
    if is_literal { value.trim_matches('"').to_owned() } else { format!("${}", value.to_uppercase()) }
}

/// A mapping as JSON in single quotes. One that contains variables or another mapping is a variable itself, since its
/// shell quoting would distract.
fn mapping(argument: &str) -> String {
    let outside_texts: String = argument.split('"').step_by(2).collect();
    let plain = outside_texts.replace("True", "").replace("False", "");
    if plain.chars().any(char::is_alphabetic) {
        return "\"$BODY\"".to_owned();
    }
    format!("'{}'", argument.replace("True", "true").replace("False", "false"))
}
