//! Checks the consistency of a grain cart file. Reports diagnostics and changes nothing.

use crate::archive::{Code, Diagnostic, GrainCart, Member};
use crate::layer::columns::number::parse_float_cell;
use headland_base::names::same;

/// Header totals, their columns, and the unit of the total.
const TOTALS: [(&str, &str, &str); 2] =
    [("TotalPounds", "Weight", "Pounds"), ("TotalDryBushels", "DryBushels", "Bushels")];

/// The largest offset of a time zone from UTC: fourteen hours, in seconds.
const MAX_UTC_OFFSET: i64 = 14 * 3_600;

/// Adds a diagnostic for each inconsistency.
pub(super) fn report(cart: &GrainCart, member: &Member, diagnostics: &mut Vec<Diagnostic>) {
    let mut found = check_totals(cart);
    found.extend(check_bushels(cart));
    found.extend(["LoadTime", "LocalTime"].into_iter().filter_map(|column| check_times(cart, column)));
    found.extend(check_utc(cart));
    diagnostics.extend(found.into_iter().map(|diagnostic| diagnostic.in_member(member.name())));
}

/// Totals that differ from the rounded sum of their loads.
fn check_totals(cart: &GrainCart) -> Vec<Diagnostic> {
    let differing = |(key, column, unit): &(&str, &str, &str)| {
        let (_, stated) = cart.header.iter().find(|(known, _)| same(known, key))?;
        let total = parse_float_cell(stated)?;
        let position = cart.names.iter().position(|name| same(name, column))?;
        let found = cart.units.get(position).map(String::as_str).unwrap_or_default();
        if !found.is_empty() && !same(found, unit) {
            return None;
        }
        let sum =
            cart.column_cells(column)?.into_iter().filter_map(parse_float_cell).fold(0.0, |sum, value| sum + value);
        let scale = decimal_scale(stated);
        let rounded = (sum * scale).round() / scale;
        // The tolerance covers the rounding error of the sum.
        if (sum - total).abs() * scale <= 0.5 + 1e-6 {
            return None;
        }
        let message = format!(
            "`{key}` in the header is {stated}, but `{column}` of the loads adds up to {sum:.3}, rounded {rounded}; \
             neither was changed"
        );
        Some(Diagnostic::new(Code::TotalDiffers, message))
    };
    TOTALS.iter().filter_map(differing).collect()
}

/// 10 to the power of the number of written decimals.
fn decimal_scale(text: &str) -> f64 {
    let decimals = text.trim().split_once('.').map_or(0, |(_, decimals)| decimals.len().min(9));
    (0..decimals).fold(1.0, |scale, _| scale * 10.0)
}

/// Bushels that equal weight divided by test weight, truncated instead of rounded.
fn check_bushels(cart: &GrainCart) -> Option<Diagnostic> {
    let (weights, tests) = (cart.column_cells("Weight")?, cart.column_cells("TestWeight")?);
    let bushels = cart.column_cells("WetBushels")?;
    let is_truncated = |(weight, test, cell): (&str, &str, &str)| {
        let (Some(weight), Some(test), Some(written)) =
            (parse_float_cell(weight), parse_float_cell(test), parse_float_cell(cell))
        else {
            return false;
        };
        let scale = decimal_scale(cell);
        let exact = weight / test * scale;
        let written = (written * scale).round();
        // A half may be rounded either way.
        test > 0.0 && (written - exact.floor()).abs() < 0.5 && exact - exact.floor() > 0.5 + 1e-6
    };
    let rows = weights.into_iter().zip(tests).zip(bushels).map(|((weight, test), cell)| (weight, test, cell));
    let (first, count) = count_matches(rows.map(is_truncated))?;
    let message = format!("`WetBushels` of {count} loads are truncated instead of rounded; they were kept unchanged");
    Some(Diagnostic::new(Code::BushelsTruncated, message).at_record(first))
}

/// Times without their last digit, such as `09:26:4`.
fn check_times(cart: &GrainCart, column: &str) -> Option<Diagnostic> {
    let is_truncated = |cell: &str| {
        cell.len() == 7
            && cell
                .bytes()
                .zip(*b"dd:dd:d")
                .all(|(byte, form)| if form == b'd' { byte.is_ascii_digit() } else { byte == form })
    };
    let (first, count) = count_matches(cart.column_cells(column)?.into_iter().map(is_truncated))?;
    let message = format!(
        "{count} times of `{column}` are truncated to seven characters, so the last digit of their seconds is missing; \
         they were kept unchanged"
    );
    Some(Diagnostic::new(Code::TimeCut, message).at_record(first))
}

/// Dates and times labelled UTC that look like local time or cannot be checked.
fn check_utc(cart: &GrainCart) -> Option<Diagnostic> {
    let position = cart.names.iter().position(|name| same(name, "LoadDate"))?;
    if !cart.units.get(position)?.to_ascii_uppercase().starts_with("UTC") {
        return None;
    }
    let [date, time, local_date, local_time] =
        ["LoadDate", "LoadTime", "LocalDate", "LocalTime"].map(|name| cart.column_cells(name).unwrap_or_default());
    let cell_of_row = |column: &[&str], row: usize| column.get(row).copied().unwrap_or_default().to_owned();
    let is_suspect = |row: usize| {
        let (date, local_date) = (cell_of_row(&date, row), cell_of_row(&local_date, row));
        let (time, local_time) = (cell_of_row(&time, row), cell_of_row(&local_time, row));
        let distance = parse_seconds(&time).zip(parse_seconds(&local_time)).map(|(one, other)| (one - other).abs());
        let cannot_be_checked = local_date.is_empty() || local_time.is_empty();
        !date.is_empty()
            && (cannot_be_checked
                || (date == local_date
                    && (time == local_time || distance.is_some_and(|distance| distance > MAX_UTC_OFFSET))))
    };
    let (first, count) = count_matches((0..cart.loads.len()).map(is_suspect))?;
    let message = format!(
        "`LoadDate` and `LoadTime` are labelled UTC, but those of {count} of {} loads may be local times: they equal \
         `LocalDate` and `LocalTime`, differ too much from them, or cannot be compared because these are blank; all \
         were kept unchanged, without a zone",
        cart.loads.len()
    );
    Some(Diagnostic::new(Code::UtcDoubtful, message).at_record(first))
}

/// The seconds since midnight of `09:26:4`.
fn parse_seconds(time: &str) -> Option<i64> {
    let mut parts = time.split(':').map(|part| part.parse::<i64>().ok().filter(|part| (0..60).contains(part)));
    let (hours, minutes) = (parts.next()??, parts.next()??);
    Some(hours * 3_600 + minutes * 60 + parts.next().flatten().unwrap_or(0))
}

/// The first row for which the condition is true, and the number of such rows.
fn count_matches(holds: impl Iterator<Item = bool>) -> Option<(u64, usize)> {
    let rows: Vec<usize> = holds.enumerate().filter(|(_, holds)| *holds).map(|(row, _)| row).collect();
    rows.first().map(|first| (*first as u64, rows.len()))
}
