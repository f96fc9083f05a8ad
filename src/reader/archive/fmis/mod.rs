//! Finds FMIS folders: the job in `jobdata.xml`, the layout in `advanced.xml`, and records in each `Product_N.tab`.
//!
//! See field notes, Job data archives.

pub(super) mod layout;

use std::collections::HashMap;
use std::path::Path;

use crate::archive::member::Member;

/// The file with the layout of the records.
const LAYOUT: &str = "advanced.xml";

/// The file with the description of the job.
const JOB: &str = "jobdata.xml";

/// The records of one product, with their layout and job.
#[derive(Clone, Debug)]
pub struct Fmis {
    /// The records.
    pub tab: Member,
    /// The layout of the records.
    pub layout: Member,
    /// The description of the job.
    pub job: Option<Member>,
}

/// Whether a member is the layout of an FMIS folder.
pub(super) fn is_layout(member: &Member) -> bool {
    member.file_name().eq_ignore_ascii_case(LAYOUT)
}

/// The products of all FMIS folders: text tables with a layout in the same folder, in the order of the source.
pub(super) fn products(members: &[Member]) -> Vec<Fmis> {
    // An archive may have tens of thousands of members, so folders are indexed.
    let (mut exact, mut loose) = (HashMap::new(), HashMap::new());
    for member in members {
        if let Some(file) = [LAYOUT, JOB].into_iter().find(|file| member.file_name().eq_ignore_ascii_case(file)) {
            exact.entry((folder(member).to_owned(), file)).or_insert(member);
            loose.entry((folder(member).to_ascii_lowercase(), file)).or_insert(member);
        }
    }
    // A folder with exactly this spelling takes precedence.
    let find_in_folder = |tab: &Member, file: &'static str| -> Option<Member> {
        let found = exact.get(&(folder(tab).to_owned(), file));
        found.or_else(|| loose.get(&(folder(tab).to_ascii_lowercase(), file))).map(|member| (*member).clone())
    };
    let tabs = members.iter().filter(|member| member.stem_and_ending().1 == "tab");
    let mut found: Vec<Fmis> = tabs
        .filter_map(|tab| {
            Some(Fmis { tab: tab.clone(), layout: find_in_folder(tab, LAYOUT)?, job: find_in_folder(tab, JOB) })
        })
        .collect();
    // Product_10 follows Product_9; folders keep the order of the source.
    for product in &mut found.chunk_by_mut(|one, other| folder(&one.tab) == folder(&other.tab)) {
        product.sort_by_key(Fmis::number);
    }
    found
}

impl Fmis {
    /// The number of the product, at the end of its name.
    #[must_use]
    pub fn number(&self) -> Option<u32> {
        let stem = self.tab.stem_and_ending().0;
        let digits = stem.len().saturating_sub(stem.trim_end_matches(|letter: char| letter.is_ascii_digit()).len());
        stem.get(stem.len().saturating_sub(digits)..)?.parse().ok()
    }
}

/// The folders of a member's name, with a final slash.
fn folder(member: &Member) -> &str {
    let name = member.name();
    name.get(..name.len().saturating_sub(member.file_name().len())).unwrap_or_default()
}

/// A filter of the names of files that belong to one file of an FMIS folder; `None` for other paths. A table belongs
/// with layout and job, but not with other tables.
pub(super) fn sibling_filter(path: &Path) -> Option<impl Fn(&str) -> bool + use<>> {
    let file = path.file_name()?.to_str()?.to_owned();
    let is_tab = |name: &str| name.rsplit_once('.').is_some_and(|(_, ending)| ending.eq_ignore_ascii_case("tab"));
    let is_one = is_tab(&file);
    if !is_one && !file.eq_ignore_ascii_case(LAYOUT) && !file.eq_ignore_ascii_case(JOB) {
        return None;
    }
    let explains = |name: &str| name.eq_ignore_ascii_case(LAYOUT) || name.eq_ignore_ascii_case(JOB);
    Some(move |name: &str| explains(name) || if is_one { name == file } else { is_tab(name) })
}
