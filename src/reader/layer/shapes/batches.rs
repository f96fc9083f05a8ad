//! Returns geometries as Arrow arrays, in one piece or in batches, without deleted rows.

use std::collections::BTreeSet;
use std::sync::Arc;

use arrow_array::{ArrayRef, LargeBinaryArray};
use arrow_buffer::{NullBufferBuilder, OffsetBuffer, ScalarBuffer};
use arrow_schema::ArrowError;

use super::wkb_builder::WkbBuilder;
use crate::archive::with_capacity;

impl WkbBuilder {
    /// Removes the geometries of deleted rows in place.
    fn drop_deleted(&mut self, deleted: &BTreeSet<u64>) {
        if deleted.range(self.records_taken..self.records_taken.saturating_add(self.len())).next().is_none() {
            return;
        }
        self.nulls = NullBufferBuilder::new(0);
        let (mut kept, mut start, mut end) = (0, 0, 0);
        for (number, index) in (self.records_taken..).zip(1..self.ends.len()) {
            let stop = self.ends.get(index).and_then(|stop| usize::try_from(*stop).ok()).unwrap_or(start);
            if !deleted.contains(&number) {
                if start == stop {
                    self.nulls.append_null();
                } else {
                    self.nulls.append_non_null();
                }
                self.data.copy_within(start..stop, end);
                end += stop - start;
                kept += 1;
                if let Some(kept) = self.ends.get_mut(kept) {
                    *kept = i64::try_from(end).unwrap_or(i64::MAX);
                }
            }
            start = stop;
        }
        self.ends.truncate(kept + 1);
        self.data.truncate(end);
    }

    /// Returns the geometries so far as an array without copying. `deleted` holds record numbers of the file. The
    /// builder is then empty, with the same capacity unless `is_last`. Issue counts are kept.
    pub(super) fn take(&mut self, deleted: &BTreeSet<u64>, is_last: bool) -> Result<ArrayRef, ArrowError> {
        let records = self.len();
        self.drop_deleted(deleted);
        self.records_taken = self.records_taken.saturating_add(records);
        let (bytes, ends) = if is_last { (0, 0) } else { (self.data.len(), self.ends.len()) };
        let count = self.ends.len().saturating_sub(1);
        let mut nulls = std::mem::replace(&mut self.nulls, NullBufferBuilder::new(0));
        nulls.append_n_non_nulls(count.saturating_sub(nulls.len()));
        let data = std::mem::replace(&mut self.data, with_capacity(bytes));
        let mut next = with_capacity(ends);
        next.push(0);
        let ends = std::mem::replace(&mut self.ends, next);
        let offsets = OffsetBuffer::new(ScalarBuffer::from(ends));
        Ok(Arc::new(LargeBinaryArray::try_new(offsets, data.into(), nulls.finish())?))
    }
}
