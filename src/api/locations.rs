//! Locations of devices: the record of specification 2.3, shared by the lists of field computers and field hubs.

use super::row::Index;
use super::shape::{Field, Shape};

/// The locations of one device. The specification states the order only for a hub's list. A computer's list only grows,
/// so the same rule applies.
pub static LOCATIONS: Index = Index { kind: "DeviceLocation", item: &DEVICE_LOCATION, newest_first: true };

/// The most recent location of several devices, or of one.
pub static CURRENT_LOCATIONS: Index = Index { kind: "DeviceLocation", item: &DEVICE_LOCATION, newest_first: false };

/// The location of a device at one time.
pub static DEVICE_LOCATION: Shape = Shape {
    name: "DeviceLocation",
    doc: "Where a device was; units are those that the specification states for a hub's report (2.4).",
    section: "2.3",
    fields: &[
        Field::id("ID", "id", "Id of the record."),
        Field::id("DeviceId", "device_id", "Id of the device whose record it is."),
        Field::text("SubType", "sub_type", "`Field Hub` or `Field Computer`: whose record it is."),
        Field::decimal("Lat", "lat", "degrees", "Latitude, -90 to 90."),
        Field::decimal("Lon", "lon", "degrees", "Longitude, -180 to 180."),
        Field::integer("Alt", "alt", "m", "Altitude relative to sea level."),
        Field::integer("Speed", "speed", "km/h", "Speed, 0 to 255."),
        Field::integer("Direction", "direction", "degrees", "Course, 0 to 360."),
        Field::boolean("Valid", "valid", "Whether the position is valid."),
        Field::time("GPSDateTime", "gps_date_time", "Time stamp of the GPS; None where there was no fix."),
    ],
    hoists: &[],
};

/// Whether a location has a valid position. The record does not mark it as invalid, the GPS had a fix (a time stamp),
/// and the coordinates are present and within the range of the earth.
#[must_use]
pub fn has_position(valid: Option<bool>, has_fix: bool, latitude: Option<f64>, longitude: Option<f64>) -> bool {
    let is_within = |angle: Option<f64>, most: f64| angle.is_some_and(|angle| angle.abs() <= most);
    valid != Some(false) && has_fix && is_within(latitude, 90.0) && is_within(longitude, 180.0)
}
