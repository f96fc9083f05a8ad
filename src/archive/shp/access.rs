//! How the records of a .shp are found: by its index, or one after the other where there is none or it is damaged.

use super::HEADER;
use crate::archive::alloc::make_room;
use crate::archive::diagnostic::Diagnostic;
use crate::archive::diagnostic_code::Code;
use crate::archive::endian::i32_be;
use crate::archive::member::Member;
use crate::archive::shx::Index;
use crate::error::Result;

const WINDOW: usize = 256 * 1024;
/// The header of a record.
const RECORD_HEADER: usize = 8;

/// How records are found.
pub(super) enum Way {
    /// One pass in the order of the index, which is the order of the file.
    Follow(Index),
    /// Rows in another order than the file: it is held whole, since going back in a stream means to start again.
    Jump(Index, Vec<u8>),
    /// One record after the other, where no index says where they are.
    Walk,
}

impl Way {
    /// Reads the index. Damage of it is an error; without `is_strict`, it is reported and the index ignored.
    pub(super) fn find(
        shp: &Member,
        shx: Option<&Member>,
        is_strict: bool,
        notes: &mut Vec<Diagnostic>,
    ) -> Result<Self> {
        let index = match shx.map(|shx| (shx, sound(shp, shx))) {
            Some((shx, Err(error))) if !is_strict && !error.lacks_memory() => {
                let message = format!(
                    "the index was ignored, so geometries may belong to other rows where the records have another order: {error}"
                );
                notes.push(Diagnostic::new(Code::ShxDamaged, message).in_member(shx.name()));
                None
            }
            read => read.map_or(Ok(None), |(_, index)| index)?,
        };
        Ok(match index {
            None => {
                let message = "there is no index (.shx); the records were read one after the other";
                notes.push(Diagnostic::new(Code::NoShx, message).in_member(shp.name()));
                Self::Walk
            }
            Some(index) if index.is_in_order() => Self::Follow(index),
            Some(index) => {
                let message = "the records stand in another order than the index; rows follow the index";
                notes.push(Diagnostic::new(Code::OutOfOrder, message).in_member(shp.name()));
                Self::Jump(index, shp.read_all(shp.size())?)
            }
        })
    }

    /// The records that the index counts, where one is used.
    pub(super) fn records(&self) -> Option<u64> {
        match self {
            Self::Follow(index) | Self::Jump(index, _) => Some(index.records()),
            Self::Walk => None,
        }
    }
}

/// Reads the index. If its records do not lie end to end but those of the .shp do, each entry has to name one of them.
fn sound(shp: &Member, shx: &Member) -> Result<Option<Index>> {
    let Some(index) = Index::read(shx, shp.size())? else { return Ok(None) };
    if index.is_contiguous() {
        return Ok(Some(index));
    }
    let offsets = match scanned(shp) {
        Err(error) if error.lacks_memory() => return Err(error),
        // A damaged .shp does not show which entries are right.
        offsets => offsets.ok().flatten(),
    };
    match offsets.and_then(|offsets| index.first_outside(&offsets)) {
        None => Ok(Some(index)),
        Some((record, offset)) => {
            let message =
                format!("the index puts record {record} at byte {offset} of the .shp, where no record begins");
            Err(shx.fault(message).with(|facts| {
                facts.record = Some(record);
                facts.offset = Some(Index::entry_at(record));
            }))
        }
    }
}

/// The offsets of records that lie end to end from the header of a .shp to its end, in words; `None` where they do not.
fn scanned(shp: &Member) -> Result<Option<Vec<u32>>> {
    let mut window = shp.window(WINDOW)?;
    window.skip_to(HEADER as u64)?;
    let mut offsets = Vec::new();
    while window.position() < shp.size() {
        let offset = window.position();
        let words = i32_be(window.fill(RECORD_HEADER)?, 4).and_then(|words| u64::try_from(words).ok());
        let end = words.map(|words| offset.saturating_add(RECORD_HEADER as u64).saturating_add(words * 2));
        let (Some(end), Ok(word)) = (end.filter(|end| *end <= shp.size()), u32::try_from(offset / 2)) else {
            return Ok(None);
        };
        make_room(&mut offsets, 1).map_err(|lack| lack.of(shp.name()))?;
        offsets.push(word);
        window.skip_to(end)?;
    }
    Ok(Some(offsets))
}
