//! Geometries as GeoParquet 1.1 allows them: without M, and with surfaces of triangles as polygons.

use std::sync::Arc;

use arrow_array::builder::LargeBinaryBuilder;
use arrow_array::{Array, ArrayRef, LargeBinaryArray};

use crate::layer::wkb::{Cursor, GeometryHeader};
use headland_base::error::{Error, Kind, Result};

/// Nesting limit, which bounds the recursion.
const MAX_DEPTH: usize = 8;

/// The type code that a geometry has in a file: without M, and a surface or a triangle as polygons.
pub(super) fn plain_code(code: u32) -> u32 {
    let base = match code % 1000 {
        16 => 6,
        17 => 3,
        other => other,
    };
    base + 1000 * ((code / 1000) % 2)
}

/// The column with plain geometries; unchanged if all are.
pub(super) fn plain_geometries(array: &ArrayRef) -> Result<ArrayRef> {
    let Some(column) = array.as_any().downcast_ref::<LargeBinaryArray>() else { return Ok(Arc::clone(array)) };
    let code = |wkb: &[u8]| wkb.get(1..5)?.try_into().ok().map(u32::from_le_bytes);
    if column.iter().flatten().filter_map(code).all(|code| plain_code(code) == code) {
        return Ok(Arc::clone(array));
    }
    let mut plain = LargeBinaryBuilder::with_capacity(column.len(), column.value_data().len());
    let mut buffer = Vec::new();
    for wkb in column {
        let Some(wkb) = wkb else {
            plain.append_null();
            continue;
        };
        buffer.clear();
        append_plain(&mut Cursor::new(wkb), &mut buffer, MAX_DEPTH)?;
        plain.append_value(&buffer);
    }
    Ok(Arc::new(plain.finish()))
}

fn append_plain(cursor: &mut Cursor<'_>, out: &mut Vec<u8>, depth: usize) -> Result<()> {
    let header = cursor.read_header()?;
    let code = plain_code(header.base_type + if header.has_z { 1000 } else { 0 });
    out.push(1);
    out.extend(code.to_le_bytes());
    if header.base_type != 1 {
        push_count(header.count, out)?;
    }
    match header.base_type {
        1 | 2 => append_run(cursor, &header, header.count, out)?,
        3 | 17 => {
            for _ in 0..header.count {
                let count = cursor.read_count()?;
                push_count(count, out)?;
                append_run(cursor, &header, count, out)?;
            }
        }
        _ => {
            let depth = depth.checked_sub(1).ok_or_else(too_large)?;
            for _ in 0..header.count {
                append_plain(cursor, out, depth)?;
            }
        }
    }
    Ok(())
}

/// X, Y and Z of a run of vertices; M is the last ordinate.
fn append_run(cursor: &mut Cursor<'_>, header: &GeometryHeader, count: usize, out: &mut Vec<u8>) -> Result<()> {
    let kept = if header.has_z { 24 } else { 16 };
    for vertex in cursor.read_run(count, header.stride)?.chunks_exact(header.stride) {
        out.extend(vertex.iter().take(kept));
    }
    Ok(())
}

fn push_count(count: usize, out: &mut Vec<u8>) -> Result<()> {
    out.extend(u32::try_from(count).map_err(|_| too_large())?.to_le_bytes());
    Ok(())
}

fn too_large() -> Error {
    Error::new(Kind::Archive, "a geometry is not well-formed")
}
