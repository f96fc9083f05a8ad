//! EPSG codes, given only where they are certain.

use super::datum;
use super::method::TRANSVERSE_MERCATOR;
use super::model::{Definition, Geographic, Projected, same};

/// The code that the text gives, or that follows from every parameter; never from a name alone.
pub(super) fn certain(definition: &Definition) -> Option<u32> {
    match definition {
        Definition::Geographic(system) => system.epsg.or_else(|| certain_geographic(system)),
        Definition::Projected(system) => system.epsg.or_else(|| utm(system)),
        Definition::Other(_) => None,
    }
}

/// 4326 and 4269 in degrees from Greenwich on their own ellipsoids.
pub(super) fn certain_geographic(system: &Geographic) -> Option<u32> {
    let shifted = system.datum.to_wgs84.is_some_and(|shift| shift.iter().any(|part| *part != 0.0));
    if shifted || !system.unit.is_degree() || system.meridian.degrees != 0.0 {
        return None;
    }
    let figure = &system.datum.ellipsoid;
    let is = |inverse: f64| same(figure.semi_major, 6_378_137.0) && same(figure.inverse_flattening, inverse);
    match system.datum.name.as_str() {
        datum::WGS84 if is(298.257_223_563) => Some(4326),
        datum::NAD83 if is(298.257_222_101) => Some(4269),
        _ => None,
    }
}

/// The zones of UTM: all of them on WGS 84, 1 to 23 north on NAD83.
fn utm(system: &Projected) -> Option<u32> {
    let conversion = system.conversion.as_ref().ok()?;
    if !std::ptr::eq(conversion.method, &raw const TRANSVERSE_MERCATOR) || !same(system.unit.factor, 1.0) {
        return None;
    }
    let mut values = conversion.values.iter().map(super::model::Value::in_base);
    let (latitude, longitude, scale) = (values.next()?, values.next()?, values.next()?);
    let (east, north) = (values.next()?, values.next()?);
    if !(same(latitude, 0.0) && same(scale, 0.9996) && same(east, 500_000.0)) {
        return None;
    }
    let zone = (1..=60_u32).find(|zone| same(f64::from(*zone) * 6.0 - 183.0, longitude))?;
    let (is_north, is_south) = (same(north, 0.0), same(north, 10_000_000.0));
    match certain_geographic(&system.base)? {
        4326 if is_north => Some(32_600 + zone),
        4326 if is_south => Some(32_700 + zone),
        4269 if is_north && zone <= 23 => Some(26_900 + zone),
        _ => None,
    }
}
