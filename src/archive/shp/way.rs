//! How the records of a .shp are found: by its index, or one after the other where there is none or it is damaged.

use crate::archive::code::Code;
use crate::archive::diagnostic::Diagnostic;
use crate::archive::member::Member;
use crate::archive::shx::Index;
use crate::error::Result;

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
        let index = match shx.map(|shx| (shx, Index::read(shx, shp.size()))) {
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
