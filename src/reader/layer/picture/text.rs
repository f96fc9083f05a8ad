//! Formats text and numbers for a map, shortens texts to a width and escapes XML.

/// Escapes markup. Characters that XML forbids, and those that reverse the text after them, become blanks.
pub(in crate::layer) fn escape(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '&' => escaped.push_str("&amp;"),
            '<' => escaped.push_str("&lt;"),
            '>' => escaped.push_str("&gt;"),
            '"' => escaped.push_str("&quot;"),
            '\u{fffe}' | '\u{ffff}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}' => escaped.push(' '),
            c if c.is_control() => escaped.push(' '),
            c => escaped.push(c),
        }
    }
    escaped
}

/// A text of at most `width` pixels. An ellipsis replaces the middle: names often differ at their ends, such as in the
/// year or the crop. Of a word that is divided, such as a year, the end is left out.
pub(super) fn fit(text: &str, size: f64, width: f64) -> String {
    let most = width / size;
    if width_in_ems(text) <= most {
        return text.to_owned();
    }
    let end = tail(text, (most - ELLIPSIS) * 0.4);
    let is_divided = text.strip_suffix(end).is_some_and(|before| !before.ends_with(' '));
    let end = end.split_once(' ').filter(|_| is_divided).map_or(end, |(_, words)| words);
    let start = head(text, most - ELLIPSIS - width_in_ems(end));
    format!("{}…{}", start.trim_end(), end.trim_start())
}

/// A text that is longer than `width` pixels in two parts, the first of which fits; the second may be empty.
pub(super) fn two_lines(text: &str, size: f64, width: f64) -> (&str, &str) {
    if width_in_ems(text) * size <= width {
        return (text, "");
    }
    let fits = |at: &usize| text.get(..*at).is_some_and(|part| width_in_ems(part) * size <= width);
    let end = text.match_indices(' ').map(|(at, _)| at).take_while(fits).last();
    end.and_then(|at| text.split_at_checked(at)).map_or((text, ""), |(first, rest)| (first, rest.trim_start()))
}

/// The width of a text in font sizes, which is that of `DejaVu Sans`, one of the widest of a browser. Bold letters
/// are wider, so the font size of a bold text counts as a tenth more.
pub(super) fn width_in_ems(text: &str) -> f64 {
    text.chars().map(letter_width).sum()
}

const ELLIPSIS: f64 = 1.0;

fn letter_width(letter: char) -> f64 {
    match letter {
        // Combining accents and joiners have no width of their own.
        '\u{300}'..='\u{36f}' | '\u{200b}'..='\u{200f}' | '\u{2060}' | '\u{fe00}'..='\u{fe0f}' => 0.0,
        ' ' | 'i' | 'j' | 'l' | 'I' | '.' | ',' | ':' | ';' | '|' | '\'' => 0.34,
        '!' | 'f' | 'r' | 't' | '-' | '/' | '(' | ')' | '[' | ']' => 0.42,
        'm' | 'w' | 'M' | 'W' | '%' | '@' | '—' => 0.99,
        'A'..='Z' | '+' | '=' | '<' | '>' | '&' | '#' => 0.76,
        ' '..='\u{2ff}' => 0.64,
        '\u{300}'..='\u{10ff}' => 0.7,
        _ => 1.05,
    }
}

/// The longest beginning of at most this width.
fn head(text: &str, most: f64) -> &str {
    let mut width = 0.0;
    let end = text.char_indices().find(|(_, letter)| {
        width += letter_width(*letter);
        width > most
    });
    end.and_then(|(end, _)| text.get(..end)).unwrap_or(text)
}

/// The longest end of at most this width, which does not begin with an accent of the letter before it.
fn tail(text: &str, most: f64) -> &str {
    let mut width = 0.0;
    let letters = text.char_indices().rev().take_while(|(_, letter)| {
        width += letter_width(*letter);
        width <= most
    });
    let start = letters.filter(|(_, letter)| letter_width(*letter) > 0.0).last();
    start.and_then(|(start, _)| text.get(start..)).unwrap_or_default()
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
        assert_eq!(escape("a\u{202e}b\u{2066}c"), "a b c");
    }

    #[test]
    fn long_text_keeps_its_start_and_its_end_within_the_width() {
        assert_eq!(fit("Yield_Dry", 13.0, 150.0), "Yield_Dry");
        assert_eq!(fit("Überfahrt im Norden des Hofes 2026: Weizen", 20.0, 300.0), "Überfahrt im Norde…Weizen");
        for text in ["i".repeat(300), "W".repeat(300), "麦".repeat(300), "e\u{301}".repeat(300)] {
            let short = fit(&text, 12.0, 128.0);
            assert!(short.contains('…') && width_in_ems(&short) * 12.0 <= 128.0, "{short}");
            assert!(width_in_ems(&short) * 12.0 > 100.0, "{short}");
            assert!(!short.contains("…\u{301}"), "{short}");
        }
    }
}
