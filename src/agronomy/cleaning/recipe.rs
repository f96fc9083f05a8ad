//! The recipe of a cleaning: every parameter with its value and where that comes from, as JSON that can be replayed.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};

use crate::cleaning::reasons::REASONS;
use headland_base::error::{Error, Result};

/// Version of the form of recipes.
const FORM: u64 = 2;
/// Parameters of the form before, which have no effect on maps and are gone.
const GONE: &str = "`mixing`, `distance_jump`, `moisture` and the word \"auto\" of `moisture_delay` and `ends`";
/// Seconds beyond which a delay is no delay of a machine, and metres of the longest machine.
const LONGEST_DELAY: f64 = 60.0;
const LONGEST_MACHINE: f64 = 30.0;
const FORM_KEY: &str = "headland_recipe";
/// Origin of values that follow from the job, such as its crop.
const JOB: &str = "job";
const VERSION_KEY: &str = "version";

/// A delay or another value in seconds.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(untagged)]
pub(crate) enum Seconds {
    /// The same for all machines.
    One(f64),
    /// By number of the machine; null is no shift.
    Machines(BTreeMap<String, Option<f64>>),
    /// Where the seconds come from.
    Word(Word),
    /// No shift.
    Off(()),
}

/// Where a delay comes from that is not given.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Word {
    /// Estimated from the rows.
    Auto,
    /// The delay of the flow.
    Flow,
}

/// The parameters. Lengths are metres, times seconds, angles degrees, yields kg/ha, moistures percent.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub(crate) struct Parameters {
    /// From the antenna forward to the cutter bar.
    pub(crate) antenna: f64,
    pub(crate) delay: Seconds,
    /// An estimate of its own changes no map, so that it is that of the flow.
    pub(crate) moisture_delay: Seconds,
    /// First and last seconds of a pass, in which the flow rises or falls.
    pub(crate) ends: [f64; 2],
    /// Change of the heading within 6 s that is a turn.
    pub(crate) turn: f64,
    /// Slowest speed in m/s, and fastest in medians.
    pub(crate) speeds: [f64; 2],
    /// Metres and median steps by which a position may differ.
    pub(crate) position_jump: [f64; 2],
    /// Of the usual width, what is not narrow.
    pub(crate) full_width: f64,
    /// Share of a swath that was covered before.
    pub(crate) overlap: f64,
    /// Points by which a moisture may differ from its neighbours.
    pub(crate) moisture_jump: f64,
    /// Ratios of a rate to that of its neighbours.
    pub(crate) spike: [f64; 2],
    /// Logarithm of the ratio, and its size in standard deviations.
    pub(crate) local: [f64; 2],
    /// Least and greatest yield.
    pub(crate) limits: [Option<f64>; 2],
    /// Distance to the boundary; null is 10 m where a boundary is given.
    pub(crate) edge: Option<f64>,
    /// Market moisture of the crop.
    pub(crate) market_moisture: Option<f64>,
    /// Whether grain below the market moisture gains.
    pub(crate) expand: bool,
    /// Reasons that do not exclude a row.
    pub(crate) keep: Vec<String>,
}

impl Default for Parameters {
    fn default() -> Self {
        Self {
            antenna: 0.0,
            delay: Seconds::Word(Word::Auto),
            moisture_delay: Seconds::Word(Word::Flow),
            ends: [3.0, 2.0],
            turn: 25.0,
            speeds: [0.32, 2.0],
            position_jump: [4.0, 4.5],
            full_width: 0.97,
            overlap: 0.33,
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
pub(crate) struct Recipe {
    pub(crate) parameters: Parameters,
    /// `user`, `estimated` or `job`; the others are defaults.
    origins: BTreeMap<String, String>,
}

impl Recipe {
    /// Parses a recipe, and sets the arguments, which override it. Values may be plain or have their origin.
    pub(crate) fn parse(recipe: Option<&str>, arguments: &str) -> Result<Self> {
        let mut origins = BTreeMap::new();
        let mut values = Map::new();
        let given = recipe.map(|text| object("recipe", text)).transpose()?.unwrap_or_default();
        for (key, entry) in given {
            match key.as_str() {
                FORM_KEY if entry.as_u64() == Some(FORM) => {}
                FORM_KEY => {
                    let message = format!(
                        "`recipe`: expected version {FORM}, got {entry}; version 1 had {GONE}, which are gone: leave them \
                         out, or clean again without the recipe"
                    );
                    return Err(invalid(message));
                }
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
    pub(crate) fn to_json(&self) -> Result<String> {
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
    pub(crate) fn set_origin(&mut self, parameter: &str, origin: &str) {
        self.origins.insert(parameter.to_owned(), origin.to_owned());
    }

    /// Puts the market moisture of the crop in the place of null.
    pub(crate) fn set_market_moisture(&mut self, market: Option<f64>) {
        if self.parameters.market_moisture.is_none() && market.is_some() {
            self.parameters.market_moisture = market;
            self.set_origin("market_moisture", JOB);
        }
    }

    /// Leaves the market moisture to the crops, whose moistures differ.
    pub(crate) fn unset_market_moisture(&mut self) {
        self.parameters.market_moisture = None;
        self.set_origin("market_moisture", "default");
    }

    /// Bits of the reasons that do not exclude a row, besides `overlap`.
    pub(crate) fn kept_bits(&self) -> u32 {
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
    let Parameters { speeds, position_jump, spike, local, ends, limits, .. } = parameters;
    let least_zero = [
        ("turn", parameters.turn),
        ("full_width", parameters.full_width),
        ("overlap", parameters.overlap),
        ("moisture_jump", parameters.moisture_jump),
        ("edge", parameters.edge.unwrap_or(0.0)),
    ];
    let pairs = [
        ("speeds", *speeds),
        ("position_jump", *position_jump),
        ("spike", *spike),
        ("local", *local),
        ("ends", *ends),
        ("limits", limits.map(Option::unwrap_or_default)),
    ];
    let all = least_zero.into_iter().chain(pairs.into_iter().flat_map(|(name, pair)| pair.map(|value| (name, value))));
    for (name, value) in all {
        if value < 0.0 {
            return Err(invalid(format!("`recipe`: parameter `{name}`: expected 0 or more, got {value}")));
        }
    }
    let limits = if let [Some(least), Some(most)] = limits { [*least, *most] } else { [0.0; 2] };
    for (name, [least, most]) in [("spike", *spike), ("limits", limits)] {
        if least > most {
            let message = format!("`recipe`: parameter `{name}`: expected [least, most], got [{least}, {most}]");
            return Err(invalid(message));
        }
    }
    check_delays(parameters)?;
    if parameters.antenna.abs() > LONGEST_MACHINE {
        let message = format!("`antenna`: expected at most {LONGEST_MACHINE} m, got {} m", parameters.antenna);
        return Err(Error::for_argument("antenna", message));
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

/// Checks that delays are some that grain can have in a machine.
fn check_delays(parameters: &Parameters) -> Result<()> {
    let Parameters { delay, moisture_delay, .. } = parameters;
    for (name, seconds, own) in [("delay", delay, Word::Auto), ("moisture_delay", moisture_delay, Word::Flow)] {
        let given: Vec<f64> = match seconds {
            Seconds::One(seconds) => vec![*seconds],
            Seconds::Machines(machines) => machines.values().flatten().copied().collect(),
            Seconds::Word(word) if *word != own => {
                let word = if own == Word::Auto { "auto" } else { "flow" };
                let message = format!("`{name}`: expected seconds, \"{word}\", null or seconds by machine");
                return Err(Error::for_argument(name, message));
            }
            Seconds::Word(_) | Seconds::Off(()) => Vec::new(),
        };
        if let Some(seconds) = given.into_iter().find(|seconds| seconds.abs() > LONGEST_DELAY) {
            let message = format!("`{name}`: expected at most {LONGEST_DELAY} s, got {seconds} s");
            return Err(Error::for_argument(name, message));
        }
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
        assert!(message(r#"{"headland_recipe": 1}"#).contains("`mixing`"));
        assert!(message(r#"{"limits": [300, 50]}"#).contains("`limits`"));
        assert!(message(r#"{"delay": 1e9}"#).contains("60 s"));
        assert!(message(r#"{"delay": "flow"}"#).contains("auto"));
        assert!(message(r#"{"antenna": 420}"#).contains("30 m"));
        assert!(message(r#"{"keep": ["spikes"]}"#).contains("spikes"));
        assert!(message("[]").contains("JSON object"));
    }
}
