//! Tests harvests that are written as machines log them: unchanged other jobs but tank mixes, bytes, totals, faults and maps.

use std::sync::LazyLock;

use headland::error::Kind;
use headland::sandbox::fields::{Account, HarvestStyle, Job, Truth, generate_account};

use super::reading::{members, read};
use super::{assert_near, assert_product_agrees, assert_table_is_tidy, list, recorded};

static LOGGED: LazyLock<Account> = LazyLock::new(|| generate_account(0, HarvestStyle::Logged));

/// Some jobs with their truth, the smallest first and the one of two machines last.
static TRUTHS: LazyLock<Vec<(&Job, Truth)>> = LazyLock::new(|| {
    let mut truths: Vec<_> = harvests(&LOGGED).step_by(3).map(|job| (job, job.truth().unwrap())).collect();
    truths.sort_by_key(|(job, truth)| (has_machines(truth), truth.rows, job.id.clone()));
    truths
});

fn harvests(account: &Account) -> impl Iterator<Item = &Job> {
    recorded(account).filter(|job| job.sub_type == "Yield")
}

fn has_machines(truth: &Truth) -> bool {
    truth.totals.iter().any(|total| total.0 == "MACHINE")
}

#[test]
fn logged_style_changes_harvests_and_adds_products_to_spraying_jobs() {
    let ideal = generate_account(0, HarvestStyle::Ideal);
    assert_eq!(ideal.jobs.len(), LOGGED.jobs.len());
    let mut mixes = 0;
    for job in recorded(&ideal) {
        let logged = LOGGED.jobs.iter().find(|other| other.id == job.id).unwrap();
        assert_eq!((&job.name, &job.sub_type), (&logged.name, &logged.sub_type));
        if job.sub_type == "Yield" {
            assert_ne!(job.detail, logged.detail);
        } else if list(&logged.detail, "products").len() > 1 {
            assert_eq!(job.created, logged.created);
            assert_eq!(list(&job.detail, "products")[0], list(&logged.detail, "products")[0]);
            mixes += 1;
        } else {
            assert_eq!((&job.detail, job.created), (&logged.detail, logged.created));
        }
    }
    assert_eq!(mixes, 6);
    let planting = recorded(&ideal).find(|job| job.sub_type == "Planter").unwrap();
    let logged = LOGGED.jobs.iter().find(|other| other.id == planting.id).unwrap();
    assert_eq!(planting.shapefile_zip().unwrap(), logged.shapefile_zip().unwrap());
    assert_eq!(logged.truth().unwrap().harvest, None);
    assert_eq!(planting.harvest_grid(10.0).unwrap_err().kind(), Kind::Value);
}

/// The digest was recorded before the logged style existed: it left all bytes of ideal harvests unchanged.
#[test]
fn bytes_of_ideal_harvests_never_change() {
    let mut checksum = crc32fast::Hasher::new();
    for job in harvests(&generate_account(0, HarvestStyle::Ideal)).filter(|job| !super::is_large(job)).step_by(4) {
        for (name, bytes) in members(&job.shapefile_zip().unwrap()).into_iter().chain(members(&job.fmis_zip().unwrap()))
        {
            checksum.update(name.as_bytes());
            checksum.update(&bytes);
        }
        checksum.update(&job.parsed_xml().unwrap());
    }
    assert_eq!(format!("{:08x}", checksum.finalize()), "6c9acba6");
}

#[test]
fn same_seed_has_the_same_bytes_and_truth() {
    let (one, truth) = &TRUTHS[0];
    let again = one.revised(0);
    assert_eq!(one.shapefile_zip().unwrap(), again.shapefile_zip().unwrap());
    assert_eq!(one.parsed_xml().unwrap(), again.parsed_xml().unwrap());
    assert_eq!(one.harvest_grid(25.0).unwrap(), again.harvest_grid(25.0).unwrap());
    assert_eq!(*truth, again.truth().unwrap());
    assert_ne!(truth.harvest, one.revised(1).truth().unwrap().harvest);
}

/// The digest detects a machine that computes other bytes. It changes only with an intended change of the generator.
#[test]
fn bytes_of_a_logged_harvest_never_change() {
    let mut checksum = crc32fast::Hasher::new();
    for (name, bytes) in members(&TRUTHS[0].0.shapefile_zip().unwrap()) {
        checksum.update(name.as_bytes());
        checksum.update(&bytes);
    }
    assert_eq!(format!("{:08x}", checksum.finalize()), "524b7a94");
}

#[test]
fn archives_of_logged_harvests_agree_with_their_truth() {
    let ideal = generate_account(0, HarvestStyle::Ideal);
    assert!(has_machines(&TRUTHS.last().unwrap().1), "two machines");
    for (job, truth) in [TRUTHS.first().unwrap(), TRUTHS.last().unwrap()] {
        let archive = job.shapefile_zip().unwrap();
        let reading = read(job, truth, &archive);
        assert_eq!(reading.rows, truth.rows, "{}", job.name);
        assert_eq!(reading.sums.len(), truth.totals.len(), "{}", job.name);
        for (column, _, sum) in &truth.totals {
            assert_near(reading.sums[column], *sum, 1e-9, column);
        }
        assert_near(reading.product * truth.total.factor, truth.total.value, 1e-9, &job.name);
        assert_table_is_tidy(job, &super::layer_files(&archive, &truth.layer)["dbf"]);
        assert_product_agrees(job, truth);
        let columns = |truth: &Truth| truth.totals.iter().map(|total| total.0.clone()).collect::<Vec<_>>();
        let mut logged = columns(truth);
        logged.retain(|name| name != "MACHINE");
        let same = ideal.jobs.iter().find(|other| other.id == job.id).unwrap();
        assert_eq!(logged, columns(&same.truth().unwrap()));
    }
}

#[test]
fn every_logged_harvest_has_every_reason() {
    for (job, truth) in TRUTHS.iter() {
        let harvest = truth.harvest.as_ref().unwrap();
        assert_eq!(u64::try_from(harvest.reasons.len()).unwrap(), truth.rows, "{}", job.name);
        for bit in 0..10 {
            assert!(harvest.reasons.iter().any(|reasons| reasons >> bit & 1 == 1), "{}: bit {bit}", job.name);
        }
        let clean = harvest.reasons.iter().filter(|reasons| **reasons == 0).count();
        assert!(clean * 10 > harvest.reasons.len() * 7, "{}: {clean} rows without a reason", job.name);
        assert!((8.0..=14.0).contains(&harvest.delay) && (9.0..=16.0).contains(&harvest.moisture_delay));
    }
}

#[test]
fn true_map_adds_up_to_the_covered_area_and_the_dry_mass() {
    for (job, truth) in TRUTHS.iter().step_by(4) {
        let harvest = truth.harvest.as_ref().unwrap();
        // Corners and gaps between passes stay uncut, and ends of passes reach over the boundary of acute corners.
        assert!((0.96..1.02).contains(&(harvest.covered_area / truth.field_area)), "{}", job.name);
        assert!(truth.area > harvest.covered_area, "{}: the display counts overlaps twice", job.name);
        for cell in [10.0, 33.0] {
            let grid = job.harvest_grid(cell).unwrap();
            let hectares = |share: &f64| share * cell * cell / 10_000.0;
            let covered: f64 = grid.share.iter().map(hectares).sum();
            let dry: f64 = grid.yield_dry.iter().zip(&grid.share).map(|(dry, share)| dry * hectares(share)).sum();
            // The scale of UTM differs from 1 by up to 0.04 %.
            assert_near(covered * 10_000.0, harvest.covered_area, 2e-3, &job.name);
            assert_near(dry, harvest.dry_mass, 4e-3, &job.name);
        }
    }
    assert_eq!(TRUTHS[0].0.harvest_grid(0.1).unwrap_err().kind(), Kind::Value);
    assert_eq!(TRUTHS[0].0.harvest_grid(f64::NAN).unwrap_err().kind(), Kind::Value);
}
