//! Parses the text of the specification: its tables as rows, its sections as text.

use headland::api::{
    Kind, Shape, access_key, envelope, field_computers, field_hubs, job_data, locations, prescription_maps, products,
};

/// The text of the specification: at `HEADLAND_SPEC`, or next to the checkout.
pub(crate) fn text() -> Option<String> {
    let beside = concat!(env!("CARGO_MANIFEST_DIR"), "/../shared/spec/service.md");
    let path = std::env::var("HEADLAND_SPEC").unwrap_or_else(|_| beside.to_owned());
    std::fs::read_to_string(path).ok()
}

/// Shapes that have a table: the section, and the text before the table.
pub(crate) const TABLES: &[(&Shape, &str, &str)] = &[
    (&envelope::SERVICE_INDEX, "2.1", "#### ServiceIndex"),
    (&envelope::SERVICE_RESPONSE, "2.1", "#### ServiceResponse"),
    (&field_computers::FIELD_COMPUTER_DETAIL, "2.2", ""),
    (&locations::DEVICE_LOCATION, "2.3", ""),
    (&field_hubs::FIELD_HUB_DETAIL, "2.4", ""),
    (&field_hubs::FIELD_HUB_REPORT, "2.4", "#### Field hub report fields"),
    (&prescription_maps::PRESCRIPTION_MAP_DETAIL, "2.5", ""),
    (&job_data::JOB_DATA_ITEM, "2.1", "Summary item fields:"),
    (&job_data::JOB_DATA_DETAIL, "2.6", "Common fields:"),
    (&products::PRODUCT, "2.6", "Sprayer product list, each product:"),
    (&access_key::ACCESS_KEY, "2.7", ""),
];

/// Shapes whose every field must be named in the text of a section.
pub(crate) const NAMED: &[(&Shape, &str)] = &[
    (&envelope::SERVICE_INDEX, "2.1"),
    (&field_computers::FIELD_COMPUTER_ITEM, "2.1"),
    (&field_computers::FIELD_COMPUTER_DETAIL, "2.2"),
    (&field_hubs::FIELD_HUB_ITEM, "2.1"),
    (&prescription_maps::PRESCRIPTION_MAP_ITEM, "2.1"),
    (&prescription_maps::PRESCRIPTION_MAP_DETAIL, "2.5"),
    (&locations::DEVICE_LOCATION, "2.3"),
    (&job_data::JOB_DATA_ITEM, "2.1"),
    (&job_data::JOB_DATA_DETAIL, "2.6"),
    (&products::PRODUCT, "2.6"),
    (&products::INGREDIENT, "2.6"),
    (&products::APPLIED_PRODUCT, "2.6"),
    (&prescription_maps::AVAILABLE_FILE, "2.5"),
    (&access_key::ACCESS_KEY, "2.7"),
];

/// Fields that are only in the field notes, and names of lists that the specification states in prose.
pub(crate) const FIELD_NOTES: &[(&str, &str)] = &[
    ("FieldComputerDetail", "SoftwareVersion"),
    ("JobDataDetail", "FieldComputerID"),
    ("JobDataDetail", "Products"),
    ("Product", "Ingredients"),
];

/// A row of table 4.2.
pub(crate) struct Stated {
    pub(crate) method: String,
    pub(crate) path: String,
    pub(crate) query: String,
    pub(crate) body: String,
}

/// The rows of table 4.2.
pub(crate) fn endpoints(text: &str) -> Vec<Stated> {
    rows(section(text, "4.2"))
        .into_iter()
        .filter(|cells| cells.len() >= 4 && cells[1].starts_with('/'))
        .map(|cells| Stated {
            method: cells[0].clone(),
            path: cells[1].clone(),
            query: cells[2].clone(),
            body: cells[3].clone(),
        })
        .collect()
}

/// Methods and paths of the dispatch service: a table whose cells contain several paths.
pub(crate) fn dispatch(text: &str) -> Vec<(String, String)> {
    rows(section(text, "4.6"))
        .into_iter()
        .filter(|cells| cells.len() == 3 && cells[2].starts_with('/'))
        .flat_map(|cells| {
            let method = cells[1].clone();
            let paths: Vec<String> = cells[2].split(',').map(|path| path.trim().to_owned()).collect();
            paths.into_iter().map(move |path| (method.clone(), path))
        })
        .collect()
}

/// Methods and paths of the legacy order service: a sentence of the form `GET /a; POST and PUT /b; DELETE /c.`
pub(crate) fn legacy_orders(text: &str) -> Vec<(String, String)> {
    let section = section(text, "4.6");
    let Some(start) = section.find("legacy order service equivalents") else { return Vec::new() };
    let sentence = section[start..].split_once("): ").map_or("", |(_, rest)| rest);
    let sentence = sentence.lines().next().unwrap_or_default().trim_end_matches('.');
    sentence
        .split(';')
        .flat_map(|part| {
            let (methods, rest) = part.split_once(" /").expect("methods and a path");
            let path = format!("/{}", rest.split(' ').next().unwrap_or_default());
            let methods: Vec<String> = methods.split(" and ").map(|method| method.trim().to_owned()).collect();
            methods.into_iter().map(move |method| (method, path.clone()))
        })
        .collect()
}

/// The fields of the first table after `heading` in a section, as (name, type).
pub(crate) fn fields(text: &str, number: &str, heading: &str) -> Vec<(String, String)> {
    let section = section(text, number);
    let Some(start) = section.find(heading) else { return Vec::new() };
    let after = &section[start + heading.len()..];
    let table: Vec<&str> =
        after.lines().skip_while(|line| !line.starts_with('|')).take_while(|line| line.starts_with('|')).collect();
    rows(&table.join("\n"))
        .into_iter()
        .filter(|cells| cells.len() >= 2 && cells[0] != "Field" && cells[0] != "item list")
        .flat_map(|cells| {
            let kind = cells[1].clone();
            let names = cells[0].split(',').map(|name| name.split('(').next().unwrap_or_default().trim().to_owned());
            names.flat_map(|name| numbered(&name)).map(|name| (name, kind.clone())).collect::<Vec<_>>()
        })
        .collect()
}

/// `DigitalInput1..DigitalInput4` as four names.
fn numbered(name: &str) -> Vec<String> {
    let Some((first, last)) = name.split_once("..") else { return vec![name.to_owned()] };
    let (stem, from) = first.split_at(first.len() - 1);
    let number = |text: &str| text.parse::<u8>().expect("a number at the end");
    (number(from)..=number(&last[last.len() - 1..])).map(|number| format!("{stem}{number}")).collect()
}

/// The text under a heading such as `### 2.6 Job data detail`, up to the next heading of that rank or above.
pub(crate) fn section<'a>(text: &'a str, number: &str) -> &'a str {
    let marks = [format!("\n### {number} "), format!("\n## {number}. ")];
    let Some(start) = marks.iter().find_map(|mark| text.find(mark.as_str())) else { return "" };
    let rest = &text[start + 1..];
    let end = ["\n### ", "\n## "].iter().filter_map(|mark| rest.find(mark)).min().unwrap_or(rest.len());
    &rest[..end]
}

fn rows(table: &str) -> Vec<Vec<String>> {
    table
        .lines()
        .filter(|line| line.starts_with('|') && !line.starts_with("|---"))
        .map(|line| line.trim_matches('|').split('|').map(|cell| cell.trim().to_owned()).collect())
        .collect()
}

/// Whether a field of that kind can store the type in the specification's type column.
pub(crate) fn fits(kind: Kind, stated: &str) -> bool {
    let stated = stated.to_lowercase();
    let says = |word: &str| stated.contains(word);
    match kind {
        Kind::Id => says("integer") || says("string"),
        Kind::Text => says("string") || says("text") || says("strings"),
        Kind::Boolean => says("boolean") || stated.is_empty(),
        Kind::Integer => says("integer") || says("byte"),
        Kind::Decimal => says("float") || says("decimal") || says("double") || says("byte"),
        Kind::Time => says("datetime") || says("iso 8601") || says("string"),
        Kind::Record(_) => says("object"),
        // Derived, so the specification states none.
        Kind::Integers => false,
        Kind::Records(..) => says("array") || says("list") || says("string"),
    }
}
