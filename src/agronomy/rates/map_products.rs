//! Matches the products of a prescription with those of a job: which zones are the target of which rows.

use super::job_totals::reported_products;
use super::part::Part;
use crate::maps::zone_units::{is_same_product, zone_products};
use headland_base::error::{Error, Result};
use headland_reader::archive::{Code, Diagnostic};
use headland_reader::layer::Layer;

/// Zones of a prescription by their row.
pub(super) enum Zones {
    All,
    Some(Vec<usize>),
}

impl Zones {
    pub(super) fn contains(&self, zone: usize) -> bool {
        match self {
            Self::All => true,
            Self::Some(zones) => zones.binary_search(&zone).is_ok(),
        }
    }
}

/// Zones that are the target of some rows.
pub(super) struct Group<'a> {
    /// The product, if the prescription names several.
    pub(super) name: Option<String>,
    pub(super) zones: Zones,
    pub(super) parts: Vec<&'a Part>,
}

/// The zones for the rows of each product. A prescription of one product is for its rows, or for all rows if the job has one.
///
/// Names that contradict are a diagnostic where there is one of each, which two spellings can explain, else an error.
pub(super) fn products_of_map<'a>(
    map: &Layer,
    layer: &Layer,
    parts: &'a [Part],
    diagnostics: &mut Vec<Diagnostic>,
) -> Result<Vec<Group<'a>>> {
    let texts = zone_products(map);
    let planned = texts.as_ref().map_or_else(Vec::new, |texts| texts.distinct(is_same_product));
    let logged = names(parts.iter().map(|part| part.product.as_str()));
    // Without names in the rows, the description of the job has them.
    let reported: Vec<String> =
        reported_products(layer).into_iter().flatten().filter_map(|product| product.name).collect();
    let known = if logged.is_empty() { names(reported.iter().map(String::as_str)) } else { logged.clone() };
    let refused = |message: String| Err(Error::for_argument("target", format!("`target`: {message}")));
    let all = |parts| vec![Group { name: None, zones: Zones::All, parts }];
    let is_known = |name: &str| known.iter().any(|known| is_same_product(known, name));
    match (&*planned, known.len()) {
        ([], _) if logged.len() > 1 => refused(format!(
            "the prescription names no product, but the job has {}; pass the rows of one product, or a prescription with a \
             column `PRODUCT`",
            listed(&known)
        )),
        ([], _) => Ok(all(parts.iter().collect())),
        ([(name, _)], _) if logged.len() > 1 => {
            let own: Vec<&Part> = parts.iter().filter(|part| is_same_product(&part.product, name)).collect();
            if own.is_empty() {
                return refused(format!("the prescription is for `{name}`, but the job has {}", listed(&known)));
            }
            Ok(all(own))
        }
        ([(name, _)], count) => {
            if count > 0 && !is_known(name) {
                let message = format!(
                    "the prescription is for `{name}`, but the job applied {}; they are compared all the same, which is \
                     wrong if these are two products",
                    listed(&known)
                );
                diagnostics.push(Diagnostic::new(Code::ProductContradicts, message));
            }
            Ok(all(parts.iter().collect()))
        }
        (several, _) => {
            let planned_names: Vec<&str> = several.iter().map(|(name, _)| *name).collect();
            if known.is_empty() || (logged.is_empty() && known.len() > 1) {
                return refused(format!(
                    "the prescription has zones of {}, and the rows name no product; pass the zones of one of them",
                    listed(&planned_names)
                ));
            }
            let nameless = texts.iter().flat_map(|texts| &texts.texts).filter(|text| text.is_none()).count();
            if nameless > 0 {
                let message = format!(
                    "{nameless} zones of the prescription name no product, although others do; they are not used"
                );
                diagnostics.push(Diagnostic::new(Code::ProductContradicts, message));
            }
            let is_only = known.len() == 1;
            let of_zones = |(name, zones): &(&str, Vec<usize>)| {
                let is_own = |part: &&Part| (is_only && is_known(name)) || is_same_product(&part.product, name);
                let own: Vec<&Part> = parts.iter().filter(is_own).collect();
                let name = Some((*name).to_owned());
                (!own.is_empty()).then(|| Group { name, zones: Zones::Some(zones.clone()), parts: own })
            };
            let groups: Vec<Group> = several.iter().filter_map(of_zones).collect();
            if groups.is_empty() {
                return refused(format!(
                    "the prescription is for {}, but the job has {}",
                    listed(&planned_names),
                    listed(&known)
                ));
            }
            Ok(groups)
        }
    }
}

/// The names that differ, without empty ones.
fn names<'a>(names: impl Iterator<Item = &'a str>) -> Vec<&'a str> {
    let mut found: Vec<&str> = Vec::new();
    for name in names.map(str::trim).filter(|name| !name.is_empty()) {
        if !found.iter().any(|known| is_same_product(known, name)) {
            found.push(name);
        }
    }
    found.sort_unstable();
    found
}

fn listed(names: &[&str]) -> String {
    names.iter().map(|name| format!("`{name}`")).collect::<Vec<_>>().join(", ")
}
