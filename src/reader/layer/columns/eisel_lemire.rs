//! Multiplies a 64-bit mantissa by a power of ten and rounds once to the nearest float.
//!
//! Eisel-Lemire algorithm (Lemire, "Number Parsing at a Gigabyte per Second", 2021,
//! <https://arxiv.org/abs/2101.11408>), for powers from 10^-27 to 10^-1. In this range the 128-bit product always
//! decides, so no fallback is needed.

/// A power of ten from 10^-27 to 10^-1.
#[derive(Clone, Copy, Debug)]
pub(super) struct PowerOfTen {
    /// The first 128 bits of 5^-decimals, rounded up.
    high: u64,
    low: u64,
    /// The biased exponent of a 64-bit mantissa times this power.
    exponent: u64,
    /// Whether a product can be exactly between two floats. Higher powers of five exclude it.
    may_tie: bool,
}

/// The stored bits of a float mantissa.
const MANTISSA_BITS: u64 = 52;
/// The bits of the product below the mantissa and its two rounding bits.
const DROPPED_BITS: u64 = 64 - MANTISSA_BITS - 3;

impl PowerOfTen {
    /// The power 10^-decimals; `None` outside 1 to 27.
    pub(super) fn new(decimals: usize) -> Option<Self> {
        let decimals = u32::try_from(decimals).ok().filter(|decimals| (1..=27).contains(decimals))?;
        let five = 5_u128.pow(decimals);
        // Divides 2^(size + 127) by the power of five bit by bit; the quotient has exactly 128 bits.
        let size = 128 - five.leading_zeros();
        let mut rest = 1_u128 << (size - 1);
        let mut quotient = 0_u128;
        for _ in 0..128 {
            rest *= 2;
            quotient *= 2;
            if rest >= five {
                rest -= five;
                quotient += 1;
            }
        }
        let (high, low) = split_halves(quotient + 1);
        // log2(10) as a fraction with 16 bits, rounded down for negative powers.
        let logarithm = (u64::from(decimals) * 217_706).div_ceil(1 << 16);
        Some(Self { high, low, exponent: 1023 + 63 - logarithm, may_tie: decimals <= 4 })
    }

    /// The bits of the float nearest to `mantissa` times this power.
    #[inline]
    pub(super) fn round_product(&self, mantissa: u64) -> u64 {
        if mantissa == 0 {
            return 0;
        }
        let zeros = mantissa.leading_zeros();
        let aligned = mantissa << zeros;
        let (mut high, mut low) = split_halves(u128::from(aligned) * u128::from(self.high));
        // If the dropped bits are all ones, the low half of the power may carry into the mantissa.
        if high & ((1 << DROPPED_BITS) - 1) == (1 << DROPPED_BITS) - 1 {
            let (carried, _) = split_halves(u128::from(aligned) * u128::from(self.low));
            let (sum, carry) = low.overflowing_add(carried);
            low = sum;
            high = high.wrapping_add(u64::from(carry));
        }
        let upper = high >> 63;
        let shift = upper + DROPPED_BITS;
        let mut value = high >> shift;
        if low <= 1 && self.is_tie(value, shift, high) {
            // The lower neighbour is the even one.
            value &= !1;
        }
        value = (value + (value & 1)) >> 1;
        // The implicit leading bit is added to the exponent, and so is a carry from rounding.
        ((self.exponent + upper - u64::from(zeros) - 1) << MANTISSA_BITS) + value
    }
}

impl PowerOfTen {
    /// Whether a product with an insignificant low half is exactly between two floats.
    #[cold]
    fn is_tie(&self, value: u64, shift: u64, high: u64) -> bool {
        self.may_tie && value & 3 == 1 && value << shift == high
    }
}

#[inline]
#[expect(clippy::cast_possible_truncation, reason = "takes one half")]
fn split_halves(product: u128) -> (u64, u64) {
    ((product >> 64) as u64, product as u64)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn parsed(mantissa: u64, decimals: usize) -> u64 {
        format!("{mantissa}e-{decimals}").parse::<f64>().unwrap().to_bits()
    }

    #[test]
    fn ties_round_to_even() {
        for decimals in 1..=27 {
            let power = PowerOfTen::new(decimals).unwrap();
            for exponent in 50..64 {
                for near in [-3_i64, -2, -1, 0, 1, 2, 3, 5, 10, 500, 625, 1_250, 5_000] {
                    let mantissa = (1_u64 << exponent).wrapping_add_signed(near);
                    assert_eq!(power.round_product(mantissa), parsed(mantissa, decimals), "{mantissa}e-{decimals}");
                }
            }
            for half in [9_007_199_254_740_993_u64, 4_503_599_627_370_497, 1, 3, u64::MAX, u64::MAX - 1] {
                let scaled = half.checked_mul(5_u64.pow(u32::try_from(decimals.min(4)).unwrap())).unwrap_or(half);
                assert_eq!(power.round_product(scaled), parsed(scaled, decimals), "{scaled}e-{decimals}");
            }
            assert_eq!(power.round_product(0), 0);
        }
        assert!(PowerOfTen::new(0).is_none() && PowerOfTen::new(28).is_none());
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(20_000))]
        #[test]
        fn products_match_the_standard_library(mantissa: u64, shift in 0..64_u32, decimals in 1..=27_usize) {
            let mantissa = mantissa >> shift;
            prop_assert_eq!(PowerOfTen::new(decimals).unwrap().round_product(mantissa), parsed(mantissa, decimals));
        }
    }
}
