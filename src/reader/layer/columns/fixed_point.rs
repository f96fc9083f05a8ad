//! Parses fixed-width decimals, N(w,d), from words of eight digits.
//!
//! N(w,d) has its point d digits before the end and leading blanks. Whole part and fraction are loaded as words that
//! end with their last digits. Other cells are left to `number.rs`.

use super::eisel_lemire::PowerOfTen;
use super::number::TENS;
use super::swar::{BLANKS, are_digits, digits, last_bytes, parse_eight, parse_leading, suspects};

/// The most digits of whole part or fraction that a 64-bit mantissa holds.
const MAX_DIGITS: usize = 19;

/// Positions of the digits in a cell, computed once for a column.
#[derive(Clone, Copy, Debug)]
pub(super) struct Layout {
    /// The words of the whole part, and a mask for the bytes of the first word that belong to the cell.
    pub(super) whole_words: usize,
    whole_mask: u64,
    /// The words of the fraction, and a mask for the bytes of the first word that belong to it.
    pub(super) fraction_words: usize,
    fraction_mask: u64,
    /// The bytes before the cell where the first word starts, and the length up to its end.
    pub(super) lead: usize,
    pub(super) length: usize,
    /// 10^decimals.
    scale: u64,
    rounding: Rounding,
}

/// Conversion of a mantissa to a float.
#[derive(Clone, Copy, Debug)]
enum Rounding {
    /// The mantissa is the number.
    Whole,
    /// Mantissa and power of ten are exact, so one division rounds once.
    Exact(f64),
    /// The mantissa may need 64 bits.
    Long { power: PowerOfTen, max_whole: u64, truncated: Option<(u64, PowerOfTen)> },
}

impl Layout {
    /// The layout of N(width, decimals). `None` if there are too many digits or no whole part.
    pub(super) fn new(width: usize, decimals: usize) -> Option<Self> {
        let point = if decimals == 0 { 0 } else { decimals + 1 };
        let whole = width.checked_sub(point).filter(|whole| (1..=MAX_DIGITS).contains(whole))?;
        let scale = 10_u64.checked_pow(u32::try_from(decimals).ok()?).filter(|_| decimals <= MAX_DIGITS)?;
        let (whole_words, fraction_words) = (whole.div_ceil(8), decimals.div_ceil(8));
        let rounding = if decimals == 0 {
            Rounding::Whole
        } else if whole + decimals <= 15 {
            Rounding::Exact(*TENS.get(decimals)?)
        } else {
            // Excess digits of the fraction are left out. They are read only to check whether they change the result.
            let excess = (whole + decimals).saturating_sub(MAX_DIGITS);
            let truncated = PowerOfTen::new(decimals.saturating_sub(excess)).filter(|_| excess > 0);
            Rounding::Long {
                power: PowerOfTen::new(decimals)?,
                max_whole: (u64::MAX - (scale - 1)) / scale,
                truncated: truncated.map(|power| (10_u64.pow(u32::try_from(excess).unwrap_or(0)), power)),
            }
        };
        Some(Self {
            whole_words,
            whole_mask: last_bytes(whole - 8 * (whole_words - 1)),
            fraction_words,
            fraction_mask: last_bytes(decimals - 8 * fraction_words.saturating_sub(1)),
            lead: 8 * whole_words - whole,
            length: 8 * whole_words + point,
            scale,
            rounding,
        })
    }

    /// Returns whole part, fraction and sign. `None` for any other content.
    ///
    /// `block` has `length` bytes. The word counts are constants, so that the loop has no branch for them.
    #[inline]
    pub(super) fn split_digits<const WHOLE: usize, const FRACTION: usize>(
        &self,
        block: &[u8],
    ) -> Option<(u64, u64, bool)> {
        let mut suspect = 0;
        let mut fraction = 0_u64;
        if FRACTION > 0 {
            let mut mask = self.fraction_mask;
            for word in block.as_rchunks().1.last_chunk::<FRACTION>()?.map(u64::from_le_bytes) {
                let values = digits(word) & mask;
                mask = u64::MAX;
                suspect |= suspects(values);
                fraction = fraction.wrapping_mul(100_000_000).wrapping_add(parse_eight(values));
            }
            if *block.get(8 * WHOLE)? != b'.' {
                return None;
            }
        }
        let words = block.as_chunks().0.first_chunk::<WHOLE>()?.map(u64::from_le_bytes);
        let [first, rest @ ..] = words.as_slice() else { return None };
        let mut first = (first & self.whole_mask) | (BLANKS & !self.whole_mask);
        let mut rest = rest.iter();
        // Most numbers are short, so skip blank words.
        while first == BLANKS
            && let Some(next) = rest.next()
        {
            first = *next;
        }
        let (values, is_negative) = parse_leading(first);
        suspect |= suspects(values);
        let mut whole = parse_eight(values);
        let mut last = first;
        for word in rest {
            last = *word;
            let values = digits(last);
            suspect |= suspects(values);
            whole = whole.wrapping_mul(100_000_000).wrapping_add(parse_eight(values));
        }
        // A minus alone is no number, but `-.5` is one.
        let has_digit = FRACTION > 0 || last >> 56 != u64::from(b'-');
        (are_digits(suspect) && has_digit).then_some((whole, fraction, is_negative))
    }

    /// The float of a whole part and a fraction. `None` if more digits are needed to round it.
    #[inline]
    pub(super) fn compose_float(&self, whole: u64, fraction: u64, is_negative: bool) -> Option<f64> {
        let sign = u64::from(is_negative) << 63;
        if let Rounding::Long { power, max_whole, .. } = &self.rounding
            && whole <= *max_whole
        {
            return Some(f64::from_bits(power.round_product(whole * self.scale + fraction) | sign));
        }
        self.short_or_truncated(whole, fraction).map(|bits| f64::from_bits(bits | sign))
    }

    /// The bits of a float with a short mantissa, or with more digits than fit.
    fn short_or_truncated(&self, whole: u64, fraction: u64) -> Option<u64> {
        #[expect(clippy::cast_precision_loss, reason = "exact below 2^53, and rounded once above, as it should be")]
        let bits = match &self.rounding {
            Rounding::Whole => (whole as f64).to_bits(),
            Rounding::Exact(ten) => ((whole * self.scale + fraction) as f64 / ten).to_bits(),
            Rounding::Long { truncated: Some((truncated, power)), .. } => {
                let mantissa = whole * (self.scale / truncated) + fraction / truncated;
                let bits = power.round_product(mantissa);
                if !fraction.is_multiple_of(*truncated) && power.round_product(mantissa + 1) != bits {
                    return None;
                }
                bits
            }
            Rounding::Long { .. } => return None,
        };
        Some(bits)
    }
}
