//! How the records of a .shp are located: by its index, or by a scan if the index is missing or damaged.

use super::{BUFFER_SIZE, HEADER, RECORD_HEADER};
use crate::archive::alloc::try_reserve;
use crate::archive::diagnostic::Diagnostic;
use crate::archive::diagnostic_code::Code;
use crate::archive::endian::i32_be;
use crate::archive::member::Member;
use crate::archive::shx::Index;
use headland_base::error::Result;

/// A way to locate records.
pub(super) enum RecordAccess {
    /// One pass in the order of the index, which is the order of the file.
    Indexed(Index),
    /// Rows in another order than the file. The .shp is kept in memory, since a stream cannot go back.
    Random(Index, Vec<u8>),
    /// A scan from record to record, without an index.
    Scan,
}

impl RecordAccess {
    /// Opens the index. A damaged index is an error; without `is_strict`, it is reported and ignored.
    pub(super) fn open(
        shp: &Member,
        shx: Option<&Member>,
        is_strict: bool,
        diagnostics: &mut Vec<Diagnostic>,
    ) -> Result<Self> {
        let index = match shx.map(|shx| (shx, verify_index(shp, shx))) {
            Some((shx, Err(error))) if !is_strict && !error.lacks_memory() => {
                let message = format!(
                    "the index was ignored: {error}; if the records have another order, geometries may be assigned to \
                     the wrong rows"
                );
                diagnostics.push(Diagnostic::new(Code::ShxDamaged, message).in_member(shx.name()));
                None
            }
            read => read.map_or(Ok(None), |(_, index)| index)?,
        };
        Ok(match index {
            None => {
                let message = "there is no index (.shx); the records were read sequentially";
                diagnostics.push(Diagnostic::new(Code::NoShx, message).in_member(shp.name()));
                Self::Scan
            }
            Some(index) if index.is_in_order() => Self::Indexed(index),
            Some(index) => {
                diagnostics.push(Diagnostic::from_code(Code::OutOfOrder).in_member(shp.name()));
                Self::Random(index, shp.read_all(shp.size())?)
            }
        })
    }

    /// The number of records of the index, if there is one.
    pub(super) fn records(&self) -> Option<u64> {
        match self {
            Self::Indexed(index) | Self::Random(index, _) => Some(index.records()),
            Self::Scan => None,
        }
    }
}

/// Reads the index. If its records are not contiguous but those of the .shp are, each entry must match a record.
fn verify_index(shp: &Member, shx: &Member) -> Result<Option<Index>> {
    let Some(index) = Index::read(shx, shp.size())? else { return Ok(None) };
    if index.is_contiguous() {
        return Ok(Some(index));
    }
    let offsets = match scan_offsets(shp) {
        Err(error) if error.lacks_memory() => return Err(error),
        // A damaged .shp cannot prove which entries are correct.
        offsets => offsets.ok().flatten(),
    };
    match offsets.and_then(|offsets| index.first_outside(&offsets)) {
        None => Ok(Some(index)),
        Some((record, offset)) => {
            let message =
                format!("the index has offset {offset} for record {record}, but no record of the .shp begins there");
            Err(shx.fault(message).with(|facts| {
                facts.record = Some(record);
                facts.offset = Some(Index::entry_offset(record));
            }))
        }
    }
}

/// The offsets of records in words, if the records are contiguous from the header to the end of the .shp.
fn scan_offsets(shp: &Member) -> Result<Option<Vec<u32>>> {
    let mut reader = shp.open(BUFFER_SIZE)?;
    reader.skip_to(HEADER as u64)?;
    let mut offsets = Vec::new();
    while reader.position() < shp.size() {
        let offset = reader.position();
        let length_words =
            i32_be(reader.fill(RECORD_HEADER)?, 4).and_then(|length_words| u64::try_from(length_words).ok());
        let end = length_words
            .map(|length_words| offset.saturating_add(RECORD_HEADER as u64).saturating_add(length_words * 2));
        let (Some(end), Ok(word)) = (end.filter(|end| *end <= shp.size()), u32::try_from(offset / 2)) else {
            return Ok(None);
        };
        try_reserve(&mut offsets, 1).map_err(|error| error.for_member(shp.name()))?;
        offsets.push(word);
        reader.skip_to(end)?;
    }
    Ok(Some(offsets))
}
