//! Derives geometries as GDAL reads them from ours and the raw .shp, to prove what a deviation changed.

use std::path::Path;

use headland::layer::Layer;

use crate::wkb::{Vertex, rewrite};

/// A smaller M means no data.
const NO_DATA: f64 = -1e38;

/// The deviations of shapes (corpus README, e and j).
const CODES: [&str; 4] = ["open-ring", "part-start", "missing-m", "no-data-m"];

/// One record of a .shp, parsed independently of the reader.
struct RawShape {
    starts: Vec<usize>,
    xy: Vec<[u64; 2]>,
    m: Option<Vec<f64>>,
}

/// Our geometries with every reported deviation undone, and a description of what was undone.
pub(crate) type Undone = (Vec<Option<Vec<u8>>>, String);

pub(crate) fn geometries(layer: &Layer, mine: &[Option<Vec<u8>>], shp: &Path) -> Result<Undone, String> {
    let notes: Vec<&str> =
        CODES.into_iter().filter(|code| layer.diagnostics().iter().any(|note| note.code.as_str() == *code)).collect();
    if notes.is_empty() {
        return Err("no diagnostic reports shapes".to_owned());
    }
    let raw = raw_shapes(&std::fs::read(shp).unwrap(), std::fs::read(shp.with_extension("shx")).ok());
    if raw.len() != mine.len() {
        return Err(format!("{} raw shapes for {} rows", raw.len(), mine.len()));
    }
    let mut theirs: Vec<Option<Vec<u8>>> = mine.to_vec();
    let mut words = Vec::new();
    for code in &notes {
        let mut changed = Vec::new();
        for (row, (wkb, raw)) in theirs.iter_mut().zip(&raw).enumerate() {
            let (Some(mine), Some(raw)) = (wkb.take(), raw) else { continue };
            let (met, undone) = match *code {
                "open-ring" => opened(&mine, raw),
                "part-start" => started(&mine, raw),
                "missing-m" => unmeasured(&mine, raw)?,
                _ => with_no_data(&mine, raw)?,
            };
            changed.extend(std::iter::repeat_n(row, met));
            *wkb = undone;
        }
        let Some(first) = changed.first() else { return Err(format!("`{code}` is reported without a change")) };
        let end = format!("({} times, first at record {first})", changed.len());
        let note = layer.diagnostics().iter().find(|note| note.code.as_str() == *code).unwrap();
        if !note.message.ends_with(&end) || note.record != Some(*first as u64) {
            return Err(format!("`{code}` is met {end}, but it says: {}", note.message));
        }
        words.push(format!("{code}: {} shapes", changed.len()));
    }
    Ok((theirs, words.join(", ")))
}

fn same(code: u32) -> u32 {
    code
}

/// GDAL leaves open rings open.
fn opened(mine: &[u8], raw: &RawShape) -> (usize, Option<Vec<u8>>) {
    let mut met = 0;
    let mut part = 0;
    let undone = rewrite(mine, same, &mut |is_ring, mut vertices| {
        let end = raw.starts.get(part + 1).copied().unwrap_or(raw.xy.len());
        let is_open = raw.xy[raw.starts[part]] != raw.xy[end - 1];
        part += 1;
        if is_ring && is_open {
            met += 1;
            vertices.pop();
        }
        vertices
    });
    (met, Some(undone))
}

/// GDAL skips the vertices before the first part, and gives no geometry where the second part starts there too.
fn started(mine: &[u8], raw: &RawShape) -> (usize, Option<Vec<u8>>) {
    let first = raw.starts[0];
    if first == 0 || raw.starts.get(1).is_some_and(|second| *second <= first) {
        return (usize::from(first > 0), (first == 0).then(|| mine.to_vec()));
    }
    let mut part = 0;
    let undone = rewrite(mine, same, &mut |_, vertices| {
        part += 1;
        if part == 1 { vertices[first..].to_vec() } else { vertices }
    });
    (1, Some(undone))
}

/// GDAL drops every M of a layer whose first shape has none.
fn unmeasured(mine: &[u8], raw: &RawShape) -> Result<(usize, Option<Vec<u8>>), String> {
    let measured = raw.m.as_ref().is_some_and(|m| m.iter().any(|value| *value > NO_DATA));
    check_m(mine, raw)?;
    let undone = rewrite(mine, |code| code - 2000, &mut |_, mut vertices| {
        for vertex in &mut vertices {
            vertex.truncate(vertex.len() - 1);
        }
        vertices
    });
    Ok((usize::from(!measured), Some(undone)))
}

/// GDAL keeps an M that means no data.
fn with_no_data(mine: &[u8], raw: &RawShape) -> Result<(usize, Option<Vec<u8>>), String> {
    check_m(mine, raw)?;
    let m = raw.m.as_deref().unwrap_or_default();
    let mut at = 0;
    let undone = rewrite(mine, same, &mut |_, mut vertices| {
        for vertex in &mut vertices {
            *vertex.last_mut().unwrap() = m[at].to_bits();
            at += 1;
        }
        vertices
    });
    Ok((usize::from(m.iter().any(|value| *value < NO_DATA)), Some(undone)))
}

/// Checks that every vertex is unchanged and has the M of the file, or NaN where that means no data.
fn check_m(mine: &[u8], raw: &RawShape) -> Result<(), String> {
    let mut found: Vec<Vertex> = Vec::new();
    rewrite(mine, same, &mut |_, vertices| {
        found.extend(vertices.iter().cloned());
        vertices
    });
    for (at, (vertex, xy)) in found.iter().zip(&raw.xy).enumerate() {
        let m = f64::from_bits(*vertex.last().unwrap());
        let wanted = raw.m.as_ref().map(|m| m[at]).filter(|m| *m >= NO_DATA);
        if vertex[..2] != xy[..] || wanted.map_or(!m.is_nan(), |wanted| wanted.to_bits() != m.to_bits()) {
            return Err(format!("vertex {at} has M {m}, the file {wanted:?}"));
        }
    }
    if found.len() == raw.xy.len() { Ok(()) } else { Err("a vertex is missing".to_owned()) }
}

/// The shapes of a .shp in the order of its index, or of the file; `None` for null.
fn raw_shapes(bytes: &[u8], index: Option<Vec<u8>>) -> Vec<Option<RawShape>> {
    let word = |bytes: &[u8], at: usize| 2 * u32::from_be_bytes(bytes[at..at + 4].try_into().unwrap()) as usize;
    let mut shapes = Vec::new();
    if let Some(index) = index {
        for entry in index[100..].chunks_exact(8) {
            let at = word(entry, 0);
            shapes.push(raw_shape(&bytes[at + 8..at + 8 + word(bytes, at + 4)]));
        }
        return shapes;
    }
    let mut at = 100;
    while at + 8 < bytes.len() {
        let size = word(bytes, at + 4);
        shapes.push(raw_shape(&bytes[at + 8..at + 8 + size]));
        at += 8 + size;
    }
    shapes
}

fn raw_shape(bytes: &[u8]) -> Option<RawShape> {
    let int = |at: usize| usize::try_from(i32::from_le_bytes(bytes[at..at + 4].try_into().unwrap())).unwrap();
    let bits = |at: usize| u64::from_le_bytes(bytes[at..at + 8].try_into().unwrap());
    let float = |at: usize| f64::from_bits(bits(at));
    let kind = int(0);
    let has_z = (11..20).contains(&kind);
    match kind {
        0 => None,
        1 | 11 | 21 => {
            let m = 20 + if has_z { 8 } else { 0 };
            let m = (bytes.len() >= m + 8).then(|| vec![float(m)]);
            Some(RawShape { starts: vec![0], xy: vec![[bits(4), bits(12)]], m })
        }
        _ => {
            let parts = if kind % 10 == 8 { 0 } else { int(36) };
            let count = int(if kind % 10 == 8 { 36 } else { 40 });
            let head = if kind % 10 == 8 { 40 } else { 44 };
            let xy = head + 4 * parts;
            let m = xy + 16 * count + if has_z { 16 + 8 * count } else { 0 } + 16;
            Some(RawShape {
                starts: (0..parts).map(|part| int(head + 4 * part)).collect(),
                xy: (0..count).map(|point| [bits(xy + 16 * point), bits(xy + 16 * point + 8)]).collect(),
                m: (kind > 10 && bytes.len() >= m + 8 * count)
                    .then(|| (0..count).map(|at| float(m + 8 * at)).collect()),
            })
        }
    }
}
