//! SQL function `crc32` over column values, for the indexes that detect damaged records.

use crc32fast::Hasher;
use rusqlite::Connection;
use rusqlite::functions::{Context, FunctionFlags};
use rusqlite::types::ValueRef;

/// Adds the function to a connection. Each connection that writes or checks an index on it needs it.
pub(super) fn add_function(connection: &Connection) -> rusqlite::Result<()> {
    let flags = FunctionFlags::SQLITE_UTF8 | FunctionFlags::SQLITE_DETERMINISTIC | FunctionFlags::SQLITE_INNOCUOUS;
    connection.create_scalar_function("crc32", -1, flags, |call| Ok(crc32(call)))
}

/// CRC-32 over the presence, length and bytes of each value.
fn crc32(call: &Context<'_>) -> u32 {
    let mut hasher = Hasher::new();
    for index in 0..call.len() {
        let (is_present, bytes): (bool, &[u8]) = match call.get_raw(index) {
            ValueRef::Text(bytes) | ValueRef::Blob(bytes) => (true, bytes),
            _ => (false, &[]),
        };
        hasher.update(&[u8::from(is_present)]);
        hasher.update(&(bytes.len() as u64).to_le_bytes());
        hasher.update(bytes);
    }
    hasher.finalize()
}
