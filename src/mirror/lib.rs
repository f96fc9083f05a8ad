//! Mirror of a whole account in a local folder, with one writer that may be killed at any time, and any number of
//! readers.

/// Dataset: all archives as few large GeoParquet files.
pub mod dataset;

mod archive_log;
mod archive_repair;
mod archive_store;
mod call_queue;
mod current_pointer;
mod estimate;
mod execute_call;
mod fs;
mod handle;
mod ingest;
mod job_filter;
mod journal;
mod journal_tables;
mod layout;
mod lists;
mod location_lists;
mod lock;
mod options;
mod progress;
mod published_folders;
mod publisher_thread;
mod renewed_key;
mod replace_folder;
mod source_archives;
mod status;
mod sync;
mod sync_cycle;
mod unused_archives;
mod writer;

pub use archive_repair::{quarantine, repair};
pub use archive_store::{Finding, Problem};
pub use estimate::{Plan, Planned};
pub use fs::{Disk, FaultInjector, Operation};
pub use handle::{Mirror, Outcome};
pub use ingest::{ingest, recover};
pub use job_filter::Filter;
pub use journal::{
    Archive, Calls, Changes, Cursor, FileState, Item, ItemKind, Journal, Listed, Location, Published, ReadTxn, Reading,
    Record, Relist, Removed, StateCount, WriteTxn,
};
pub use layout::{Folder, Generation};
pub use options::Options;
pub use progress::{Event, Phase, Progress, Snapshot, format_size, format_span};
pub use replace_folder::{Replacement, replace_folder};
pub use status::{Unavailable, accounts};
pub use unused_archives::collect_garbage;
