//! The header of a .dbf: its fields, and how its records are laid out.

use super::byte_order::{u16_le, u32_le};
use super::member::Member;
use super::note::Diagnostic;
use super::window::Window;
use crate::error::Result;

const FIELD: usize = 32;
const WINDOW: usize = 256 * 1024;

/// One field of a .dbf.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Field {
    /// The bytes of its name: up to eleven, to the first NUL, without trailing blanks.
    pub name: Vec<u8>,
    /// The letter of its type, in upper case.
    pub kind: u8,
    /// Where it begins in a record.
    pub offset: usize,
    /// How many bytes it has.
    pub width: usize,
    /// How many of them are decimals.
    pub decimals: u8,
}

/// The header of a .dbf.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Header {
    /// The fields in their order.
    pub fields: Vec<Field>,
    /// How many records it declares, deleted ones included.
    pub records: u64,
    /// The bytes of a record.
    pub record_size: usize,
    /// The language driver byte.
    pub driver: u8,
}

impl Header {
    /// Reads the header; the window then stands at the first record.
    pub fn read<'a>(member: &'a Member, notes: &mut Vec<Diagnostic>) -> Result<(Self, Window<'a>)> {
        let mut window = member.window(WINDOW)?;
        let first = window.fill(FIELD)?;
        let cut = || member.fault(format!("its header is cut: it has {} bytes", member.size()));
        let version = *first.first().ok_or_else(cut)?;
        let records = u64::from(u32_le(first, 4).ok_or_else(cut)?);
        let header_size = usize::from(u16_le(first, 8).ok_or_else(cut)?);
        let record_size = usize::from(u16_le(first, 10).ok_or_else(cut)?);
        let driver = *first.get(29).ok_or_else(cut)?;
        if version == 0x02 || version & 0x07 == 4 {
            return Err(member.fault(format!("its version {version:#04x} has another layout, which cannot be read")));
        }
        if header_size <= FIELD {
            return Err(member.fault(format!("its header length of {header_size} bytes leaves no room for fields")));
        }
        let header = window.fill(header_size)?;
        let Some(table) = header.get(FIELD..header_size) else {
            return Err(member
                .fault(format!("its header length of {header_size} bytes goes beyond its {} bytes", member.size())));
        };
        let fields = fields(member, table, notes);
        let widths = fields.iter().map(|field| field.width).sum::<usize>().saturating_add(1);
        if widths > record_size
            || (records > 0 && record_size > widths && !fills(member, header_size, records, record_size))
        {
            let message = format!(
                "its records have {record_size} bytes, its fields need {widths}: the header contradicts itself"
            );
            return Err(member.fault(message).with(|facts| facts.offset = Some(10)));
        }
        window.consume(header_size);
        Ok((Self { fields, records, record_size, driver }, window))
    }
}

/// Whether records of that size fill the file: then unused bytes at the end of each are no contradiction.
fn fills(member: &Member, header_size: usize, records: u64, record_size: usize) -> bool {
    let needed = (header_size as u64).saturating_add(records.saturating_mul(record_size as u64));
    (needed..=needed.saturating_add(1)).contains(&member.size())
}

fn fields(member: &Member, table: &[u8], notes: &mut Vec<Diagnostic>) -> Vec<Field> {
    let mut fields: Vec<Field> = Vec::new();
    let mut offset = 1_usize;
    let mut terminated = false;
    for bytes in table.chunks(FIELD) {
        if bytes.first().is_none_or(|first| *first == 0x0D) {
            terminated = true;
            break;
        }
        let (Some(name), Some(&kind), Some(&width), Some(&decimals)) =
            (bytes.get(..11), bytes.get(11), bytes.get(16), bytes.get(17))
        else {
            break;
        };
        let end = name.iter().position(|byte| *byte == 0).unwrap_or(name.len());
        let name = name.get(..end).unwrap_or_default();
        let name = name.trim_ascii_end().to_vec();
        let width = usize::from(width);
        let decimals = if matches!(kind, b'N' | b'F' | b'n' | b'f') { decimals } else { 0 };
        fields.push(Field { name, kind: kind.to_ascii_uppercase(), offset, width, decimals });
        offset = offset.saturating_add(width);
    }
    if !terminated {
        let message = "its field table has no end mark; its header length was taken instead";
        notes.push(Diagnostic::new("dbf-no-terminator", message).in_member(member.name()));
    }
    fields
}
