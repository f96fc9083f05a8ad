//! Numbers as .dbf files write them: ASCII at a fixed width, read to the same bits as the standard library reads them.

/// What a cell holds.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(in crate::layer) enum Cell<T> {
    /// A value.
    Value(T),
    /// Nothing: blank, or stars where the writer had no room.
    Null,
    /// Something that is no value of this type.
    Odd,
}

/// What a cell of a column of integers holds.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(in crate::layer) enum IntegerCell {
    /// A value of the column.
    Cell(Cell<i64>),
    /// A number, but no integer: the column cannot stay one.
    Fraction(f64),
}

/// Every power of ten that a float holds exactly.
pub(in crate::layer) const TENS: [f64; 23] = [
    1e0, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9, 1e10, 1e11, 1e12, 1e13, 1e14, 1e15, 1e16, 1e17, 1e18, 1e19, 1e20,
    1e21, 1e22,
];

/// A plain decimal number in its parts; `None` where it is anything else, or too long for the exact way.
struct Plain {
    negative: bool,
    mantissa: u64,
    decimals: usize,
}

fn plain(text: &[u8]) -> Option<Plain> {
    let (negative, digits) = match text {
        [b'-', rest @ ..] => (true, rest),
        [b'+', rest @ ..] => (false, rest),
        _ => (false, text),
    };
    // Nineteen digits are the most that cannot overflow, and the point is one more byte.
    if digits.len() > 20 {
        return None;
    }
    let mut mantissa = 0_u64;
    let mut point = None;
    let mut count = 0_usize;
    for (at, byte) in digits.iter().enumerate() {
        let digit = byte.wrapping_sub(b'0');
        if digit <= 9 {
            mantissa = mantissa.wrapping_mul(10).wrapping_add(u64::from(digit));
            count += 1;
        } else if *byte == b'.' && point.is_none() {
            point = Some(at);
        } else {
            return None;
        }
    }
    if count == 0 || count > 19 {
        return None;
    }
    let decimals = point.map_or(0, |at| digits.len().saturating_sub(at + 1));
    Some(Plain { negative, mantissa, decimals })
}

/// The float in a cell, which ends before its first NUL.
pub(in crate::layer) fn float(cell: &[u8]) -> Cell<f64> {
    let text = cell.trim_ascii();
    if text.is_empty() {
        // Other white space than blanks is no number and no word of `nothing`.
        let is_blank = cell.iter().all(|byte| *byte == b' ');
        return if is_blank { Cell::Null } else { Cell::Odd };
    }
    if text.first() == Some(&b'*') {
        return Cell::Null;
    }
    // Both parts are exact, so one division rounds once, as the standard library does.
    if let Some(plain) = plain(text)
        && plain.mantissa <= 1 << 53
        && let Some(ten) = TENS.get(plain.decimals)
    {
        #[expect(clippy::cast_precision_loss, reason = "the mantissa is at most 2^53, which a float holds exactly")]
        let value = plain.mantissa as f64 / ten;
        return Cell::Value(if plain.negative { -value } else { value });
    }
    let numeric = text.iter().all(|byte| matches!(byte, b'0'..=b'9' | b'+' | b'-' | b'.' | b'e' | b'E'));
    let value = std::str::from_utf8(text).ok().filter(|_| numeric).and_then(|text| text.parse::<f64>().ok());
    match value {
        Some(value) if value.is_finite() => Cell::Value(value),
        _ => Cell::Odd,
    }
}

/// The integer in a cell, which ends before its first NUL.
pub(in crate::layer) fn integer(cell: &[u8]) -> IntegerCell {
    let text = cell.trim_ascii();
    if let Some(plain) = plain(text)
        && plain.decimals == 0
        && let Ok(value) = i64::try_from(plain.mantissa)
    {
        return IntegerCell::Cell(Cell::Value(if plain.negative { -value } else { value }));
    }
    match float(cell) {
        Cell::Null => IntegerCell::Cell(Cell::Null),
        Cell::Odd => IntegerCell::Cell(Cell::Odd),
        Cell::Value(value) => match whole(text).and_then(|whole| i64::try_from(whole).ok()) {
            Some(whole) => IntegerCell::Cell(Cell::Value(whole)),
            None => IntegerCell::Fraction(value),
        },
    }
}

/// Whether a number is written with an exponent.
pub(in crate::layer) fn has_exponent(cell: &[u8]) -> bool {
    cell.iter().any(|byte| matches!(byte, b'e' | b'E'))
}

/// So many digits of every number a float gives back.
pub(in crate::layer) const KEPT_DIGITS: usize = 15;

/// Whether the float in a cell has lost digits of the whole number that is written there.
#[cold]
pub(in crate::layer) fn loses_digits(cell: &[u8], value: f64) -> bool {
    let text = cell.trim_ascii();
    let plain = plain(text).filter(|plain| plain.decimals == 0);
    let plain =
        plain.map(|Plain { negative, mantissa, .. }| if negative { -i128::from(mantissa) } else { mantissa.into() });
    plain.or_else(|| whole(text)).is_some_and(|written| differs(written, value))
}

/// Whether a float has lost digits of a whole number.
#[expect(
    clippy::cast_possible_truncation,
    reason = "what is beyond 128 bits stays at their end, and is another number"
)]
pub(in crate::layer) fn differs(written: i128, value: f64) -> bool {
    value as i128 != written
        && match u64::try_from(written.unsigned_abs()) {
            Ok(digits) => has_many_digits(digits),
            Err(_) => written.unsigned_abs().to_string().trim_end_matches('0').len() > KEPT_DIGITS,
        }
}

/// Whether there are more digits than a float gives back. Zeros at the end count for none: they always come back.
#[inline]
pub(in crate::layer) fn has_many_digits(mut number: u64) -> bool {
    while number > 0 && number.is_multiple_of(10) {
        number /= 10;
    }
    number >= 1_000_000_000_000_000
}

/// The whole number in the text of a number, to the last digit: `12`, `12.0`, `1e17`. `None` where it has a fraction or
/// more digits than 128 bits hold.
#[cold]
#[inline(never)]
fn whole(text: &[u8]) -> Option<i128> {
    let text = std::str::from_utf8(text).ok()?;
    let (digits, exponent) = match text.split_once(['e', 'E']) {
        Some((digits, exponent)) => (digits, exponent.parse::<i64>().ok()?),
        None => (text, 0),
    };
    let unsigned = digits.strip_prefix(['-', '+']).unwrap_or(digits);
    let (before, after) = unsigned.split_once('.').unwrap_or((unsigned, ""));
    // Zeros at the end are for the exponent, so that what is left holds all that is to be multiplied.
    let joined = format!("{before}{after}");
    let kept = joined.trim_end_matches('0');
    if kept.is_empty() {
        return Some(0);
    }
    let zeros = i64::try_from(joined.len() - kept.len()).ok()?;
    let exponent = exponent.checked_add(zeros)?.checked_sub(i64::try_from(after.len()).ok()?)?;
    let ten = 10_i128.checked_pow(u32::try_from(exponent).ok()?)?;
    let value = kept.parse::<i128>().ok()?.checked_mul(ten)?;
    Some(if digits.starts_with('-') { -value } else { value })
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn blanks_and_stars_are_null_and_rubbish_is_odd() {
        for cell in ["", "      ", "******", "  *"] {
            assert_eq!(float(cell.as_bytes()), Cell::Null, "{cell:?}");
        }
        for cell in ["abc", "-", ".", "\t", " \n ", "12**", "nan", "inf", "1D5", "1e400", "1,5", "1.2.3", "0x10"] {
            assert_eq!(float(cell.as_bytes()), Cell::Odd, "{cell:?}");
        }
    }

    #[test]
    fn integers_with_decimals_are_no_integers() {
        assert_eq!(integer(b" 12"), IntegerCell::Cell(Cell::Value(12)));
        assert_eq!(integer(b"-0012"), IntegerCell::Cell(Cell::Value(-12)));
        assert_eq!(integer(b"12."), IntegerCell::Cell(Cell::Value(12)));
        assert_eq!(integer(b"1.5"), IntegerCell::Fraction(1.5));
        assert_eq!(integer(b"1.5e0"), IntegerCell::Fraction(1.5));
        assert_eq!(integer(b"999999999999999999"), IntegerCell::Cell(Cell::Value(999_999_999_999_999_999)));
    }

    #[test]
    fn whole_numbers_are_integers_to_the_last_digit_however_they_are_written() {
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
            assert_eq!(integer(text.as_bytes()), IntegerCell::Cell(Cell::Value(value)), "{text}");
        }
        for (text, value) in [("1.25e1", 12.5), ("1e19", 1e19), ("9223372036854775808", 2_f64.powi(63)), ("1e-9", 1e-9)]
        {
            assert_eq!(integer(text.as_bytes()), IntegerCell::Fraction(value), "{text}");
        }
        assert!(loses_digits(b"9007199254740993", 9_007_199_254_740_992.0));
        assert!(!loses_digits(b" 9007199254740994 ", 9_007_199_254_740_994.0));
        assert!(!loses_digits(b"0.1", 0.1) && !loses_digits(b"1e23", 1e23) && !loses_digits(b"0", 0.0));
    }

    proptest! {
        #[test]
        fn every_decimal_has_the_bits_of_the_standard_library(text in "[-+]?[0-9]{1,21}(\\.[0-9]{0,21})?(e-?[0-9]{1,2})?") {
            let expected: f64 = text.parse().unwrap();
            let Cell::Value(found) = float(format!("  {text} ").as_bytes()) else { panic!("{text} is a number") };
            prop_assert_eq!(found.to_bits(), expected.to_bits());
        }

        #[test]
        fn no_bytes_make_it_panic(cell in proptest::collection::vec(any::<u8>(), 0..40)) {
            let _ = (float(&cell), integer(&cell));
        }
    }
}
