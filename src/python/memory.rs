//! The allocator of the extension, what it keeps, and when it gives memory back.

use std::sync::atomic::{AtomicUsize, Ordering};

use libmimalloc_sys as sys;
use mimalloc::MiMalloc;

use crate::layer::Layer;

#[global_allocator]
static ALLOCATOR: MiMalloc = MiMalloc;

/// After so many bytes of layers that were let go of, all that is free goes back to the system. Pages that are there
/// already are worth a fifth of a read: the system clears each before it hands it out.
const MAX_RETAINED_BYTES: usize = 512 << 20;

/// How long free memory waits for the next who asks, in milliseconds.
const PURGE_DELAY_MILLIS: std::ffi::c_long = 60_000;

/// `mi_option_purge_delay` in mimalloc.h, which the bindings leave out.
const PURGE_DELAY_OPTION: sys::mi_option_t = 15;

/// Bytes of layers that were let go of since memory was given back.
static RELEASED_BYTES: AtomicUsize = AtomicUsize::new(0);

/// Sets how long memory is kept, unless the environment says it (`MIMALLOC_PURGE_DELAY`).
pub(super) fn set_purge_delay() {
    // SAFETY: the number is that of an option, which holds a long and may be set at any time.
    unsafe { sys::mi_option_set_default(PURGE_DELAY_OPTION, PURGE_DELAY_MILLIS) };
}

/// The last field of what holds many bytes: once they are freed, it gives them back to the system.
///
/// The allocator keeps what is freed for whoever asks next: what small things take with the thread that took it, and what
/// columns take for all threads, though each looks first where it found some before. It looks at what it keeps only when
/// it is asked for something. Somebody who reads archives in many threads and then does something else would keep all
/// of it for good.
#[derive(Debug)]
pub(super) struct ReleaseOnDrop {
    bytes: usize,
    process: u32,
}

impl ReleaseOnDrop {
    /// What goes with a layer.
    pub(super) fn for_layer(layer: &Layer) -> Self {
        let sizes = layer.batches().iter().map(arrow_array::RecordBatch::get_array_memory_size);
        Self { bytes: sizes.fold(0, usize::saturating_add), process: std::process::id() }
    }

    /// What goes with work that holds many bytes by its nature.
    pub(super) fn for_large_work() -> Self {
        Self { bytes: MAX_RETAINED_BYTES, process: std::process::id() }
    }
}

impl Drop for ReleaseOnDrop {
    fn drop(&mut self) {
        let released = RELEASED_BYTES.fetch_add(self.bytes, Ordering::Relaxed).saturating_add(self.bytes);
        // In the child of a fork, threads that are gone may have left locks behind.
        if released >= MAX_RETAINED_BYTES && self.process == std::process::id() {
            RELEASED_BYTES.store(0, Ordering::Relaxed);
            // SAFETY: it may be called at any time by any thread, and touches nothing that is in use.
            unsafe { sys::mi_collect(true) };
        }
    }
}
