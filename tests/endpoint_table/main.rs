//! Tests the endpoint table: lints of every row, and rows and shapes against the text of the specification.

#![allow(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    clippy::expect_used,
    clippy::panic,
    reason = "a test says what it expects by unwrapping"
)]

mod specification;

use std::collections::HashSet;

use headland::api::row::{Place, Takes};
use headland::api::{self, Body, Endpoint, GROUPS, Kind, Returns, Service, Shape};
use headland::names;

fn shapes_of(row: &Endpoint) -> Vec<&'static Shape> {
    match row.returns {
        Returns::Detail(shape) => vec![shape],
        Returns::Index(index) | Returns::OneOf(index) => vec![index.item],
        Returns::Table { detail, row } => vec![detail, row],
        _ => Vec::new(),
    }
}

fn every_shape() -> Vec<&'static Shape> {
    let mut found: Vec<&'static Shape> = vec![&api::envelope::SERVICE_INDEX, &api::envelope::SERVICE_RESPONSE];
    let mut queue: Vec<&'static Shape> = api::rows().flat_map(shapes_of).collect();
    while let Some(shape) = queue.pop() {
        if found.iter().any(|known| std::ptr::eq(*known, shape)) {
            continue;
        }
        found.push(shape);
        for field in shape.fields {
            if let Kind::Record(inner) | Kind::Records(inner, _) = field.kind {
                queue.push(inner);
            }
        }
    }
    found
}

#[test]
fn names_are_unique_and_well_formed() {
    let mut seen = HashSet::new();
    for row in api::rows() {
        assert!(seen.insert(row.full_name), "{} stands twice", row.full_name);
        assert!(
            row.full_name.bytes().all(|byte| byte.is_ascii_lowercase() || byte == b'_' || byte == b'.'),
            "{}",
            row.full_name
        );
    }
    for group in GROUPS {
        for row in group.rows {
            assert_eq!(row.group(), group.name, "{} stands in another group", row.full_name);
        }
    }
    for shape in every_shape() {
        let mut seen = HashSet::new();
        for field in shape.fields {
            assert!(seen.insert(field.snake), "{}.{} stands twice", shape.name, field.snake);
            for name in field.also {
                assert!(!names::same(name, field.wire), "{}.{name} is the same name again", shape.name);
            }
        }
    }
}

#[test]
fn python_names_follow_the_rule_for_names() {
    for shape in every_shape() {
        for field in shape.fields {
            assert_eq!(field.snake, names::snake(field.wire), "{}.{}", shape.name, field.wire);
        }
    }
}

#[test]
fn all_entries_are_documented_in_sentences() {
    let sentence = |text: &str| text.ends_with('.') && text.starts_with(|c: char| c.is_uppercase() || c == '`');
    for group in GROUPS {
        assert!(sentence(group.doc), "group {}: {}", group.name, group.doc);
    }
    for row in api::rows() {
        assert!(sentence(row.doc), "{}: {}", row.full_name, row.doc);
        let has_example = row.example.contains(&format!("client.{}(", row.full_name));
        assert_eq!(has_example, row.is_implemented(), "{}: {}", row.full_name, row.example);
        assert!(row.section.starts_with('4'), "{}: {}", row.full_name, row.section);
        for parameter in row.parameters {
            assert!(sentence(parameter.doc), "{}({}): {}", row.full_name, parameter.name, parameter.doc);
        }
    }
    for shape in every_shape() {
        assert!(sentence(shape.doc), "{}: {}", shape.name, shape.doc);
        for field in shape.fields {
            assert!(sentence(field.doc), "{}.{}: {}", shape.name, field.snake, field.doc);
        }
    }
}

#[test]
fn exactly_the_numbers_have_units() {
    for shape in every_shape() {
        for field in shape.fields {
            let is_number = matches!(field.kind, Kind::Integer | Kind::Decimal);
            assert_eq!(field.unit.is_some(), is_number, "{}.{}", shape.name, field.snake);
            assert!(field.unit.is_none_or(|unit| !unit.is_empty()), "{}.{}", shape.name, field.snake);
        }
    }
}

#[test]
fn parameters_fit_their_paths_and_bodies() {
    for row in api::rows() {
        let in_path: Vec<&str> =
            row.path.split('/').filter_map(|part| part.strip_prefix('{')?.strip_suffix('}')).collect();
        let declared: Vec<&str> = row.parameters.iter().filter(|p| p.place == Place::Path).map(|p| p.wire).collect();
        assert_eq!(in_path, declared, "{}", row.full_name);
        if row.service() == Service::FieldData {
            assert_eq!(row.path, row.path.to_lowercase(), "{}: paths are signed in lower case", row.full_name);
        }
        let has_parts = row.parameters.iter().any(|p| p.place == Place::Part);
        assert_eq!(has_parts, row.body == Body::Multipart, "{}", row.full_name);
        let has_body = row.parameters.iter().any(|p| p.place == Place::Body);
        assert_eq!(has_body, row.body == Body::Json, "{}", row.full_name);
        for parameter in row.parameters {
            if let (Takes::OneOf(words), Some(default)) = (parameter.takes, parameter.default) {
                assert!(words.contains(&default), "{}({})", row.full_name, parameter.name);
            }
        }
        assert!(
            row.paged == matches!(row.returns, Returns::Index(_) | Returns::Listing(_)),
            "{}: lists page and nothing else",
            row.full_name
        );
    }
}

#[test]
fn every_legacy_row_names_its_replacement() {
    let legacy: Vec<&str> =
        api::rows().filter(|row| row.service() == Service::LegacyOrders).map(|row| row.full_name).collect();
    let replaced: Vec<&str> = api::legacy_orders::REPLACED_BY.iter().map(|(legacy, _)| *legacy).collect();
    assert_eq!(replaced, legacy);
    for (legacy, replacement) in api::legacy_orders::REPLACED_BY {
        let row = api::row(replacement).unwrap_or_else(|| panic!("{legacy}: there is no row {replacement}"));
        assert_eq!(row.service(), Service::Dispatch, "{legacy}");
    }
}

#[test]
fn only_reads_may_be_retried() {
    for row in api::rows() {
        if row.repeatable {
            assert_ne!(row.method, api::Method::Post, "{}: a POST is never sent twice", row.full_name);
        }
    }
}

#[test]
fn rows_and_shapes_agree_with_the_specification() {
    let Some(text) = specification::text() else {
        println!("skipped: no specification at HEADLAND_SPEC or ../shared/spec/service.md");
        return;
    };
    let endpoints = specification::endpoints(&text);
    assert!(endpoints.len() >= 20, "table 4.2 was read as {} rows", endpoints.len());
    let mut covered = HashSet::new();
    for row in api::rows().filter(|row| row.service() == Service::FieldData) {
        let stated = endpoints
            .iter()
            .find(|stated| stated.method == row.method.as_str() && stated.path.eq_ignore_ascii_case(row.path))
            .unwrap_or_else(|| {
                panic!("{}: the specification has no {} {}", row.full_name, row.method.as_str(), row.path)
            });
        covered.insert((stated.method.clone(), stated.path.clone()));
        if row.paged {
            assert!(stated.query.contains("pagesize"), "{}: the specification does not page it", row.full_name);
        }
        for parameter in row.parameters {
            let place = match parameter.place {
                Place::Path | Place::Body => continue,
                Place::Query => &stated.query,
                Place::Part => &stated.body,
            };
            assert!(place.contains(parameter.wire), "{}: no `{}` in `{place}`", row.full_name, parameter.wire);
        }
    }
    for stated in &endpoints {
        let (method, path) = (&stated.method, &stated.path);
        assert!(covered.contains(&(method.clone(), path.clone())), "{method} {path} of table 4.2 has no row");
    }
    for (service, stated, at_least) in [
        (Service::Dispatch, specification::dispatch(&text), 15),
        (Service::LegacyOrders, specification::legacy_orders(&text), 11),
    ] {
        let rows: HashSet<(String, String)> = api::rows()
            .filter(|row| row.service() == service)
            .map(|row| (row.method.as_str().to_owned(), row.path.to_owned()))
            .collect();
        assert!(stated.len() >= at_least, "4.6 was read as {} endpoints of {service:?}", stated.len());
        assert_eq!(rows, stated.into_iter().collect::<HashSet<_>>(), "{service:?}, 4.6");
    }

    for (shape, section, heading) in specification::TABLES {
        let stated = specification::fields(&text, section, heading);
        assert!(!stated.is_empty(), "{}: no table in section {section} under `{heading}`", shape.name);
        for (name, kind) in &stated {
            let field = shape
                .fields
                .iter()
                .find(|field| std::iter::once(&field.wire).chain(field.also).any(|wire| names::same(wire, name)))
                .unwrap_or_else(|| panic!("{} lacks `{name}` of section {section}", shape.name));
            assert!(
                specification::fits(field.kind, kind),
                "{}.{} is {:?}, the specification says {kind}",
                shape.name,
                field.snake,
                field.kind
            );
            if matches!(field.kind, Kind::Id) {
                let is_integer = kind.contains("integer");
                // 2.1 has one table for all lists: "a number for field computers, prescription maps and job data".
                let is_stated = field.is_integer_id == is_integer || kind.contains("or string");
                assert!(is_stated, "{}.{}: the specification says {kind}", shape.name, field.snake);
            }
        }
    }
    for (shape, section) in specification::NAMED {
        let body = specification::section(&text, section).replace(['(', ')', ',', '.'], " ").to_lowercase();
        let compact: String = body.split_whitespace().collect();
        for field in shape.fields {
            if specification::FIELD_NOTES.contains(&(shape.name, field.wire)) {
                continue;
            }
            if field.derived.is_some() {
                continue;
            }
            let found =
                std::iter::once(&field.wire).chain(field.also).any(|wire| compact.contains(&wire.to_lowercase()));
            assert!(found, "{}.{} is not in section {section}", shape.name, field.wire);
        }
    }
}
