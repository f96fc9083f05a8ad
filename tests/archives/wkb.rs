//! Splits and rebuilds well-known binary (ISO), and summarises it as the corpus does.

use std::collections::BTreeMap;

use serde_json::Value;
use sha2::{Digest, Sha256};

use crate::canonical_text::{exact_sum, hex};

/// A vertex as the bits of X, Y and, where there are, Z and M.
pub(crate) type Vertex = Vec<u64>;

/// Edits a run of vertices; the flag says whether it is a ring.
pub(crate) type Edit<'a> = &'a mut dyn FnMut(bool, Vec<Vertex>) -> Vec<Vertex>;

/// The same geometry with each run of vertices edited; `code` changes the codes of all parts.
pub(crate) fn rewrite(wkb: &[u8], code: fn(u32) -> u32, edit: Edit<'_>) -> Vec<u8> {
    let mut out = Vec::new();
    let rest = part(wkb, code, edit, &mut out);
    assert!(rest.is_empty(), "{} bytes after the geometry", rest.len());
    out
}

fn number(bytes: &[u8]) -> (u32, &[u8]) {
    (u32::from_le_bytes(bytes[..4].try_into().unwrap()), &bytes[4..])
}

fn part<'a>(wkb: &'a [u8], code: fn(u32) -> u32, edit: Edit<'_>, out: &mut Vec<u8>) -> &'a [u8] {
    assert_eq!(wkb[0], 1, "little endian");
    let (kind, mut rest) = number(&wkb[1..]);
    out.push(1);
    out.extend(code(kind).to_le_bytes());
    let dimensions = [2, 3, 3, 4][kind as usize / 1000];
    let mut run = |rest: &mut &'a [u8], count: usize, is_ring: bool, counted: bool, out: &mut Vec<u8>| {
        let (bytes, after) = rest.split_at(count * dimensions * 8);
        *rest = after;
        let bits = |bytes: &[u8]| u64::from_le_bytes(bytes.try_into().unwrap());
        let vertices = bytes.chunks_exact(dimensions * 8).map(|vertex| vertex.chunks_exact(8).map(bits).collect());
        let vertices = edit(is_ring, vertices.collect());
        if counted {
            out.extend(u32::try_from(vertices.len()).unwrap().to_le_bytes());
        }
        out.extend(vertices.iter().flatten().flat_map(|bits| bits.to_le_bytes()));
    };
    if kind % 1000 == 1 {
        run(&mut rest, 1, false, false, out);
        return rest;
    }
    let (count, after) = number(rest);
    rest = after;
    match kind % 1000 {
        2 => run(&mut rest, count as usize, false, true, out),
        3 | 17 => {
            out.extend(count.to_le_bytes());
            for _ in 0..count {
                let (length, after) = number(rest);
                rest = after;
                run(&mut rest, length as usize, true, true, out);
            }
        }
        _ => {
            out.extend(count.to_le_bytes());
            for _ in 0..count {
                rest = part(rest, code, edit, out);
            }
        }
    }
    rest
}

fn type_name(code: u32) -> String {
    let flat = match code % 1000 {
        1 => "Point",
        2 => "LineString",
        3 => "Polygon",
        4 => "MultiPoint",
        5 => "MultiLineString",
        6 => "MultiPolygon",
        7 => "GeometryCollection",
        16 => "TIN",
        17 => "Triangle",
        other => panic!("no shape becomes a geometry of type {other}"),
    };
    format!("{flat}{}", ["", " Z", " M", " ZM"][code as usize / 1000])
}

/// Differences between these geometries and the expectation of the corpus.
pub(crate) fn differences(geometries: &[Option<Vec<u8>>], wanted: &Value) -> Vec<String> {
    let mut types: BTreeMap<String, u64> = BTreeMap::new();
    let (mut xs, mut ys, mut size, mut unclosed) = (Vec::new(), Vec::new(), 0, 0_u64);
    let mut digest = Sha256::new();
    for (row, wkb) in geometries.iter().enumerate() {
        digest.update(if row > 0 { "\n" } else { "" });
        let Some(wkb) = wkb else {
            digest.update("\\N");
            *types.entry("null".to_owned()).or_default() += 1;
            continue;
        };
        digest.update(hex(wkb));
        *types.entry(type_name(number(&wkb[1..]).0)).or_default() += 1;
        size += wkb.len();
        rewrite(wkb, |code| code, &mut |is_ring, vertices| {
            unclosed += u64::from(is_ring && vertices.first() != vertices.last());
            xs.extend(vertices.iter().map(|vertex| f64::from_bits(vertex[0])));
            ys.extend(vertices.iter().map(|vertex| f64::from_bits(vertex[1])));
            vertices
        });
    }
    let extreme = |values: &[f64], best: fn(f64, f64) -> f64| values.iter().copied().reduce(best);
    let mut found = Vec::new();
    let mut check = |what: &str, mine: Value| {
        let same = match (&mine, &wanted[what]) {
            (_, Value::Null) => true,
            // The digest below covers every bit; the sums of the corpus are rounded.
            (Value::Number(mine), Value::Number(theirs)) => {
                let (mine, theirs) = (mine.as_f64().unwrap(), theirs.as_f64().unwrap());
                (mine - theirs).abs() <= theirs.abs() * 1e-12
            }
            (mine, theirs) => mine == theirs,
        };
        if !same {
            found.push(format!("{what} {mine}, not {}", wanted[what]));
        }
    };
    check("null_count", geometries.iter().filter(|wkb| wkb.is_none()).count().into());
    check("types", serde_json::to_value(&types).unwrap());
    check("wkb_bytes", size.into());
    check("vertices", xs.len().into());
    check("sum_x", exact_sum(&xs).into());
    check("sum_y", exact_sum(&ys).into());
    let [west, south] = [&xs, &ys].map(|values| extreme(values, f64::min));
    let [east, north] = [&xs, &ys].map(|values| extreme(values, f64::max));
    check("bbox", serde_json::to_value([west, south, east, north]).unwrap());
    check("unclosed_rings", unclosed.into());
    check("wkb_sha256", hex(&digest.finalize()).into());
    found
}
