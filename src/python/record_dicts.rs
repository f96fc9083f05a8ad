//! Decodes the records of a page directly into dicts.

use std::ops::Range;

use pyo3::prelude::*;
use pyo3::types::{PyDict, PyList, PyString};

use super::{bridge, values};
use crate::api::{Index, Shape};
use crate::client::Records;
use crate::error::{Error, Kind, Result};
use crate::wire::{Cell, Content, Page, Sink, decode_flat, decode_index};

/// Dicts, each with its identity.
#[derive(Default)]
pub(super) struct RecordDicts {
    /// Each dict with the range of its identity in `identities`.
    records: Vec<(Range<usize>, Py<PyDict>)>,
    identities: String,
}

impl Records for RecordDicts {
    fn count(&self) -> usize {
        self.records.len()
    }

    fn from_page(page: Page, _: &'static Index) -> Result<Page<Self>> {
        let made = bridge::try_attach(|py| {
            let mut dicts = Self::default();
            for item in &page.items {
                let record = values::to_python(py, item)?.cast_into::<PyDict>()?.unbind();
                dicts.push(&item.identity(), record);
            }
            PyResult::Ok(dicts)
        });
        let broken = |why: String| Error::new(Kind::Decode, format!("cannot convert the records to dicts: {why}"));
        let dicts = made.ok_or_else(|| broken("the interpreter is shutting down".to_owned()))?;
        let items = dicts.map_err(|error| broken(error.to_string()))?;
        Ok(page.with_items(items))
    }

    fn retain(&mut self, mut keep: impl FnMut(&str) -> bool) {
        self.records.retain(|(range, _)| self.identities.get(range.clone()).is_some_and(&mut keep));
    }
}

impl RecordDicts {
    /// Decodes one page of a list: flat JSON records cell by cell, all others through values.
    pub(super) fn decode(content: Content, body: &[u8], index: &'static Index) -> Result<Page<Self>> {
        let flat = bridge::try_attach(|py| {
            let mut rows = FlatRowSink::new(py, index.item);
            let page = decode_flat(content, body, index, &mut rows)?;
            Some(page.with_items(rows.finished))
        });
        if let Some(page) = flat.flatten() {
            return Ok(page);
        }
        Self::from_page(decode_index(content, body, index)?, index)
    }

    fn push(&mut self, identity: &str, record: Py<PyDict>) {
        let start = self.identities.len();
        self.identities.push_str(identity);
        self.records.push((start..self.identities.len(), record));
    }

    /// Returns the dicts as a list.
    pub(super) fn into_list(self, py: Python<'_>) -> PyResult<Bound<'_, PyList>> {
        PyList::new(py, self.records.into_iter().map(|(_, record)| record))
    }
}

/// Builds dicts of flat records that all have the fields of the first.
///
/// Each dict is a copy of a template with interned keys, so only the values have to be set.
struct FlatRowSink<'py> {
    py: Python<'py>,
    shape: &'static Shape,
    columns: Vec<Column<'py>>,
    /// A dict with every key, made after the first record.
    template: Option<Bound<'py, PyDict>>,
    record: Bound<'py, PyDict>,
    /// Cells of the current record so far.
    cells: usize,
    identity: String,
    finished: RecordDicts,
}

struct Column<'py> {
    /// Index of the field in the shape.
    field_index: usize,
    key: Bound<'py, PyString>,
    is_id: bool,
    /// The last text and its object, which is reused for an equal text.
    last: Option<(String, Bound<'py, PyAny>)>,
    /// Consecutive texts that differ from the last one.
    misses: usize,
}

/// Misses after which a column is no longer compared.
const MAX_MISSES: usize = 8;

impl<'py> Column<'py> {
    fn object(&mut self, py: Python<'py>, text: &str, is_time: bool) -> PyResult<Bound<'py, PyAny>> {
        if let Some((_, object)) = self.last.as_ref().filter(|(last, _)| last == text) {
            self.misses = 0;
            return Ok(object.clone());
        }
        let object = if is_time { values::parse_time(py, text)? } else { PyString::new(py, text).into_any() };
        self.misses = self.misses.saturating_add(1);
        self.last = (self.misses < MAX_MISSES).then(|| (text.to_owned(), object.clone()));
        Ok(object)
    }
}

impl<'py> FlatRowSink<'py> {
    fn new(py: Python<'py>, shape: &'static Shape) -> Self {
        Self {
            py,
            shape,
            columns: Vec::with_capacity(shape.fields.len()),
            template: None,
            record: PyDict::new(py),
            cells: 0,
            identity: String::new(),
            finished: RecordDicts::default(),
        }
    }

    fn set_cell(&mut self, at: usize, cell: Cell<'_>) -> PyResult<bool> {
        let py = self.py;
        if self.template.is_none() {
            let Some(field) = self.shape.fields.get(at) else { return Ok(false) };
            let key = PyString::intern(py, field.snake);
            self.columns.push(Column { field_index: at, key, is_id: field.snake == "id", last: None, misses: 0 });
        }
        let Some(column) = self.columns.get_mut(self.cells).filter(|column| column.field_index == at) else {
            return Ok(false);
        };
        self.cells = self.cells.saturating_add(1);
        match cell {
            Cell::Null if self.template.is_some() => {}
            Cell::Null => self.record.set_item(&column.key, py.None())?,
            Cell::Boolean(truth) => self.record.set_item(&column.key, truth)?,
            Cell::Integer(number) => self.record.set_item(&column.key, number)?,
            Cell::Decimal(number) => self.record.set_item(&column.key, number)?,
            Cell::Text(text) | Cell::Time(text, _) => {
                let object = column.object(py, text, matches!(cell, Cell::Time(..)))?;
                self.record.set_item(&column.key, object)?;
                if column.is_id {
                    self.identity.push_str(text);
                }
            }
        }
        Ok(true)
    }

    fn finish_record(&mut self) -> PyResult<bool> {
        if self.identity.is_empty() || self.cells != self.columns.len() {
            return Ok(false);
        }
        let template = if let Some(template) = self.template.take() {
            template
        } else {
            let template = PyDict::new(self.py);
            for column in &self.columns {
                template.set_item(&column.key, self.py.None())?;
            }
            template
        };
        let record = std::mem::replace(&mut self.record, template.copy()?);
        self.template = Some(template);
        self.cells = 0;
        self.finished.push(&self.identity, record.unbind());
        self.identity.clear();
        Ok(true)
    }
}

impl Sink for FlatRowSink<'_> {
    fn cell(&mut self, at: usize, cell: Cell<'_>) -> bool {
        // A failure here also fails in the general decoder, which reports it.
        self.set_cell(at, cell).unwrap_or(false)
    }

    fn end(&mut self) -> bool {
        self.finish_record().unwrap_or(false)
    }
}
