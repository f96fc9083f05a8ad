//! Derives documented values from raw ones: signal bars, event meanings, roaming, positions.

use super::value::{Name, Value};
use headland_api::Derived;
use headland_api::events::{BARS, EVENTS, NOT_ROAMING};

/// Derives a value from the other fields. `None`: the reply does not have the source field.
pub(super) fn derive(derived: Derived, fields: &[(Name, Value)]) -> Option<Value> {
    let value = |of: &str| fields.iter().find(|(name, _)| name == of).map(|(_, value)| value);
    Some(match derived {
        Derived::Bars { of } => match value(of)? {
            Value::Decimal(strength) => Value::Integer(bars(*strength)),
            _ => Value::Null,
        },
        Derived::EventMeaning { of } => match value(of)? {
            Value::Text(code) => meaning(code).map_or(Value::Null, |text| Value::Text(text.to_owned())),
            _ => Value::Null,
        },
        Derived::Roaming { of } => match value(of)? {
            Value::Text(code) if !code.trim().is_empty() => Value::Boolean(code.trim() != NOT_ROAMING),
            _ => Value::Null,
        },
        Derived::Positions { of } => match value(of)? {
            Value::Text(list) => positions(list).map_or(Value::Null, Value::List),
            _ => Value::Null,
        },
    })
}

fn bars(strength: f64) -> i64 {
    BARS.iter().find(|(least, _)| strength >= *least).map_or(0, |(_, bars)| *bars)
}

/// Parses the numbers of a comma-separated list. `None`: it is empty or has other text.
fn positions(list: &str) -> Option<Vec<Value>> {
    list.split(',').map(|position| position.trim().parse().ok().map(Value::Integer)).collect()
}

fn meaning(code: &str) -> Option<&'static str> {
    EVENTS.iter().find(|(known, _)| *known == code.trim()).map(|(_, meaning)| *meaning)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn derived_value(derived: Derived, value: Value) -> Option<Value> {
        derive(derived, &[(Name::Borrowed("raw"), value)])
    }

    #[test]
    fn bars_change_exactly_at_the_bounds_of_section_2_4() {
        for (strength, expected) in [
            (-50.0, 5),
            (-85.0, 5),
            (-85.1, 4),
            (-90.0, 4),
            (-90.01, 3),
            (-95.0, 3),
            (-95.5, 2),
            (-100.0, 2),
            (-100.5, 1),
            (-103.0, 1),
            (-103.1, 0),
            (-128.0, 0),
        ] {
            assert_eq!(bars(strength), expected, "{strength}");
        }
        assert_eq!(derived_value(Derived::Bars { of: "raw" }, Value::Null), Some(Value::Null));
        assert_eq!(derived_value(Derived::Bars { of: "missing" }, Value::Decimal(-90.0)), None);
    }

    #[test]
    fn events_of_section_6_have_their_meaning_and_others_none() {
        assert_eq!(EVENTS.len(), 9);
        let text = |code: &str| derived_value(Derived::EventMeaning { of: "raw" }, Value::Text(code.to_owned()));
        assert_eq!(text("17"), Some(Value::Text("Ignition power off".to_owned())));
        assert_eq!(text("99"), Some(Value::Null));
    }

    #[test]
    fn positions_are_numbers_where_all_of_them_are() {
        let positions = |list: &str| derived_value(Derived::Positions { of: "raw" }, Value::Text(list.to_owned()));
        let numbers = |numbers: &[i64]| Some(Value::List(numbers.iter().copied().map(Value::Integer).collect()));
        assert_eq!(positions("1, 2,16"), numbers(&[1, 2, 16]));
        assert_eq!(positions("7"), numbers(&[7]));
        for list in ["", "1,,2", "1-4", "left", "1,2,"] {
            assert_eq!(positions(list), Some(Value::Null), "{list}");
        }
    }

    #[test]
    fn roaming_has_three_answers() {
        let roaming = |code: &str| derived_value(Derived::Roaming { of: "raw" }, Value::Text(code.to_owned()));
        assert_eq!(roaming(""), Some(Value::Null));
        assert_eq!(roaming("00"), Some(Value::Boolean(false)));
        assert_eq!(roaming("310410"), Some(Value::Boolean(true)));
    }
}
