//! Types of jobs: their names in lists, in details and as callers write them, and the kinds of their rows.

use super::columns::JobKind;

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
    /// Names in details and in the dataset.
    pub details: &'static [&'static str],
    /// Plain names of the types in lists that may be of it.
    pub listed: &'static [&'static str],
}

const PLANTER_SPRAYER: &str = "plantersprayer";

const fn row(
    name: &'static str,
    aliases: &'static [&'static str],
    kind: Option<JobKind>,
    details: &'static [&'static str],
    listed: &'static [&'static str],
) -> JobType {
    JobType { name, aliases, kind, details, listed }
}

impl JobType {
    /// Plain name of grain carts.
    pub const GRAIN_CART: &'static str = "graincart";

    /// All known types, in the order of their names.
    pub const ALL: &'static [Self] = &[
        row(
            "AsApplied",
            &["application"],
            Some(JobKind::AsApplied),
            &["AsApplied"],
            &["asapplied", "sprayer", PLANTER_SPRAYER],
        ),
        row("GrainCart", &[], None, &["GrainCart"], &[Self::GRAIN_CART]),
        row("Planter", &["planting", "seeding"], Some(JobKind::Planting), &["Planter"], &["planter", PLANTER_SPRAYER]),
        row("Planter/Sprayer", &[], None, &["Planter", "AsApplied"], &[PLANTER_SPRAYER]),
        row("Sprayer", &[], Some(JobKind::AsApplied), &["AsApplied"], &["sprayer", PLANTER_SPRAYER]),
        row("Yield", &["harvest"], Some(JobKind::Yield), &["Yield"], &["yield"]),
    ];

    /// The known type of a name in any spelling.
    #[must_use]
    pub fn find(name: &str) -> Option<&'static Self> {
        let plain = Self::plain(name);
        Self::ALL.iter().find(|known| known.is_name(&plain) || known.aliases.contains(&&*plain))
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

    /// Whether a type in a list is one that a caller asks for: the name of a kind or an alias means all types of that
    /// kind, any other word that type alone.
    #[must_use]
    pub fn is_asked(asked: &str, listed: &str) -> bool {
        let plain = Self::plain(asked);
        let by_name = JobKind::ALL.iter().copied().find(|kind| kind.as_str() == asked);
        let by_alias = || Self::find(asked).filter(|known| !known.is_name(&plain)).and_then(|known| known.kind);
        match by_name.or_else(by_alias) {
            Some(kind) => JobKind::find(listed) == Some(kind),
            None => !plain.is_empty() && plain == Self::plain(listed),
        }
    }

    fn is_name(&self, plain: &str) -> bool {
        Self::plain(self.name) == plain
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

    #[test]
    fn kind_means_all_its_listed_types_and_a_listed_type_itself() {
        let listed = ["Planter", "Sprayer", "Yield", "Planter/Sprayer", "As Applied", "Tillage", ""];
        for (asked, expected) in [
            ("yield", &["Yield"][..]),
            ("harvest", &["Yield"]),
            ("as_applied", &["Sprayer", "As Applied"]),
            ("Application", &["Sprayer", "As Applied"]),
            (" as applied ", &["As Applied"]),
            ("SPRAYERS", &["Sprayer"]),
            ("planting", &["Planter"]),
            ("Planter/Sprayer", &["Planter/Sprayer"]),
            ("tillage", &["Tillage"]),
            ("/", &[]),
        ] {
            let found: Vec<&str> = listed.into_iter().filter(|listed| JobType::is_asked(asked, listed)).collect();
            assert_eq!(found, expected, "{asked}");
        }
    }
}
