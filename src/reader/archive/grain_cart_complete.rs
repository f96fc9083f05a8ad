//! Checks whether a downloaded grain cart file may be complete. The format has no end mark.

use super::grain_cart::{MAX_HEADER_ROWS, REQUIRED_COLUMNS, split};
use headland_base::names::same;
use headland_base::names::strip_bom;

/// Whether a text may be a complete grain cart file: it has the header row, and its last line has a cell for each name.
/// Truncation between two lines or inside the last cell is not detected.
#[must_use]
pub fn may_be_complete_cart(bytes: &[u8]) -> bool {
    let text = String::from_utf8_lossy(strip_bom(bytes));
    let end = if text.contains('\n') { '\n' } else { '\r' };
    let mut lines = text.split(end).map(str::trim).filter(|line| !line.is_empty());
    let names = lines.by_ref().take(MAX_HEADER_ROWS).find_map(|line| {
        let (cells, _) = split(line);
        let is_header = REQUIRED_COLUMNS.iter().all(|name| cells.iter().any(|cell| same(cell.trim(), name)));
        is_header
            .then(|| cells.iter().rposition(|cell| !cell.trim().is_empty()).map_or(0, |last| last.saturating_add(1)))
    });
    match (names, lines.next_back()) {
        (None, _) => false,
        // The end of the line shows that the names are complete.
        (Some(_), None) => text.ends_with(end),
        (Some(names), Some(last)) => {
            let (cells, fits) = split(last);
            fits && cells.len() >= names
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cart_that_ends_with_a_complete_line_may_be_complete() {
        let text = "GrcVersion,1.6,\r\n,Pounds,\r\nLoadNumber,Weight,Comment\r\n1,2,\r\n2,\"a, b\",c";
        for (end_at, expected) in
            [(70, true), (69, true), (68, false), (20, false), (52, false), (53, false), (54, true), (56, false)]
        {
            assert_eq!(may_be_complete_cart(&text.as_bytes()[..end_at]), expected, "{:?}", &text[..end_at]);
        }
        assert!(!may_be_complete_cart(b""));
    }
}
