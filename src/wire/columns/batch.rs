//! Decodes one page of a list to Arrow columns.

use arrow_array::cast::AsArray;
use arrow_array::{Array, RecordBatch, StringArray};
use serde_json::Map;

use super::{Columns, to_batch};
use crate::api::{Index, Shape};
use crate::error::Result;
use crate::wire::decode::{decode_flat, decode_index};
use crate::wire::json_flat::{Cell, Sink};
use crate::wire::reply::{Content, Page};
use crate::wire::value::Value;

/// The initial capacity in records: the default page size.
const DEFAULT_ROWS: usize = 1_000;

/// The records of a page as columns, in several parts if records between them were removed.
#[derive(Clone, Debug)]
pub struct Batch {
    parts: Vec<RecordBatch>,
    /// The position of the ids among the columns.
    id: Option<usize>,
    /// The row and the identity of each record without an id.
    nameless: Vec<(usize, String)>,
}

/// Decodes one page of a list to columns.
///
/// Regular JSON of flat records is streamed. Other pages are decoded to values first, so tolerance and errors are the same.
pub fn decode_batch(content: Content, body: &[u8], index: &'static Index) -> Result<Page<Batch>> {
    let mut rows = Rows { columns: Columns::new(index.item, DEFAULT_ROWS), id: id_position(index.item), has_id: false };
    if let Some(page) = decode_flat(content, body, index, &mut rows) {
        let parts = vec![rows.columns.into_batch()?];
        return Ok(page.with_items(Batch { parts, id: rows.id, nameless: Vec::new() }));
    }
    Batch::from_page(&decode_index(content, body, index)?, index)
}

/// Appends flat records to columns. Each record must have an id.
struct Rows {
    columns: Columns,
    id: Option<usize>,
    /// Whether the current record has an id.
    has_id: bool,
}

impl Sink for Rows {
    fn cell(&mut self, at: usize, cell: Cell<'_>) -> bool {
        self.has_id |= Some(at) == self.id && cell != Cell::Null;
        self.columns.push_cell(at, cell)
    }

    fn end(&mut self) -> bool {
        std::mem::take(&mut self.has_id) && self.columns.end(Map::new()).is_ok()
    }
}

impl Batch {
    /// Converts a page of values to columns.
    pub fn from_page(page: &Page, index: &'static Index) -> Result<Page<Self>> {
        let parts = vec![to_batch(index.item, &page.items)?];
        let is_nameless = |item: &Value| item.get("id").and_then(Value::as_text).is_none();
        let nameless = page
            .items
            .iter()
            .enumerate()
            .filter(|(_, item)| is_nameless(item))
            .map(|(row, item)| (row, item.identity().into_owned()))
            .collect();
        Ok(page.with_items(Self { parts, id: id_position(index.item), nameless }))
    }

    /// The number of records.
    #[must_use]
    pub fn count(&self) -> usize {
        self.parts.iter().map(RecordBatch::num_rows).sum()
    }

    /// Removes the records for which `keep` returns false. It is called once per record with the identity.
    pub fn retain(&mut self, mut keep: impl FnMut(&str) -> bool) {
        let mut kept = Vec::with_capacity(self.parts.len());
        for part in &self.parts {
            let ids = self.id.and_then(|at| part.columns().get(at)).and_then(|column| column.as_string_opt::<i32>());
            let mut nameless = self.nameless.iter();
            let mut start = 0;
            for row in 0..part.num_rows() {
                let is_kept = match id_at(ids, row) {
                    Some(id) => keep(id),
                    None => nameless.find(|(at, _)| *at == row).is_none_or(|(_, whole)| keep(whole)),
                };
                if !is_kept {
                    kept.push(part.slice(start, row.saturating_sub(start)));
                    start = row.saturating_add(1);
                }
            }
            kept.push(part.slice(start, part.num_rows().saturating_sub(start)));
        }
        kept.retain(|part| part.num_rows() > 0);
        self.parts = kept;
        self.nameless.clear();
    }

    /// Returns the parts.
    #[must_use]
    pub fn into_parts(self) -> Vec<RecordBatch> {
        self.parts
    }
}

fn id_position(shape: &Shape) -> Option<usize> {
    shape.fields.iter().position(|field| field.snake == "id")
}

fn id_at(ids: Option<&StringArray>, row: usize) -> Option<&str> {
    ids.filter(|ids| ids.is_valid(row)).map(|ids| ids.value(row))
}
