//! The recipe of a cleaning: every parameter with its value and where that comes from, as JSON that can be replayed.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};

use super::mixing::Mixing;
use super::reasons::REASONS;
use crate::error::{Error, Result};

/// Part of the steady flow that is reached behind the ends of a pass.
const RISEN: f64 = 0.93;

/// Version of the form of recipes.
const FORM: u64 = 1;
const FORM_KEY: &str = "headland_recipe";
/// Origin of values that follow from the job, such as its crop.
const JOB: &str = "job";
const VERSION_KEY: &str = "version";

/// A delay or another value in seconds.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(untagged)]
pub(super) enum Seconds {
    /// The same for all machines.
    One(f64),
    /// By number of the machine; null is no shift.
    Machines(BTreeMap<String, Option<f64>>),
    /// `auto`: estimated from the rows.
    Word(Auto),
    /// No shift.
    Off(()),
}

/// The word for an estimate.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(super) enum Auto {
    Auto,
}

/// A value that is estimated unless it is given.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(untagged)]
pub(super) enum Estimate<T> {
    Given(T),
    Word(Auto),
    Off(()),
}

/// The parameters. Lengths are metres, times seconds, angles degrees, yields kg/ha, moistures percent.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub(super) struct Parameters {
    /// From the antenna forward to the cutter bar.
    pub(super) antenna: f64,
    pub(super) delay: Seconds,
    pub(super) moisture_delay: Seconds,
    /// Time constant of the mixing in the combine.
    pub(super) mixing: Estimate<f64>,
    /// First and last seconds of a pass.
    pub(super) ends: Estimate<[f64; 2]>,
    /// Change of the heading within 6 s that is a turn.
    pub(super) turn: f64,
    /// Slowest speed in m/s, and fastest in medians.
    pub(super) speeds: [f64; 2],
    /// Part by which the distance of a row may differ from that of its neighbours.
    pub(super) distance_jump: f64,
    /// Metres and median steps by which a position may differ.
    pub(super) position_jump: [f64; 2],
    /// Of the usual width, what is not narrow.
    pub(super) full_width: f64,
    /// Share of a swath that was covered before.
    pub(super) overlap: f64,
    /// Plausible moisture.
    pub(super) moisture: [f64; 2],
    /// Points by which a moisture may differ from its neighbours.
    pub(super) moisture_jump: f64,
    /// Ratios of a rate to that of its neighbours.
    pub(super) spike: [f64; 2],
    /// Logarithm of the ratio, and its size in standard deviations.
    pub(super) local: [f64; 2],
    /// Least and greatest yield.
    pub(super) limits: [Option<f64>; 2],
    /// Distance to the boundary; null is 10 m where a boundary is given.
    pub(super) edge: Option<f64>,
    /// Market moisture of the crop.
    pub(super) market_moisture: Option<f64>,
    /// Whether grain below the market moisture gains.
    pub(super) expand: bool,
    /// Reasons that do not exclude a row.
    pub(super) keep: Vec<String>,
}

impl Default for Parameters {
    fn default() -> Self {
        Self {
            antenna: 0.0,
            delay: Seconds::Word(Auto::Auto),
            moisture_delay: Seconds::Word(Auto::Auto),
            mixing: Estimate::Word(Auto::Auto),
            ends: Estimate::Word(Auto::Auto),
            turn: 25.0,
            speeds: [0.32, 2.0],
            distance_jump: 0.45,
            position_jump: [4.0, 4.5],
            full_width: 0.97,
            overlap: 0.33,
            moisture: [5.0, 38.0],
            moisture_jump: 4.0,
            spike: [0.4, 1.9],
            local: [0.20, 4.0],
            limits: [None, None],
            edge: None,
            market_moisture: None,
            expand: true,
            keep: Vec::new(),
        }
    }
}

/// The parameters of a cleaning, and where each value comes from.
#[derive(Clone, Debug, Default)]
pub(super) struct Recipe {
    pub(super) parameters: Parameters,
    /// `user`, `estimated` or `job`; the others are defaults.
    origins: BTreeMap<String, String>,
}

impl Recipe {
    /// Parses a recipe, and sets the arguments, which override it. Values may be plain or have their origin.
    pub(super) fn parse(recipe: Option<&str>, arguments: &str) -> Result<Self> {
        let mut origins = BTreeMap::new();
        let mut values = Map::new();
        let given = recipe.map(|text| object("recipe", text)).transpose()?.unwrap_or_default();
        for (key, entry) in given {
            match key.as_str() {
                FORM_KEY if entry.as_u64() == Some(FORM) => {}
                FORM_KEY => return Err(invalid(format!("`recipe`: expected version {FORM}, got {entry}"))),
                VERSION_KEY => {}
                _ => {
                    let (value, origin) = value_and_origin(entry);
                    // What came from the job of that cleaning comes from the job of this one.
                    if origin.as_deref() == Some(JOB) {
                        continue;
                    }
                    origins.extend(origin.map(|origin| (key.clone(), origin)));
                    values.insert(key, value);
                }
            }
        }
        for (key, value) in object("arguments", arguments)? {
            origins.insert(key.clone(), "user".to_owned());
            values.insert(key, value);
        }
        let parameters: Parameters = serde_json::from_value(Value::Object(values.clone())).map_err(|cause| {
            // One parameter at a time shows which one is wrong.
            let is_wrong =
                |(key, value): &(String, Value)| serde_json::from_value::<Parameters>(json!({ key: value })).is_err();
            let name =
                values.into_iter().find(is_wrong).map_or_else(String::new, |(key, _)| format!(" parameter `{key}`:"));
            invalid(format!("`recipe`:{name} {cause}"))
        })?;
        check(&parameters)?;
        Ok(Self { parameters, origins })
    }

    /// The recipe as JSON with sorted keys.
    pub(super) fn to_json(&self) -> Result<String> {
        let Value::Object(values) =
            serde_json::to_value(&self.parameters).map_err(|cause| invalid(cause.to_string()))?
        else {
            return Err(invalid("the recipe is no object".to_owned()));
        };
        let entry = |(key, value): (String, Value)| {
            let origin = self.origins.get(&key).map_or("default", String::as_str);
            (key, json!({ "value": value, "from": origin }))
        };
        let mut entries: BTreeMap<String, Value> = values.into_iter().map(entry).collect();
        entries.insert(FORM_KEY.to_owned(), json!(FORM));
        entries.insert(VERSION_KEY.to_owned(), json!(env!("CARGO_PKG_VERSION")));
        serde_json::to_string_pretty(&entries).map_err(|cause| invalid(cause.to_string()))
    }

    /// Records where a value comes from.
    pub(super) fn set_origin(&mut self, parameter: &str, origin: &str) {
        self.origins.insert(parameter.to_owned(), origin.to_owned());
    }

    /// Puts the estimates of mixing and ends in the place of `auto`.
    pub(super) fn set_estimates(&mut self, mixing: Option<&Mixing>) {
        if self.parameters.mixing == Estimate::Word(Auto::Auto) {
            self.parameters.mixing = mixing.map_or(Estimate::Off(()), |mixing| Estimate::Given(mixing.constant));
            self.set_origin("mixing", "estimated");
        }
        if self.parameters.ends == Estimate::Word(Auto::Auto) {
            self.parameters.ends = mixing.map_or(Estimate::Off(()), |mixing| Estimate::Given(mixing.ends(RISEN)));
            self.set_origin("ends", "estimated");
        }
    }

    /// Puts the market moisture of the crop in the place of null.
    pub(super) fn set_market_moisture(&mut self, market: Option<f64>) {
        if self.parameters.market_moisture.is_none() && market.is_some() {
            self.parameters.market_moisture = market;
            self.set_origin("market_moisture", JOB);
        }
    }

    /// Bits of the reasons that do not exclude a row, besides `overlap`.
    pub(super) fn kept_bits(&self) -> u32 {
        let is_kept = |name: &str| self.parameters.keep.iter().any(|kept| kept == name);
        REASONS.iter().filter(|reason| is_kept(reason.name)).fold(0, |bits, reason| bits | reason.bit)
    }
}

/// The value of an entry, and its origin if it states one.
fn value_and_origin(entry: Value) -> (Value, Option<String>) {
    match entry {
        Value::Object(mut pair) if pair.contains_key("value") => {
            let origin = pair.get("from").and_then(Value::as_str).map(str::to_owned);
            (pair.remove("value").unwrap_or_default(), origin)
        }
        value => (value, Some("user".to_owned())),
    }
}

fn object(argument: &str, text: &str) -> Result<Map<String, Value>> {
    serde_json::from_str(text)
        .map_err(|cause| invalid(format!("`{argument}`: expected a JSON object, as `cleaned.recipe` is: {cause}")))
}

fn check(parameters: &Parameters) -> Result<()> {
    let Parameters { speeds, position_jump, moisture, spike, local, ends, .. } = parameters;
    let ends = if let Estimate::Given(ends) = ends { *ends } else { [0.0; 2] };
    let least_zero = [
        ("turn", parameters.turn),
        ("distance_jump", parameters.distance_jump),
        ("full_width", parameters.full_width),
        ("overlap", parameters.overlap),
        ("moisture_jump", parameters.moisture_jump),
        ("edge", parameters.edge.unwrap_or(0.0)),
    ];
    let pairs = [
        ("speeds", *speeds),
        ("position_jump", *position_jump),
        ("moisture", *moisture),
        ("spike", *spike),
        ("local", *local),
        ("ends", ends),
    ];
    let all = least_zero.into_iter().chain(pairs.into_iter().flat_map(|(name, pair)| pair.map(|value| (name, value))));
    for (name, value) in all {
        if value < 0.0 {
            return Err(invalid(format!("`recipe`: parameter `{name}`: expected 0 or more, got {value}")));
        }
    }
    if let Some(market) = parameters.market_moisture.filter(|market| !(0.0..100.0).contains(market)) {
        return Err(invalid(format!("`recipe`: parameter `market_moisture`: expected 0 to 100 %, got {market}")));
    }
    let unknown = parameters.keep.iter().find(|name| !REASONS.iter().any(|reason| reason.name == name.as_str()));
    if let Some(name) = unknown {
        let known = REASONS.map(|reason| format!("\"{}\"", reason.name)).join(", ");
        return Err(invalid(format!("`keep`: expected names of reasons ({known}), got \"{name}\"")));
    }
    Ok(())
}

fn invalid(message: String) -> Error {
    Error::for_argument("recipe", message)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn recipe_replays_itself() {
        let mut recipe =
            Recipe::parse(Some(r#"{"edge": 10, "delay": {"1": 11.5, "2": null}}"#), r#"{"antenna": 3.5}"#).unwrap();
        recipe.set_origin("delay", "estimated");
        let text = recipe.to_json().unwrap();
        let again = Recipe::parse(Some(&text), "{}").unwrap();
        assert_eq!(again.parameters, recipe.parameters);
        assert_eq!(again.to_json().unwrap(), text);
        assert!(text.contains("\"from\": \"estimated\""), "{text}");
        let keys: Vec<String> = object("recipe", &text).unwrap().keys().cloned().collect();
        assert!(keys.is_sorted(), "{keys:?}");
    }

    #[test]
    fn unknown_key_value_and_version_are_errors() {
        let message = |text: &str| Recipe::parse(Some(text), "{}").unwrap_err().to_string();
        assert!(message(r#"{"edges": 10}"#).contains("edges"));
        assert!(message(r#"{"edge": -1}"#).contains("`edge`"));
        assert!(message(r#"{"delay": "soon"}"#).contains("`delay`"));
        assert!(message(r#"{"headland_recipe": 2}"#).contains("version 1"));
        assert!(message(r#"{"keep": ["spikes"]}"#).contains("spikes"));
        assert!(message("[]").contains("JSON object"));
    }
}
