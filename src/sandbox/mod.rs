//! The whole service on loopback, with fields of known truth.

pub mod fields;
