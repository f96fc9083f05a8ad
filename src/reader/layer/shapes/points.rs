//! Converts runs of point records, the most common layer, without a call per record.

use super::ordinates::are_valid_coordinates;
use super::wkb_builder::{Dimensions, POINT_RECORD, WkbBuilder};
use crate::archive::{AllocError, Code, ShapeHeader, ShapeType, try_reserve};

/// The bytes of a point record between its number and its coordinates: content length in words, and type.
const PLAIN_POINT: [u8; 8] = [0, 0, 0, 10, 1, 0, 0, 0];
/// The size in bytes of a WKB point.
const POINT_SIZE: usize = 21;

impl WkbBuilder {
    /// Appends consecutive plain point records with their headers: ten words of a point with X and Y. Returns the
    /// number appended; the record after them is for `push`.
    pub(super) fn push_points(&mut self, header: ShapeHeader, first: u64, bytes: &[u8]) -> Result<usize, AllocError> {
        // If the header declares Z, M or another type, a plain point is an issue.
        if header.shape_type != Some(ShapeType::Point) || header.has_z || self.declares_m {
            return Ok(0);
        }
        let (records, _) = bytes.as_chunks::<POINT_RECORD>();
        let is_plain = |record: &[u8; POINT_RECORD]| record.get(4..12) == Some(PLAIN_POINT.as_slice());
        let count = records.iter().position(|record| !is_plain(record)).unwrap_or(records.len());
        let records = records.get(..count).unwrap_or_default();
        if records.is_empty() {
            return Ok(0);
        }
        try_reserve(&mut self.ends, count)?;
        try_reserve(&mut self.data, count * POINT_SIZE)?;
        let dimensions = Dimensions { z: false, m: false };
        self.types.insert(dimensions.code(1));
        let start = self.data.len();
        self.data.resize(start + count * POINT_SIZE, 0);
        let (points, _) = self.data.get_mut(start..).unwrap_or_default().as_chunks_mut::<POINT_SIZE>();
        let mut all_valid = true;
        for (point, record) in points.iter_mut().zip(records) {
            let (head, xy) = point.split_at_mut(5);
            let xy_bytes = record.get(12..).unwrap_or_default();
            head.copy_from_slice(&[1, 1, 0, 0, 0]);
            xy.copy_from_slice(xy_bytes);
            all_valid &= are_valid_coordinates(xy_bytes);
        }
        if !all_valid {
            for (number, record) in (first..).zip(records) {
                if !are_valid_coordinates(record.get(12..).unwrap_or_default()) {
                    self.issues.add(Code::NoDataCoordinate, number);
                }
            }
        }
        let end = |index: usize| i64::try_from(start + index * POINT_SIZE).unwrap_or(i64::MAX);
        self.ends.extend((1..=count).map(end));
        Ok(count)
    }
}
