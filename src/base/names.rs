//! Texts as services and displays write them: names in any case, and the byte order mark.

/// Removes the byte order mark of UTF-8.
#[must_use]
pub fn strip_bom(body: &[u8]) -> &[u8] {
    body.strip_prefix(b"\xEF\xBB\xBF").unwrap_or(body)
}

/// Whether two names are equal without regard to case, spaces and underscores (field notes, Values).
#[must_use]
pub fn same(left: &str, right: &str) -> bool {
    left == right || significant(left).eq(significant(right))
}

fn significant(name: &str) -> impl Iterator<Item = char> + '_ {
    name.chars().filter(|c| !matches!(c, ' ' | '_')).map(|c| c.to_ascii_lowercase())
}

/// Converts a wire name to `snake_case`: `DeviceFileName` to `device_file_name`, `GPSDateTime` to `gps_date_time`,
/// `DigitalInput1` to `digital_input_1`, `RSSI` to `rssi`.
#[must_use]
pub fn snake(wire: &str) -> String {
    let chars: Vec<char> = wire.trim().chars().collect();
    let mut name = String::with_capacity(wire.len().saturating_add(8));
    for (index, &c) in chars.iter().enumerate() {
        if !c.is_alphanumeric() {
            if !name.is_empty() && !name.ends_with('_') {
                name.push('_');
            }
            continue;
        }
        let before = index.checked_sub(1).and_then(|index| chars.get(index)).copied();
        let after = index.checked_add(1).and_then(|index| chars.get(index)).copied();
        if starts_word(before, c, after) && !name.is_empty() && !name.ends_with('_') {
            name.push('_');
        }
        name.extend(c.to_lowercase());
    }
    name.trim_end_matches('_').to_owned()
}

/// Whether a word starts at `c`: at a capital after a small letter or digit, at the last capital before a small letter
/// (`GPSDateTime`), or at a digit after a letter.
fn starts_word(before: Option<char>, c: char, after: Option<char>) -> bool {
    let Some(before) = before else { return false };
    if c.is_uppercase() {
        before.is_lowercase()
            || before.is_ascii_digit()
            || (before.is_uppercase() && after.is_some_and(char::is_lowercase))
    } else {
        c.is_ascii_digit() && before.is_alphabetic()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn wire_names_become_snake_case() {
        for (wire, expected) in [
            ("DeviceFileName", "device_file_name"),
            ("Device File Name", "device_file_name"),
            ("GPSDateTime", "gps_date_time"),
            ("DigitalInput1", "digital_input_1"),
            ("RSSI", "rssi"),
            ("ID", "id"),
            ("FieldHubID", "field_hub_id"),
            ("errorInfo", "error_info"),
            ("EPANumber", "epa_number"),
            ("", ""),
        ] {
            assert_eq!(snake(wire), expected);
        }
    }

    #[test]
    fn comparison_ignores_case_spaces_and_underscores() {
        assert!(same("Device File Name", "deviceFileName"));
        assert!(!same("DeviceFileName", "DeviceFile"));
    }
}
