//! A whole account on one's own disk: a folder that can be written by one, killed at any moment, and read by all.

/// The dataset: all archives as few large GeoParquet files.
pub mod dataset;

mod devices;
mod disk;
mod folder;
mod intake;
mod journal;
mod ledger;
mod links;
mod lists;
mod lock;
mod options;
mod plan;
mod progress;
mod publishing;
mod pull;
mod round;
mod run;
mod status;
mod store;
mod sync;
mod tables;
mod work;

pub use disk::{Disk, Operation, Part, Watch};
pub use folder::{Draft, Folder, Generation};
pub use intake::{drop_unused, mend, set_aside, settle, take_in};
pub use journal::{
    Archive, Calls, Changes, Cursor, Damaged, FileState, Item, ItemKind, Journal, Listed, Location, Look, Published,
    Reading, Record, Relist, StateCount, Step, Summary, TypeCount, Vanished, Wanted,
};
pub use options::Options;
pub use plan::{Plan, Planned};
pub use progress::{Event, Phase, Progress, Snapshot};
pub use pull::{Mirror, Outcome, Verification};
pub use status::{Status, Unavailable, account};
pub use store::{Finding, Store, Stored, Trouble};
