//! The allocator of the extension and the release of its memory to the system.

use std::sync::atomic::{AtomicUsize, Ordering};

use libmimalloc_sys as sys;
use mimalloc::MiMalloc;

use headland_reader::layer::Layer;

#[global_allocator]
static ALLOCATOR: MiMalloc = MiMalloc;

/// Bytes of dropped layers after which all free memory is returned to the system. Retained pages save a fifth of a
/// read, because the system clears each new page.
const MAX_RETAINED_BYTES: usize = 512 << 20;

/// How long free memory is retained, in milliseconds.
const PURGE_DELAY_MILLIS: std::ffi::c_long = 60_000;

/// `mi_option_purge_delay` in mimalloc.h, which the bindings do not declare.
const PURGE_DELAY_OPTION: sys::mi_option_t = 15;

/// Bytes of layers dropped since the last release.
static RELEASED_BYTES: AtomicUsize = AtomicUsize::new(0);

/// Sets how long free memory is retained, unless `MIMALLOC_PURGE_DELAY` is set in the environment.
pub(super) fn set_purge_delay() {
    // SAFETY: the number is that of an option of type long, which may be set at any time.
    unsafe { sys::mi_option_set_default(PURGE_DELAY_OPTION, PURGE_DELAY_MILLIS) };
}

/// Releases memory to the system when dropped. It is the last field of its owner, so the owner's memory is free by
/// then.
///
/// The allocator retains free memory per thread, and column buffers for all threads. It checks what it retains only on
/// allocation. A program that reads archives in many threads and then does other work would retain all of it.
#[derive(Debug)]
pub(super) struct ReleaseOnDrop {
    bytes: usize,
    process: u32,
}

impl ReleaseOnDrop {
    /// Returns the guard of a layer.
    pub(super) fn for_layer(layer: &Layer) -> Self {
        let sizes = layer.batches().iter().map(arrow_array::RecordBatch::get_array_memory_size);
        Self { bytes: sizes.fold(0, usize::saturating_add), process: std::process::id() }
    }

    /// Returns the guard of work that always uses much memory.
    pub(super) fn for_large_work() -> Self {
        Self { bytes: MAX_RETAINED_BYTES, process: std::process::id() }
    }
}

impl Drop for ReleaseOnDrop {
    fn drop(&mut self) {
        let released = RELEASED_BYTES.fetch_add(self.bytes, Ordering::Relaxed).saturating_add(self.bytes);
        // In the child of a fork, threads that no longer exist may have left locks behind.
        if released >= MAX_RETAINED_BYTES && self.process == std::process::id() {
            RELEASED_BYTES.store(0, Ordering::Relaxed);
            // SAFETY: any thread may call it at any time, and it does not touch memory in use.
            unsafe { sys::mi_collect(true) };
        }
    }
}
