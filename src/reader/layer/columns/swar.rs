//! SWAR parsing (SIMD within a register): blanks, signs and digits of eight bytes in a `u64`.
//!
//! Plain integer arithmetic on every processor, so there is one code path.

pub(super) const BLANKS: u64 = 0x2020_2020_2020_2020;
const ZEROS: u64 = 0x3030_3030_3030_3030;
const HIGH: u64 = 0x8080_8080_8080_8080;
/// A minus after `digits`.
const MINUS: u64 = (b'-' ^ b'0') as u64;
const ONES: u64 = 0x0101_0101_0101_0101;

/// The eight bytes from `offset`, little endian.
#[inline]
pub(super) fn word(bytes: &[u8], offset: usize) -> Option<u64> {
    bytes.get(offset..)?.first_chunk().map(|bytes| u64::from_le_bytes(*bytes))
}

/// A mask of the last `count` bytes of a word, at most eight.
pub(super) fn last_bytes(count: usize) -> u64 {
    match count {
        0 => 0,
        1..=7 => u64::MAX << (64 - 8 * count),
        _ => u64::MAX,
    }
}

/// The values of eight digits; check them with `suspects`.
#[inline]
pub(super) fn digits(word: u64) -> u64 {
    word ^ ZEROS
}

/// Sets the high bit of each byte that is no digit. Other bits are undefined.
#[inline]
pub(super) fn suspects(digits: u64) -> u64 {
    digits.wrapping_add(0x7676_7676_7676_7676) | digits
}

/// Whether combined words of `suspects` hold digits only.
#[inline]
pub(super) fn are_digits(suspects: u64) -> bool {
    suspects & HIGH == 0
}

/// Digit values of a word with leading blanks and a minus, which count as zeros, and the sign. The last byte is a digit
/// or the minus.
#[inline]
pub(super) fn parse_leading(word: u64) -> (u64, bool) {
    // A word of blanks is not shifted. Its bytes remain and are no digits.
    let blanks = (word ^ BLANKS).trailing_zeros() & 0x38;
    let first = digits(word) >> blanks;
    let is_negative = first & 0xFF == MINUS;
    let sign = if is_negative { MINUS } else { 0 };
    ((first ^ sign) << blanks, is_negative)
}

/// The number of eight digits: neighbours are joined in three steps.
#[inline]
pub(super) fn parse_eight(digits: u64) -> u64 {
    let pairs = (digits.wrapping_mul(10 << 8 | 1) >> 8) & 0x00FF_00FF_00FF_00FF;
    let fours = (pairs.wrapping_mul(100 << 16 | 1) >> 16) & 0x0000_FFFF_0000_FFFF;
    fours.wrapping_mul(10_000 << 32 | 1) >> 32
}

/// Nonzero if a byte is NUL or not ASCII.
#[inline]
pub(super) fn not_plain(word: u64) -> u64 {
    (word.wrapping_sub(ONES) | word) & HIGH
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: [u8; 8]) -> Option<(u64, bool)> {
        let (digits, is_negative) = parse_leading(u64::from_le_bytes(text));
        are_digits(suspects(digits)).then(|| (parse_eight(digits), is_negative))
    }

    #[test]
    fn only_blanks_and_a_minus_may_lead() {
        assert_eq!(read(*b"12345678"), Some((12_345_678, false)));
        assert_eq!(read(*b"       7"), Some((7, false)));
        assert_eq!(read(*b"     -70"), Some((70, true)));
        assert_eq!(read(*b"-0000001"), Some((1, true)));
        assert_eq!(read(*b"       -"), Some((0, true)));
        for text in [b"        ", b"      +1", b"   1 000", b"   --100", b"1234567 ", b"\0\0\0\0\0\0\x001", b"123:5678"]
        {
            assert_eq!(read(*text), None, "{text:?}");
        }
    }

    #[test]
    fn bytes_other_than_digits_are_found_at_every_position() {
        for position in 0..8 {
            for byte in 0..=255_u8 {
                let mut text = *b"90909090";
                text[position] = byte;
                let word = u64::from_le_bytes(text);
                assert_eq!(are_digits(suspects(digits(word))), byte.is_ascii_digit(), "{byte} at {position}");
                assert_eq!(not_plain(word) == 0, byte != 0 && byte.is_ascii(), "{byte} at {position}");
            }
        }
    }

    #[test]
    fn word_beyond_the_bytes_is_none() {
        assert_eq!(word(b"12345678", 0), Some(u64::from_le_bytes(*b"12345678")));
        assert_eq!(word(b"12345678", 1), None);
        assert_eq!(word(b"12345678", 9), None);
        assert_eq!((last_bytes(0), last_bytes(8), last_bytes(1)), (0, u64::MAX, 0xFF << 56));
    }
}
