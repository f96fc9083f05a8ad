//! Mirror of a whole account in a local folder, with one writer that may be killed at any time, and any number of
//! readers.

/// Dataset: all archives as few large GeoParquet files.
pub mod dataset;

mod archive_log;
mod archive_store;
mod catalog_tables;
mod filter;
mod fs;
mod handle;
mod ingest;
mod journal;
mod layout;
mod lists;
mod locations;
mod lock;
mod options;
mod plan;
mod progress;
mod published_folders;
mod publisher_thread;
mod queue;
mod replace_folder;
mod source_archives;
mod status;
mod sync;
mod sync_cycle;
mod writer;

pub use archive_store::{Finding, Problem};
pub use filter::Filter;
pub use fs::{Disk, FaultInjector, Operation};
pub use handle::{Mirror, Outcome};
pub use ingest::{collect_garbage, ingest, quarantine, recover, repair};
pub use journal::{
    Archive, Calls, Changes, Cursor, FileState, Item, ItemKind, Journal, Listed, Location, Published, ReadTxn, Reading,
    Record, Relist, Removed, StateCount, TypeCount, WriteTxn,
};
pub use layout::{Folder, Generation};
pub use options::Options;
pub use plan::{Plan, Planned};
pub use progress::{Event, Phase, Progress, Snapshot, format_size, format_span};
pub use replace_folder::{Replacement, replace_folder};
pub use status::{Unavailable, account};
