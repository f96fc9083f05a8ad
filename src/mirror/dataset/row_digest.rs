//! Digest of a layer's rows as stored in its archive; later proves that a part still matches the archive.
//!
//! SHA-256 over the columns in order. Each column contributes its name, a zero byte, its type, a zero byte, one
//! validity byte per row, and its values. Null values are zeros, or empty for texts and bytes. Numbers are
//! little-endian. Texts and bytes are all their lengths as eight bytes each, then their contents.
//!
//! Coordinates are those of the archive: transformed ones may be rounded differently on other machines.

use arrow_array::cast::AsArray;
use arrow_array::{Array, ArrayRef};
use arrow_schema::DataType;
use sha2::{Digest as _, Sha256};

use headland_base::hex::hex;
use headland_reader::layer::Layer;

/// Bytes collected before hashing.
const BUFFER_SIZE: usize = 64 * 1024;

/// Digest of the rows, as 64 hexadecimal digits.
pub(super) fn digest_rows(layer: &Layer) -> String {
    let mut digest = RowDigest { hash: Sha256::new(), bytes: Vec::with_capacity(BUFFER_SIZE) };
    for (index, field) in layer.schema().fields().iter().enumerate() {
        digest.add(field.name().as_bytes());
        digest.add(&[0]);
        digest.add(field.data_type().to_string().as_bytes());
        digest.add(&[0]);
        let arrays: Vec<&ArrayRef> = layer.batches().iter().filter_map(|batch| batch.columns().get(index)).collect();
        for array in &arrays {
            (0..array.len()).for_each(|row| digest.add(&[u8::from(array.is_valid(row))]));
        }
        if matches!(field.data_type(), DataType::LargeUtf8 | DataType::LargeBinary) {
            for array in &arrays {
                texts(array, &mut |value| digest.add(&(value.len() as u64).to_le_bytes()));
            }
            for array in &arrays {
                texts(array, &mut |value| digest.add(value));
            }
        } else {
            for array in &arrays {
                numbers(array, &mut digest);
            }
        }
    }
    digest.hash.update(&digest.bytes);
    hex(&digest.hash.finalize())
}

struct RowDigest {
    hash: Sha256,
    bytes: Vec<u8>,
}

impl RowDigest {
    #[inline]
    fn add(&mut self, bytes: &[u8]) {
        if self.bytes.len().saturating_add(bytes.len()) > BUFFER_SIZE {
            self.hash.update(&self.bytes);
            self.bytes.clear();
        }
        if bytes.len() > BUFFER_SIZE {
            self.hash.update(bytes);
        } else {
            self.bytes.extend_from_slice(bytes);
        }
    }
}

/// Visits each text or byte string, empty for null.
fn texts(array: &ArrayRef, each: &mut dyn FnMut(&[u8])) {
    let value = |row: usize| match array.data_type() {
        DataType::LargeUtf8 => array.as_string::<i64>().value(row).as_bytes(),
        _ => array.as_binary::<i64>().value(row),
    };
    (0..array.len()).for_each(|row| each(if array.is_valid(row) { value(row) } else { &[] }));
}

/// Adds each number, zeros for null. Layers have only numbers of fixed width, logicals, texts and bytes.
fn numbers(array: &ArrayRef, digest: &mut RowDigest) {
    if let Some(values) = array.as_boolean_opt() {
        (0..array.len()).for_each(|row| digest.add(&[u8::from(array.is_valid(row) && values.value(row))]));
        return;
    }
    let width = array.data_type().primitive_width().unwrap_or(1);
    let data = array.to_data();
    let start = data.offset().saturating_mul(width);
    let end = start.saturating_add(array.len().saturating_mul(width));
    let bytes = data.buffers().first().and_then(|buffer| buffer.get(start..end)).unwrap_or_default();
    if array.null_count() == 0 {
        digest.add(bytes);
        return;
    }
    let nothing = [0; 16];
    for (row, value) in bytes.chunks_exact(width).enumerate() {
        digest.add(if array.is_valid(row) { value } else { nothing.get(..width).unwrap_or_default() });
    }
}
