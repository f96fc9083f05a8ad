//! Canonical columns: names, units, content, and the kinds of jobs that have them.

use self::Content::{Flag, Integer, Number, Text};
use self::JobKind::{AsApplied, Planting, Yield};
use headland_reader::layer::units::{Quantity, Unit};

/// The kind of a job.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum JobKind {
    /// A harvest.
    Yield,
    /// Spraying and spreading.
    AsApplied,
    /// Planting and seeding.
    Planting,
}

impl JobKind {
    /// All kinds.
    pub const ALL: &'static [Self] = &[Yield, AsApplied, Planting];

    /// Its name, as the argument `kind` accepts it.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Yield => "yield",
            AsApplied => "as_applied",
            Planting => "planting",
        }
    }
}

/// What the cells of a canonical column hold.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Content {
    /// 64-bit floats in the unit of the column.
    Number,
    /// 64-bit integers: serial numbers exceed 32 bits.
    Integer,
    /// True and false.
    Flag,
    /// Text.
    Text,
}

/// A canonical column.
#[derive(Debug)]
pub(crate) struct Canonical {
    pub(crate) name: &'static str,
    pub(crate) kinds: &'static [JobKind],
    pub(crate) content: Content,
    /// The unit, [`RATE`], [`AS_STATED`], or empty.
    pub(crate) unit: &'static str,
}

const HARVEST: &[JobKind] = &[Yield];
const APPLIED: &[JobKind] = &[AsApplied, Planting];
const SEEDED: &[JobKind] = &[Planting];

const fn row(name: &'static str, kinds: &'static [JobKind], content: Content, unit: &'static str) -> Canonical {
    Canonical { name, kinds, content, unit }
}

/// The unit of a rate: kilograms, litres or seeds per hectare, as the source measures.
pub(crate) const RATE: &str = "rate";
/// Any unit of a yield.
pub(crate) const AS_STATED: &str = "as stated";

/// A wet or a dry yield whose unit, which decides between mass and volume, is not known yet.
pub(crate) const WET_YIELD: &str = "wet yield";
pub(crate) const DRY_YIELD: &str = "dry yield";

/// The yields that displays report.
pub(crate) const YIELDS: &[&str] = &[
    "yield",
    DRY_YIELD,
    WET_YIELD,
    "yield_wet_mass",
    "yield_dry_mass",
    "yield_dry_matter",
    "yield_wet_volume",
    "yield_dry_volume",
];

/// The columns in the order of a harmonised layer. `time` and `date` precede them.
pub(crate) const CANONICAL: &[Canonical] = &[
    row("longitude", JobKind::ALL, Number, "deg"),
    row("latitude", JobKind::ALL, Number, "deg"),
    row("interval", JobKind::ALL, Number, "s"),
    row("distance", JobKind::ALL, Number, "m"),
    row("swath_width", JobKind::ALL, Number, "m"),
    row("heading", JobKind::ALL, Number, "deg"),
    row("speed", JobKind::ALL, Number, "m/s"),
    row("elevation", JobKind::ALL, Number, "m"),
    row("pass_number", JobKind::ALL, Integer, ""),
    row("section", JobKind::ALL, Integer, ""),
    row("machine", JobKind::ALL, Integer, ""),
    row("working", JobKind::ALL, Flag, ""),
    row("flow", HARVEST, Number, "kg/s"),
    row("moisture", HARVEST, Number, "%"),
    row("yield_wet_mass", HARVEST, Number, "kg/ha"),
    row("yield_dry_mass", HARVEST, Number, "kg/ha"),
    row("yield_dry_matter", HARVEST, Number, "kg/ha"),
    row("yield_wet_volume", HARVEST, Number, "m3/ha"),
    row("yield_dry_volume", HARVEST, Number, "m3/ha"),
    row("yield", HARVEST, Number, AS_STATED),
    row("protein", HARVEST, Number, "%"),
    row("target_rate", APPLIED, Number, RATE),
    row("applied_rate", APPLIED, Number, RATE),
    row("control_rate", APPLIED, Number, RATE),
    row("depth", SEEDED, Number, "m"),
    row("down_force", SEEDED, Number, "N"),
    row("singulation", SEEDED, Number, "%"),
    row("skips", SEEDED, Number, "%"),
    row("doubles", SEEDED, Number, "%"),
    row("product", JobKind::ALL, Text, ""),
    row("variety", JobKind::ALL, Text, ""),
    row("crop", JobKind::ALL, Text, ""),
    row("operator", JobKind::ALL, Text, ""),
    row("field", JobKind::ALL, Text, ""),
    row("load", JobKind::ALL, Text, ""),
];

/// Names of columns that are joined from several columns or computed.
const OTHER: &[&str] = &[
    "time",
    "date",
    "order",
    "worked_area",
    "wet_mass",
    "dry_mass",
    "yield_wet",
    "yield_dry",
    "market_moisture",
    "amount",
];

/// Whether a harmonised layer reserves this name, in any letter case. SQL compares names without case.
pub(crate) fn is_canonical(name: &str) -> bool {
    CANONICAL
        .iter()
        .map(|column| column.name)
        .chain(OTHER.iter().copied())
        .any(|known| known.eq_ignore_ascii_case(name))
}

/// The canonical column of this name; that of any yield for one whose unit is not known yet.
pub(crate) fn canonical(name: &str) -> Option<&'static Canonical> {
    let name = if [WET_YIELD, DRY_YIELD].contains(&name) { "yield" } else { name };
    CANONICAL.iter().find(|column| column.name == name)
}

/// Whether a column of this canonical name can have values in this unit.
pub(crate) fn fits(name: &str, unit: Unit) -> bool {
    let per_area = |allowed: &[Quantity]| {
        let (what, per) = unit.quantity();
        per == Some(Quantity::Area) && allowed.contains(&what)
    };
    match canonical(name) {
        None => false,
        Some(Canonical { unit: RATE, .. }) => per_area(&[Quantity::Mass, Quantity::Volume, Quantity::Count]),
        Some(Canonical { unit: AS_STATED, .. }) => per_area(&[Quantity::Mass, Quantity::Volume]),
        // A force in kilograms or pounds is the weight of that mass.
        Some(Canonical { name: "down_force", .. }) if unit.quantity() == (Quantity::Mass, None) => true,
        Some(column) => Unit::parse(column.unit).is_some_and(|own| own.quantity() == unit.quantity()),
    }
}
