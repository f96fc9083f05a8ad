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
        #[expect(clippy::cast_possible_truncation, reason = "the value is integral and small enough to be exact")]
        Cell::Value(value)
            if value.fract() == 0.0 && value.abs() < 9e15 && !text.contains(&b'e') && !text.contains(&b'E') =>
        {
            IntegerCell::Cell(Cell::Value(value as i64))
        }
        Cell::Value(value) => IntegerCell::Fraction(value),
    }
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
        assert_eq!(integer(b"1e3"), IntegerCell::Fraction(1000.0));
        assert_eq!(integer(b"999999999999999999"), IntegerCell::Cell(Cell::Value(999_999_999_999_999_999)));
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
