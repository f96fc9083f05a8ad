//! Tests the mirror: its folder, its journal and its archives, on full disks and in killed processes.

#![expect(
    clippy::unwrap_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "helpers of tests say what they expect by unwrapping, as the tests do"
)]

mod account;
mod archives;
mod boundaries;
#[path = "../archives/builder.rs"]
#[expect(dead_code, reason = "the tests of archives use more of it")]
mod builder;
mod canonical;
#[path = "../archives/canonical_text.rs"]
#[expect(dead_code, reason = "the tests of archives use more of it")]
mod canonical_text;
mod changed_records;
#[path = "../client_config/mod.rs"]
mod client_config;
mod dataset;
mod dataset_disk;
mod dataset_files;
mod dataset_scan;
mod dataset_unusual;
mod disk_faults;
mod failures;
mod faulty_vfs;
mod folder;
mod incremental_cost;
mod journal;
mod journal_checksums;
mod journal_scale;
mod kills;
mod missing_archives;
mod published_folders;
mod pull_cost;
mod scenario;
#[path = "../series/mod.rs"]
mod series;
mod service;
mod support;
