//! Finds the UTM zone of a position.

use super::Crs;
use headland_base::error::{Error, Kind, Result};

/// The UTM zone of WGS 84 at a position in degrees: EPSG:32601 to 32660, 32701 to 32760 in the south.
///
/// Zones are 6 degrees wide everywhere, without the exceptions of Norway and Svalbard.
pub fn utm(longitude: f64, latitude: f64) -> Result<Crs> {
    if !(longitude.is_finite() && latitude.is_finite()) {
        return Err(invalid("cannot find the UTM zone: no row has ground and a position".to_owned()));
    }
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a number from 0 to 59")]
    let zone = ((longitude + 180.0).rem_euclid(360.0) / 6.0).floor().min(59.0) as u32;
    let code = if latitude < 0.0 { 32_701 } else { 32_601 } + zone;
    Crs::from_code(&format!("EPSG:{code}"))
        .unwrap_or_else(|| Err(invalid(format!("the code EPSG:{code} is unknown; pass `crs`"))))
}

/// An error of the argument `crs`.
pub(super) fn invalid(message: String) -> Error {
    Error::new(Kind::Value, message).with(name_argument)
}

/// Names the argument `crs` in an error.
pub(super) fn name_argument(facts: &mut headland_base::error::Facts) {
    facts.field = Some("crs".to_owned());
}
