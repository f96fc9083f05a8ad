//! Counts the allocations of one thread, to bound the memory of a read.

use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;
use std::time::{Duration, Instant};

/// The system allocator with a counter for each thread: the bytes in use and the peak.
struct Counting;

thread_local! {
    static NOW: Cell<isize> = const { Cell::new(0) };
    static MOST: Cell<isize> = const { Cell::new(0) };
}

fn count(change: isize) {
    // A thread that is ending no longer has its thread-local counters.
    let _ = NOW.try_with(|now| {
        now.set(now.get().wrapping_add(change));
        let _ = MOST.try_with(|most| most.set(most.get().max(now.get())));
    });
}

// SAFETY: every call is passed to the system allocator unchanged.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        count(layout.size().cast_signed());
        // SAFETY: as above.
        unsafe { System.alloc(layout) }
    }

    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        count(layout.size().cast_signed());
        // SAFETY: as above.
        unsafe { System.alloc_zeroed(layout) }
    }

    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        count(layout.size().cast_signed().wrapping_neg());
        // SAFETY: as above.
        unsafe { System.dealloc(pointer, layout) }
    }
}

#[global_allocator]
static ALLOCATOR: Counting = Counting;

/// Result of `work`, and the peak of the bytes that this thread allocated meanwhile, beyond those before.
pub(crate) fn peak<T>(work: impl FnOnce() -> T) -> (T, usize) {
    let before = NOW.with(Cell::get);
    MOST.with(|most| most.set(before));
    let result = work();
    (result, usize::try_from(MOST.with(Cell::get) - before).unwrap_or(0))
}

/// Time limit for one input. Builds without optimisation are several times slower.
pub(crate) const LONGEST: Duration = Duration::from_secs(if cfg!(debug_assertions) { 10 } else { 2 });

/// Result of `work`, and the time that this thread worked. Where the system reports it, this is CPU time without other
/// programs.
pub(crate) fn time<T>(work: impl FnOnce() -> T) -> (T, Duration) {
    let before = Instant::now();
    let cpu_time = cpu_time();
    let result = work();
    let took = match (cpu_time, self::cpu_time()) {
        (Some(before), Some(after)) => after.saturating_sub(before),
        _ => before.elapsed(),
    };
    (result, took)
}

/// CPU time of this thread so far; Linux counts it in nanoseconds.
fn cpu_time() -> Option<Duration> {
    let text = std::fs::read_to_string("/proc/thread-self/schedstat").ok()?;
    text.split_whitespace().next()?.parse().ok().map(Duration::from_nanos)
}

#[test]
fn peak_after_deallocation_counts_freed_bytes() {
    let (kept, peak) = peak(|| {
        drop(std::hint::black_box(vec![1_u8; 5_000_000]));
        vec![1_u8; 1_000_000]
    });
    assert_eq!(kept.len(), 1_000_000);
    assert!((5_000_000..5_100_000).contains(&peak), "{peak}");
}
