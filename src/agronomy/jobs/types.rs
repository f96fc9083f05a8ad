//! Types of jobs: their names in lists, in details and as callers write them, and the kinds of their rows.

use crate::columns::canonical::JobKind;

/// A type of jobs or of grain carts. Lists and details use different names: a detail of `AsApplied` is listed as
/// `Sprayer` or `As Applied`, and `Planter/Sprayer` may be of either machine (specification 2.1 and 2.6).
#[derive(Debug)]
pub struct JobType {
    /// Name in messages.
    pub name: &'static str,
    /// Plain names that neither lists nor details have.
    aliases: &'static [&'static str],
    /// Kind of the rows, if there is only one.
    pub kind: Option<JobKind>,
    /// Whether the name is that of a kind, of which other labels may be too; else of a label of lists alone.
    pub is_kind: bool,
    /// Names in details and in the dataset.
    pub details: &'static [&'static str],
}

const fn kind(
    name: &'static str,
    details: &'static [&'static str],
    kind: JobKind,
    aliases: &'static [&'static str],
) -> JobType {
    JobType { name, aliases, kind: Some(kind), is_kind: true, details }
}

const fn label(name: &'static str, details: &'static [&'static str], kind: Option<JobKind>) -> JobType {
    JobType { name, aliases: &[], kind, is_kind: false, details }
}

impl JobType {
    /// Plain name of grain carts.
    pub const GRAIN_CART: &'static str = "graincart";

    /// All known types, in the order of their names.
    pub const ALL: &'static [Self] = &[
        kind("AsApplied", &["AsApplied"], JobKind::AsApplied, &["application", "spraying", "spreading"]),
        label("GrainCart", &["GrainCart"], None),
        kind("Planter", &["Planter"], JobKind::Planting, &["planting", "seeding", "sowing"]),
        label("Planter/Sprayer", &["Planter", "AsApplied"], None),
        label("Sprayer", &["AsApplied"], Some(JobKind::AsApplied)),
        kind("Yield", &["Yield"], JobKind::Yield, &["harvest", "harvesting"]),
    ];

    /// The known type of a name in any spelling.
    #[must_use]
    pub fn find(name: &str) -> Option<&'static Self> {
        let plain = Self::plain(name);
        Self::ALL.iter().find(|known| Self::plain(known.name) == plain || known.aliases.contains(&&*plain))
    }

    /// Removes what spellings differ in: case, blanks, punctuation, and the plural, as of grain carts.
    #[must_use]
    pub fn plain(name: &str) -> String {
        let mut plain: String = name.chars().filter(|c| c.is_alphanumeric()).flat_map(char::to_lowercase).collect();
        if plain.ends_with('s') {
            plain.pop();
        }
        plain
    }

    /// Kinds that its jobs may be of; none for grain carts.
    #[must_use]
    pub fn kinds(&self) -> Vec<JobKind> {
        self.details.iter().filter_map(|detail| JobKind::find(detail)).collect()
    }
}

impl JobKind {
    /// The kind of this name, of a `job_type` or `sub_type` of the service, or of an operation in sidecar metadata.
    #[must_use]
    pub fn find(name: &str) -> Option<Self> {
        JobType::find(name)?.kind
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn kind_is_found_by_every_name() {
        for (names, kind) in [
            (&["yield", "Yield", "YIELDS", "harvest"][..], Some(JobKind::Yield)),
            (&["as_applied", "AsApplied", "As Applied", "Sprayer", "application"], Some(JobKind::AsApplied)),
            (&["planting", "Planter", "seeding"], Some(JobKind::Planting)),
            (&["Planter/Sprayer", "GrainCart", "Tillage", "", "s"], None),
        ] {
            for name in names {
                assert_eq!(JobKind::find(name), kind, "{name}");
            }
        }
    }
}
