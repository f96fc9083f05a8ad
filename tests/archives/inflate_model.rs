//! Models the inflating thread and its reader: every interleaving of small cases ends, and memory is bounded.

use std::collections::HashSet;

/// Behaviour of the thread when no recycled buffer is available.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Supply {
    /// Allocates a buffer, as `archive/inflate_thread.rs` does.
    Allocates,
    /// Waits once this many exist; this rule deadlocks if the reader keeps buffers.
    WaitsAfter(usize),
}

#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
enum Thread {
    Fills,
    Sends,
    Ended,
}

#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
struct State {
    thread: Thread,
    /// Blocks that the thread has yet to send, and those in the channel.
    unsent: usize,
    queued: usize,
    recycled: usize,
    /// Buffers allocated so far, and those that the reader keeps (a gathered record).
    made: usize,
    kept: usize,
    reader_has_ended: bool,
}

/// All possible next states. The reader may copy, keep or swap the buffers it receives, and may end at any time.
fn successors(state: State, capacity: usize, supply: Supply) -> Vec<State> {
    let mut next = Vec::new();
    match state.thread {
        Thread::Fills if state.recycled > 0 => {
            next.push(State { thread: Thread::Sends, recycled: state.recycled - 1, ..state });
        }
        Thread::Fills => match supply {
            Supply::WaitsAfter(most) if state.made >= most => {
                // The wait ends when the reader closes the channels.
                if state.reader_has_ended {
                    next.push(State { thread: Thread::Ended, ..state });
                }
            }
            Supply::Allocates | Supply::WaitsAfter(_) => {
                next.push(State { thread: Thread::Sends, made: state.made + 1, ..state });
            }
        },
        Thread::Sends if state.reader_has_ended => next.push(State { thread: Thread::Ended, ..state }),
        Thread::Sends if state.queued < capacity => {
            let unsent = state.unsent - 1;
            let thread = if unsent == 0 { Thread::Ended } else { Thread::Fills };
            next.push(State { thread, unsent, queued: state.queued + 1, ..state });
        }
        Thread::Sends | Thread::Ended => {}
    }
    if !state.reader_has_ended {
        let ended = State { reader_has_ended: true, queued: 0, recycled: 0, kept: 0, ..state };
        next.push(ended);
        if state.queued > 0 {
            let received = State { queued: state.queued - 1, ..state };
            // The reader copies the block and recycles it, keeps it as well, or keeps it and recycles all others.
            next.push(State { recycled: state.recycled + 1, ..received });
            next.push(State { kept: state.kept + 1, ..received });
            next.push(State { recycled: state.recycled + state.kept, kept: 1, ..received });
        }
    }
    next
}

/// Whether all blocks were received, or the reader and the thread have ended.
fn is_done(state: State) -> bool {
    state.thread == Thread::Ended && state.queued == 0
}

/// Every reachable state with work left in which neither side can move, and the number of all reachable states.
fn explore(blocks: usize, capacity: usize, supply: Supply) -> (Vec<State>, usize) {
    let first = State {
        thread: Thread::Fills,
        unsent: blocks,
        queued: 0,
        recycled: 0,
        made: 0,
        kept: 0,
        reader_has_ended: false,
    };
    let (mut seen, mut open, mut stuck) = (HashSet::from([first]), vec![first], Vec::new());
    while let Some(state) = open.pop() {
        // A reader that waits for a block cannot end, so its end does not count as progress.
        let frees = |next: &State| next.reader_has_ended == state.reader_has_ended;
        let next = successors(state, capacity, supply);
        if !next.iter().any(frees) && !is_done(state) {
            stuck.push(state);
        }
        // Buffers outside the reader: in the channel, in the thread, and recycled.
        let in_use = state.queued + usize::from(state.thread == Thread::Sends);
        assert!(in_use <= capacity + 1, "{state:?}");
        assert!(supply != Supply::Allocates || state.recycled <= blocks, "{state:?}");
        open.extend(next.into_iter().filter(|next| seen.insert(*next)));
    }
    (stuck, seen.len())
}

#[test]
fn every_interleaving_of_thread_and_reader_ends() {
    let mut states = 0;
    for blocks in 1..=8 {
        for capacity in 1..=3 {
            let (stuck, seen) = explore(blocks, capacity, Supply::Allocates);
            assert_eq!(stuck, [], "{blocks} blocks, {capacity} in the channel");
            states += seen;
        }
    }
    println!("{states} states");
    assert!(states > 1000, "{states}");
}

#[test]
fn waiting_for_recycled_buffers_would_deadlock() {
    let (stuck, _) = explore(8, 3, Supply::WaitsAfter(3));
    assert!(stuck.iter().any(|state| state.kept == 3), "the model sees the fault of a reader that keeps its buffers");
}
