//! Short digests that name columns and the state of a job.

use sha2::{Digest as _, Sha256};

use headland_base::hex::hex;

/// Twelve hexadecimal digits of a digest. The first is a letter, so that readers do not infer a number.
pub(super) fn short_digest(bytes: &[u8]) -> String {
    let digest = hex(&Sha256::digest(bytes));
    let first = digest.bytes().next().map_or('a', |digit| char::from(b'a' + digit % 6));
    format!("{first}{}", digest.get(1..12).unwrap_or_default())
}
