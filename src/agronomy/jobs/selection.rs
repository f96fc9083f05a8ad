//! Selects jobs by their types and names, for lists, reads, the command line and mirrors alike.

use std::collections::BTreeSet;

use icu_normalizer::ComposingNormalizerBorrowed;

use crate::columns::canonical::JobKind;
use crate::jobs::types::JobType;
use headland_base::error::{Error, Kind, Result};

/// Types of jobs that a caller asks for.
///
/// The name of a kind (`Yield`, `AsApplied`, `Planter`, or an alias such as `harvest`) asks for every label of a list
/// that may be of it. `Planter/Sprayer` and a missing label may be of several kinds, so the job's detail decides. Any
/// other word, such as `Sprayer`, asks for that label alone.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct JobTypes {
    kinds: Vec<JobKind>,
    /// Plain labels.
    labels: BTreeSet<String>,
    /// Words that are no known type, as given. A list may have them as labels.
    unlisted: Vec<String>,
}

/// Whether a label is of the requested types.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Match {
    /// It is.
    Yes,
    /// It is not.
    No,
    /// It may be; the detail of the job decides.
    Maybe,
}

impl JobTypes {
    /// Types of words in any spelling.
    pub fn new(words: &[String]) -> Result<Self> {
        if words.is_empty() {
            return Err(value_error("`job_type` is empty; omit it for all job types".to_owned()));
        }
        let mut types = Self::default();
        for word in words {
            match JobType::find(word) {
                Some(JobType { is_kind: true, kind: Some(kind), .. }) => types.kinds.push(*kind),
                Some(label) => drop(types.labels.insert(JobType::plain(label.name))),
                None => {
                    types.labels.insert(JobType::plain(word));
                    types.unlisted.push(word.clone());
                }
            }
        }
        Ok(types)
    }

    /// Compares the label of a job in a list.
    #[must_use]
    pub fn match_label(&self, label: Option<&str>) -> Match {
        let plain = label.map(JobType::plain).unwrap_or_default();
        if plain.is_empty() {
            return if self.kinds.is_empty() { Match::No } else { Match::Maybe };
        }
        if self.labels.contains(&plain) {
            return Match::Yes;
        }
        let kinds = label.and_then(JobType::find).map(JobType::kinds).unwrap_or_default();
        match kinds.iter().filter(|kind| self.kinds.contains(kind)).count() {
            0 => Match::No,
            wanted if wanted == kinds.len() => Match::Yes,
            _ => Match::Maybe,
        }
    }

    /// Whether a job whose label left it open is included, by the type in its detail. A detail without a type leaves it
    /// open too: such a job is included, because leaving out a harvest is worse than reading one job too many.
    #[must_use]
    pub fn includes_detail(&self, job_type: Option<&str>) -> bool {
        let stated = job_type.filter(|job_type| !JobType::plain(job_type).is_empty());
        let kinds = match stated {
            Some(stated) => JobType::find(stated).map(JobType::kinds).unwrap_or_default(),
            None => return true,
        };
        kinds.iter().any(|kind| self.kinds.contains(kind))
    }

    /// Whether grain cart files are included, which have no label.
    #[must_use]
    pub fn includes_grain_carts(&self) -> bool {
        self.labels.contains(JobType::GRAIN_CART)
    }

    /// Whether a word is no known type, so that [`JobTypes::check`] has to compare it with a list.
    #[must_use]
    pub fn has_unlisted(&self) -> bool {
        !self.unlisted.is_empty()
    }

    /// Fails if a word is neither a known type nor a label of the list.
    pub fn check(&self, listed: &[String]) -> Result<()> {
        for word in &self.unlisted {
            let plain = JobType::plain(word);
            if plain.is_empty() || !listed.iter().any(|label| JobType::plain(label) == plain) {
                let others = listed.iter().map(String::as_str).filter(|label| !label.trim().is_empty());
                let others = others.filter(|label| JobType::find(label).is_none());
                let known: BTreeSet<&str> = JobType::ALL.iter().map(|known| known.name).chain(others).collect();
                let known: Vec<&str> = known.into_iter().collect();
                let message = format!("`job_type`: unknown type `{word}`; known: {}", known.join(", "));
                return Err(value_error(message));
            }
        }
        Ok(())
    }
}

/// Pattern for names: a text that they contain, in any letter case and Unicode normal form. `*` and `?` match as in file
/// names, but a name that contains the text as it is matches too, so each job is found by its own name.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NamePattern {
    folded: Vec<char>,
    has_wildcard: bool,
}

impl NamePattern {
    /// Pattern of a text.
    #[must_use]
    pub fn new(text: &str) -> Self {
        Self { folded: fold(text), has_wildcard: text.contains(['*', '?']) }
    }

    /// Whether a name matches.
    #[must_use]
    pub fn matches(&self, name: &str) -> bool {
        let name = fold(name);
        let is_part = self.folded.is_empty() || name.windows(self.folded.len()).any(|part| part == self.folded);
        is_part || (self.has_wildcard && matches_wildcards(&self.folded, &name))
    }
}

/// Text in NFC and without letter case. Upper case first, because `ß` is written `SS` in capitals.
fn fold(text: &str) -> Vec<char> {
    let composed = ComposingNormalizerBorrowed::new_nfc().normalize(text);
    composed.chars().flat_map(char::to_uppercase).flat_map(char::to_lowercase).collect()
}

/// Whether the whole text matches a pattern with `*` and `?`, in linear space and at most quadratic time: after a
/// mismatch, the last `*` takes one letter more.
fn matches_wildcards(pattern: &[char], text: &[char]) -> bool {
    let (mut at, mut next) = (0_usize, 0_usize);
    let mut retry = None;
    while let Some(letter) = text.get(next) {
        match pattern.get(at) {
            Some('*') => {
                retry = Some((at, next));
                at = at.saturating_add(1);
            }
            Some(wanted) if *wanted == '?' || wanted == letter => {
                at = at.saturating_add(1);
                next = next.saturating_add(1);
            }
            _ => {
                let Some((star, taken)) = retry else { return false };
                let taken = taken.saturating_add(1);
                retry = Some((star, taken));
                (at, next) = (star.saturating_add(1), taken);
            }
        }
    }
    pattern.iter().skip(at).all(|rest| *rest == '*')
}

fn value_error(message: String) -> Error {
    Error::new(Kind::Value, message)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn types(words: &[&str]) -> JobTypes {
        JobTypes::new(&words.iter().map(|word| (*word).to_owned()).collect::<Vec<_>>()).unwrap()
    }

    #[test]
    fn name_of_a_kind_asks_for_all_labels_that_may_be_of_it_and_a_label_for_itself() {
        let labels = ["Planter", "Sprayer", "Yield", "Planter/Sprayer", "As Applied", "Tillage", " "];
        let (yes, maybe) = (Match::Yes, Match::Maybe);
        for (asked, expected) in [
            ("Yield HARVESTS harvesting", &[(2, yes), (6, maybe)][..]),
            (
                "AsApplied as_applied as-applied Application spraying Spreading",
                &[(1, yes), (3, maybe), (4, yes), (6, maybe)],
            ),
            ("Planter planters planting seeding sowing", &[(0, yes), (3, maybe), (6, maybe)]),
            ("SPRAYERS sprayer", &[(1, yes)]),
            ("Planter/Sprayer planter_sprayers", &[(3, yes)]),
            ("tillage", &[(5, yes)]),
            ("/ GrainCart Yeild", &[]),
        ] {
            for word in asked.split(' ') {
                let expected = expected.iter().map(|(index, found)| (labels[*index], *found)).collect::<Vec<_>>();
                let found = labels.map(|label| (label, types(&[word]).match_label(Some(label))));
                let found: Vec<_> = found.into_iter().filter(|(_, found)| *found != Match::No).collect();
                assert_eq!(found, expected, "{word}");
            }
        }
        assert_eq!(types(&["yield"]).match_label(None), Match::Maybe);
        assert_eq!(types(&["sprayer"]).match_label(None), Match::No);
        assert_eq!(types(&["As Applied"]).match_label(Some("as applied")), Match::Yes);
        assert_eq!(types(&["planting", "spraying"]).match_label(Some("Planter/Sprayer")), Match::Yes);
        assert_eq!(types(&["yield", "planting", "spraying"]).match_label(None), Match::Maybe);
        assert_eq!(types(&["Sprayer", "Planter"]).match_label(Some("Planter/Sprayer")), Match::Maybe);
    }

    #[test]
    fn detail_decides_what_the_label_leaves_open() {
        let planting = types(&["planting"]);
        for (stated, is_included) in
            [("Planter", true), ("AsApplied", false), ("Planter/Sprayer", true), ("Tillage", false), ("", true)]
        {
            assert_eq!(planting.includes_detail(Some(stated)), is_included, "{stated}");
        }
        assert!(planting.includes_detail(None));
    }

    #[test]
    fn unknown_word_is_an_error_unless_it_is_listed() {
        let known = "AsApplied, GrainCart, Planter, Planter/Sprayer, Sprayer, Yield";
        let message = |words: &[&str], listed: &[&str]| {
            let listed: Vec<String> = listed.iter().map(|label| (*label).to_owned()).collect();
            types(words).check(&listed).unwrap_err().to_string()
        };
        assert_eq!(message(&["Yeild"], &[]), format!("`job_type`: unknown type `Yeild`; known: {known}"));
        assert!(message(&["Yeild"], &["Tillage", "As Applied", ""]).ends_with("Sprayer, Tillage, Yield"));
        assert!(message(&[" "], &["/"]).contains("unknown type ` `"));
        assert!(types(&["tillage"]).has_unlisted() && types(&["tillage"]).check(&["Tillage".to_owned()]).is_ok());
        assert!(!types(&["sprayers", "harvest"]).has_unlisted());
        let empty = JobTypes::new(&[]).unwrap_err().to_string();
        assert_eq!(empty, "`job_type` is empty; omit it for all job types");
    }

    #[test]
    fn each_name_is_found_by_itself_and_wildcards_match() {
        for name in ["North [40]", "a*b?c", "Größe", "[!x]*", "", "Stone Hill 2025", "GRO\u{308}SSE"] {
            assert!(NamePattern::new(name).matches(name), "{name}");
            assert!(NamePattern::new(&name.to_uppercase()).matches(name), "{name}");
        }
        for (text, name, is_match) in [
            ("north [40", "North [40] east", true),
            ("[40]", "North 4", false),
            ("north*", "The north", false),
            ("*north", "The North", true),
            ("cattle*2025*", "Cattle Gate 2025 Spreading", true),
            ("s?one", "Stone", true),
            ("s?one", "Sone", false),
            ("*a*b*", "xxaxxcxb", true),
            ("a*b", "acbc", false),
            ("größe", "GRÖSSE", true),
            ("Gro\u{308}ße", "größe", true),
        ] {
            assert_eq!(NamePattern::new(text).matches(name), is_match, "{text} {name}");
        }
    }
}
