//! Fields of a record as any content type finds them: by name, once, from text.

use super::derived::derive;
use super::value::{Name, Value};
use headland_api::{Field, Kind, Shape};
use headland_base::names;
use headland_base::times::iso::{self, Read};

/// The name under which a list's items are kept beside the fields of its envelope; no field has it.
pub(super) const ITEMS: &str = "(items)";

/// Keeps a value under a name that may have one already: one that holds nothing gives way, and an equal one is the same.
/// Says no where the two differ; then the first stays.
#[must_use]
pub(super) fn put(fields: &mut Vec<(Name, Value)>, name: Name, value: Value) -> bool {
    let is_nothing = |value: &Value| *value == Value::Null || matches!(value, Value::List(items) if items.is_empty());
    match fields.iter_mut().find(|(known, _)| *known == name) {
        Some((_, known)) if is_nothing(known) => *known = value,
        Some((_, known)) => return is_nothing(&value) || *known == value,
        None => fields.push((name, value)),
    }
    true
}

/// Why a record cannot be read whose field has two values.
pub(super) fn duplicate_field(field: &Field) -> String {
    format!("`{}` occurs twice, with different values", field.wire)
}

/// Whether there is a field of that Python name.
pub(super) fn is_known(fields: &[(Name, Value)], snake: &str) -> bool {
    fields.iter().any(|(name, _)| name == snake)
}

/// Finds a field by its name on the wire; fields mostly come in the order of the shape, so that place is tried first.
pub(super) fn field_of(shape: &'static Shape, wire: &str, position: usize) -> Option<&'static Field> {
    if let Some(field) = shape.fields.get(position).filter(|field| field.wire == wire && field.derived.is_none()) {
        return Some(field);
    }
    let sent = || shape.fields.iter().filter(|field| field.derived.is_none());
    sent().find(|field| field.wire == wire).or_else(|| sent().find(|field| is_named(field, wire)))
}

/// A field of a record inside the record that came beside it instead of inside it: the XML of a hub is flat where its
/// JSON nests (specification 2.4). A name that both have is first the outer record's own.
pub(super) fn inner_field_of(
    shape: &'static Shape,
    wire: &str,
    fields: &[(Name, Value)],
) -> Option<(&'static Field, &'static Field)> {
    if field_of(shape, wire, fields.len()).is_some_and(|own| !is_known(fields, own.snake)) {
        return None;
    }
    shape.fields.iter().find_map(|outer| match outer.kind {
        Kind::Record(inner) => Some((outer, field_of(inner, wire, usize::MAX)?)),
        _ => None,
    })
}

/// Puts a field into the record inside the record, which is made where there is none yet. Says no where it has another
/// value there, unless the value is only the outer record's own once more.
#[must_use]
pub(super) fn put_inside(
    fields: &mut Vec<(Name, Value)>,
    outer: &'static Field,
    inner: &'static Field,
    value: Value,
) -> bool {
    let is_own = fields.iter().any(|(name, own)| name == inner.snake && *own == value);
    match fields.iter_mut().find(|(name, _)| name == outer.snake) {
        Some((_, Value::Record(inside))) => return put(inside, Name::Borrowed(inner.snake), value) || is_own,
        Some((_, other)) => *other = Value::Record(vec![(Name::Borrowed(inner.snake), value)]),
        None => {
            let inside = Value::Record(vec![(Name::Borrowed(inner.snake), value)]);
            fields.push((Name::Borrowed(outer.snake), inside));
        }
    }
    true
}

/// Takes the value of a field back.
pub(super) fn void(fields: &mut [(Name, Value)], field: &Field) {
    if let Some((_, value)) = fields.iter_mut().find(|(name, _)| name == field.snake) {
        *value = Value::Null;
    }
}

/// Takes the value of a field in the record inside the record back.
pub(super) fn void_inside(fields: &mut [(Name, Value)], outer: &Field, inner: &Field) {
    if let Some((_, Value::Record(inside))) = fields.iter_mut().find(|(name, _)| name == outer.snake) {
        void(inside, inner);
    }
}

/// The record of these fields, with those that follow from others at its end.
#[must_use]
pub fn finish(shape: &'static Shape, mut fields: Vec<(Name, Value)>) -> Value {
    for field in shape.fields {
        match (field.kind, field.derived) {
            (_, Some(derived)) => {
                if let Some(value) = derive(derived, &fields) {
                    fields.push((Name::Borrowed(field.snake), value));
                }
            }
            // What was put inside piece by piece is complete only now.
            (Kind::Record(inner), None) if inner.fields.iter().any(|field| field.derived.is_some()) => {
                if let Some((_, value)) = fields.iter_mut().find(|(name, _)| name == field.snake)
                    && let Value::Record(inside) = value
                    && !inside.iter().any(|(name, _)| inner.field(name).is_some_and(|field| field.derived.is_some()))
                {
                    *value = finish(inner, std::mem::take(inside));
                }
            }
            _ => {}
        }
    }
    Value::Record(fields)
}

fn is_named(field: &Field, wire: &str) -> bool {
    names::same(field.wire, wire) || field.also.iter().any(|name| names::same(name, wire))
}

/// Finds the list whose items have that name: services also repeat the items without an element around them.
pub(super) fn list_of(shape: &'static Shape, wire: &str) -> Option<&'static Field> {
    shape.fields.iter().find(|field| matches!(field.kind, Kind::Records(_, element) if names::same(element, wire)))
}

/// A bare address as an item, where items have one (specification 2.6 calls the available files a list of URLs).
pub(super) fn bare_uri(shape: &'static Shape, text: &str) -> Option<Value> {
    shape.field("uri").map(|field| Value::Record(vec![(Name::Borrowed(field.snake), Value::Text(text.to_owned()))]))
}

/// Reads a text as a value of that type; `None` where it is not one. An empty text is null unless a text was asked
/// for.
pub(super) fn scalar(kind: Kind, text: &str) -> Option<Value> {
    let trimmed = text.trim();
    match kind {
        Kind::Text => Some(Value::Text(text.to_owned())),
        _ if trimmed.is_empty() => Some(Value::Null),
        Kind::Id => Some(Value::Text(trimmed.to_owned())),
        Kind::Boolean => match trimmed {
            "1" => Some(Value::Boolean(true)),
            "0" => Some(Value::Boolean(false)),
            _ if trimmed.eq_ignore_ascii_case("true") => Some(Value::Boolean(true)),
            _ if trimmed.eq_ignore_ascii_case("false") => Some(Value::Boolean(false)),
            _ => None,
        },
        Kind::Integer => whole_number(trimmed).map(Value::Integer),
        Kind::Decimal => trimmed.parse::<f64>().ok().filter(|number| number.is_finite()).map(Value::Decimal),
        Kind::Time => match iso::read(trimmed) {
            Read::Time(time) => Some(Value::Time(time)),
            Read::Nothing => Some(Value::Null),
            Read::Wrong => None,
        },
        Kind::Record(_) | Kind::Records(..) | Kind::Integers => None,
    }
}

/// A whole number in digits. `7.0` is 7, since services write the numbers of some languages with decimals.
fn whole_number(text: &str) -> Option<i64> {
    text.parse().ok().or_else(|| whole(text.parse().ok()?))
}

/// The whole number that a decimal is, up to the largest one that a decimal holds exactly.
#[expect(clippy::cast_possible_truncation, reason = "the guard proves that nothing is cut")]
pub(super) fn whole(number: f64) -> Option<i64> {
    (number.fract() == 0.0 && number.abs() < 9e15).then_some(number as i64)
}

/// A type in the words of an error.
pub(super) fn describe(kind: Kind) -> &'static str {
    match kind {
        Kind::Id => "an id",
        Kind::Text => "a text",
        Kind::Boolean => "true or false",
        Kind::Integer => "a whole number",
        Kind::Decimal => "a number",
        Kind::Time => "an ISO 8601 time",
        Kind::Record(_) => "an object",
        Kind::Records(..) => "a list",
        Kind::Integers => "a list of whole numbers",
    }
}
