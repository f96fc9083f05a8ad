//! How many values a reply may hold: the memory that it takes follows from its values and not from its bytes.

use crate::error::{Error, Kind, Result};

/// A page of 1,000 records of sixty fields holds a sixteenth of it.
const MOST: usize = 1_000_000;

/// Refuses a body of more values than any record or page has, before it is read.
pub fn check_values(body: &[u8]) -> Result<()> {
    // Nothing shorter can hold so many, so what is usual is not looked through.
    if body.len() <= MOST || body.iter().filter(|byte| matches!(byte, b',' | b'[' | b'{' | b'<')).count() <= MOST {
        return Ok(());
    }
    Err(Error::new(Kind::Decode, format!("the reply holds more than {MOST} values, as no record or page does")))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bytes_are_no_values() {
        check_values(" ".repeat(5 * MOST).as_bytes()).unwrap();
        for value in ["[],", "{},", "<a/>"] {
            assert_eq!(check_values(value.repeat(MOST + 1).as_bytes()).unwrap_err().kind(), Kind::Decode, "{value}");
        }
    }
}
