//! The index of a shapefile: where each record is.

use super::byte_order::i32_be;
use super::member::Member;
use crate::error::{Error, Result};

const HEADER: usize = 100;
const ENTRY: usize = 8;

/// The offsets of records in bytes, in the order of rows; 0 stands for a record without a shape.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Index {
    offsets: Vec<u64>,
}

impl Index {
    /// Reads the index of a .shp of `shp_size` bytes; `None` where it is empty and so says nothing.
    pub fn read(member: &Member, shp_size: u64) -> Result<Option<Self>> {
        if member.size() == 0 {
            return Ok(None);
        }
        // Records of a shapefile take at least 12 bytes, so an index of more entries than that is none.
        let bytes = member.read_all(shp_size.saturating_mul(2).saturating_add(64 * 1024))?;
        if bytes.len() < HEADER || i32_be(&bytes, 0) != Some(9994) {
            return Err(member.fault("it is not an index of shapes: its header is cut or has another code"));
        }
        let declared = i32_be(&bytes, 24).and_then(|words| usize::try_from(words).ok()).unwrap_or(0).saturating_mul(2);
        let end = if (HEADER..=bytes.len()).contains(&declared) { declared } else { bytes.len() };
        let mut offsets = Vec::with_capacity(end.saturating_sub(HEADER) / ENTRY);
        for (record, entry) in bytes.get(HEADER..end).unwrap_or_default().chunks_exact(ENTRY).enumerate() {
            let offset = i32_be(entry, 0).and_then(|words| u64::try_from(words).ok()).map(|words| words * 2);
            let offset = offset
                .filter(|at| *at == 0 || (*at >= HEADER as u64 && *at + 12 <= shp_size))
                .ok_or_else(|| Self::unfit(member, record))?;
            offsets.push(offset);
        }
        Ok(Some(Self { offsets }))
    }

    fn unfit(member: &Member, record: usize) -> Error {
        member
            .fault("the index points outside the .shp: the .shp is truncated, or the two do not belong together")
            .with(|facts| facts.record = Some(record as u64))
            .with(|facts| facts.offset = Some((HEADER + record * ENTRY) as u64))
    }

    /// The offsets of records in bytes.
    #[must_use]
    pub fn offsets(&self) -> &[u64] {
        &self.offsets
    }

    /// Whether the records stand in the file in the order of rows, so that one pass reads them.
    #[must_use]
    pub fn is_in_order(&self) -> bool {
        let mut last = 0;
        self.offsets.iter().filter(|at| **at > 0).all(|at| {
            let rises = *at > last;
            last = *at;
            rises
        })
    }
}
