//! Units of displays. The model of a display determines its units; only a sidecar of its files may state them.

/// A system of units with conversion factors to SI.
#[derive(Debug)]
pub(super) struct Units {
    /// Length, and metres per unit.
    pub(super) length: (&'static str, f64),
    /// Speed, and metres per second per unit.
    pub(super) speed: (&'static str, f64),
    /// Mass, and kilograms per unit.
    pub(super) mass: (&'static str, f64),
    /// Mass flow, in units of `mass` per second.
    pub(super) flow: &'static str,
    /// Area, and square metres per unit.
    pub(super) area: (&'static str, f64),
    /// Liquid volume, and litres per unit.
    pub(super) volume: (&'static str, f64),
    /// Grain volume per area, and litres per unit of volume.
    pub(super) grain_rate: (&'static str, f64),
    /// Rate of liquids.
    pub(super) volume_rate: &'static str,
    /// Rate of dry products and of dry matter.
    pub(super) mass_rate: &'static str,
    /// Seed population.
    pub(super) population: &'static str,
    /// Pressure, and kilopascals per unit.
    pub(super) pressure: (&'static str, f64),
}

/// Litres per US bushel.
pub(super) const BUSHEL: f64 = 35.239_070_166_88;

/// Metric units.
pub(super) static METRIC: Units = Units {
    length: ("m", 1.0),
    speed: ("km/h", 1.0 / 3.6),
    mass: ("kg", 1.0),
    flow: "kg/s",
    area: ("ha", 10_000.0),
    volume: ("L", 1.0),
    grain_rate: ("m3/ha", 1_000.0),
    volume_rate: "L/ha",
    mass_rate: "kg/ha",
    population: "seeds/ha",
    pressure: ("kPa", 1.0),
};

/// US customary units.
pub(super) static AMERICAN: Units = Units {
    length: ("ft", 0.3048),
    speed: ("mph", 0.447_04),
    mass: ("lb", 0.453_592_37),
    flow: "lb/s",
    area: ("ac", 4_046.856_422_4),
    volume: ("gal", 3.785_411_784),
    grain_rate: ("bu/ac", BUSHEL),
    volume_rate: "gal/ac",
    mass_rate: "lb/ac",
    population: "seeds/ac",
    pressure: ("psi", 6.894_757_293),
};
