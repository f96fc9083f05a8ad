//! Parser of the header of a .dbf: its fields and the layout of its records.

use super::buffered_reader::BufferedReader;
use super::diagnostic::Diagnostic;
use super::diagnostic_code::Code;
use super::endian::{u16_le, u32_le};
use super::member::Member;
use headland_base::error::Result;

const FIELD_SIZE: usize = 32;
const BUFFER_SIZE: usize = 256 * 1024;
/// Bytes that Visual `FoxPro` reserves after the field table for the path of its database.
const BACKLINK_SIZE: usize = 263;
/// Cells of fields without width that are accepted regardless of the size of the file.
const MAX_EMPTY_CELLS: u64 = 1 << 20;

/// One field of a .dbf.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Field {
    /// The bytes of its name: up to eleven, to the first NUL, without trailing blanks.
    pub name: Vec<u8>,
    /// The letter of its type, in upper case.
    pub kind: u8,
    /// Its offset in a record.
    pub offset: usize,
    /// Its width in bytes.
    pub width: usize,
    /// Its number of decimals.
    pub decimals: u8,
}

/// The header of a .dbf.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Header {
    /// The fields in their order.
    pub fields: Vec<Field>,
    /// The declared number of records, including deleted ones.
    pub records: u64,
    /// The size of a record in bytes.
    pub record_size: usize,
    /// The language driver byte.
    pub driver: u8,
}

impl Header {
    /// Reads the header. The returned reader is at the first record.
    pub fn read(member: &Member, diagnostics: &mut Vec<Diagnostic>) -> Result<(Self, BufferedReader)> {
        let mut reader = member.open(BUFFER_SIZE)?;
        let first = reader.fill(FIELD_SIZE)?;
        let fault = |offset: u64, message: String| member.fault(message).with(|facts| facts.offset = Some(offset));
        let truncated =
            || fault(member.size(), format!("the .dbf header is truncated: the file has {} bytes", member.size()));
        let version = *first.first().ok_or_else(truncated)?;
        let records = u64::from(u32_le(first, 4).ok_or_else(truncated)?);
        let header_size = usize::from(u16_le(first, 8).ok_or_else(truncated)?);
        let record_size = usize::from(u16_le(first, 10).ok_or_else(truncated)?);
        let driver = *first.get(29).ok_or_else(truncated)?;
        if version == 0x02 || version & 0x07 == 4 {
            let message = format!("cannot read .dbf version {version:#04x}: it has another layout");
            return Err(fault(0, message));
        }
        if header_size <= FIELD_SIZE {
            return Err(fault(8, format!("the header length of {header_size} bytes leaves no space for fields")));
        }
        let header = reader.fill(header_size)?;
        let Some(table) = header.get(FIELD_SIZE..header_size) else {
            let size = member.size();
            return Err(fault(
                8,
                format!("the header length of {header_size} bytes exceeds the file size of {size} bytes"),
            ));
        };
        let fields = parse_fields(member, table, diagnostics);
        let widths = fields.iter().map(|field| field.width).sum::<usize>().saturating_add(1);
        if widths > record_size
            || (records > 0 && record_size > widths && !records_fill(member, header_size, records, record_size))
        {
            let message =
                format!("the .dbf header is inconsistent: records have {record_size} bytes, the fields need {widths}");
            return Err(fault(10, message));
        }
        let padding = table.get(fields.len().saturating_mul(FIELD_SIZE).saturating_add(1)..).unwrap_or_default();
        let table_end = FIELD_SIZE.saturating_add(fields.len().saturating_mul(FIELD_SIZE)).saturating_add(1);
        // If the records fit after the table but not after the declared length, the length is wrong.
        let fits = |start: usize| records > 0 && records_fill(member, start, records, record_size);
        if header_size != table_end && fits(table_end) && !(fits(header_size) && padding.iter().all(|byte| *byte == 0))
        {
            let message = format!(
                "the header length of {header_size} bytes contradicts the field table, which ends at byte {table_end}"
            );
            return Err(fault(8, message));
        }
        if padding.iter().any(|byte| *byte != 0) && padding.len() != BACKLINK_SIZE {
            let message = format!("{} bytes between the field table and the records were left out", padding.len());
            diagnostics.push(Diagnostic::new(Code::DbfPadding, message).in_member(member.name()));
        }
        if record_size > widths {
            let message = format!("records have {record_size} bytes, the fields need {widths}: the rest was left out");
            diagnostics.push(Diagnostic::new(Code::DbfUnusedBytes, message).in_member(member.name()));
        }
        // A field without width needs memory for each record, but no byte of the file bounds their number.
        let empty = fields.iter().filter(|field| field.width == 0).count() as u64;
        let empty_cells = records.min(member.size() / record_size.max(1) as u64).saturating_mul(empty);
        if empty_cells > member.size().max(MAX_EMPTY_CELLS) {
            let message = format!("the .dbf header is invalid: {empty} fields in {records} records have a width of 0");
            return Err(fault(FIELD_SIZE as u64, message));
        }
        reader.consume(header_size);
        Ok((Self { fields, records, record_size, driver }, reader))
    }
}

/// Whether records of that size fill the file. If so, unused bytes at the end of each record are valid.
fn records_fill(member: &Member, header_size: usize, records: u64, record_size: usize) -> bool {
    let needed = (header_size as u64).saturating_add(records.saturating_mul(record_size as u64));
    (needed..=needed.saturating_add(1)).contains(&member.size())
}

fn parse_fields(member: &Member, table: &[u8], diagnostics: &mut Vec<Diagnostic>) -> Vec<Field> {
    let mut fields: Vec<Field> = Vec::new();
    let mut offset = 1_usize;
    let mut is_terminated = false;
    let (mut lowercase_count, mut first_lowercase) = (0_usize, None);
    for bytes in table.chunks(FIELD_SIZE) {
        if bytes.first().is_none_or(|first| *first == 0x0D) {
            is_terminated = true;
            break;
        }
        let (Some(name), Some(&kind), Some(&width), Some(&decimals)) =
            (bytes.get(..11), bytes.get(11), bytes.get(16), bytes.get(17))
        else {
            break;
        };
        let end = name.iter().position(|byte| *byte == 0).unwrap_or(name.len());
        let before_nul = name.get(..end).unwrap_or_default();
        // Without a NUL, blanks pad the name. Before a NUL, they belong to it.
        let name = if end == name.len() { before_nul.trim_ascii_end() } else { before_nul }.to_vec();
        if kind.is_ascii_lowercase() {
            lowercase_count = lowercase_count.saturating_add(1);
            first_lowercase.get_or_insert((fields.len().saturating_add(1), char::from(kind)));
        }
        let width = usize::from(width);
        let decimals = if matches!(kind, b'N' | b'F' | b'n' | b'f') { decimals } else { 0 };
        fields.push(Field { name, kind: kind.to_ascii_uppercase(), offset, width, decimals });
        offset = offset.saturating_add(width);
    }
    if !is_terminated {
        diagnostics.push(Diagnostic::from_code(Code::DbfNoTerminator).in_member(member.name()));
    }
    if let Some((position, kind)) = first_lowercase {
        let message = format!(
            "the types of {lowercase_count} fields are lower-case letters and were read as the upper-case ones, first \
             `{kind}` of field {position}; other readers read such fields as text"
        );
        diagnostics.push(Diagnostic::new(Code::LowerCaseType, message).in_member(member.name()));
    }
    fields
}
