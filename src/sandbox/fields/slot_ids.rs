//! Ids of generated records, by seed and slot.

/// Number of ids per seed.
pub(super) const IDS: u128 = 128;

/// First id of small jobs.
const SMALL_IDS: u128 = 100_000_000_000_000;

/// Returns the id of a slot of a seed. Slots of different seeds never share an id; small seeds have short ids.
pub(super) fn slot_id(seed: u64, slot: u128) -> String {
    const SHORT: u128 = 1 << 20;
    let number = u128::from(seed) * IDS + slot;
    // Multiplication by an odd factor permutes the numbers below a power of two. Larger numbers are unchanged.
    let shuffled = if number < SHORT { (number * 656_893 + 400_837) % SHORT } else { number };
    in_64_bits(shuffled)
}

/// Limits an id to 63 bits: ids are signed 64-bit integers in JSON.
fn in_64_bits(number: u128) -> String {
    (number % (1 << 63)).to_string()
}

/// Returns the id of a small job, above those of accounts, uploads and grain carts.
pub(super) fn small_id(seed: u64, number: u32) -> String {
    in_64_bits(SMALL_IDS + u128::from(seed) * (1 << 32) + u128::from(number))
}
