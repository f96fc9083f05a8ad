//! Members of a zip without a directory, found one behind the other by their own headers: what a download that broke off
//! left of it, or what a directory that is damaged spoke of.

use std::sync::Arc;

use super::central_directory::{self, Entry, extended};
use super::compressed_length::{Count, Ending, count};
use super::data_descriptor::{self, Found};
use super::end_of_central_directory::ENTRY;
use super::local_headers::{LOCAL, LOCAL_SIZE, begins};
use crate::archive::decompress::Method;
use crate::archive::diagnostic::Diagnostic;
use crate::archive::diagnostic_code::Code;
use crate::archive::endian::{u16_le, u32_le};
use crate::archive::options::Limits;
use crate::archive::read_at::{ReadAt, exact};
use crate::error::{Argument, Error, Kind, Result};

/// What was found.
#[derive(Debug)]
pub(super) struct Walk {
    pub(super) entries: Vec<Entry>,
    /// Where the first member begins, and where the last ends.
    first: u64,
    pub(super) end: u64,
    /// The bytes of the archive.
    size: u64,
    why: Why,
    /// What is wrong with the directory, where the end record is there.
    damage: Option<String>,
}

/// Why there are no more members.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Why {
    /// The archive ends.
    Cut,
    /// What follows is neither a member nor the directory, or cannot be found.
    Lost,
    /// The directory follows, or a part of it.
    Directory,
}

/// The members of a file that begins with one; `None` where it begins with anything else.
///
/// `damage` is what is wrong with the directory, where there is one.
pub(super) fn read(store: &Arc<dyn ReadAt>, name: &str, limits: &Limits, damage: Option<&str>) -> Result<Option<Walk>> {
    let Some(at) = begins(store) else { return Ok(None) };
    let cut_short = "ends early and cannot be read as a zip archive";
    let fault = |message: String| match damage {
        Some(damage) => central_directory::unreadable(name, &format!("{damage}, and of its members: {message}")),
        None => Error::of_source(Kind::Archive, name, format!("{cut_short}: {message}")),
    };
    let size = store.size().map_err(|cause| fault(cause.to_string()))?;
    let mut walker = Walker { store, limits, size, at, inflated: 0, entries: Vec::new() };
    let why = loop {
        if let Some(why) = walker.step().map_err(fault)? {
            break why;
        }
    };
    let damage = damage.map(str::to_owned);
    Ok(Some(Walk { entries: walker.entries, first: at, end: walker.at, size, why, damage }))
}

impl Walk {
    /// The error that it is, where damage is an error.
    pub(super) fn error(&self, name: &str) -> Error {
        let size = self.size;
        let part = match self.first {
            0 => "",
            _ => ", or is the first of several parts, which are joined by `zip -s 0 part.zip --out whole.zip`",
        };
        let message = format!(
            "ends early, like a download that broke off{part}: it has {size} bytes and no end record of all of them"
        );
        let Some(entry) = self.entries.last() else {
            let message = format!("{message}; not even its first member is there: fetch it again");
            return Error::of_source(Kind::Archive, name, message);
        };
        let (text, at, count) = (&entry.text, entry.offset, self.entries.len());
        let state = match self.why {
            Why::Directory => "which is whole, but the directory of all members is not".to_owned(),
            _ if entry.is_cut => format!("of whose contents {} bytes are there", entry.size),
            _ => "which is whole, but what followed is missing".to_owned(),
        };
        let message =
            format!("{message}; the last member that begins is number {count}, `{text}`, at byte {at}, {state}");
        let error = Error::of_source(Kind::Archive, name, message).with(|facts| {
            facts.member = Some(text.clone());
            facts.offset = entry.is_cut.then_some(entry.size);
        });
        error.hinting(": fetch it again, or read what is there with ", Argument::Strict, "")
    }

    /// What there is to say where damage is lived with.
    pub(super) fn note(&self) -> Diagnostic {
        let (size, end, count) = (self.size, self.end, self.entries.len());
        let what = match self.why {
            Why::Directory => "the directory of all members is not whole".to_owned(),
            Why::Cut => "whatever followed is missing".to_owned(),
            Why::Lost => format!("what follows byte {end} is no member, and was left out"),
        };
        if let Some(damage) = &self.damage {
            let rest = match self.why {
                Why::Lost => format!("; what follows byte {end} is no member, and was left out"),
                Why::Directory | Why::Cut => String::new(),
            };
            let message = format!(
                "the directory of the archive is damaged: {damage}; {count} members were found by their own headers{rest}"
            );
            return Diagnostic::new(Code::DirectoryDamaged, message);
        }
        let message = format!(
            "the archive ends early: it has {size} bytes and no end record of all of them; {count} members were found by \
             their own headers, {what}"
        );
        Diagnostic::new(Code::CutArchive, message)
    }
}

struct Walker<'a> {
    store: &'a Arc<dyn ReadAt>,
    limits: &'a Limits,
    size: u64,
    /// Where the next member may begin.
    at: u64,
    /// Bytes that were inflated to find ends.
    inflated: u64,
    entries: Vec<Entry>,
}

impl Walker<'_> {
    /// Takes the next member; why it is the last, where it is.
    fn step(&mut self) -> std::result::Result<Option<Why>, String> {
        let at = self.at;
        let left = self.size.saturating_sub(at);
        let signature = exact(self.store, at, left.min(4))?;
        if signature != LOCAL {
            return Ok(Some(match &signature[..] {
                start if start == ENTRY => Why::Directory,
                start if start.len() < 4 => Why::Cut,
                _ => Why::Lost,
            }));
        }
        if left < LOCAL_SIZE {
            return Ok(Some(Why::Cut));
        }
        let header = exact(self.store, at, LOCAL_SIZE)?;
        let short = |place| u16_le(&header, place).unwrap_or(0);
        let long = |place| u32_le(&header, place).unwrap_or(0);
        let (flags, method, crc) = (short(6), short(8), long(14));
        let (name_size, extra_size) = (u64::from(short(26)), u64::from(short(28)));
        let data = at.saturating_add(LOCAL_SIZE).saturating_add(name_size).saturating_add(extra_size);
        if data > self.size {
            return Ok(Some(Why::Cut));
        }
        let limits = self.limits;
        if name_size > limits.name as u64 {
            return Err(format!(
                "the member at byte {at} has a name of {name_size} bytes, more than the limit of {}; if you trust it, raise \
                 Limits(name=...)",
                limits.name
            ));
        }
        if self.entries.len() >= limits.members {
            return Err(format!(
                "it has more than {} members; if you trust it, raise Limits(members=...)",
                limits.members
            ));
        }
        let name = exact(self.store, at.saturating_add(LOCAL_SIZE), name_size)?;
        let extra = exact(self.store, data.saturating_sub(extra_size), extra_size)?;
        let (mut packed, mut size) = (u64::from(long(18)), u64::from(long(22)));
        let text = extended(&name, &extra, flags, &mut [&mut size, &mut packed]);
        let fault = text.as_ref().err().map(|message| format!("its header {message}"));
        let text = text.unwrap_or_else(|_| String::from_utf8_lossy(&name).into_owned());
        let raw = (name != text.as_bytes()).then_some(name);
        let (is_symlink, is_cut) = (false, false);
        let mut entry = Entry { raw, text, flags, method, crc, packed, size, offset: at, is_symlink, is_cut, fault };
        let why = if entry.fault.is_some() {
            Some(Why::Lost)
        } else if entry.has_descriptor() {
            self.with_descriptor(&mut entry, data)?
        } else {
            self.as_declared(&mut entry, data)?
        };
        self.entries.push(entry);
        Ok(why)
    }

    /// Takes a member whose header gives its length.
    fn as_declared(&mut self, entry: &mut Entry, data: u64) -> std::result::Result<Option<Why>, String> {
        if let Some(end) = data.checked_add(entry.packed).filter(|end| *end <= self.size) {
            self.at = end;
            return Ok(None);
        }
        self.inflate(entry, data)?;
        Ok(Some(self.cut(entry, data)))
    }

    /// Takes a member whose length stands behind it: it ends where its compressed data say.
    fn with_descriptor(&mut self, entry: &mut Entry, data: u64) -> std::result::Result<Option<Why>, String> {
        let Some(count) = self.inflate(entry, data)? else {
            entry.fault = Some("its length follows its data, whose end cannot be found without a directory".to_owned());
            self.at = data;
            return Ok(Some(Why::Lost));
        };
        let end = data.saturating_add(count.taken);
        match count.ending {
            Ending::Own => {}
            Ending::Input => return Ok(Some(self.cut(entry, data))),
            Ending::Damage | Ending::Limit => {
                (entry.is_cut, self.at) = (true, end);
                return Ok(Some(Why::Lost));
            }
        }
        Ok(match data_descriptor::at(self.store, end, self.size, count)? {
            Found::Fitting { crc, size } => {
                (entry.crc, self.at) = (crc, end.saturating_add(size));
                None
            }
            Found::Cut => Some(self.cut(entry, data)),
            Found::Other => {
                entry.fault = Some("the lengths that follow its data are not theirs".to_owned());
                self.at = end;
                Some(Why::Lost)
            }
        })
    }

    /// Inflates what may be a member's and notes how much it is; `None` where that is not possible.
    fn inflate(&mut self, entry: &mut Entry, data: u64) -> std::result::Result<Option<Count>, String> {
        let left = self.size.saturating_sub(data);
        (entry.packed, entry.size) = (left, left);
        let Some(method) = Method::of(entry.method).filter(|_| !entry.is_encrypted()) else { return Ok(None) };
        let count = count(self.store, data, left, method, self.limits).map_err(|cause| cause.to_string())?;
        (entry.packed, entry.size) = (count.taken, count.given);
        self.inflated = self.inflated.saturating_add(count.given);
        if self.limits.is_beyond_ratio(self.inflated, data.saturating_add(count.taken)) {
            return Err(format!(
                "its members inflate to more than {} times their bytes; if you trust it, raise Limits(ratio=...)",
                self.limits.ratio
            ));
        }
        Ok(Some(count))
    }

    /// Notes that the archive ends inside a member.
    fn cut(&mut self, entry: &mut Entry, data: u64) -> Why {
        entry.is_cut = true;
        if entry.method == 0 {
            entry.packed = self.size.saturating_sub(data);
            entry.size = entry.packed;
        }
        self.at = self.size;
        Why::Cut
    }
}
