//! Coded values of a field hub's report: events (specification 6), bars and roaming (2.4).

/// The documented values of `Event` and the trigger of the report.
pub const EVENTS: &[(&str, &str)] = &[
    ("1", "Digital Input 1 state change"),
    ("2", "Digital Input 2 state change"),
    ("3", "Digital Input 3 state change"),
    ("4", "Digital Input 4 state change"),
    ("5", "5 second update"),
    ("16", "Ignition power on"),
    ("17", "Ignition power off"),
    ("30", "30 second update"),
    ("31", "30 second update (second code)"),
];

/// Bars by minimum signal strength in dBm, strongest first. Below the last value there are none.
pub const BARS: &[(f64, i64)] = &[(-85.0, 5), (-90.0, 4), (-95.0, 3), (-100.0, 2), (-103.0, 1)];

/// The value of `Roam` for a hub that is not roaming. An empty value is unknown, any other is roaming.
pub const NOT_ROAMING: &str = "00";
