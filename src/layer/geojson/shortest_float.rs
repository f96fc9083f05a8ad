//! Formats floats as the shortest text that parses to the same bits, as `serde_json` does.

use crate::layer::columns::number::TENS;

/// The capacity for any number or date in quotes. The buffer is copied as a whole, which is faster than an exact copy.
const CAPACITY: usize = 32;

/// The most decimals that are tried.
const MAX_DECIMALS: usize = 13;
/// A scaled value below this has at most 14 digits, so that digits, point and sign fit into 16 bytes.
const MAX_SCALED: f64 = 1e14;
/// Smaller values may need an exponent.
const MIN_PLAIN: f64 = 1e-3;
/// 2^52: the sum with a smaller float is rounded to an integer, which is in the low bits.
const ROUNDING: f64 = 4_503_599_627_370_496.0;

/// A short text.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct ShortText {
    bytes: [u8; CAPACITY],
    length: usize,
}

impl ShortText {
    /// Replaces the content. A text that is too long is not stored, and the result is false.
    pub(super) fn set(&mut self, text: &[u8]) -> bool {
        let target = self.bytes.get_mut(..text.len());
        self.length = if target.is_some() { text.len() } else { 0 };
        target.is_some_and(|target| {
            target.copy_from_slice(text);
            true
        })
    }

    /// Appends the content to a text.
    pub(super) fn append_to(&self, text: &mut Vec<u8>) {
        text.extend_from_slice(&self.bytes);
        text.truncate(text.len().saturating_sub(CAPACITY.saturating_sub(self.length)));
    }

    fn set_low(&mut self, bytes: u128, length: usize) {
        if let Some(target) = self.bytes.first_chunk_mut::<16>() {
            *target = bytes.to_le_bytes();
        }
        self.length = length.min(16);
    }
}

/// Formats the floats of one column and adapts to their number of decimals.
#[derive(Clone, Debug)]
pub(super) struct FloatFormatter {
    /// The decimals of the last value with few.
    decimals: usize,
    /// The number of consecutive values with many decimals.
    misses: u32,
    /// The number of values to format without a try.
    skip: u32,
}

impl FloatFormatter {
    pub(super) fn new() -> Self {
        Self { decimals: 1, misses: 0, skip: 0 }
    }

    /// Sets `short` to the shortest text of a finite float.
    pub(super) fn format(&mut self, short: &mut ShortText, value: f64) {
        match self.as_decimal(value) {
            Some((whole, decimals)) => {
                let (bytes, length) = format_fixed(whole, decimals, value.is_sign_negative());
                short.set_low(bytes, length);
            }
            None => {
                short.set(zmij::Buffer::new().format_finite(value).as_bytes());
            }
        }
    }

    /// The value as an integer and a number of decimals, if it has at most 14 digits.
    fn as_decimal(&mut self, value: f64) -> Option<(u64, usize)> {
        if self.skip > 0 {
            self.skip -= 1;
            return None;
        }
        let found = scale_exactly(value, self.decimals).map(|whole| (whole, self.decimals)).or_else(|| {
            let mut all = 1..=MAX_DECIMALS;
            all.find_map(|decimals| scale_exactly(value, decimals).map(|whole| (whole, decimals)))
        });
        if let Some((_, decimals)) = found {
            (self.decimals, self.misses) = (decimals, 0);
        } else {
            self.misses = self.misses.saturating_add(1);
            // Computed columns have all digits in most rows, so try only now and then.
            self.skip = if self.misses > 8 { 64 } else { 0 };
        }
        found
    }
}

/// `value` times 10^`decimals`, if that is an integer and divides back to the same float.
///
/// Its digits are then the shortest text. Both operands of the division are exact, so it rounds once, and the float is
/// the nearest to that decimal number of at most 14 digits. Decimal numbers of at most 15 digits have different nearest
/// floats (`f64::DIGITS`). So no other number of this length parses to the same float, and without trailing zeros the
/// text is the shortest.
#[expect(clippy::float_cmp, reason = "tests whether it is the same float")]
fn scale_exactly(value: f64, decimals: usize) -> Option<u64> {
    let (value, ten) = (value.abs(), *TENS.get(decimals)?);
    let shifted = value * ten + ROUNDING;
    let whole = shifted - ROUNDING;
    // NaN compares as false.
    let is_same = whole < MAX_SCALED && (value >= MIN_PLAIN || value == 0.0) && whole / ten == value;
    is_same.then(|| shifted.to_bits() & ((1 << 52) - 1))
}

/// Formats digits with a point before the last `decimals` (1 to 13), without redundant zeros. Returns the bytes, little
/// endian, and their number.
fn format_fixed(whole: u64, decimals: usize, is_negative: bool) -> (u128, usize) {
    let digits = u128::from(eight_digits(whole / 100_000_000)) | u128::from(eight_digits(whole % 100_000_000)) << 64;
    let leading = digits.trailing_zeros() as usize / 8;
    let trailing = digits.leading_zeros() as usize / 8;
    let before_point = 16_usize.saturating_sub(decimals);
    let start = leading.min(before_point.saturating_sub(1));
    let end = 16_usize.saturating_sub(trailing).max(before_point.saturating_add(1));
    let text = (digits | u128::from_le_bytes([b'0'; 16])) >> (8 * start);
    let point = 8 * before_point.saturating_sub(start);
    let low = text & ((1_u128 << point) - 1);
    let text = low | u128::from(b'.') << point | (text >> point) << (point + 8);
    let length = end.saturating_sub(start).saturating_add(1);
    if is_negative { (text << 8 | u128::from(b'-'), length.saturating_add(1)) } else { (text, length) }
}

/// The eight digits of a number below 10^8 as bytes 0 to 9, the first one lowest. Splits halves, quarters and digits
/// with multiplications on all lanes.
fn eight_digits(number: u64) -> u64 {
    let halves = number + (0x1_0000_0000 - 10_000) * ((number * 109_951_163) >> 40);
    let quarters = halves + (0x1_0000 - 100) * (((halves * 5_243) >> 19) & 0x7F_0000_007F);
    let digits = quarters + (0x100 - 10) * (((quarters * 103) >> 10) & 0x000F_000F_000F_000F);
    digits.swap_bytes()
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn text(formatter: &mut FloatFormatter, value: f64) -> String {
        let (mut short, mut text) = (ShortText::default(), Vec::new());
        formatter.format(&mut short, value);
        short.append_to(&mut text);
        String::from_utf8(text).unwrap()
    }

    fn expected(value: f64) -> String {
        serde_json::to_string(&value).unwrap()
    }

    #[test]
    fn eight_digits_match_the_formatted_number() {
        for number in (0..100_000_000_u64).step_by(997).chain([99_999_999, 10_000, 9_999, 100, 99]) {
            let bytes = eight_digits(number).to_le_bytes().map(|digit| digit + b'0');
            assert_eq!(std::str::from_utf8(&bytes).unwrap(), format!("{number:08}"));
        }
    }

    /// Millions of decimals of every length, and the adjacent floats.
    #[test]
    fn decimals_match_serde_json() {
        let mut random = fastrand::Rng::with_seed(7);
        for decimals in 0..=15_u32 {
            for digits in 1..=17_u32 {
                let mut formatter = FloatFormatter::new();
                for _ in 0..4_000 {
                    #[expect(clippy::cast_precision_loss, reason = "any float will do")]
                    let value = random.u64(..10_u64.pow(digits)) as f64 / 10_f64.powi(decimals.cast_signed());
                    for value in [value, -value, value.next_up(), value.next_down()] {
                        assert_eq!(text(&mut formatter, value), expected(value), "{value:e}");
                    }
                }
            }
        }
    }

    #[test]
    fn limits_match_serde_json() {
        let mut values =
            vec![0.0, -0.0, f64::MIN_POSITIVE, f64::MAX, f64::MIN, 5e-324, 1e14, 99_999_999_999_999.0, 0.1, 1e16];
        values.extend((-30..30).flat_map(|power| [1.0, 9.5, -123.456].map(|value: f64| value * 10_f64.powi(power))));
        for value in values {
            for value in [value, value.next_up(), value.next_down()].into_iter().filter(|value| value.is_finite()) {
                for decimals in 1..=MAX_DECIMALS {
                    let mut formatter = FloatFormatter { decimals, misses: 0, skip: 0 };
                    assert_eq!(text(&mut formatter, value), expected(value), "{value:e} with {decimals} decimals");
                }
            }
        }
    }

    proptest! {
        #[test]
        fn any_column_matches_serde_json(bits in proptest::collection::vec(any::<u64>(), 1..200)) {
            let mut formatter = FloatFormatter::new();
            for value in bits.into_iter().map(f64::from_bits).filter(|value| value.is_finite()) {
                prop_assert_eq!(text(&mut formatter, value), expected(value));
            }
        }
    }
}
