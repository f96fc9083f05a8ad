//! Generates `python/docs/tables`: tables that hand-written pages include, so that each figure or name has one source.

use headland::api::events::{BARS, EVENTS};
use headland::api::legacy_orders::REPLACED_BY;
use headland::sandbox::{FAULTS, VARIANTS};

use crate::reference::MARK;

/// Each table with its path below `python/docs`.
pub(crate) fn tables() -> Vec<(String, String)> {
    [
        ("faults", faults()),
        ("variants", variants()),
        ("events", events()),
        ("bars", bars()),
        ("replacements", replacements()),
    ]
    .into_iter()
    .map(|(name, table)| (format!("tables/{name}.md"), format!("{MARK}{table}")))
    .collect()
}

fn faults() -> String {
    let mut out = "| `kind` | Also | What the service does |\n|---|---|---|\n".to_owned();
    for row in FAULTS {
        let code = if row.code.is_empty() { "–".to_owned() } else { format!("`{}`", row.code) };
        out.push_str(&format!("| `{}` | {code} | {} |\n", row.name, row.doc));
    }
    out
}

fn variants() -> String {
    let mut out = "| Variant | What the service does |\n|---|---|\n".to_owned();
    for row in VARIANTS {
        out.push_str(&format!("| `{}` | {} |\n", row.name, row.doc));
    }
    out
}

fn events() -> String {
    let mut out = "| `event` | `event_meaning` |\n|---|---|\n".to_owned();
    for (code, meaning) in EVENTS {
        out.push_str(&format!("| `{code}` | {meaning} |\n"));
    }
    out
}

fn bars() -> String {
    let mut out = "| `rssi` | `rssi_bars` |\n|---|---|\n".to_owned();
    let mut above = None;
    for (least, bars) in BARS {
        let below = above.map_or(String::new(), |above: f64| format!(", below {above} dBm"));
        let unit = if *bars == 1 { "bar" } else { "bars" };
        out.push_str(&format!("| {least} dBm and more{below} | {bars} {unit} |\n"));
        above = Some(*least);
    }
    if let Some(least) = above {
        out.push_str(&format!("| below {least} dBm | 0 bars |\n"));
    }
    out
}

/// The map from the legacy order service to the dispatch service.
pub(crate) fn replacements() -> String {
    let mut out = "| Legacy call | Replaced by |\n|---|---|\n".to_owned();
    for (legacy, replacement) in REPLACED_BY {
        out.push_str(&format!(
            "| {{py:meth}}`{legacy} <client.{legacy}>` | {{py:meth}}`{replacement} <client.{replacement}>` |\n"
        ));
    }
    out
}
