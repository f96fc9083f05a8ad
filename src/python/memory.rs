//! The allocator of the extension, and when it gives memory back.

use mimalloc::MiMalloc;

use crate::layer::Layer;

#[global_allocator]
static ALLOCATOR: MiMalloc = MiMalloc;

/// Layers with fewer bytes are let go of without more ado.
const WORTH_GIVING_BACK: usize = 1 << 20;

/// The last field of what holds many bytes: once they are freed, it gives them back to the system.
///
/// The allocator keeps what is freed for whoever asks next, and looks at what it keeps only when it is asked for
/// something. Somebody who reads large archives in many threads and then does something else would keep it for good.
#[derive(Debug)]
pub(super) struct GivesBack {
    is_worth_it: bool,
    process: u32,
}

impl GivesBack {
    /// What goes with a layer.
    pub(super) fn after(layer: &Layer) -> Self {
        let bytes: usize = layer.batches().iter().map(arrow_array::RecordBatch::get_array_memory_size).sum();
        Self { is_worth_it: bytes >= WORTH_GIVING_BACK, process: std::process::id() }
    }

    /// What goes with work that holds many bytes by its nature.
    pub(super) fn always() -> Self {
        Self { is_worth_it: true, process: std::process::id() }
    }
}

impl Drop for GivesBack {
    fn drop(&mut self) {
        // In the child of a fork, threads that are gone may have left locks behind.
        if self.is_worth_it && self.process == std::process::id() {
            // SAFETY: it may be called at any time by any thread, and touches nothing that is in use.
            unsafe { libmimalloc_sys::mi_collect(true) };
        }
    }
}
