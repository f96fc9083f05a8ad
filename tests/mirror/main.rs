//! The mirror: its folder, its journal and its archives, on disks that fill and in processes that are killed.

#![expect(
    clippy::unwrap_used,
    clippy::panic,
    reason = "helpers of tests say what they expect by unwrapping, as the tests do"
)]

mod boundaries;
#[path = "../archives/canon.rs"]
#[expect(dead_code, reason = "the tests of archives use more of it")]
mod canon;
mod changing;
mod checksums;
mod dataset;
mod dataset_disk;
mod dataset_files;
mod dataset_odd;
mod disk;
mod farm;
mod flat;
mod folder;
mod journal;
mod kills;
mod life;
mod links;
mod lost;
#[path = "../archives/make.rs"]
#[expect(dead_code, reason = "the tests of archives use more of it")]
mod make;
mod parts;
mod pulling;
mod scale;
mod scan;
#[path = "../series/mod.rs"]
mod series;
mod service;
mod troubled;
mod upgrade;
mod vfs;
