//! Room in memory for what outside data ask for: an error where the system gives none, and never the end of the process.

use std::hint::black_box;

use crate::error::{Error, Kind, OUT_OF_MEMORY};

/// Work that takes less than this in small pieces is not asked for beforehand.
const SMALL: usize = 1 << 20;

/// Bytes that the system did not give.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NoRoom(usize);

impl NoRoom {
    /// The error of whoever needs them.
    #[must_use]
    pub fn error(self) -> Error {
        let message = format!(
            "the system has no {} bytes of memory left to read this at once: `headland.open` reads in batches, which take the \
             less the smaller `batch_size` is, and `columns=[...]` reads only the columns that are needed",
            self.0
        );
        Error::new(Kind::Archive, message).with(|facts| facts.os_error = Some(OUT_OF_MEMORY))
    }

    /// The error of reading a member that needs them.
    #[must_use]
    pub fn of(self, member: &str) -> Error {
        self.error().with(|facts| facts.member = Some(member.to_owned()))
    }
}

/// Makes room for `more` values at the end, and for as many again as there are, as a vector does by itself.
#[inline]
pub fn make_room<T>(values: &mut Vec<T>, more: usize) -> Result<(), NoRoom> {
    values.try_reserve(more).map_err(|_| no_room(values, more))
}

/// Makes room for `more` values at the end, and for no more than that.
#[inline]
pub fn make_exact_room<T>(values: &mut Vec<T>, more: usize) -> Result<(), NoRoom> {
    values.try_reserve_exact(more).map_err(|_| no_room(values, more))
}

#[cold]
fn no_room<T>(values: &[T], more: usize) -> NoRoom {
    NoRoom(values.len().saturating_add(more).saturating_mul(size_of::<T>()))
}

/// An empty vector with room for `count` values where the system has it. Where it has not, it grows as values come.
#[must_use]
pub fn with_room<T>(count: usize) -> Vec<T> {
    let mut values = Vec::new();
    let _ = values.try_reserve_exact(count);
    values
}

/// Asks whether the system would give so many bytes, before work that takes them in pieces which cannot be refused.
pub fn ask_for(bytes: usize) -> Result<(), NoRoom> {
    if bytes < SMALL {
        return Ok(());
    }
    let mut asked = Vec::<u8>::new();
    asked.try_reserve_exact(bytes).map_err(|_| NoRoom(bytes))?;
    // Memory that nobody looks at might never be asked for.
    black_box(&mut asked);
    Ok(())
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use bytes::Bytes;

    use super::*;
    use crate::archive::member::{Body, Member};

    #[test]
    fn room_that_no_system_has_is_an_error_that_says_how_much() {
        let too_many = usize::MAX / 16;
        let mut values = vec![1_u64];
        for refused in [
            make_room(&mut values, too_many).unwrap_err(),
            make_exact_room(&mut values, too_many).unwrap_err(),
            ask_for(usize::MAX / 2 + 1).unwrap_err(),
        ] {
            let error = refused.of("t.dbf");
            assert!(error.lacks_memory() && error.message().contains("bytes of memory left"), "{error}");
            assert_eq!(error.facts().member.as_deref(), Some("t.dbf"));
        }
        assert_eq!(values, [1], "what is there stays");
        assert_eq!(make_room(&mut values, 7), Ok(()));
        assert!(values.capacity() >= 8);
    }

    #[test]
    fn a_window_that_has_no_room_is_an_error_of_its_member() {
        let body = Body::Plain { store: Arc::new(Bytes::new()), offset: 0, crc: None };
        let member = Member::new("t.shp".to_owned(), u64::MAX, body);
        let error = member.window(usize::MAX / 4).err().unwrap();
        assert!(error.lacks_memory() && error.facts().member.as_deref() == Some("t.shp"), "{error}");
    }

    #[test]
    fn room_that_is_hoped_for_may_be_none() {
        assert_eq!(with_room::<u64>(usize::MAX / 16).capacity(), 0);
        assert!(with_room::<u64>(100).capacity() >= 100);
        assert_eq!(ask_for(SMALL), Ok(()));
    }
}
