//! Tests that the cost of a sync grows with the changes and not with the size of the mirror.

#![expect(clippy::unwrap_used, reason = "tests expect by unwrapping")]

use std::time::{Duration, Instant};

use chrono::TimeDelta;
use headland::mirror::{Cursor, FileState, Folder, ItemKind, Journal, Listed, Mirror, Options as MirrorOptions};

use super::pull_cost::{sync, unlimited};
use super::service::{Service, hold_time};

/// A service without jobs, and a mirror that has `jobs` of them.
async fn mirrored(jobs: u32) -> (Service, Mirror) {
    let service = Service::start(unlimited(0));
    let now = service.sandbox.now();
    let folder = Folder::open(&service.path(), true).unwrap();
    let journal = Journal::open(&folder, Some(&service.client(&[]).account())).unwrap();
    journal
        .write(|step| {
            let number = step.begin_relist()?;
            for id in 0..jobs {
                let created = Some(now - TimeDelta::days(400) + TimeDelta::minutes(id.into()));
                let json = format!(r#"{{"ID":"{id}","Name":"Job {id}"}}"#);
                let listed = Listed {
                    id: id.to_string(),
                    name: format!("Job {id}"),
                    created,
                    updated: created,
                    json,
                    ..Listed::default()
                };
                let stamp = listed.stamp(ItemKind::Job);
                step.list_page(ItemKind::Job, std::slice::from_ref(&listed), Some(number), now)?;
                let none = FileState::NoCoverage { reason: "No coverage available.".to_owned() };
                step.set_file(ItemKind::Job, &listed.id, &stamp, &none, now)?;
                step.set_detail(ItemKind::Job, &listed.id, &stamp, &format!(r#"{{"ID":"{id}"}}"#))?;
            }
            step.set_relisted(now)?;
            let newest = Some(now - TimeDelta::days(300));
            step.set_cursor("job_data.list", &Cursor { newest_created: newest, ..Cursor::default() })
        })
        .unwrap();
    drop((folder, journal));
    let mirror = service.mirror(&[], MirrorOptions { locations: false, ..MirrorOptions::default() });
    sync(&mirror).await;
    (service, mirror)
}

#[tokio::test(start_paused = true)]
async fn sync_without_changes_takes_equal_time_with_a_thousand_and_ten_thousand_jobs() {
    let (few, of_few) = mirrored(1_000).await;
    let (many, of_many) = mirrored(10_000).await;
    let _hold = hold_time();
    let mut best = [Duration::MAX; 2];
    for (service, mirror) in [(&few, &of_few), (&many, &of_many)] {
        sync(mirror).await;
        let before = service.count();
        let outcome = sync(mirror).await;
        assert_eq!((service.count() - before, outcome.generation), (1, None));
    }
    // In turn, so that other load slows both; the fastest run measures the work, sooner or later.
    for round in 0..300 {
        let [few, many] = best;
        if round >= 15 && many < few.mul_f64(1.5) {
            break;
        }
        for (best, mirror) in best.iter_mut().zip([&of_few, &of_many]) {
            let begun = Instant::now();
            sync(mirror).await;
            *best = (*best).min(begun.elapsed());
        }
    }
    let [few, many] = best;
    assert!(many < few.mul_f64(1.5), "{few:?} after 1,000 jobs, {many:?} after 10,000");
}
