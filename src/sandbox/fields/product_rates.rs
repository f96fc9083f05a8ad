//! Rates of sprayed products: their decimals and zones, and what the products of a tank mix have.

/// Decimals of rates.
pub(super) const RATE: u8 = 2;

/// Target of each zone relative to the usual rate.
pub(super) const ZONES: [f64; 3] = [0.8, 1.0, 1.15];

/// A product that is applied together with the first one.
#[derive(Debug)]
pub(super) struct AddedProduct {
    pub(super) name: &'static str,
    /// Usual rate in litres per hectare.
    pub(super) usual: f64,
    /// Target of each zone relative to the usual rate.
    pub(super) zones: [f64; 3],
}

/// Log of such a product.
#[derive(Debug)]
pub(super) struct ProductLog {
    pub(super) name: &'static str,
    /// Target rate at each point, in hundredths.
    pub(super) target: Vec<i64>,
    /// Applied rate at each point, in the same form.
    pub(super) measured: Vec<i64>,
}
