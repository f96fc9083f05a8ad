//! What a display measures in: its kind decides, and only a sidecar of its files says so, if anything does.

/// One system of units, with what a unit of it is in SI.
#[derive(Debug)]
pub(super) struct Units {
    /// Lengths, and metres in one.
    pub(super) length: (&'static str, f64),
    /// Speeds, and metres a second in one.
    pub(super) speed: (&'static str, f64),
    /// Masses, and kilograms in one.
    pub(super) mass: (&'static str, f64),
    /// Mass flows; the mass is that of `mass`.
    pub(super) flow: &'static str,
    /// Areas, and square metres in one.
    pub(super) area: (&'static str, f64),
    /// Liquid volumes, and litres in one.
    pub(super) volume: (&'static str, f64),
    /// Volumes of grain on an area, and litres in the volume.
    pub(super) grain_rate: (&'static str, f64),
    /// Rates of liquids.
    pub(super) volume_rate: &'static str,
    /// Rates of dry products and of dry matter.
    pub(super) mass_rate: &'static str,
    /// Populations of seeds.
    pub(super) population: &'static str,
    /// Pressures, and kilopascals in one.
    pub(super) pressure: (&'static str, f64),
}

/// Litres in a bushel of the United States.
pub(super) const BUSHEL: f64 = 35.239_070_166_88;

/// Displays set to metric units.
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

/// Displays set to the units of the United States.
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
