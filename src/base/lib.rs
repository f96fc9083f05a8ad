//! What all crates share: errors, clock, secrets, private files, names and times.

pub mod clock;
pub mod error;
pub mod error_numbers;
pub mod hex;
pub mod names;
pub mod part_file;
pub mod secret;
pub mod secret_masking;
pub mod times;
