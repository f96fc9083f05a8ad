//! Converts well-known binary to short text, so that expected geometries are readable.

/// `PolygonZ((1 2 3,…),(…))` for a geometry, with numbers as the shortest text that round-trips.
pub(crate) fn text(wkb: &[u8]) -> String {
    let mut rest = wkb;
    let text = geometry(&mut rest);
    assert!(rest.is_empty(), "{} bytes follow the geometry", rest.len());
    text
}

/// Number of vertices of a geometry, counted in all its parts.
pub(crate) fn vertices(wkb: &[u8]) -> usize {
    text(wkb).split(',').filter(|vertex| vertex.contains(' ')).count()
}

fn take<const N: usize>(bytes: &mut &[u8]) -> [u8; N] {
    let (first, rest) = bytes.split_first_chunk::<N>().unwrap();
    *bytes = rest;
    *first
}

fn geometry(bytes: &mut &[u8]) -> String {
    assert_eq!(take::<1>(bytes), [1], "little endian");
    let code = u32::from_le_bytes(take(bytes));
    let dimensions = ["", "Z", "M", "ZM"][(code / 1000) as usize];
    let ordinates = 2 + dimensions.len();
    let point = |bytes: &mut &[u8]| {
        let numbers: Vec<String> = (0..ordinates).map(|_| f64::from_le_bytes(take(bytes)).to_string()).collect();
        numbers.join(" ")
    };
    let points = |bytes: &mut &[u8]| {
        let count = u32::from_le_bytes(take(bytes));
        (0..count).map(|_| point(bytes)).collect::<Vec<_>>().join(",")
    };
    let (name, body) = match code % 1000 {
        1 => ("Point", point(bytes)),
        2 => ("LineString", points(bytes)),
        3 => {
            let rings = u32::from_le_bytes(take(bytes));
            ("Polygon", (0..rings).map(|_| format!("({})", points(bytes))).collect::<Vec<_>>().join(","))
        }
        many => {
            let count = u32::from_le_bytes(take(bytes));
            let parts: Vec<String> = (0..count).map(|_| geometry(bytes)).collect();
            (if many == 4 { "MultiPoint" } else { "Multi" }, parts.join(","))
        }
    };
    format!("{name}{dimensions}({body})")
}
