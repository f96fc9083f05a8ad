//! First pass over a .dbf that finds integer columns with decimals.

use arrow_schema::DataType;

use super::attributes::{TableReader, TypeMode};
use super::columns::ColumnType;
use super::paired_reader::threads;
use crate::archive::{Code, Diagnostic, LayerFiles, ReadOptions};
use headland_base::error::{Error, Kind, Result};

/// The number of records decoded at a time.
const CHUNK: u64 = 65_536;

/// The integer columns that must be floats, by index among the requested columns.
///
/// Damage is left to the pass that reads the rows and reports it with its record.
pub(super) fn scan_types(
    set: &LayerFiles,
    options: &ReadOptions,
    diagnostics: &mut Vec<Diagnostic>,
) -> Result<Vec<(usize, ColumnType)>> {
    let Some(dbf) = &set.dbf else { return Ok(Vec::new()) };
    let opened = TableReader::open(dbf, set.cpg.as_ref(), set.shp.is_some(), options, TypeMode::FromCells);
    let Ok(mut table) = opened else { return Ok(Vec::new()) };
    let indices = table.retain_integers();
    if indices.is_empty() {
        return Ok(Vec::new());
    }
    if threads(options) > 1 {
        table.offload();
    }
    loop {
        match table.step(table.records().saturating_add(CHUNK)) {
            Ok(true) => {}
            Err(error) if error.lacks_memory() => return Err(error),
            _ => break,
        }
        table.take(false).map_err(|cause| Error::new(Kind::Archive, cause.to_string()))?;
    }
    let mut found = Vec::new();
    table.report(&mut found);
    diagnostics.extend(found.into_iter().filter(|diagnostic| diagnostic.code == Code::IntegerWithDecimals));
    let fields = indices.into_iter().zip(table.fields());
    let floats = fields.filter(|(_, field)| field.data_type() == &DataType::Float64);
    Ok(floats.map(|(index, _)| (index, ColumnType::Float64)).collect())
}
