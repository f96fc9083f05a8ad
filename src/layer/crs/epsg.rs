//! EPSG codes, given only where they are certain.

use super::datum::{self, KnownDatum};
use super::definition::{Definition, Geographic, Projected, Value, nearly_equal};
use super::projection::{
    ALBERS, HOTINE_A, HOTINE_B, LAMBERT_1SP, LAMBERT_2SP, LAMBERT_AZIMUTHAL, Measure, Method, OBLIQUE_STEREOGRAPHIC,
    Parameter, TRANSVERSE_MERCATOR, WEB_MERCATOR, normalize,
};

/// The projected systems that every parameter proves. `python/tests/epsg_table.py` makes it from PROJ's database.
const SYSTEMS: &str = include_str!("systems.txt");

/// The letter in the table of each projection.
static METHODS: [(&Method, &str); 8] = [
    (&TRANSVERSE_MERCATOR, "T"),
    (&LAMBERT_1SP, "L"),
    (&LAMBERT_2SP, "C"),
    (&ALBERS, "A"),
    (&LAMBERT_AZIMUTHAL, "Z"),
    (&OBLIQUE_STEREOGRAPHIC, "S"),
    (&HOTINE_A, "H"),
    (&HOTINE_B, "O"),
];

/// The units of length in the table.
const UNITS: [(f64, char); 3] = [(1.0, 'm'), (0.3048, 'f'), (super::definition::SURVEY_FOOT, 'u')];

/// A code, and whether its definition gives the northing before the easting.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Code {
    pub(super) number: u32,
    pub(super) north_first: bool,
}

/// The code that the text gives, or that follows from every parameter; never from a name alone.
pub(super) fn certain_code(definition: &Definition) -> Option<u32> {
    match definition {
        Definition::Geographic(system) => reconcile(system.epsg, certain_geographic(system)),
        Definition::Projected(system) => reconcile(system.epsg, certain_projected(system).map(|code| code.number)),
        Definition::Other(_) => None,
    }
}

/// The code that is stated, unless the parameters prove another one, or would prove that one and do not: then the
/// parameters stand.
fn reconcile(stated: Option<u32>, proven: Option<u32>) -> Option<u32> {
    let can_be_proven =
        |code: u32| matches!(code, 4326 | 4269 | 3857 | 32_601..=32_660 | 32_701..=32_760 | 26_901..=26_923);
    proven.or_else(|| stated.filter(|code| !can_be_proven(*code)))
}

/// A known system in degrees from Greenwich on its own ellipsoid.
pub(super) fn certain_geographic(system: &Geographic) -> Option<u32> {
    known_datum(system).map(|known| known.epsg)
}

fn known_datum(system: &Geographic) -> Option<&'static KnownDatum> {
    let shifted = system.datum.to_wgs84.is_some_and(|shift| shift.iter().any(|part| *part != 0.0));
    if shifted || !system.unit.is_degree() || system.meridian.degrees != 0.0 {
        return None;
    }
    datum::find(&system.datum.name).filter(|known| known.is_on(&system.datum.ellipsoid))
}

/// The code of a projected system that every parameter proves.
pub(super) fn certain_projected(system: &Projected) -> Option<Code> {
    let known = known_datum(&system.base)?;
    let conversion = system.conversion.as_ref().ok()?;
    let unit = UNITS.iter().find(|(factor, _)| (system.unit.factor / factor - 1.0).abs() < 1e-9)?.1;
    if std::ptr::eq(conversion.method, &raw const WEB_MERCATOR) {
        let is_plain = unit == 'm' && conversion.values.iter().all(|value| nearly_equal(value.to_base_unit(), 0.0));
        return (is_plain && known.epsg == 4326).then_some(Code { number: 3857, north_first: false });
    }
    let (_, method) = METHODS.iter().find(|(method, _)| method.code == conversion.method.code)?;
    let mut values: Vec<f64> = conversion.values.iter().map(Value::to_base_unit).collect();
    let name = normalize(&system.name);
    let find = |values: &[f64]| {
        let mut lines = SYSTEMS.lines().filter_map(|line| line.strip_prefix(method)?.strip_prefix(' '));
        lines.find_map(|line| {
            let mut words = line.split(' ');
            for ((parameter, value), word) in conversion.pairs().zip(values).zip(words.by_ref()) {
                let slack = if parameter.0.measure == Measure::Length { 2e-3 } else { 2e-9 };
                word.parse().ok().filter(|known: &f64| (value - known).abs() < slack)?;
            }
            words.find_map(|word| parse_code(word, known.letter, unit, &name))
        })
    };
    find(&values).or_else(|| {
        // Which of two parallels is the first makes no difference.
        values.get_mut(2..4).filter(|_| matches!(*method, "C" | "A"))?.reverse();
        find(&values)
    })
}

/// The well-known text of a code; `None` for one that is not known here. The text proves its code, as that of a .prj does.
pub(super) fn wkt_from_code(number: u32) -> Option<String> {
    if let Some(known) = datum::find_by(|known| known.epsg == number) {
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
    let digits = number.to_string();
    SYSTEMS.lines().find_map(|line| {
        let (letter, rest) = line.split_once(' ')?;
        let (method, _) = METHODS.iter().find(|(_, known)| *known == letter)?;
        let has_code = |word: &&str| word.split('=').next().and_then(|code| code.get(2..)) == Some(&*digits);
        let (word, names) =
            rest.split(' ').find(has_code).map(|word| word.split_once('=').unwrap_or((word, &*digits)))?;
        let mut letters = word.chars();
        let (datum, unit) = (letters.next()?, letters.next()?.to_ascii_lowercase());
        let base = datum::find_by(|known| known.letter == datum)?.wkt();
        let (factor, _) = UNITS.iter().find(|(_, known)| *known == unit)?;
        let parameter = |(parameter, value): (&&Parameter, &str)| {
            let value: f64 = value.parse().ok()?;
            let value = if parameter.measure == Measure::Length { value / factor } else { value };
            Some(format!("PARAMETER[\"{}\",{value}],", parameter.name))
        };
        let parameters = method.parameters.iter().zip(rest.split(' ')).map(parameter);
        let parameters = parameters.collect::<Option<Vec<_>>>()?.concat();
        // Where names tell codes of one definition apart, the first of this code is as good as any.
        let name = names.split('|').next().unwrap_or(names);
        Some(format!("PROJCS[\"{name}\",{base},PROJECTION[\"{}\"],{parameters}UNIT[\"unit\",{factor}]]", method.name))
    })
}

/// The code of a word, such as `Bm26912`, where it is of this datum and unit and may have this name.
fn parse_code(word: &str, letter: char, unit: char, name: &str) -> Option<Code> {
    let rest = word.strip_prefix(letter)?;
    let north_first = rest.starts_with(unit.to_ascii_uppercase());
    let rest = rest.strip_prefix([unit, unit.to_ascii_uppercase()])?;
    let number = match rest.split_once('=') {
        Some((number, names)) => names.split('|').any(|known| known == name).then_some(number)?,
        None => rest,
    };
    Some(Code { number: number.parse().ok()?, north_first })
}

#[cfg(test)]
mod tests {
    use super::SYSTEMS;
    use crate::layer::crs::Crs;

    #[test]
    fn every_code_has_a_text_that_proves_it() {
        let words = SYSTEMS.lines().skip(1).flat_map(|line| line.split(' '));
        let system_words =
            words.filter(|word| word.starts_with(|first: char| first.is_ascii_uppercase()) && word.len() > 2);
        let codes: Vec<&str> = system_words.map(|word| &word.split('=').next().unwrap()[2..]).collect();
        assert!(codes.len() > 1000, "{}", codes.len());
        for code in codes {
            let crs = Crs::from_code(&format!("EPSG:{code}")).unwrap();
            assert_eq!(crs.unwrap().epsg.unwrap().to_string(), code);
        }
    }
}
