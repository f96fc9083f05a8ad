//! Maps values to colours: a continuous ramp, discrete steps, or names.

use std::collections::HashMap;
use std::fmt::Write as _;

use super::drawing::Values;
use super::text::{format_steps, format_value};

/// Every tenth colour of Viridis, which is perceptually uniform and safe for colour-blind readers
/// (<https://bids.github.io/colormap/>).
const RAMP: [[u8; 3]; 11] = [
    [68, 1, 84],
    [72, 36, 117],
    [65, 68, 135],
    [53, 95, 141],
    [42, 120, 142],
    [33, 145, 140],
    [34, 168, 132],
    [68, 191, 112],
    [122, 209, 81],
    [189, 223, 38],
    [253, 231, 37],
];
/// Distinct colours for names.
const NAME_COLOURS: [&str; 8] =
    ["#4477aa", "#ee6677", "#228833", "#ccbb44", "#66ccee", "#aa3377", "#ee8866", "#44bb99"];
/// For further names.
const OTHER: &str = "#6d6d6d";
/// For records without a value.
pub(in crate::layer) const MISSING: &str = "#c4c4c0";
/// For layers without values.
const PLAIN: &str = "#2a788e";
/// The number of shades of a ramp. Records of one shade share a path.
pub(super) const SHADES: usize = 32;
/// The most distinct numbers shown as steps, such as rates, sections or passes.
const MAX_STEPS: usize = 8;

/// Rule from values to colours.
#[derive(Debug)]
pub(super) enum ColourScale<'a> {
    Plain,
    /// A ramp from `low` to `high`: the limits, else values that exclude the outer 2 % on both sides.
    Ramp {
        values: &'a [Option<f64>],
        low: f64,
        high: f64,
        least: f64,
        most: f64,
        missing: usize,
        /// Whether `low` or `high` is a limit.
        is_limited: bool,
    },
    Steps {
        values: &'a [Option<f64>],
        steps: Vec<f64>,
        missing: usize,
    },
    Names {
        values: &'a [Option<&'a str>],
        names: Vec<&'a str>,
        others: usize,
        missing: usize,
    },
}

impl<'a> ColourScale<'a> {
    pub(super) fn from_values(values: &Values<'a>, limits: (Option<f64>, Option<f64>)) -> Self {
        match *values {
            Values::None => Self::Plain,
            Values::Numbers(values) => numeric_scale(values, limits),
            Values::Categories(values) => category_scale(values),
        }
    }

    /// The shade of a record. Records of one shade are drawn together.
    pub(super) fn shade(&self, record: usize) -> usize {
        match self {
            Self::Plain => 0,
            Self::Ramp { values, low, high, .. } => finite_number(values, record).map_or(SHADES, |value| {
                let position = ((value - low) / (high - low)).clamp(0.0, 1.0);
                #[expect(
                    clippy::cast_possible_truncation,
                    clippy::cast_sign_loss,
                    clippy::cast_precision_loss,
                    reason = "a share of a few shades"
                )]
                let shade = (position * SHADES as f64) as usize;
                shade.min(SHADES - 1)
            }),
            Self::Steps { values, steps, .. } => finite_number(values, record)
                .and_then(|value| steps.iter().position(|step| step.total_cmp(&value).is_eq()))
                .unwrap_or(steps.len()),
            Self::Names { values, names, .. } => match values.get(record).copied().flatten() {
                None => names.len() + 1,
                Some(name) => names.iter().position(|known| *known == name).unwrap_or(names.len()),
            },
        }
    }

    /// The colours by shade. Missing values are drawn last, so that no neighbour covers them.
    pub(super) fn colours(&self) -> Vec<(usize, String)> {
        match self {
            Self::Plain => vec![(0, PLAIN.to_owned())],
            Self::Ramp { .. } => with_missing((0..SHADES).map(|shade| ramp_colour(shade, SHADES)).collect(), SHADES),
            Self::Steps { steps, .. } => {
                with_missing((0..steps.len()).map(|step| ramp_colour(step, steps.len())).collect(), steps.len())
            }
            Self::Names { names, .. } => {
                let mut colours: Vec<String> = NAME_COLOURS.iter().take(names.len()).map(ToString::to_string).collect();
                colours.push(OTHER.to_owned());
                with_missing(colours, names.len() + 1)
            }
        }
    }

    /// The value or the range of values of a shade, which a viewer shows where the pointer is.
    pub(super) fn label(&self, shade: usize, unit: Option<&str>) -> Option<String> {
        let unit = unit.filter(|unit| !unit.is_empty()).map(|unit| format!(" {unit}")).unwrap_or_default();
        match self {
            Self::Plain => None,
            Self::Ramp { low, high, least, most, .. } if shade < SHADES => {
                #[expect(clippy::cast_precision_loss, reason = "a few shades")]
                let edge = |shade: usize| {
                    let position = shade as f64 / SHADES as f64;
                    low * (1.0 - position) + high * position
                };
                let (mut from, mut to) = (edge(shade), edge(shade + 1));
                // The outer shades also hold the values beyond the ramp.
                if shade == 0 {
                    from = from.min(*least);
                }
                if shade == SHADES - 1 {
                    to = to.max(*most);
                }
                Some(format!("{} to {}{unit}", format_value(from), format_value(to)))
            }
            Self::Steps { steps, .. } if shade < steps.len() => {
                format_steps(steps).get(shade).map(|step| format!("{step}{unit}"))
            }
            Self::Names { names, .. } if shade < names.len() => names.get(shade).map(ToString::to_string),
            Self::Names { names, .. } if shade == names.len() => Some("another value".to_owned()),
            _ => Some("no value".to_owned()),
        }
    }

    /// The classes of numbers: largest value, colour and label of each. The last class of a ramp has no end.
    pub(super) fn classes(&self, unit: Option<&str>) -> Vec<(f64, String, String)> {
        let label = |shade: usize| self.label(shade, unit).unwrap_or_default();
        match self {
            Self::Ramp { low, high, .. } => (1..=SHADES)
                .map(|next| {
                    #[expect(clippy::cast_precision_loss, reason = "a few shades")]
                    let share = next as f64 / SHADES as f64;
                    // An edge belongs to the next class.
                    let edge = (low * (1.0 - share) + high * share).next_down();
                    let most = if next < SHADES { edge } else { f64::INFINITY };
                    (most, ramp_colour(next - 1, SHADES), label(next - 1))
                })
                .collect(),
            Self::Steps { steps, .. } => {
                let class = |(step, value): (usize, &f64)| (*value, ramp_colour(step, steps.len()), label(step));
                steps.iter().enumerate().map(class).collect()
            }
            Self::Plain | Self::Names { .. } => Vec::new(),
        }
    }

    /// The values of the first and the last colour of a ramp.
    pub(super) fn range(&self) -> Option<(f64, f64)> {
        match self {
            Self::Ramp { low, high, .. } => Some((*low, *high)),
            _ => None,
        }
    }

    /// The number of records without a value.
    pub(super) fn missing(&self) -> usize {
        match self {
            Self::Plain => 0,
            Self::Ramp { missing, .. } | Self::Steps { missing, .. } | Self::Names { missing, .. } => *missing,
        }
    }
}

fn with_missing(colours: Vec<String>, missing: usize) -> Vec<(usize, String)> {
    colours.into_iter().enumerate().chain([(missing, MISSING.to_owned())]).collect()
}

fn finite_number(values: &[Option<f64>], record: usize) -> Option<f64> {
    // Adding zero converts -0.0 to 0.0.
    values.get(record).copied().flatten().filter(|value| value.is_finite()).map(|value| value + 0.0)
}

/// The colour of a step among `steps`.
pub(super) fn ramp_colour(step: usize, steps: usize) -> String {
    #[expect(clippy::cast_precision_loss, reason = "a few shades")]
    let position = if steps < 2 { 5.0 } else { 10.0 * step as f64 / (steps - 1) as f64 };
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "between 0 and 10")]
    let index = (position as usize).min(RAMP.len() - 2);
    #[expect(clippy::cast_precision_loss, reason = "between 0 and 10")]
    let share = position - index as f64;
    let (Some(from), Some(to)) = (RAMP.get(index), RAMP.get(index + 1)) else {
        return PLAIN.to_owned();
    };
    let mut colour = String::from("#");
    for (from, to) in from.iter().zip(to) {
        let part = f64::from(*from) + (f64::from(*to) - f64::from(*from)) * share;
        #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "between two bytes")]
        let part = part.round() as u8;
        let _ = write!(colour, "{part:02x}");
    }
    colour
}

fn numeric_scale(values: &[Option<f64>], limits: (Option<f64>, Option<f64>)) -> ColourScale<'_> {
    let mut known: Vec<f64> = (0..values.len()).filter_map(|record| finite_number(values, record)).collect();
    let missing = values.len() - known.len();
    known.sort_unstable_by(f64::total_cmp);
    let mut steps: Vec<f64> = Vec::new();
    for value in &known {
        if steps.last().is_none_or(|last| last < value) {
            steps.push(*value);
            if steps.len() > MAX_STEPS {
                break;
            }
        }
    }
    let (Some(least), Some(most)) = (known.first().copied(), known.last().copied()) else {
        return ColourScale::Steps { values, steps, missing };
    };
    let is_limited = limits.0.is_some() || limits.1.is_some();
    if steps.len() <= MAX_STEPS && !is_limited {
        return ColourScale::Steps { values, steps, missing };
    }
    let trimmed = known.len() / 50;
    let low = known.get(trimmed).copied().unwrap_or(least);
    let high = known.get(known.len() - 1 - trimmed).copied().unwrap_or(most);
    let (low, high) = if low < high { (low, high) } else { (least, most) };
    let (low, high) = (limits.0.unwrap_or(low), limits.1.unwrap_or(high));
    // One limit beyond all values leaves no range.
    let high = if low < high { high } else { low + 1.0 };
    ColourScale::Ramp { values, low, high, least, most, missing, is_limited }
}

fn category_scale<'a>(values: &'a [Option<&'a str>]) -> ColourScale<'a> {
    let mut counts: HashMap<&str, usize> = HashMap::new();
    for name in values.iter().flatten() {
        *counts.entry(name).or_default() += 1;
    }
    let missing = values.iter().filter(|value| value.is_none()).count();
    let mut names: Vec<(&str, usize)> = counts.into_iter().collect();
    names.sort_unstable_by(|a, b| b.1.cmp(&a.1).then(a.0.cmp(b.0)));
    let others = names.len().saturating_sub(NAME_COLOURS.len());
    names.truncate(NAME_COLOURS.len());
    ColourScale::Names { values, names: names.into_iter().map(|(name, _)| name).collect(), others, missing }
}
