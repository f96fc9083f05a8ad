//! Fallible allocation for untrusted sizes: a lack of memory is an error and does not abort the process.

use std::hint::black_box;

use headland_base::error::{Error, Kind, OUT_OF_MEMORY};

/// Sizes below this are not checked by [`check_available`].
const MIN_CHECKED_SIZE: usize = 1 << 20;

/// A failed allocation, with its size in bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct AllocError(usize);

impl AllocError {
    /// The error for the caller, without a member.
    #[must_use]
    pub fn into_error(self) -> Error {
        let message = format!(
            "out of memory: cannot allocate {} bytes for reading; `headland.open` reads in batches, which need less \
             memory with a smaller `batch_size`, and `columns=[...]` reads only the needed columns",
            self.0
        );
        Error::new(Kind::Archive, message).with(|facts| facts.os_error = Some(OUT_OF_MEMORY))
    }

    /// The error of reading a member.
    #[must_use]
    pub fn for_member(self, member: &str) -> Error {
        self.into_error().with(|facts| facts.member = Some(member.to_owned()))
    }
}

/// Reserves capacity for `more` values. It grows by doubling, as [`Vec::reserve`] does.
#[inline]
pub fn try_reserve<T>(values: &mut Vec<T>, more: usize) -> Result<(), AllocError> {
    values.try_reserve(more).map_err(|_| alloc_error(values, more))
}

/// Reserves capacity for exactly `more` values.
#[inline]
pub fn try_reserve_exact<T>(values: &mut Vec<T>, more: usize) -> Result<(), AllocError> {
    values.try_reserve_exact(more).map_err(|_| alloc_error(values, more))
}

#[cold]
fn alloc_error<T>(values: &[T], more: usize) -> AllocError {
    AllocError(values.len().saturating_add(more).saturating_mul(size_of::<T>()))
}

/// An empty vector with capacity for `count` values, or without capacity if the system has no memory for them.
#[must_use]
pub fn with_capacity<T>(count: usize) -> Vec<T> {
    let mut values = Vec::new();
    let _ = values.try_reserve_exact(count);
    values
}

/// Checks that the system would allocate this many bytes, before work whose own allocations cannot fail.
pub fn check_available(bytes: usize) -> Result<(), AllocError> {
    if bytes < MIN_CHECKED_SIZE {
        return Ok(());
    }
    let mut probe = Vec::<u8>::new();
    probe.try_reserve_exact(bytes).map_err(|_| AllocError(bytes))?;
    // Without this, the optimiser may remove the allocation.
    black_box(&mut probe);
    Ok(())
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use bytes::Bytes;

    use super::*;
    use crate::archive::member::{Body, Member};

    #[test]
    fn excessive_allocation_is_an_error_with_its_size() {
        let too_many = usize::MAX / 16;
        let mut values = vec![1_u64];
        for refused in [
            try_reserve(&mut values, too_many).unwrap_err(),
            try_reserve_exact(&mut values, too_many).unwrap_err(),
            check_available(usize::MAX / 2 + 1).unwrap_err(),
        ] {
            let error = refused.for_member("t.dbf");
            assert!(error.lacks_memory() && error.message().contains("out of memory"), "{error}");
            assert_eq!(error.facts().member.as_deref(), Some("t.dbf"));
        }
        assert_eq!(values, [1], "what is there stays");
        assert_eq!(try_reserve(&mut values, 7), Ok(()));
        assert!(values.capacity() >= 8);
    }

    #[test]
    fn reader_without_memory_is_an_error_of_its_member() {
        let body = Body::Plain { store: Arc::new(Bytes::new()), offset: 0, crc: None };
        let member = Member::new("t.shp".to_owned(), u64::MAX, body);
        let error = member.open(usize::MAX / 4).err().unwrap();
        assert!(error.lacks_memory() && error.facts().member.as_deref() == Some("t.shp"), "{error}");
    }

    #[test]
    fn excessive_capacity_is_left_out() {
        assert_eq!(with_capacity::<u64>(usize::MAX / 16).capacity(), 0);
        assert!(with_capacity::<u64>(100).capacity() >= 100);
        assert_eq!(check_available(MIN_CHECKED_SIZE), Ok(()));
    }
}
