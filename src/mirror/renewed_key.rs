//! Accepts another access key of the mirrored account, such as a renewed one.
//!
//! The specification gives an account no name: the summary of an access key (2.7) describes the key. So the lists
//! decide. Ids of jobs are those of the service (2.1), and a key of the same account lists the jobs that the mirror
//! knows. The base URL has to be equal, since another service may use the same ids.

use std::collections::HashSet;

use chrono::{DateTime, Utc};

use super::archive_log;
use super::journal::{FileState, Item, ItemKind, Journal, ReadTxn};
use super::layout::Folder;
use super::lists::{List, PAGE, endpoint, text_field, time_field};
use super::options::Options;
use headland_base::error::Result;
use headland_client::{Arguments, Client};

/// Meta keys of the base URL, and of the digests of earlier access keys, one per line.
const BASE_URL: &str = "base URL";
const EARLIER: &str = "earlier accounts";

/// Id and time of creation of a job.
type Identity = (String, Option<DateTime<Utc>>);

/// If the mirror is of another access key, reads the newest jobs of this one, and accepts it if they are those of the
/// mirror. Returns whether it made that call. An access key that the service refuses is the error of the service.
pub(super) async fn accept(folder: &Folder, client: &Client, options: &Options) -> Result<bool> {
    if !folder.journal_path().is_file() {
        return Ok(false);
    }
    let journal = Journal::open(folder, None)?;
    let (known, base) = journal.read(|txn| Ok((txn.get_meta("account")?, txn.get_meta(BASE_URL)?)))?;
    let account = client.account();
    let is_other = known.is_some_and(|known| known != account);
    if !is_other || base.as_deref() != Some(client.address().0) || journal.read(ReadTxn::is_empty)? {
        return Ok(false);
    }
    let row = endpoint(List::Jobs.row_name())?;
    let pages = client.pages(row, Arguments::new(row, &[])?, Some(PAGE), None)?;
    let mut pages = pages.sequential().on_error(options.on_error);
    let page = pages.next_page().await?.unwrap_or_default();
    let listed = page.iter().filter_map(|job| Some((text_field(job, "id")?, time_field(job, "create_date"))));
    let items = journal.read(|txn| txn.items(ItemKind::Job))?;
    if is_same(&listed.collect(), &items, pages.position().is_at_end) {
        set_account(folder, &journal, &account)?;
    }
    Ok(true)
}

/// Whether most jobs of a list's first page and of the mirror are the same, within the time that both cover. Some may
/// differ: the service removes jobs, and a machine uploads an old one.
fn is_same(listed: &HashSet<Identity>, items: &[Item], is_complete: bool) -> bool {
    let present = items.iter().filter(|item| item.file != FileState::Gone);
    let known: HashSet<Identity> = present.map(|item| (item.id.clone(), item.created)).collect();
    let newest = known.iter().filter_map(|(_, created)| *created).max();
    let oldest = listed.iter().filter_map(|(_, created)| *created).min().filter(|_| !is_complete);
    let shared = known.intersection(listed).count();
    let is_early = |created: Option<DateTime<Utc>>| created.zip(newest).is_none_or(|(time, newest)| time <= newest);
    let is_late = |created: Option<DateTime<Utc>>| created.zip(oldest).is_none_or(|(time, oldest)| time >= oldest);
    let only_listed = listed.iter().filter(|job| !known.contains(job) && is_early(job.1)).count();
    let only_known = known.iter().filter(|job| !listed.contains(job) && is_late(job.1)).count();
    shared > only_listed.saturating_add(only_known)
}

/// Makes the folder one of this access key. The log first: if this run is killed in between, the next one repeats it.
fn set_account(folder: &Folder, journal: &Journal, account: &str) -> Result<()> {
    let mut entries = archive_log::read(folder.path())?;
    for entry in &mut entries {
        account.clone_into(&mut entry.account);
    }
    archive_log::rewrite(folder.disk(), folder.path(), &entries)?;
    journal.write(|txn| {
        let mut earlier = accounts(txn)?;
        earlier.retain(|earlier| earlier != account);
        txn.set_meta(EARLIER, &earlier.join("\n"))?;
        txn.set_meta("account", account)
    })
}

/// Stores the base URL of a journal that has none.
pub(super) fn set_base_url(journal: &Journal, client: &Client) -> Result<()> {
    if journal.read(|txn| txn.get_meta(BASE_URL))?.is_some() {
        return Ok(());
    }
    journal.write(|txn| txn.set_meta(BASE_URL, client.address().0))
}

/// Digests of the access key of a journal and of earlier ones.
pub(super) fn accounts(txn: &ReadTxn) -> Result<Vec<String>> {
    let earlier = txn.get_meta(EARLIER)?.unwrap_or_default();
    let earlier = earlier.lines().map(str::to_owned);
    Ok(txn.get_meta("account")?.into_iter().chain(earlier).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(day: i64) -> Option<DateTime<Utc>> {
        DateTime::from_timestamp(day * 86_400, 0)
    }

    /// Jobs that were created on days, whose ids are those days after `first`.
    fn jobs(first: i64, days: std::ops::Range<i64>) -> HashSet<Identity> {
        days.map(|day| ((first + day).to_string(), at(day))).collect()
    }

    fn items(known: HashSet<Identity>) -> Vec<Item> {
        known.into_iter().map(|(id, created)| Item { created, ..Item::listed(ItemKind::Job, &id) }).collect()
    }

    #[test]
    fn account_is_the_same_if_most_jobs_of_the_common_time_are() {
        let known = items(jobs(0, 10..20));
        for (case, listed, is_complete, expected) in [
            ("the same", jobs(0, 10..20), true, true),
            ("many new ones", jobs(0, 10..90), true, true),
            ("a first page of new and known ones", jobs(0, 18..90), false, true),
            ("a few removed", jobs(0, 14..20), true, true),
            ("a few only", jobs(0, 17..20), true, false),
            ("other ids", jobs(100, 10..20), true, false),
            ("other times of the same ids", jobs(1, 9..19), true, false),
            ("those of another account too", jobs(0, 10..20).into_iter().chain(jobs(50, 0..20)).collect(), true, false),
            ("none", jobs(0, 0..0), true, false),
            ("only new ones on the first page", jobs(0, 30..40), false, false),
        ] {
            assert_eq!(is_same(&listed, &known, is_complete), expected, "{case}");
        }
    }
}
