//! Generates `python/docs/reference/records.md`: every record with its fields, and the tables of fields shown with
//! calls.

use headland::api::{Derived, Field, Kind, Service, Shape};

use crate::records::{annotation, shapes_by_group};
use crate::reference::{MARK, sections};

/// The page of all records.
pub(crate) fn page() -> (String, String) {
    let mut out = format!(
        "{MARK}# Records\n\nA record is a plain `dict`. The names of its fields in Python are the service's names in \
         snake_case, and services may write the latter in any letter case, with spaces or underscores. A field that is \
         not listed here is kept, too, under a name by the same rule. Ids are strings for every type that the service \
         sends; times are aware `datetime` objects in UTC; what has no value, a zero date among others, is `None`. A field that the \
         service leaves out is missing from the `dict`.\n\nUnder \"Unit\", a dash says that the field is no number, `1` \
         that it is a plain count, `unknown` that the service does not say it: headland never guesses units. Fields \
         marked *derived* are not sent: headland works them out from the field beside them.\n"
    );
    for (_, shapes) in shapes_by_group() {
        for shape in shapes {
            out.push_str(&format!(
                "\n(record-{})=\n## {}\n\n```{{py:class}} headland.records.{}\n```\n\n{}\n\n{}\n\n{}",
                shape.name.to_lowercase(),
                shape.name,
                shape.name,
                shape.doc,
                sections(shape.section, Service::FieldData),
                fields(shape)
            ));
        }
    }
    out.push_str(
        "\n(record-created)=\n## Created\n\n```{py:class} headland.records.Created\n```\n\nWhat an upload gives.\n\n| In \
         Python | Type | Meaning |\n|---|---|---|\n| `id` | `str` | Id of the new record. |\n| `uri` | `str` | Address \
         of the new record. |\n",
    );
    ("reference/records.md".to_owned(), out)
}

/// The fields of a record as a table.
pub(crate) fn fields(shape: &Shape) -> String {
    let mut out = "| In Python | On the wire | Type | Unit | Meaning |\n|---|---|---|---|---|\n".to_owned();
    for field in shape.fields {
        let wire = match field.derived {
            Some(derived) => format!("*derived* from `{}`", source(derived)),
            None => names(field),
        };
        out.push_str(&format!(
            "| `{}` | {wire} | {} | {} | {} |\n",
            field.snake,
            kind(field),
            field.unit.unwrap_or("–"),
            field.doc
        ));
    }
    out
}

fn names(field: &Field) -> String {
    let also: String = field.also.iter().map(|name| format!(", `{name}`")).collect();
    format!("`{}`{also}", field.wire)
}

fn source(derived: Derived) -> &'static str {
    match derived {
        Derived::Bars { of } | Derived::EventMeaning { of } | Derived::Roaming { of } | Derived::Positions { of } => of,
    }
}

fn kind(field: &Field) -> String {
    let link = |shape: &Shape| format!("[{}](#record-{})", shape.name, shape.name.to_lowercase());
    match field.kind {
        Kind::Record(shape) => link(shape),
        Kind::Records(shape, _) => format!("list of {}", link(shape)),
        _ => format!("`{}`", annotation(field).trim_end_matches(" | None").replace("dt.", "")),
    }
}
