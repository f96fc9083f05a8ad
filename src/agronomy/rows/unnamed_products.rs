//! Products of a mix: those that rows name, and those of one time and place that only differ in their rate.

use std::collections::HashMap;

use crate::columns::values::CanonicalValues;
use crate::rows::logged_rows::SAME_LOCATION;
use crate::rows::order::RowOrder;
use headland_reader::archive::{Code, Diagnostic};

/// Part by which rates of one product at one time and place differ at most.
const SAME_RATE: f64 = 0.01;
/// One of this many rows is of a further product, if there are several.
pub(crate) const LEAST: usize = 5;

/// The number of the product of each row; empty if no row names one and rates tell none apart. `amounts` are what was applied
/// and its ground.
pub(crate) fn numbered_products(
    values: &CanonicalValues<'_>,
    (amount, area): (Option<&[f64]>, &[f64]),
    (order, x, y): (&RowOrder, &[f64], &[f64]),
    diagnostics: &mut Vec<Diagnostic>,
) -> Vec<u32> {
    let mut product = numbered_texts(values);
    let (Some(time), Some(amount)) = (&order.time, amount) else { return product };
    let named = |row: usize| product.get(row).copied().unwrap_or(0);
    let next = product.iter().max().map_or(1, |most| most.saturating_add(1));
    let mut further: Vec<(usize, u32)> = Vec::new();
    let mut rates_here: Vec<(f64, u32)> = Vec::new();
    for track in &order.tracks {
        let mut before: Option<usize> = None;
        for row in order.row.get(track.clone()).unwrap_or_default().iter().copied() {
            let is_same = |other: usize| {
                time[other] - time[row] == 0.0
                    && (x[other] - x[row]).hypot(y[other] - y[row]) < SAME_LOCATION
                    && named(other) == named(row)
            };
            if !before.is_some_and(is_same) {
                rates_here.clear();
            }
            before = Some(row);
            let rate = amount[row] / area[row];
            if !rate.is_finite() {
                continue;
            }
            let known = rates_here.iter().find(|(other, _)| is_same_rate(*other, rate));
            let rank = known.map_or_else(|| u32::try_from(rates_here.len()).unwrap_or(0), |(_, rank)| *rank);
            if known.is_none() {
                rates_here.push((rate, rank));
            }
            if rank > 0 {
                further.push((row, next.saturating_add(rank)));
            }
        }
    }
    if further.len() * LEAST <= time.len() {
        return product;
    }
    product.resize(time.len(), 0);
    let message = format!(
        "{} of {} rows are at the time and place of another row with another rate, so that they count as further products of a \
         mix, whose rates and amounts add up; if one of them is wrong, remove its rows, else name the products as \
         `columns={{\"product\": ...}}`",
        further.len(),
        time.len()
    );
    for (row, number) in further {
        product[row] = number;
    }
    diagnostics.push(Diagnostic::new(Code::MassAssumed, message));
    product
}

/// Whether two rates can be those of one product.
pub(crate) fn is_same_rate(one: f64, other: f64) -> bool {
    // A rate that is not known says nothing.
    let difference = (one - other).abs();
    difference.is_nan() || difference <= SAME_RATE * one.max(other)
}

/// The number of the product of each row; empty if no row names one.
fn numbered_texts(values: &CanonicalValues<'_>) -> Vec<u32> {
    let mut known: HashMap<&str, u32> = HashMap::new();
    let mut last = ("", None);
    let number = |text: Option<_>| {
        let text = text.unwrap_or_default();
        let next = u32::try_from(known.len()).unwrap_or(u32::MAX);
        // Rows of one product follow each other.
        let number = last.1.filter(|_| last.0 == text).unwrap_or_else(|| *known.entry(text).or_insert(next));
        last = (text, Some(number));
        number
    };
    values.texts("product").map_or_else(Vec::new, |texts| texts.map(number).collect())
}
