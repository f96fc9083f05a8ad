//! Parser of grain cart files (GRC 1.6): key and value rows, a row of units, a header row, and one row per load.
//!
//! There is no public specification. So the header row is found by its names, and units by their column (field notes,
//! Grain cart files). Cells stay text; the layer interprets them.

use std::borrow::Cow;
use std::collections::BTreeMap;

use super::alloc::check_available;
use super::diagnostic::Diagnostic;
use super::diagnostic_code::Code;
use super::encoding::{DecodeIssue, Encoding};
use super::member::Member;
use super::options::ReadOptions;
use super::sniff::describe_bytes;
use headland_base::error::{Argument, Error, Kind, Result};
use headland_base::names::same;
use headland_base::names::strip_bom;

/// Largest size of a file. A season of loads has a few hundred kilobytes.
const MAX_BYTES: u64 = 16 << 20;
const MAX_LOADS: usize = 100_000;
/// Most rows before the header row, and most cells of a row.
pub(super) const MAX_HEADER_ROWS: usize = 1_000;
const MAX_CELLS: usize = 256;

/// The bytes that a cell needs, here and in its column.
const CELL_SIZE: usize = 64;

/// The names that identify the header row.
pub(super) const REQUIRED_COLUMNS: [&str; 2] = ["LoadNumber", "Weight"];

/// The contents of a grain cart file.
#[derive(Clone, Debug, Default)]
pub struct GrainCart {
    /// Keys and values of the rows before the units, in their order.
    pub header: Vec<(String, String)>,
    /// The names of the columns, unique and not empty.
    pub names: Vec<String>,
    /// The unit of each column; empty if it has none.
    pub units: Vec<String>,
    /// The loads, each with one cell per column.
    pub loads: Vec<Vec<String>>,
}

/// Whether a source that is not a zip starts like a grain cart file.
pub(super) fn is_grc(first: &[u8]) -> bool {
    let text = String::from_utf8_lossy(strip_bom(first)).to_ascii_lowercase();
    let text = text.trim_start();
    text.starts_with("grcversion,") || (text.contains("loadnumber,") && !text.starts_with(['<', '{', '[']))
}

impl GrainCart {
    /// Parses a grain cart file.
    pub fn read(member: &Member, options: &ReadOptions, diagnostics: &mut Vec<Diagnostic>) -> Result<Self> {
        let mut bytes = member.read_all(MAX_BYTES.min(options.limits.bytes))?;
        if let Some(index) = bytes.iter().position(|byte| *byte == 0) {
            let message = "the text contains a NUL, so it is not a grain cart file, or it is damaged";
            if options.strict {
                let offset = u64::try_from(index).unwrap_or(u64::MAX);
                return Err(member.fault(message).with(|facts| facts.offset = Some(offset)));
            }
            diagnostics.push(
                Diagnostic::new(Code::NulRemoved, format!("{message}; NULs were removed")).in_member(member.name()),
            );
            bytes.retain(|byte| *byte != 0);
        }
        let encoding = encoding(&bytes, member, options, diagnostics)?;
        let mut reader =
            Reader { member, strict: options.strict, encoding, cart: Self::default(), tally: BTreeMap::new() };
        reader.read(strip_bom(&bytes), bytes.len())?;
        reader.report(diagnostics);
        Ok(reader.cart)
    }

    /// The cells of the column at a position.
    pub(crate) fn cells_at(&self, position: usize) -> impl Iterator<Item = &str> {
        self.loads.iter().map(move |load| load.get(position).map(|cell| cell.trim()).unwrap_or_default())
    }

    /// The cells of a named column; `None` if there is no such column.
    pub(crate) fn column_cells(&self, name: &str) -> Option<Vec<&str>> {
        let position = self.names.iter().position(|known| same(known, name))?;
        Some(self.cells_at(position).collect())
    }
}

/// The requested encoding, or else UTF-8 if the text is valid, or else Latin-1.
fn encoding(
    bytes: &[u8],
    member: &Member,
    options: &ReadOptions,
    diagnostics: &mut Vec<Diagnostic>,
) -> Result<Encoding> {
    let wanted = options.encoding.as_deref();
    let name = wanted.unwrap_or(if std::str::from_utf8(bytes).is_ok() { "UTF-8" } else { "ISO-8859-1" });
    if wanted.is_none() && name != "UTF-8" {
        diagnostics.push(Diagnostic::from_code(Code::Latin1).in_member(member.name()));
    }
    Encoding::from_name(name).ok_or_else(|| Error::new(Kind::Value, format!("unknown encoding `{name}`")))
}

struct Reader<'a> {
    member: &'a Member,
    strict: bool,
    encoding: Encoding,
    cart: GrainCart,
    /// Repairs: a code, a message, their number, and the first load.
    tally: BTreeMap<Code, (&'static str, u64, u64)>,
}

/// A line with its number, counted from 1, and its offset in the file.
#[derive(Clone, Copy)]
struct Line<'a> {
    number: usize,
    offset: usize,
    bytes: &'a [u8],
}

impl Reader<'_> {
    fn read(&mut self, bytes: &[u8], size: usize) -> Result<()> {
        let end = if bytes.contains(&b'\n') { b'\n' } else { b'\r' };
        let mut offset = size.saturating_sub(bytes.len());
        let mut lines = bytes.split(|byte| *byte == end).zip(1..).map(|(line, number)| {
            let found = Line { number, offset, bytes: line.strip_suffix(b"\r").unwrap_or(line) };
            offset = offset.saturating_add(line.len()).saturating_add(1);
            found
        });
        let mut units = Vec::new();
        loop {
            let Some(line) = lines.next().filter(|line| line.number <= MAX_HEADER_ROWS) else {
                return Err(self.no_header_row(bytes));
            };
            let (cells, _) = self.decode_cells(line);
            if REQUIRED_COLUMNS.iter().all(|name| cells.iter().any(|cell| same(cell.trim(), name))) {
                self.set_names(cells);
                break;
            }
            match cells.split_first() {
                Some((key, value)) if !key.trim().is_empty() => self.add_key(key, value),
                _ if cells.iter().any(|cell| !cell.trim().is_empty()) => units = cells,
                _ => {}
            }
        }
        self.set_units(&units);
        for line in lines {
            if !line.bytes.iter().all(u8::is_ascii_whitespace) {
                self.add_load(line)?;
            }
        }
        Ok(())
    }

    fn no_header_row(&self, bytes: &[u8]) -> Error {
        let first = bytes.get(..bytes.len().min(1024)).unwrap_or_default();
        let (names, what) = (REQUIRED_COLUMNS.join(" and "), describe_bytes(first));
        self.member.fault(format!(
            "not a grain cart file: none of the first {MAX_HEADER_ROWS} rows has the column names {names}; {what}"
        ))
    }

    /// The cells of a line, and whether its quotes match.
    fn decode_cells(&mut self, line: Line<'_>) -> (Vec<String>, bool) {
        let (text, issue) = self.encoding.decode(line.bytes);
        if let Some(issue) = issue {
            let (code, sentence) = match issue {
                DecodeIssue::Recoded => (Code::TextRecoded, "lines that are not valid UTF-8 were read as Windows-1252"),
                DecodeIssue::Undefined | DecodeIssue::LooksLikeUtf8 => {
                    (Code::TextRecoded, "bytes undefined in Windows-1252 were read as control characters")
                }
                DecodeIssue::Lost => {
                    (Code::TextLost, "bytes that are invalid in their encoding were lost and replaced by U+FFFD")
                }
            };
            self.count(code, sentence);
        }
        let (cells, fits) = split(&text);
        (cells.into_iter().map(Cow::into_owned).collect(), fits)
    }

    /// A value may contain commas. The commas at its end belong to the row.
    fn add_key(&mut self, key: &str, value: &[String]) {
        let key = key.trim().to_owned();
        let value = value.join(",");
        if self.cart.header.iter().any(|(known, _)| *known == key) {
            let sentence = "header keys that occur twice keep their first value";
            self.count(Code::RepeatedKey, sentence);
        } else {
            self.cart.header.push((key, value.trim_end_matches(',').trim().to_owned()));
        }
    }

    fn set_names(&mut self, mut cells: Vec<String>) {
        while cells.last().is_some_and(|cell| cell.trim().is_empty()) {
            cells.pop();
        }
        for (position, cell) in cells.iter().enumerate() {
            let wanted = cell.trim();
            let is_taken = |name: &str| self.cart.names.iter().any(|known| known == name);
            let name = if wanted.is_empty() || is_taken(wanted) {
                // With one more candidate than there are columns, one of them is unused.
                let stem = if wanted.is_empty() { "field" } else { wanted };
                let mut candidates = (position.saturating_add(1)..).map(|number| format!("{stem}_{number}"));
                let unique = candidates.find(|name| !is_taken(name) && !cells.contains(name)).unwrap_or_default();
                self.count(Code::RenamedColumn, "columns without a unique name were numbered");
                unique
            } else {
                wanted.to_owned()
            };
            self.cart.names.push(name);
        }
    }

    /// Assigns units by column. The row of units has a cell for each column.
    fn set_units(&mut self, cells: &[String]) {
        let columns = self.cart.names.len();
        let stated = cells.iter().rposition(|cell| !cell.trim().is_empty()).map_or(0, |last| last.saturating_add(1));
        if stated == 0 {
            self.count(Code::NoUnits, "there is no row of units, so the units are unknown");
        } else if stated > columns {
            self.count(
                Code::UnitsIgnored,
                "the row of units has more cells than the header row, so the units are unknown",
            );
        } else {
            self.cart.units = cells.iter().take(stated).map(|cell| cell.trim().to_owned()).collect();
        }
        self.cart.units.resize(columns, String::new());
    }

    fn add_load(&mut self, line: Line<'_>) -> Result<()> {
        let (mut cells, fits) = self.decode_cells(line);
        let found = cells.len();
        // Cells beyond the limit are not parsed, so such a row counts neither as blank nor as repairable.
        let is_whole = found <= MAX_CELLS;
        if is_whole && cells.iter().all(|cell| cell.trim().is_empty()) {
            self.count(Code::BlankRow, "rows without any value were left out");
            return Ok(());
        }
        if self.cart.loads.len() >= MAX_LOADS {
            return Err(
                self.load_error(line, &format!("the file has more than {MAX_LOADS} loads, the most that are read"))
            );
        }
        if !fits {
            let message = "the quotes are unbalanced: one is not closed, or text follows a closing quote";
            self.report_damage(
                line,
                message,
                Code::OddQuote,
                "rows with unbalanced quotes were read with the quotes as characters",
            )?;
        }
        let columns = self.cart.names.len();
        while is_whole && cells.len() > columns && cells.last().is_some_and(|cell| cell.trim().is_empty()) {
            cells.pop();
        }
        if cells.len() < found {
            self.count(Code::TrailingComma, "commas at the ends of rows were left out");
        }
        if cells.len() != columns {
            let more = if is_whole { "" } else { "more than " };
            let message = format!("the row has {more}{} cells, the header row has {columns}", found.min(MAX_CELLS));
            if cells.len() < columns {
                self.report_damage(line, &message, Code::ShortRow, "missing cells at the ends of rows are null")?;
            } else {
                self.report_damage(
                    line,
                    &message,
                    Code::LongRow,
                    "cells beyond those of the header row were left out",
                )?;
            }
            cells.resize(columns, String::new());
        }
        // Cells are allocated one by one, which cannot fail. So memory for as many loads again is checked here.
        let count = self.cart.loads.len();
        if count.is_power_of_two() {
            let size = count.saturating_mul(columns).saturating_mul(CELL_SIZE);
            check_available(size).map_err(|error| error.for_member(self.member.name()))?;
        }
        self.cart.loads.push(cells);
        Ok(())
    }

    /// An error, or a diagnostic without `strict`.
    fn report_damage(&mut self, line: Line<'_>, what: &str, code: Code, sentence: &'static str) -> Result<()> {
        if self.strict {
            return Err(self.load_error(line, what).with_hint("; ", Argument::Strict, " reads the recoverable data"));
        }
        self.count(code, sentence);
        Ok(())
    }

    fn load_error(&self, line: Line<'_>, what: &str) -> Error {
        let load = self.cart.loads.len();
        self.member.fault(format!("load {load} (line {}): {what}", line.number)).with(|facts| {
            facts.record = u64::try_from(load).ok();
            facts.offset = u64::try_from(line.offset).ok();
        })
    }

    fn count(&mut self, code: Code, sentence: &'static str) {
        let load = u64::try_from(self.cart.loads.len()).unwrap_or(u64::MAX);
        let entry = self.tally.entry(code).or_insert((sentence, 0, load));
        entry.1 = entry.1.saturating_add(1);
    }

    fn report(&self, diagnostics: &mut Vec<Diagnostic>) {
        for (code, (sentence, count, first)) in &self.tally {
            let message = format!("{sentence} ({count} times)");
            let diagnostic = Diagnostic::new(*code, message).in_member(self.member.name());
            // These repairs occur before the first load.
            let is_of_load =
                !matches!(code, Code::NoUnits | Code::UnitsIgnored | Code::RepeatedKey | Code::RenamedColumn);
            diagnostics.push(if is_of_load { diagnostic.at_record(*first) } else { diagnostic });
        }
    }
}

/// The cells of a line, at most one more than [`MAX_CELLS`], and whether its quotes match. If they do not match, they
/// are ordinary characters, so that an open quote does not swallow the remaining loads.
pub(super) fn split(line: &str) -> (Vec<Cow<'_, str>>, bool) {
    split_quoted(line)
        .map_or_else(|| (line.split(',').take(MAX_CELLS + 1).map(Cow::from).collect(), false), |cells| (cells, true))
}

fn split_quoted(line: &str) -> Option<Vec<Cow<'_, str>>> {
    let mut cells = Vec::new();
    let mut rest = line;
    while cells.len() <= MAX_CELLS {
        let (cell, after) = if let Some(inside) = rest.trim_start_matches(' ').strip_prefix('"') {
            let (cell, after) = unquote(inside)?;
            (Cow::from(cell), after.trim_start_matches(' '))
        } else {
            let end = rest.find(',').unwrap_or(rest.len());
            let (cell, after) = rest.split_at_checked(end)?;
            (Cow::from(cell), after)
        };
        cells.push(cell);
        match after.strip_prefix(',') {
            Some(next) => rest = next,
            None if after.is_empty() => break,
            None => return None,
        }
    }
    Some(cells)
}

/// The text up to the closing quote, with doubled quotes unescaped, and the text after the quote.
fn unquote(inside: &str) -> Option<(String, &str)> {
    let mut cell = String::new();
    let mut rest = inside;
    loop {
        let (before, after) = rest.split_once('"')?;
        cell.push_str(before);
        match after.strip_prefix('"') {
            Some(next) => {
                cell.push('"');
                rest = next;
            }
            None => return Some((cell, after)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cells_are_split_at_commas_outside_of_quotes_only() {
        for (line, cells, fits) in [
            ("a,b,,", vec!["a", "b", "", ""], true),
            ("1,\"Bin 4, north\",\"say \"\"ah\"\"\"", vec!["1", "Bin 4, north", "say \"ah\""], true),
            ("1, \"x\" ,2", vec!["1", "x", "2"], true),
            ("12\" pipe,2", vec!["12\" pipe", "2"], true),
            ("1,\"open,2", vec!["1", "\"open", "2"], false),
            ("1,\"a\"b,2", vec!["1", "\"a\"b", "2"], false),
            ("", vec![""], true),
        ] {
            let (found, found_fits) = split(line);
            assert_eq!((found, found_fits), (cells.into_iter().map(Cow::from).collect(), fits), "{line}");
        }
        assert_eq!(split(&",".repeat(1 << 20)).0.len(), MAX_CELLS + 1);
    }

    #[test]
    fn grain_cart_is_recognised_by_its_start() {
        for text in ["GrcVersion,1.6,", "\u{feff}grcversion,1.6", "Grower,A,\n,Pounds\nLoadNumber,Weight\n"] {
            assert!(is_grc(text.as_bytes()), "{text}");
        }
        for other in ["", "PK", "{\"x\":\"LoadNumber,\"}", "<a>LoadNumber,</a>", "a,b,c"] {
            assert!(!is_grc(other.as_bytes()), "{other}");
        }
    }
}
