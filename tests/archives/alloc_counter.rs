//! How much memory a read takes: the allocations of one thread, counted.

use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;
use std::time::{Duration, Instant};

/// The system's allocator, which counts for each thread what is in use and the most that ever was.
struct Counting;

thread_local! {
    static NOW: Cell<isize> = const { Cell::new(0) };
    static MOST: Cell<isize> = const { Cell::new(0) };
}

fn count(change: isize) {
    // A thread that is ending has nothing left to count with.
    let _ = NOW.try_with(|now| {
        now.set(now.get().wrapping_add(change));
        let _ = MOST.try_with(|most| most.set(most.get().max(now.get())));
    });
}

// SAFETY: every call is passed on to the system's allocator as it came.
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

/// What `work` gives, and the most bytes that this thread had in use at a time meanwhile, beyond those before.
pub(crate) fn peak<T>(work: impl FnOnce() -> T) -> (T, usize) {
    let before = NOW.with(Cell::get);
    MOST.with(|most| most.set(before));
    let result = work();
    (result, usize::try_from(MOST.with(Cell::get) - before).unwrap_or(0))
}

/// What an input may take. Builds without optimisation are several times slower.
pub(crate) const LONGEST: Duration = Duration::from_secs(if cfg!(debug_assertions) { 10 } else { 2 });

/// What `work` gives, and the time that this thread worked meanwhile: where the system tells it, without the time that
/// other programs took.
pub(crate) fn time<T>(work: impl FnOnce() -> T) -> (T, Duration) {
    let before = Instant::now();
    let worked = worked();
    let result = work();
    let took = match (worked, self::worked()) {
        (Some(before), Some(after)) => after.saturating_sub(before),
        _ => before.elapsed(),
    };
    (result, took)
}

/// The time that this thread has worked so far, which Linux counts in nanoseconds.
fn worked() -> Option<Duration> {
    let text = std::fs::read_to_string("/proc/thread-self/schedstat").ok()?;
    text.split_whitespace().next()?.parse().ok().map(Duration::from_nanos)
}

#[test]
fn what_is_in_use_is_counted_even_after_it_is_let_go() {
    let (kept, peak) = peak(|| {
        drop(std::hint::black_box(vec![1_u8; 5_000_000]));
        vec![1_u8; 1_000_000]
    });
    assert_eq!(kept.len(), 1_000_000);
    assert!((5_000_000..5_100_000).contains(&peak), "{peak}");
}
