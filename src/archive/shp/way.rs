//! How the records of a .shp are found: by its index, by what is left of one, or one after the other.

use super::places::{Places, held, in_a_row, named};
use crate::archive::code::Code;
use crate::archive::diagnostic::Diagnostic;
use crate::archive::member::Member;
use crate::archive::room::ask_for;
use crate::archive::shx::{Index, Order, Remains};
use crate::error::{Error, Result};

/// The bytes that the places of a damaged index take for each record while they are told apart.
const ON_THE_WAY: usize = 24;

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
    /// Finds it, and tells what is odd about it. Without `is_strict`, damage of index and .shp is told and not an error.
    pub(super) fn find(
        shp: &Member,
        shx: Option<&Member>,
        is_strict: bool,
        notes: &mut Vec<Diagnostic>,
    ) -> Result<Self> {
        let mut read = |shx| Index::read(shx, shp.size())?.map(|index| certain(shp, shx, index, notes)).transpose();
        let way = match shx.map(|shx| (shx, read(shx))) {
            Some((shx, Err(error))) if !is_strict && !error.lacks_memory() => {
                Self::without_trust(shp, shx, &error, notes)?
            }
            Some((_, index)) => match index? {
                Some(index) if index.is_in_order() => Self::Follow(index),
                Some(index) if is_strict => Self::Jump(index, shp.read_all(shp.size())?),
                Some(index) => Self::through_damage(shp, index, notes)?,
                None => Self::Walk,
            },
            None => Self::Walk,
        };
        match &way {
            Self::Walk => {
                let message = "there is no index (.shx); the records were read one after the other";
                notes.push(Diagnostic::new(Code::NoShx, message).in_member(shp.name()));
            }
            Self::Jump(index, _) if !index.is_in_order() => {
                let message = "the records stand in another order than the index; rows follow the index";
                notes.push(Diagnostic::new(Code::OutOfOrder, message).in_member(shp.name()));
            }
            Self::Follow(_) | Self::Jump(..) => {}
        }
        Ok(way)
    }

    /// The records that the index counts, where one is used.
    pub(super) fn records(&self) -> Option<u64> {
        match self {
            Self::Follow(index) | Self::Jump(index, _) => Some(index.records()),
            Self::Walk => None,
        }
    }

    /// A sound index of another order than the file, which may be damaged: what of it is there is used.
    fn through_damage(shp: &Member, index: Index, notes: &mut Vec<Diagnostic>) -> Result<Self> {
        let bytes = before_fault(shp, notes)?;
        let Places { index, lost, first } = held(index, &bytes);
        if let Some(first) = first {
            let message = format!("records that are cut, damaged or missing have null geometries ({lost} of them)");
            notes.push(Diagnostic::new(Code::ShpDamaged, message).in_member(shp.name()).at(first));
        }
        Ok(Self::Jump(index, bytes))
    }

    /// The way where the index is damaged, or names places that the .shp does not have.
    fn without_trust(shp: &Member, shx: &Member, error: &Error, notes: &mut Vec<Diagnostic>) -> Result<Self> {
        let remains = Remains::read(shx, shp.size())?;
        let order = remains.order(shp.size());
        let note = |message: String| Diagnostic::new(Code::ShxDamaged, message).in_member(shx.name());
        if order == Order::OfRows {
            notes.push(note(format!("the index was ignored: {error}")));
            return Ok(Self::Walk);
        }
        if order == Order::Other {
            let mut met = Vec::new();
            let bytes = before_fault(shp, &mut met)?;
            // Places are sorted and compared on the way.
            ask_for(remains.words.len().saturating_mul(ON_THE_WAY)).map_err(|lack| lack.of(shx.name()))?;
            if let Some(Places { index, lost, first }) = named(remains, &bytes) {
                notes.push(match first {
                    Some(first) => note(format!(
                        "the index was used; geometries of records that it names nowhere are null ({lost} of them): {error}"
                    ))
                    .at(first),
                    None => note(format!("the index was used, since each of its records was found: {error}")),
                });
                notes.extend(met);
                return Ok(Self::Jump(index, bytes));
            }
        }
        notes.push(note(format!(
            "the index was ignored, and too little is left of it to say in which order the records stand: geometries may \
             belong to other rows: {error}"
        )));
        Ok(Self::Walk)
    }
}

/// An index that contradicts itself, as far as the .shp can tell what is right: where its records lie end to end and are
/// numbered, and the other entries name their places, an entry that names none is put right by it.
fn certain(shp: &Member, shx: &Member, mut index: Index, notes: &mut Vec<Diagnostic>) -> Result<Index> {
    if !index.has_doubts() {
        return Ok(index);
    }
    let mended = match in_a_row(shp, index.records())? {
        Some(starts) => index.mend(starts),
        None => None,
    };
    let (count, first) = mended.unwrap_or_else(|| index.gone());
    if count > 0 {
        let what = match mended {
            Some(_) => {
                "names no place where a record is; the records of the .shp lie end to end and are numbered, so this \
                        one was read from its place there"
            }
            None => "gives it no place, and the .shp does not tell it for certain, so its geometry is null",
        };
        let entry = Index::entry(first);
        let message =
            format!("the entry of record {first} (at byte {entry} of the index) {what} ({count} such entries)");
        notes.push(Diagnostic::new(Code::ShxDamaged, message).in_member(shx.name()).at(first));
    }
    Ok(index)
}

/// The bytes of a .shp, as far as they can be read, with the fault that ends them told.
fn before_fault(shp: &Member, notes: &mut Vec<Diagnostic>) -> Result<Vec<u8>> {
    let mut bytes = Vec::new();
    if let Err(error) = shp.read_into(&mut bytes, shp.size()) {
        if error.lacks_memory() {
            return Err(error);
        }
        let message = format!("reading stopped here: {error}");
        notes.push(Diagnostic::new(Code::ShpDamaged, message).in_member(shp.name()));
    }
    Ok(bytes)
}
