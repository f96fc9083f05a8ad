//! Reads the records of an FMIS folder into a layer: one row per step of the machine and section with values.
//!
//! Cells about the whole machine are repeated in each section row. `SECTION` is the section number. Each quantity is a
//! column with the unit and the ISO 11783-11 number (DDI) of `advanced.xml`. The rows equal those of the shapefile of
//! the same job; points are positions of the middle of the machine (field notes, Job data archives).

pub(super) mod columns;
mod lines;
mod rows;

use std::collections::{HashMap, HashSet};

use self::lines::LineReader;
use self::rows::RowBuilder;
use crate::archive::{Code, Diagnostic, Element, Fmis, Layout, ReadOptions};
use crate::layer::Layer;
use headland_base::error::{Kind, Result};

/// The size limit of `jobdata.xml` in bytes; it holds no records.
const MAX_JOB_SIZE: u64 = 8 << 20;

/// Reads a product of an FMIS folder into a layer.
pub(super) fn read(
    name: String,
    source: String,
    fmis: &Fmis,
    options: &ReadOptions,
    mut diagnostics: Vec<Diagnostic>,
) -> Result<Layer> {
    let layout = Layout::read(fmis, &mut diagnostics)?;
    let lines = LineReader::open(&fmis.tab);
    if lines.as_ref().is_ok_and(LineReader::lacks_mark) {
        let message = "the table has no byte order mark, but was read as UTF-16 because it contains NULs";
        diagnostics.push(Diagnostic::new(Code::NoByteOrderMark, message).in_member(fmis.tab.name()));
    }
    // An encoding found in the table takes precedence over the requested one.
    let encoding = if lines.as_ref().is_ok_and(LineReader::is_utf_16) { None } else { options.encoding.clone() };
    let mut rows = RowBuilder::new(layout, &ReadOptions { encoding, ..options.clone() })?;
    let read = lines.and_then(|lines| lines.for_each(|record, line| rows.add_line(record, line)));
    match read {
        Err(error) if !options.strict && error.kind() == Kind::Archive && !error.lacks_memory() => {
            let message = format!("only the first {} records could be read: {error}", rows.records());
            diagnostics
                .push(Diagnostic::new(Code::FmisDamaged, message).in_member(fmis.tab.name()).at_record(rows.records()));
        }
        Ok(false) => rows.mark_missing_line_end(),
        done => drop(done?),
    }
    rows.report(fmis, &mut diagnostics);
    let metadata = read_job(fmis, &mut diagnostics);
    rows.finish(name, source, metadata, diagnostics)
}

/// The flat fields of the job in file order; repeated names are numbered. Damage is a diagnostic and no error, since
/// the records do not depend on it.
fn read_job(fmis: &Fmis, diagnostics: &mut Vec<Diagnostic>) -> Vec<(String, String)> {
    let Some(job) = &fmis.job else {
        let message = "there is no jobdata.xml, so the description of the job is missing";
        diagnostics.push(Diagnostic::new(Code::NoJobdata, message).in_member(fmis.tab.name()));
        return Vec::new();
    };
    let root = match Element::read(job, MAX_JOB_SIZE) {
        Ok(root) => root,
        Err(error) => {
            let message = format!("the description of the job could not be read and is missing: {error}");
            diagnostics.push(Diagnostic::new(Code::SidecarLost, message).in_member(job.name()));
            return Vec::new();
        }
    };
    let own: HashSet<&str> = root.children().iter().map(Element::name).collect();
    let mut fields: Vec<(String, String)> = Vec::new();
    let mut counts: HashMap<&str, u32> = HashMap::new();
    for child in root.children().iter().filter(|child| child.children().is_empty()) {
        let count = counts.entry(child.name()).or_default();
        *count = count.saturating_add(1);
        let mut name = child.name().to_owned();
        while *count > 1 {
            name = format!("{}_{count}", child.name());
            // A numbered name may already be in use.
            if !own.contains(&*name) {
                break;
            }
            *count = count.saturating_add(1);
        }
        fields.push((name, child.text().to_owned()));
    }
    fields
}
