//! Parsers of .dbf numbers: fixed-width ASCII, with the same bits as the standard library.

/// Content of a cell.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(in crate::layer) enum Cell<T> {
    Value(T),
    /// Blank, or stars, which writers use for numbers that are too wide.
    Null,
    /// Text that does not parse as this type.
    Invalid,
}

/// Content of a cell in a column of integers.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(in crate::layer) enum IntegerCell {
    /// An integer, null or invalid text.
    Cell(Cell<i64>),
    /// A number that is no integer, so the column widens to floats.
    Fraction(f64),
}

/// The powers of ten that `f64` represents exactly.
pub(in crate::layer) const TENS: [f64; 23] = [
    1e0, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9, 1e10, 1e11, 1e12, 1e13, 1e14, 1e15, 1e16, 1e17, 1e18, 1e19, 1e20,
    1e21, 1e22,
];

/// A decimal number without exponent and with at most 19 digits.
struct PlainDecimal {
    negative: bool,
    mantissa: u64,
    decimals: usize,
}

fn parse_plain(text: &[u8]) -> Option<PlainDecimal> {
    let (negative, digits) = match text {
        [b'-', rest @ ..] => (true, rest),
        [b'+', rest @ ..] => (false, rest),
        _ => (false, text),
    };
    // 19 digits fit into `u64`; the point is one more byte.
    if digits.len() > 20 {
        return None;
    }
    let mut mantissa = 0_u64;
    let mut point = None;
    let mut count = 0_usize;
    for (index, byte) in digits.iter().enumerate() {
        let digit = byte.wrapping_sub(b'0');
        if digit <= 9 {
            mantissa = mantissa.wrapping_mul(10).wrapping_add(u64::from(digit));
            count += 1;
        } else if *byte == b'.' && point.is_none() {
            point = Some(index);
        } else {
            return None;
        }
    }
    if count == 0 || count > 19 {
        return None;
    }
    let decimals = point.map_or(0, |index| digits.len().saturating_sub(index + 1));
    Some(PlainDecimal { negative, mantissa, decimals })
}

/// The number of a text cell; `None` if it is blank or no number.
pub(in crate::layer) fn parse_float_cell(cell: &str) -> Option<f64> {
    match parse_float(cell.as_bytes()) {
        Cell::Value(value) => Some(value),
        Cell::Null | Cell::Invalid => None,
    }
}

/// Parses a float from the part of a cell before its first NUL.
pub(in crate::layer) fn parse_float(cell: &[u8]) -> Cell<f64> {
    let text = cell.trim_ascii();
    if text.is_empty() {
        // White space other than blanks is invalid, not null.
        let is_blank = cell.iter().all(|byte| *byte == b' ');
        return if is_blank { Cell::Null } else { Cell::Invalid };
    }
    if text.first() == Some(&b'*') {
        return Cell::Null;
    }
    // Mantissa and power of ten are exact, so the division rounds once, as the standard library does.
    if let Some(decimal) = parse_plain(text)
        && decimal.mantissa <= 1 << 53
        && let Some(ten) = TENS.get(decimal.decimals)
    {
        #[expect(clippy::cast_precision_loss, reason = "the mantissa is at most 2^53, which a float holds exactly")]
        let value = decimal.mantissa as f64 / ten;
        return Cell::Value(if decimal.negative { -value } else { value });
    }
    let numeric = text.iter().all(|byte| matches!(byte, b'0'..=b'9' | b'+' | b'-' | b'.' | b'e' | b'E'));
    let value = std::str::from_utf8(text).ok().filter(|_| numeric).and_then(|text| text.parse::<f64>().ok());
    match value {
        Some(value) if value.is_finite() => Cell::Value(value),
        _ => Cell::Invalid,
    }
}

/// Parses an integer from the part of a cell before its first NUL.
pub(in crate::layer) fn parse_integer(cell: &[u8]) -> IntegerCell {
    let text = cell.trim_ascii();
    if let Some(decimal) = parse_plain(text)
        && decimal.decimals == 0
        && let Ok(value) = i64::try_from(decimal.mantissa)
    {
        return IntegerCell::Cell(Cell::Value(if decimal.negative { -value } else { value }));
    }
    match parse_float(cell) {
        Cell::Null => IntegerCell::Cell(Cell::Null),
        Cell::Invalid => IntegerCell::Cell(Cell::Invalid),
        Cell::Value(value) => match WholeNumber::parse(text).and_then(|whole| whole.to_i64()) {
            Some(whole) => IntegerCell::Cell(Cell::Value(whole)),
            None => IntegerCell::Fraction(value),
        },
    }
}

pub(in crate::layer) fn has_exponent(cell: &[u8]) -> bool {
    cell.iter().any(|byte| matches!(byte, b'e' | b'E'))
}

/// Decimal digits that `f64` preserves (`f64::DIGITS`).
pub(in crate::layer) const KEPT_DIGITS: usize = 15;

/// 2^53: `f64` represents every integer up to it.
pub(in crate::layer) const LAST_EXACT: f64 = 9_007_199_254_740_992.0;

/// Whether the float differs from the integer written in the cell. Fractions may be rounded.
#[cold]
#[inline(never)]
pub(in crate::layer) fn loses_digits(cell: &[u8], value: f64) -> bool {
    let text = cell.trim_ascii();
    if let Some(decimal) = parse_plain(text).filter(|decimal| decimal.decimals == 0) {
        #[expect(clippy::cast_possible_truncation, reason = "19 digits and the float next to them are within 128 bits")]
        let kept = value.abs() as i128;
        return kept != i128::from(decimal.mantissa) && has_many_digits(decimal.mantissa);
    }
    let Some(written) = WholeNumber::parse(text).filter(|written| written.digits.len() > KEPT_DIGITS) else {
        return false;
    };
    if has_exponent(text) {
        // With an exponent, only the written digits count.
        let kept = format!("{:.*e}", written.digits.len().saturating_sub(1), value.abs());
        return kept.split('e').next().is_none_or(|kept| kept.replace('.', "") != written.digits);
    }
    // Without an exponent, compare with all digits of the float, since some programs write each of them.
    let kept = format!("{:.0}", value.abs());
    let rest = kept.strip_prefix(&written.digits);
    rest.is_none_or(|rest| rest.len() != written.zeros || rest.bytes().any(|digit| digit != b'0'))
}

/// Whether a number has more significant digits than `f64` preserves. Trailing zeros do not count.
#[inline]
pub(in crate::layer) fn has_many_digits(mut number: u64) -> bool {
    while number > 0 && number.is_multiple_of(10) {
        number /= 10;
    }
    number >= 1_000_000_000_000_000
}

/// An integer of any notation with all digits, such as `12`, `12.0` or `1e17`.
struct WholeNumber {
    is_negative: bool,
    /// The digits without leading and trailing zeros; empty for zero.
    digits: String,
    /// The number of trailing zeros.
    zeros: usize,
}

impl WholeNumber {
    /// Parses a number; `None` if it has a fraction.
    #[cold]
    #[inline(never)]
    fn parse(text: &[u8]) -> Option<Self> {
        let text = std::str::from_utf8(text).ok()?;
        let (number, exponent) = match text.split_once(['e', 'E']) {
            Some((number, exponent)) => (number, exponent.parse::<i64>().ok()?),
            None => (text, 0),
        };
        let unsigned = number.strip_prefix(['-', '+']).unwrap_or(number);
        let (before, after) = unsigned.split_once('.').unwrap_or((unsigned, ""));
        let joined = format!("{before}{after}");
        let kept = joined.trim_end_matches('0');
        let is_negative = number.starts_with('-');
        if kept.is_empty() {
            return Some(Self { is_negative, digits: String::new(), zeros: 0 });
        }
        let zeros = i64::try_from(joined.len() - kept.len()).ok()?;
        let zeros = exponent.checked_add(zeros)?.checked_sub(i64::try_from(after.len()).ok()?)?;
        let zeros = usize::try_from(zeros).ok()?;
        Some(Self { is_negative, digits: kept.trim_start_matches('0').to_owned(), zeros })
    }

    /// The value, if it fits into 64 bits.
    fn to_i64(&self) -> Option<i64> {
        if self.digits.is_empty() {
            return Some(0);
        }
        let ten = 10_i128.checked_pow(u32::try_from(self.zeros).ok()?)?;
        let value = self.digits.parse::<i128>().ok()?.checked_mul(ten)?;
        i64::try_from(if self.is_negative { -value } else { value }).ok()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn blanks_and_stars_are_null_and_other_text_is_invalid() {
        for cell in ["", "      ", "******", "  *"] {
            assert_eq!(parse_float(cell.as_bytes()), Cell::Null, "{cell:?}");
        }
        for cell in ["abc", "-", ".", "\t", " \n ", "12**", "nan", "inf", "1D5", "1e400", "1,5", "1.2.3", "0x10"] {
            assert_eq!(parse_float(cell.as_bytes()), Cell::Invalid, "{cell:?}");
        }
    }

    #[test]
    fn integer_with_decimals_is_a_fraction() {
        assert_eq!(parse_integer(b" 12"), IntegerCell::Cell(Cell::Value(12)));
        assert_eq!(parse_integer(b"-0012"), IntegerCell::Cell(Cell::Value(-12)));
        assert_eq!(parse_integer(b"12."), IntegerCell::Cell(Cell::Value(12)));
        assert_eq!(parse_integer(b"1.5"), IntegerCell::Fraction(1.5));
        assert_eq!(parse_integer(b"1.5e0"), IntegerCell::Fraction(1.5));
        assert_eq!(parse_integer(b"999999999999999999"), IntegerCell::Cell(Cell::Value(999_999_999_999_999_999)));
    }

    #[test]
    fn whole_numbers_keep_every_digit_in_any_notation() {
        for (text, value) in [
            ("1e3", 1_000),
            ("1E+17", 100_000_000_000_000_000),
            ("-9007199254740993.0", -9_007_199_254_740_993),
            ("1234567.89e2", 123_456_789),
            ("1500e-2", 15),
            ("0e99999", 0),
            ("-0.0", 0),
            ("9223372036854775807", i64::MAX),
            ("-9223372036854775808e0", i64::MIN),
        ] {
            assert_eq!(parse_integer(text.as_bytes()), IntegerCell::Cell(Cell::Value(value)), "{text}");
        }
        for (text, value) in [("1.25e1", 12.5), ("1e19", 1e19), ("9223372036854775808", 2_f64.powi(63)), ("1e-9", 1e-9)]
        {
            assert_eq!(parse_integer(text.as_bytes()), IntegerCell::Fraction(value), "{text}");
        }
        assert!(loses_digits(b"9007199254740993", 9_007_199_254_740_992.0));
        assert!(!loses_digits(b" 9007199254740994 ", 9_007_199_254_740_994.0));
        let rounded = |text: &str| loses_digits(text.as_bytes(), text.parse().unwrap());
        let long = "1234567890123456789012345678901234567890";
        for text in [
            "-9007199254740993.00",
            "90071992547409930e-1",
            "1.2345678901234567899e25",
            "00009007199254740993.0",
            long,
            &format!("-{long}e5"),
        ] {
            assert!(rounded(text), "{text}");
        }
        // A printed float equals itself, with any number of digits.
        for value in [2_f64.powi(53), 1e23, -1.234_567_890_123_456_7e37, 1.7e300, f64::MAX] {
            assert!(!rounded(&format!("{value:.0}")) && !rounded(&format!("{value:.3}")), "{value}");
            assert!(!rounded(&format!("{value:e}")) && !rounded(&format!("{value:.16e}")), "{value}");
        }
        assert!(!rounded("9007199254740993.5") && !rounded(&format!("1{}", "0".repeat(60))));
        assert!(!loses_digits(b"0.1", 0.1) && !loses_digits(b"1e23", 1e23) && !loses_digits(b"0", 0.0));
    }

    proptest! {
        #[test]
        fn decimals_match_the_standard_library(text in "[-+]?[0-9]{1,21}(\\.[0-9]{0,21})?(e-?[0-9]{1,2})?") {
            let expected: f64 = text.parse().unwrap();
            let Cell::Value(found) = parse_float(format!("  {text} ").as_bytes()) else { panic!("{text} is a number") };
            prop_assert_eq!(found.to_bits(), expected.to_bits());
        }

        #[test]
        fn arbitrary_bytes_do_not_panic(cell in proptest::collection::vec(any::<u8>(), 0..40)) {
            let _ = (parse_float(&cell), parse_integer(&cell));
        }
    }
}
