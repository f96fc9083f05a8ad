//! Formats text and numbers for a map and escapes XML.

/// Escapes markup and replaces characters that XML forbids by blanks.
pub(super) fn escape(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '&' => escaped.push_str("&amp;"),
            '<' => escaped.push_str("&lt;"),
            '>' => escaped.push_str("&gt;"),
            '"' => escaped.push_str("&quot;"),
            '\u{fffe}' | '\u{ffff}' => escaped.push(' '),
            c if c.is_control() => escaped.push(' '),
            c => escaped.push(c),
        }
    }
    escaped
}

/// Truncates to `most` characters with an ellipsis.
pub(super) fn truncate(text: &str, most: usize) -> String {
    if text.chars().count() <= most {
        return text.to_owned();
    }
    let kept: String = text.chars().take(most.saturating_sub(1)).collect();
    format!("{}…", kept.trim_end())
}

/// A count with thousands separators: 100,000.
pub(super) fn format_count(count: usize) -> String {
    with_commas(&count.to_string())
}

/// A number with the decimals that a step between neighbours needs.
pub(super) fn format_number(value: f64, step: f64) -> String {
    let size = value.abs().max(step.abs());
    if size >= 1e9 || (size > 0.0 && size < 1e-4) {
        return format!("{value:.2e}");
    }
    let mut decimals = 0;
    let mut unit = step.abs();
    while decimals < 6 && unit > 0.0 && (unit - unit.round()).abs() > 1e-6 * unit {
        unit *= 10.0;
        decimals += 1;
    }
    let text = format!("{value:.decimals$}");
    let (sign, digits) = text.strip_prefix('-').map_or(("", text.as_str()), |digits| ("−", digits));
    let (whole, fraction) = digits.split_once('.').map_or((digits, None), |(whole, rest)| (whole, Some(rest)));
    let sign = if digits.chars().all(|c| matches!(c, '0' | '.')) { "" } else { sign };
    let whole = with_commas(whole);
    fraction.map_or_else(|| format!("{sign}{whole}"), |fraction| format!("{sign}{whole}.{fraction}"))
}

/// A number with about three digits.
pub(super) fn format_value(value: f64) -> String {
    if value != 0.0 && value.abs() < f64::MIN_POSITIVE {
        return format!("{value:.0e}");
    }
    let step = if value == 0.0 { 1.0 } else { 10_f64.powf((value.abs().log10().floor() - 2.0).min(0.0)) };
    let text = format_number((value / step).round() * step, step);
    if text.contains('.') && !text.contains('e') {
        text.trim_end_matches('0').trim_end_matches('.').to_owned()
    } else {
        text
    }
}

/// Different numbers with about three digits, or with all digits if that would make two of them equal.
pub(super) fn format_steps(steps: &[f64]) -> Vec<String> {
    let mut short: Vec<String> = steps.iter().map(|step| format_value(*step)).collect();
    let has_equal =
        short.iter().enumerate().any(|(index, text)| short.iter().skip(index + 1).any(|other| other == text));
    if has_equal {
        short = steps.iter().map(ToString::to_string).collect();
    }
    short
}

/// The largest of 1, 2, 5, 10, 20 ... up to `most`.
pub(super) fn round_below(most: f64) -> f64 {
    let decade = 10_f64.powf(most.log10().floor());
    [5.0, 2.0].into_iter().map(|digit| digit * decade).find(|round| *round <= most * 1.000_001).unwrap_or(decade)
}

fn with_commas(digits: &str) -> String {
    let mut text = String::with_capacity(digits.len() + digits.len() / 3);
    for (index, digit) in digits.chars().enumerate() {
        if index > 0 && (digits.len() - index).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_formatted_for_readers() {
        assert_eq!(format_count(100_000), "100,000");
        assert_eq!(format_count(999), "999");
        assert_eq!(format_number(0.25, 0.05), "0.25");
        assert_eq!(format_number(-12_500.0, 500.0), "−12,500");
        assert_eq!(format_number(-0.0, 1.0), "0");
        assert_eq!(format_number(2.5e12, 1e12), "2.50e12");
        assert_eq!(format_value(123_456.7), "123,457");
        assert_eq!(format_value(2.345_67), "2.35");
        assert_eq!(format_value(0.5), "0.5");
        assert_eq!(format_value(5e-324), "5e-324");
        assert_eq!(format_steps(&[100.2, 100.4, 250.0]), ["100.2", "100.4", "250"]);
        assert_eq!(format_steps(&[40.0, 81.25]), ["40", "81.3"]);
        assert_eq!(format_value(0.0), "0");
        let rounds = [0.7, 1.0, 3.0, 260.0].map(|most| format_value(round_below(most)));
        assert_eq!(rounds, ["0.5", "1", "2", "200"]);
    }

    #[test]
    fn text_is_safe_in_xml() {
        assert_eq!(escape("<a href=\"x\">&\u{1}</a>"), "&lt;a href=&quot;x&quot;&gt;&amp; &lt;/a&gt;");
        assert_eq!(truncate("Yield_Dry", 20), "Yield_Dry");
        assert_eq!(truncate("Überfahrt im Norden", 10), "Überfahrt…");
    }
}
