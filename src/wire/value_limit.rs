//! The limit on the values of a reply: its memory and the time to decode it depend on the number of values rather than of bytes.

use headland_base::error::{Error, Kind, Result};

/// Four times the values of a page of 1,000 records with sixty fields; XML counts each twice. Decoding so many takes about a
/// second at worst, during which nothing can end the call.
const MAX_VALUES: usize = 250_000;

/// Refuses a body with too many values before it is parsed.
pub fn check_values(body: &[u8]) -> Result<()> {
    // A shorter body cannot hold so many, so usual bodies are not scanned.
    if body.len() <= MAX_VALUES
        || body.iter().filter(|byte| matches!(byte, b',' | b'[' | b'{' | b'<')).count() <= MAX_VALUES
    {
        return Ok(());
    }
    Err(Error::new(
        Kind::Decode,
        format!("the reply is too large: it has more than {MAX_VALUES} values, the limit for a record or page"),
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_values_count() {
        check_values(" ".repeat(5 * MAX_VALUES).as_bytes()).unwrap();
        for value in ["[],", "{},", "<a/>"] {
            assert_eq!(
                check_values(value.repeat(MAX_VALUES + 1).as_bytes()).unwrap_err().kind(),
                Kind::Decode,
                "{value}"
            );
        }
    }
}
