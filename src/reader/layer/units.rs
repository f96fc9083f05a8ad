//! Units of field data: their spellings, exact factors and conversion.
//!
//! A unit is a base unit, or one base unit per another. The factors are exact by definition: the international yard and
//! pound agreement of 1959, and NIST Handbook 44, appendix C, for the measures of capacity.

use std::fmt;

use self::Quantity::{Angle, Area, Count, Force, Length, Mass, Percent, Pressure, Time, Volume};

/// What a base unit measures.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Quantity {
    /// Metres.
    Length,
    /// Square metres.
    Area,
    /// Kilograms.
    Mass,
    /// Litres.
    Volume,
    /// Seeds.
    Count,
    /// Seconds.
    Time,
    /// Newtons.
    Force,
    /// Kilopascals.
    Pressure,
    /// Degrees.
    Angle,
    /// Percent.
    Percent,
}

/// A unit that is no quotient.
#[derive(Debug)]
struct Base {
    symbol: &'static str,
    quantity: Quantity,
    /// How many of the unit named at the variant of [`Quantity`] it is.
    factor: f64,
    /// Other spellings, in lower case.
    spellings: &'static [&'static str],
}

const fn base(symbol: &'static str, quantity: Quantity, factor: f64, spellings: &'static [&'static str]) -> Base {
    Base { symbol, quantity, factor, spellings }
}

const METRE: Base = base("m", Length, 1.0, &["meter", "meters", "metre", "metres"]);
const FOOT: Base = base("ft", Length, 0.3048, &["foot", "feet"]);
const MILE: Base = base("mi", Length, 1_609.344, &["mile", "miles"]);
const KILOMETRE: Base = base("km", Length, 1_000.0, &["kilometer", "kilometers", "kilometre", "kilometres"]);
const NAUTICAL_MILE: Base = base("nmi", Length, 1_852.0, &[]);
const SQUARE_METRE: Base = base("m2", Area, 1.0, &["sqm", "sq m"]);
const HECTARE: Base = base("ha", Area, 10_000.0, &["hectare", "hectares"]);
const ACRE: Base = base("ac", Area, 4_046.856_422_4, &["acre", "acres"]);
const KILOGRAM: Base = base("kg", Mass, 1.0, &["kgs", "kilo", "kilos", "kilogram", "kilograms", "kilogramm"]);
const POUND: Base = base("lb", Mass, 0.453_592_37, &["lbs", "pound", "pounds"]);
const TONNE: Base =
    base("t", Mass, 1_000.0, &["tn", "tonne", "tonnes", "metric ton", "metric tons", "megagram", "megagrams"]);
const US_TON: Base = base("US ton", Mass, 907.184_74, &["ton", "tons", "us tons", "short ton", "short tons"]);
const LITRE: Base =
    base("L", Volume, 1.0, &["lt", "lts", "ltr", "ltrs", "liter", "liters", "litre", "litres", "litro", "litros"]);
const GALLON: Base =
    base("gal", Volume, 3.785_411_784, &["gals", "gallon", "gallons", "us gal", "us gallon", "us gallons"]);
const CUBIC_METRE: Base = base("m3", Volume, 1_000.0, &["cubic meter", "cubic meters", "cubic metre", "cubic metres"]);
const BUSHEL: Base = base("bu", Volume, 35.239_070_166_88, &["bus", "bsh", "bushel", "bushels"]);
const SEED: Base = base("seeds", Count, 1.0, &["seed", "sds"]);
const SECOND: Base = base("s", Time, 1.0, &["sec", "secs", "second", "seconds"]);
const HOUR: Base = base("h", Time, 3_600.0, &["hr", "hrs", "hour", "hours"]);
const NEWTON: Base = base("N", Force, 1.0, &["newton", "newtons"]);
const POUND_FORCE: Base = base("lbf", Force, 4.448_221_615_260_5, &[]);
const KILOPASCAL: Base = base("kPa", Pressure, 1.0, &["kilopascal", "kilopascals"]);
// A pound-force on a square inch.
const PSI: Base = base("psi", Pressure, 0.001 * POUND_FORCE.factor / (0.0254 * 0.0254), &["lbf/in2", "lb/in2"]);

const BASES: &[Base] = &[
    METRE,
    base("mm", Length, 0.001, &["millimeter", "millimeters", "millimetre", "millimetres"]),
    base("cm", Length, 0.01, &["centimeter", "centimeters", "centimetre", "centimetres"]),
    KILOMETRE,
    base("in", Length, 0.0254, &["inch", "inches"]),
    FOOT,
    base("yd", Length, 0.9144, &["yds", "yard", "yards"]),
    MILE,
    NAUTICAL_MILE,
    SQUARE_METRE,
    base("ft2", Area, 0.092_903_04, &["sqft", "sq ft", "square feet"]),
    base("mi2", Area, 2_589_988.110_336, &["sq mi", "square mile", "square miles"]),
    HECTARE,
    ACRE,
    KILOGRAM,
    base("g", Mass, 0.001, &["gram", "grams"]),
    base("oz", Mass, 0.028_349_523_125, &["ounce", "ounces"]),
    POUND,
    base("cwt", Mass, 45.359_237, &["hundredweight"]),
    US_TON,
    TONNE,
    // The quintal of Europe and the Plate, in countries that measure land in hectares.
    base(
        "dt",
        Mass,
        100.0,
        &["q", "qq", "qx", "quintal", "quintals", "quintaux", "quintales", "quintais", "dz", "dezitonne", "decitonne"],
    ),
    LITRE,
    base("mL", Volume, 0.001, &["milliliter", "milliliters", "millilitre", "millilitres"]),
    base("fl oz", Volume, 0.029_573_529_562_5, &["floz", "fluid ounce", "fluid ounces"]),
    base("pt", Volume, 0.473_176_473, &["pint", "pints"]),
    base("qt", Volume, 0.946_352_946, &["qts", "quart", "quarts"]),
    GALLON,
    base("hL", Volume, 100.0, &["hectoliter", "hectoliters", "hectolitre", "hectolitres", "hektoliter"]),
    base("imp gal", Volume, 4.546_09, &["imperial gallon", "imperial gallons", "uk gal"]),
    CUBIC_METRE,
    BUSHEL,
    SEED,
    base("ksds", Count, 1_000.0, &["ksd", "kseed", "kseeds", "1000 seeds", "thousand seeds"]),
    SECOND,
    base("ms", Time, 0.001, &["msec", "millisecond", "milliseconds"]),
    base("min", Time, 60.0, &["mins", "minute", "minutes"]),
    HOUR,
    NEWTON,
    POUND_FORCE,
    KILOPASCAL,
    PSI,
    base("bar", Pressure, 100.0, &["bars"]),
    base("deg", Angle, 1.0, &["arcdeg", "degree", "degrees", "\u{b0}"]),
    base("%", Percent, 1.0, &["prcnt", "percent", "pct"]),
];

/// Quotients with a name of their own: symbol, other spellings, unit, per unit.
const NAMED: &[(&str, &[&str], &Base, &Base)] = &[
    ("mph", &["mi/hr"], &MILE, &HOUR),
    ("km/h", &["kph", "kmh", "kmph"], &KILOMETRE, &HOUR),
    ("kn", &["kts", "knot", "knots"], &NAUTICAL_MILE, &HOUR),
    ("m/s", &["mps"], &METRE, &SECOND),
    ("ft/s", &["fps"], &FOOT, &SECOND),
    // Without a sign between the two, as in names of columns.
    ("bu/ac", &["buac", "bpa"], &BUSHEL, &ACRE),
    ("gal/ac", &["galac", "gpa"], &GALLON, &ACRE),
    ("lb/ac", &["lbac", "lbsac"], &POUND, &ACRE),
    ("kg/ha", &["kgha"], &KILOGRAM, &HECTARE),
    ("t/ha", &["tha"], &TONNE, &HECTARE),
    ("L/ha", &["lha"], &LITRE, &HECTARE),
];

/// The units of the word `"metric"`.
const METRIC: &[Unit] = &[
    Unit { base: &METRE, per: None },
    Unit { base: &SQUARE_METRE, per: None },
    Unit { base: &KILOGRAM, per: None },
    Unit { base: &LITRE, per: None },
    Unit { base: &SEED, per: None },
    Unit { base: &SECOND, per: None },
    Unit { base: &NEWTON, per: None },
    Unit { base: &KILOPASCAL, per: None },
    Unit { base: &METRE, per: Some(&SECOND) },
    Unit { base: &KILOGRAM, per: Some(&SECOND) },
    Unit { base: &KILOGRAM, per: Some(&HECTARE) },
    Unit { base: &LITRE, per: Some(&HECTARE) },
    Unit { base: &SEED, per: Some(&HECTARE) },
];

/// The units of the word `"us"`.
const US: &[Unit] = &[
    Unit { base: &FOOT, per: None },
    Unit { base: &ACRE, per: None },
    Unit { base: &POUND, per: None },
    Unit { base: &GALLON, per: None },
    Unit { base: &SEED, per: None },
    Unit { base: &POUND_FORCE, per: None },
    Unit { base: &PSI, per: None },
    Unit { base: &MILE, per: Some(&HOUR) },
    Unit { base: &POUND, per: Some(&SECOND) },
    Unit { base: &POUND, per: Some(&ACRE) },
    Unit { base: &GALLON, per: Some(&ACRE) },
    Unit { base: &SEED, per: Some(&ACRE) },
];

/// A unit of measure.
#[derive(Clone, Copy, Debug)]
pub struct Unit {
    base: &'static Base,
    per: Option<&'static Base>,
}

/// A set of units that one word names.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum System {
    /// Metres, kilograms, kg/ha, m3/ha, L/ha, m/s, kg/s.
    Metric,
    /// Feet, pounds, lb/ac, bu/ac, gal/ac, mph, lb/s.
    Us,
}

/// Why a unit does not convert to another one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mismatch {
    /// The two measure different things.
    Quantity,
    /// One is a bushel or volume of grain and the other a mass: the weight of a bushel is needed.
    BushelWeight,
}

/// Kilograms in a pound.
pub const KG_PER_POUND: f64 = POUND.factor;

/// Bushels per acre.
pub const BUSHELS_PER_ACRE: Unit = Unit { base: &BUSHEL, per: Some(&ACRE) };

impl Unit {
    /// The unit that `text` names, in any spelling of displays, vendors' metadata and the field: `bu/ac`, `bu1ac-1`,
    /// `kg ha-1`, `(tonne/ha)`, `prcnt`. `None` where the text is unknown or can mean several units.
    #[must_use]
    pub fn parse(text: &str) -> Option<Self> {
        let text = plain(text);
        if let Some(base) = find(&text) {
            return Some(Self { base, per: None });
        }
        let named = NAMED.iter().find(|(symbol, others, ..)| *symbol == text || others.contains(&text.as_str()));
        if let Some((.., base, per)) = named {
            return Some(Self { base, per: Some(per) });
        }
        let (base, per) = match text.split_once('/').or_else(|| text.split_once(" per ")) {
            Some((base, per)) => (find(base.trim())?, find(per.trim())?),
            None => with_exponents(&text)?,
        };
        // A ton per hectare is a tonne or, less likely, a ton of the United States: the text does not say which.
        let is_ambiguous = is_ton(&text, base) && per.symbol != ACRE.symbol;
        (!is_ambiguous).then_some(Self { base, per: Some(per) })
    }

    /// The one spelling of a unit that `text` names, such as `bu/ac` for `bu1ac-1`; `text` itself where it is unknown or
    /// a ton of either kind.
    #[must_use]
    pub fn spell(text: &str) -> String {
        let known = Self::parse(text).filter(|unit| unit.per.is_some() || !is_ton(&plain(text), unit.base));
        known.map_or_else(|| text.to_owned(), |unit| unit.to_string())
    }

    /// The unit of `system` for what this unit measures; `None` where the system names none.
    #[must_use]
    pub fn in_system(self, system: System) -> Option<Self> {
        let per = self.per.map(|per| per.quantity);
        if self.is_grain_volume() && per.is_none_or(|per| per == Area) {
            let (base, area) = match system {
                System::Metric => (&CUBIC_METRE, &HECTARE),
                System::Us => (&BUSHEL, &ACRE),
            };
            return Some(Self { base, per: per.map(|_| area) });
        }
        let units = match system {
            System::Metric => METRIC,
            System::Us => US,
        };
        units.iter().find(|unit| unit.quantity() == self.quantity()).copied()
    }

    /// The factor that converts values in this unit to `to`. Conversions between volumes of grain (`bu`, `m3`) and masses
    /// need `kg_per_bushel`.
    pub fn factor(self, to: Self, kg_per_bushel: Option<f64>) -> Result<f64, Mismatch> {
        let per = match (self.per, to.per) {
            (None, None) => 1.0,
            (Some(from), Some(to)) if from.quantity == to.quantity => ratio(to, from),
            _ => return Err(Mismatch::Quantity),
        };
        let base = match (self.base.quantity, to.base.quantity) {
            (from, into) if from == into => ratio(self.base, to.base),
            (Volume, Mass) if self.is_grain_volume() => {
                ratio(self.base, &BUSHEL) * kg_per_bushel.ok_or(Mismatch::BushelWeight)? / to.base.factor
            }
            (Mass, Volume) if to.is_grain_volume() => {
                self.base.factor / kg_per_bushel.ok_or(Mismatch::BushelWeight)? * ratio(&BUSHEL, to.base)
            }
            _ => return Err(Mismatch::Quantity),
        };
        Ok(base * per)
    }

    /// What is measured, and per what.
    #[must_use]
    pub fn quantity(self) -> (Quantity, Option<Quantity>) {
        (self.base.quantity, self.per.map(|per| per.quantity))
    }

    /// Whether the volume is that of grain: bushels and cubic metres are, litres and gallons are of liquids.
    fn is_grain_volume(self) -> bool {
        [BUSHEL.symbol, CUBIC_METRE.symbol].contains(&self.base.symbol)
    }
}

impl fmt::Display for Unit {
    /// The one spelling that headland writes, such as `kg/ha`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Some(per) = self.per else { return f.write_str(self.base.symbol) };
        let mut named =
            NAMED.iter().filter(|(.., base, of)| base.symbol == self.base.symbol && of.symbol == per.symbol);
        match named.next() {
            Some((symbol, ..)) => f.write_str(symbol),
            None => write!(f, "{}/{}", self.base.symbol, per.symbol),
        }
    }
}

impl PartialEq for Unit {
    fn eq(&self, other: &Self) -> bool {
        self.base.symbol == other.base.symbol && self.per.map(|per| per.symbol) == other.per.map(|per| per.symbol)
    }
}

/// How many of `to` a `from` is: exactly 1 for the same unit.
fn ratio(from: &Base, to: &Base) -> f64 {
    from.factor / to.factor
}

/// Whether a ton is meant and nothing says that it is one of the United States.
fn is_ton(text: &str, base: &Base) -> bool {
    base.symbol == US_TON.symbol && !text.contains("us") && !text.contains("short")
}

fn find(text: &str) -> Option<&'static Base> {
    BASES.iter().find(|base| base.symbol.eq_ignore_ascii_case(text) || base.spellings.contains(&text))
}

/// The text in lower case, without parentheses around it, with digits for raised ones.
fn plain(text: &str) -> String {
    let text = text.trim();
    let text = text.strip_prefix(['(', '[']).and_then(|text| text.strip_suffix([')', ']'])).unwrap_or(text).trim();
    // A megagram, which small letters cannot tell from a milligram.
    let text = text
        .strip_prefix("Mg")
        .filter(|rest| !rest.starts_with(char::is_alphabetic))
        .map_or_else(|| text.to_owned(), |rest| format!("t{rest}"));
    let raised = |sign| match sign {
        '\u{b2}' => '2',
        '\u{b3}' => '3',
        '\u{b9}' => '1',
        '\u{207b}' | '\u{2212}' => '-',
        '\u{b7}' | '\u{22c5}' | '*' | '.' => ' ',
        other => other,
    };
    text.chars().filter(|sign| *sign != '^').map(raised).collect::<String>().trim().to_lowercase()
}

/// Two units with exponents 1 and -1, in either order: `bu1ac-1` (ADAPT), `kg ha-1`.
fn with_exponents(text: &str) -> Option<(&'static Base, &'static Base)> {
    let mut units: [Option<&'static Base>; 2] = [None, None];
    let mut rest = text.trim();
    while !rest.is_empty() {
        let end = rest.find(|sign: char| sign == '-' || sign.is_ascii_digit() || sign == ' ').unwrap_or(rest.len());
        let (name, after) = rest.split_at_checked(end)?;
        // `m2ha-1` has an exponent that belongs to the name.
        let digits = after.find(|sign: char| sign != '-' && !sign.is_ascii_digit()).unwrap_or(after.len());
        let (exponent, after) = after.split_at_checked(digits)?;
        let (name, is_per) = match exponent {
            "" | "1" => (name.to_owned(), false),
            "-1" => (name.to_owned(), true),
            other if !other.starts_with('-') => (format!("{name}{other}"), false),
            other => (format!("{name}{}", other.trim_start_matches('-')), true),
        };
        let slot = units.get_mut(usize::from(is_per))?;
        if slot.replace(find(&name)?).is_some() {
            return None;
        }
        rest = after.trim_start();
    }
    let [base, per] = units;
    Some((base?, per?))
}
