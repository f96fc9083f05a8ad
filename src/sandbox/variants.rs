//! The variants: habits of real services that differ from the specification's plain reading (field notes), by name.

use crate::error::{Error, Kind, Result};

/// A habit that can be turned on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Variant {
    /// See `page-size-asked` in [`VARIANTS`]; the others likewise.
    PageSizeAsked,
    /// `production-uri`.
    ProductionUri,
    /// `more-time-202`.
    MoreTime202,
    /// `no-retry-after`.
    NoRetryAfter,
    /// `date-by-updated`.
    DateByUpdated,
    /// `bare-item`.
    BareItem,
    /// `numeric-ids`.
    NumericIds,
    /// `odd-times`.
    OddTimes,
    /// `display-names`.
    DisplayNames,
    /// `nested-job`.
    NestedJob,
    /// `bare-files`.
    BareFiles,
    /// `created-in-body`.
    CreatedInBody,
    /// `vague-content-type`.
    VagueContentType,
}

/// The name that turns all of them on.
pub const WILD: &str = "wild";

/// Every variant with its name and what it does.
pub const VARIANTS: &[(Variant, &str, &str)] = &[
    (
        Variant::PageSizeAsked,
        "page-size-asked",
        "`PageSize` of a list is the size asked for, not the records it holds.",
    ),
    (Variant::ProductionUri, "production-uri", "`Uri` values name a production host and carry mixed-case paths."),
    (Variant::MoreTime202, "more-time-202", "More time needed comes with HTTP 202."),
    (Variant::NoRetryAfter, "no-retry-after", "More time needed comes without `Retry-After`, as hh:mm:ss alone."),
    (Variant::DateByUpdated, "date-by-updated", "`date` selects by the time of update, not of creation."),
    (Variant::BareItem, "bare-item", "A list that holds one item carries it as a bare object."),
    (Variant::NumericIds, "numeric-ids", "Ids that are whole numbers come as numbers."),
    (
        Variant::OddTimes,
        "odd-times",
        "Times come with milliseconds, seven digits, an offset, no zone or a space for `T`, in turn.",
    ),
    (Variant::DisplayNames, "display-names", "A job's detail uses display names: `Device File Name`, `Target Rat`."),
    (
        Variant::NestedJob,
        "nested-job",
        "A job's detail nests its own fields in `YieldJob`, `SprayerJob` or `PlanterJob`.",
    ),
    (Variant::BareFiles, "bare-files", "A job's available files are a list of addresses."),
    (Variant::CreatedInBody, "created-in-body", "201 gives the address in the body alone, without `Location`."),
    (
        Variant::VagueContentType,
        "vague-content-type",
        "Files, and the replies that come in their place, are `application/octet-stream`.",
    ),
];

/// The variants that are on.
#[derive(Clone, Debug, Default)]
pub(super) struct Habits(Vec<Variant>);

impl Habits {
    /// Reads names; `wild` turns all on. An unknown name is a `Value` error that lists all.
    pub(super) fn parse(names: &[String]) -> Result<Self> {
        let mut on = Vec::new();
        for name in names {
            if name == WILD {
                on.extend(VARIANTS.iter().map(|(variant, ..)| *variant));
            } else if let Some((variant, ..)) = VARIANTS.iter().find(|(_, known, _)| known == name) {
                on.push(*variant);
            } else {
                let known: Vec<&str> = VARIANTS.iter().map(|(_, name, _)| *name).collect();
                return Err(Error::new(
                    Kind::Value,
                    format!("`{name}` is no variant; use {WILD} for all, or any of {}", known.join(", ")),
                ));
            }
        }
        Ok(Self(on))
    }

    /// Whether that one is on.
    pub(super) fn has(&self, variant: Variant) -> bool {
        self.0.contains(&variant)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_read_and_unknown_ones_refused_with_the_list() {
        let habits = Habits::parse(&["more-time-202".to_owned()]).unwrap();
        assert!(habits.has(Variant::MoreTime202) && !habits.has(Variant::NoRetryAfter));
        let wild = Habits::parse(&[WILD.to_owned()]).unwrap();
        assert!(VARIANTS.iter().all(|(variant, ..)| wild.has(*variant)));
        let error = Habits::parse(&["tame".to_owned()]).unwrap_err();
        assert_eq!(error.kind(), Kind::Value);
        assert!(VARIANTS.iter().all(|(_, name, _)| error.message().contains(name)));
    }
}
