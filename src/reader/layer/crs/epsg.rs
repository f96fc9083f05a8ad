//! Finds EPSG codes, only if they are certain.

use std::collections::HashMap;
use std::sync::OnceLock;

use super::datum::DatumShift;
use super::datum::{self, KnownDatum};
use super::definition::{Definition, Geographic, Projected, Unit, Value, nearly_equal};
use super::projection::{
    ALBERS, HOTINE_A, HOTINE_B, LAMBERT_1SP, LAMBERT_2SP, LAMBERT_AZIMUTHAL, LAMBERT_SCALED, MERCATOR_A, MERCATOR_B,
    Measure, Method, OBLIQUE_STEREOGRAPHIC, Parameter, TRANSVERSE_MERCATOR, TRANSVERSE_MERCATOR_SOUTH, WEB_MERCATOR,
    normalize,
};
use super::transform::on_ellipsoid;
use super::{from_wkt, wkt};

/// Projected systems that their parameters prove. `python/tests/archives/epsg_table.py` makes them from PROJ.
const SYSTEMS: &str = include_str!("systems.txt");

/// The letter of each projection in the table.
static METHODS: [(&Method, &str); 12] = [
    (&TRANSVERSE_MERCATOR, "T"),
    (&LAMBERT_1SP, "L"),
    (&LAMBERT_2SP, "C"),
    (&LAMBERT_SCALED, "M"),
    (&ALBERS, "A"),
    (&LAMBERT_AZIMUTHAL, "Z"),
    (&OBLIQUE_STEREOGRAPHIC, "S"),
    (&HOTINE_A, "H"),
    (&HOTINE_B, "O"),
    (&TRANSVERSE_MERCATOR_SOUTH, "W"),
    (&MERCATOR_A, "N"),
    (&MERCATOR_B, "B"),
];

/// The last number of the EPSG registry.
const LAST_OF_EPSG: u32 = 32_767;
/// Relative difference of units that are the same.
const SAME_UNIT: f64 = 1e-7;
/// Difference of one location, 0.1 m.
const SAME_DEGREES: f64 = 1e-6;

/// The meridian of Paris in degrees. Systems that begin there, and no others, are in grads.
const PARIS: f64 = 2.337_229_17;
/// A grad in radians.
const GRAD: f64 = std::f64::consts::PI / 200.0;

/// The length units of the table.
const UNITS: [(f64, char); 3] = [(1.0, 'm'), (0.3048, 'f'), (super::definition::SURVEY_FOOT, 'u')];

/// A code, and whether its first axis is the northing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Code {
    pub(super) number: u32,
    pub(super) north_first: bool,
}

/// The code of a text, or the reason why a stated one is not.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct CodeOfText {
    pub(super) code: Option<u32>,
    /// A stated code that the text contradicts.
    pub(super) contradicted: Option<u32>,
    /// A stated code that cannot be compared with the text.
    pub(super) unverified: Option<u32>,
}

/// The code that all parameters prove, else the stated one if the text agrees with it; never from a name or a stated
/// code alone.
pub(super) fn code_of_text(definition: &Definition) -> CodeOfText {
    let (stated, proven) = match definition {
        Definition::Geographic(system) => (system.epsg, certain_geographic(system)),
        Definition::Projected(system) => (system.epsg, certain_projected(system).map(|code| code.number)),
        Definition::Other(_) => return CodeOfText::default(),
    };
    let known = |stated| from_wkt::read_definition(&wkt::parse(&wkt_from_code(stated)?).ok()?).ok();
    let compare = |stated| known(stated).map_or(Agreement::Unproven, |known| agreement(&known, definition));
    let found = stated.filter(|stated| Some(*stated) != proven).map(compare);
    let if_found = |wanted| stated.filter(|_| found == Some(wanted));
    CodeOfText {
        code: proven.or(if_found(Agreement::Yes)),
        contradicted: if_found(Agreement::No),
        unverified: if_found(Agreement::Unproven).filter(|_| proven.is_none()),
    }
}

/// The code of a geographic system below a projected one.
pub(super) fn code_of_geographic(system: &Geographic) -> Option<u32> {
    code_of_text(&Definition::Geographic(system.clone())).code
}

/// The registry of a number: those of ESRI begin above the last one of EPSG.
pub(super) fn authority(code: u32) -> &'static str {
    if code > LAST_OF_EPSG { "ESRI" } else { "EPSG" }
}

/// How far a text agrees with the system of the code that it states.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Agreement {
    Yes,
    /// The code, its projection or the name of the datum is unknown.
    Unproven,
    No,
}

fn agreement(known: &Definition, text: &Definition) -> Agreement {
    match (known, text) {
        (Definition::Geographic(known), Definition::Geographic(text)) => {
            let is_french = (known.meridian.degrees - PARIS).abs() < 1e-3;
            let unit = if is_french { Unit { name: "grad".to_owned(), factor: GRAD } } else { known.unit.clone() };
            if is_same_unit(&unit, &text.unit) { geographic_agreement(known, text) } else { Agreement::No }
        }
        (Definition::Projected(known), Definition::Projected(text)) if is_same_unit(&known.unit, &text.unit) => {
            match (offset(known, text), geographic_agreement(&known.base, &text.base)) {
                (Some(SAME_DEGREES..), _) => Agreement::No,
                (None, Agreement::Yes) => Agreement::Unproven,
                (_, base) => base,
            }
        }
        _ => Agreement::No,
    }
}

fn is_same_unit(known: &Unit, text: &Unit) -> bool {
    (known.factor / text.factor - 1.0).abs() < SAME_UNIT
}

fn geographic_agreement(known: &Geographic, text: &Geographic) -> Agreement {
    let shifted = text.datum.to_wgs84.is_some_and(|shift| shift.iter().any(|part| *part != 0.0));
    let wanted = datum::find(&known.datum.name);
    let has_no_shift = wanted.is_some_and(|wanted| matches!(wanted.shift, DatumShift::Same));
    let is_equal = (known.meridian.degrees - text.meridian.degrees).abs() < 1e-6
        && wanted.is_some_and(|wanted| wanted.is_on(&text.datum.ellipsoid))
        && !(shifted && has_no_shift);
    match datum::find(&text.datum.name) {
        None => Agreement::Unproven,
        Some(found) if is_equal && wanted.is_some_and(|wanted| wanted.epsg == found.epsg) => Agreement::Yes,
        Some(_) => Agreement::No,
    }
}

/// The degrees between the locations of one coordinate in both systems, on their ellipsoids. `None` if a projection is
/// not supported.
fn offset(known: &Projected, text: &Projected) -> Option<f64> {
    let conversion = known.conversion.as_ref().ok()?;
    let angle = |is_latitude: bool| {
        let mut found = conversion.pairs().filter(|(parameter, _)| parameter.measure == Measure::Angle);
        found.find(|(parameter, value)| parameter.is_latitude() == is_latitude && value.number != 0.0)
    };
    let at = |is_latitude: bool, default: f64| angle(is_latitude).map_or(default, |(_, value)| value.number);
    let place = [at(false, 0.0) + 0.7, at(true, 40.0)];
    let [x, y] = on_ellipsoid(known).ok()?.invert(place[0], place[1])?;
    let (mut longitude, mut latitude) = ([x], [y]);
    on_ellipsoid(text).ok()?.apply(&mut longitude, &mut latitude).ok()?;
    let turned = (longitude[0] - place[0]).rem_euclid(360.0);
    Some(turned.min(360.0 - turned).max((latitude[0] - place[1]).abs()))
}

/// The code of a known system in degrees from Greenwich on its own ellipsoid.
pub(super) fn certain_geographic(system: &Geographic) -> Option<u32> {
    let is_certain = |known: &&KnownDatum| known.meridian == 0.0 && system.unit.is_degree();
    known_datum(system).filter(is_certain).map(|known| known.epsg)
}

fn known_datum(system: &Geographic) -> Option<&'static KnownDatum> {
    let shifted = system.datum.to_wgs84.is_some_and(|shift| shift.iter().any(|part| *part != 0.0));
    if shifted {
        return None;
    }
    let is_own = |known: &&KnownDatum| {
        known.is_on(&system.datum.ellipsoid) && (known.meridian - system.meridian.degrees).abs() < 1e-9
    };
    datum::find(&system.datum.name).filter(is_own)
}

/// The code of a projected system that all parameters prove.
pub(super) fn certain_projected(system: &Projected) -> Option<Code> {
    let known = known_datum(&system.base)?;
    let conversion = system.conversion.as_ref().ok()?;
    let unit = UNITS.iter().find(|(factor, _)| (system.unit.factor / factor - 1.0).abs() < 1e-9)?.1;
    if std::ptr::eq(conversion.method, &raw const WEB_MERCATOR) {
        let is_plain = unit == 'm' && conversion.values.iter().all(|value| nearly_equal(value.to_base_unit(), 0.0));
        return (is_plain && known.epsg == 4326).then_some(Code { number: 3857, north_first: false });
    }
    let &(_, method) = METHODS.iter().find(|(method, _)| method.code == conversion.method.code)?;
    let mut values: Vec<f64> = conversion.values.iter().map(Value::to_base_unit).collect();
    let name = normalize(&system.name);
    let find = |values: &[f64]| {
        let lines = table().lines.get(&(method, whole(*values.get(1)?)))?;
        lines.iter().find_map(|line| {
            let mut words = line.split(' ');
            for ((parameter, value), word) in conversion.pairs().zip(values).zip(words.by_ref()) {
                let slack = if parameter.0.measure == Measure::Length { 2e-3 } else { 2e-9 };
                word.parse().ok().filter(|known: &f64| (value - known).abs() < slack)?;
            }
            words.find_map(|word| parse_code(word, known.epsg, unit, &name))
        })
    };
    find(&values).or_else(|| {
        // The order of two standard parallels is irrelevant.
        values.get_mut(2..4).filter(|_| matches!(method, "C" | "A" | "M"))?.reverse();
        find(&values)
    })
}

/// The lines of the table, without the letter of the projection.
struct Table {
    /// By the letter of the projection and the whole degrees of its second parameter, the longitude.
    lines: HashMap<(&'static str, i64), Vec<&'static str>>,
    /// The letter, the line and the word of each code.
    codes: HashMap<u32, (&'static str, &'static str, &'static str)>,
}

fn table() -> &'static Table {
    static TABLE: OnceLock<Table> = OnceLock::new();
    TABLE.get_or_init(|| {
        let mut table = Table { lines: HashMap::new(), codes: HashMap::new() };
        for (method, line) in
            SYSTEMS.lines().filter_map(|line| line.split_once(' ')).filter(|(method, _)| *method != "#")
        {
            let longitude = line.split(' ').nth(1).and_then(|word| word.parse().ok()).unwrap_or(f64::NAN);
            table.lines.entry((method, whole(longitude))).or_default().push(line);
            for word in line.split(' ') {
                if let Some((.., code)) = split_word(word) {
                    table.codes.entry(code).or_insert((method, line, word));
                }
            }
        }
        table
    })
}

/// Whole degrees with limits where no system has its longitude, so that a truncated text has those of its system.
#[expect(clippy::cast_possible_truncation, reason = "a longitude")]
fn whole(degrees: f64) -> i64 {
    (degrees + 0.371_234).floor() as i64
}

/// The geographic system, the unit and the code of a word such as `4269m26912`, without names.
fn split_word(word: &str) -> Option<(u32, char, u32)> {
    let word = word.split('=').next()?;
    let unit = word.chars().find(char::is_ascii_alphabetic)?;
    let (base, code) = word.split_once(unit)?;
    Some((base.parse().ok()?, unit, code.parse().ok()?))
}

/// The WKT of a code; `None` if unknown. The WKT proves its code like a .prj.
pub(super) fn wkt_from_code(number: u32) -> Option<String> {
    if let Some(known) = datum::find_by_code(number) {
        return Some(known.wkt());
    }
    if number == 3857 {
        let base = datum::find(datum::WGS84)?.wkt();
        let method = WEB_MERCATOR.name;
        return Some(format!(
            "PROJCS[\"WGS 84 / Pseudo-Mercator\",{base},PROJECTION[\"{method}\"],PARAMETER[\"central_meridian\",0],\
             UNIT[\"metre\",1]]"
        ));
    }
    let (letter, line, word) = table().codes.get(&number)?;
    let (method, _) = METHODS.iter().find(|(_, known)| known == letter)?;
    let (base, unit, _) = split_word(word)?;
    let base = datum::find_by_code(base)?.wkt();
    let (factor, _) = UNITS.iter().find(|(_, known)| *known == unit.to_ascii_lowercase())?;
    let parameter = |(parameter, value): (&&Parameter, &str)| {
        let value: f64 = value.parse().ok()?;
        let value = if parameter.measure == Measure::Length { value / factor } else { value };
        Some(format!("PARAMETER[\"{}\",{value}],", parameter.name))
    };
    let parameters = method.parameters.iter().zip(line.split(' ')).map(parameter);
    let parameters = parameters.collect::<Option<Vec<_>>>()?.concat();
    Some(format!(
        "PROJCS[\"EPSG:{number}\",{base},PROJECTION[\"{}\"],{parameters}UNIT[\"unit\",{factor}]]",
        method.name
    ))
}

/// Parses a table entry such as `4269m26912`, if the geographic system, unit and name match.
fn parse_code(word: &str, base: u32, unit: char, name: &str) -> Option<Code> {
    let (own_base, own_unit, number) = split_word(word)?;
    let is_code = || name.strip_prefix("epsg").is_some_and(|code| code.parse() == Ok(number));
    let is_named =
        word.split_once('=').is_none_or(|(_, names)| is_code() || names.split('|').any(|known| known == name));
    // Systems of ESRI repeat those of EPSG, so parameters prove the latter only.
    let is_own = own_base == base && own_unit.to_ascii_lowercase() == unit && is_named && number <= LAST_OF_EPSG;
    is_own.then_some(Code { number, north_first: own_unit.is_ascii_uppercase() })
}

/// Whether two definitions without a code are equal. Those of unsupported projections have equal names.
pub(super) fn is_same(one: &Definition, other: &Definition) -> bool {
    let (Definition::Projected(one_system), Definition::Projected(other_system)) = (one, other) else { return false };
    let is_supported = one_system.conversion.is_ok() && other_system.conversion.is_ok();
    let is_datum = datum::normalize(&one_system.base.datum.name) == datum::normalize(&other_system.base.datum.name);
    let has_name = is_supported || normalize(&one_system.name) == normalize(&other_system.name);
    let found = agreement(one, other);
    has_name && (found == Agreement::Yes || found == Agreement::Unproven && is_datum)
}

#[cfg(test)]
mod tests {
    use super::{LAST_OF_EPSG, table};
    use crate::layer::crs::Crs;

    #[test]
    fn every_code_has_a_text_that_proves_it() {
        let codes: Vec<u32> = table().codes.keys().copied().filter(|code| *code <= LAST_OF_EPSG).collect();
        assert!(codes.len() > 4_900, "{}", codes.len());
        for code in codes {
            let crs = Crs::from_code(&format!("EPSG:{code}")).unwrap();
            assert_eq!(crs.map(|crs| crs.code.code).ok(), Some(Some(code)), "{code}");
        }
    }
}
