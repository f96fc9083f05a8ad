//! The loop of a pull: a call whenever the limit has a free slot, the most urgent one first, until nothing is left.
//!
//! A call is chosen when its slot is free and not before, so that a conversion which ripens meanwhile comes first; several
//! are on their way at once, so that the windows and not the replies make the time. Each finished call is one step of the
//! journal. An error that is about the service or the way to it ends the pull: what is on its way comes in, and all that
//! was done stays. So it is where those who look want the sync to end, and nothing is published then. An error that is about
//! a single record sets that record aside until the next run.

use std::time::Duration;

use chrono::TimeDelta;
use futures_util::stream::{FuturesUnordered, StreamExt as _};

use super::progress::{Phase, time_at_limit};
use super::publisher::Publishing;
use super::queue::{After, Queue, Work, perform};
use super::writer::{Run, ends_all};
use crate::error::{Error, Kind, Result};
use crate::limiter::Budget;

/// Records in a row that fail for reasons of their own; then it is the service that fails.
const FEW: u32 = 3;

/// No sleep is longer than this: the clock may have been set meanwhile, or the laptop was closed.
const LONGEST_SLEEP: Duration = Duration::from_secs(10);

/// No sleep is shorter.
const SHORTEST_SLEEP: Duration = Duration::from_millis(2);

/// What is on its way, and how it goes.
struct Course {
    /// Calls that may be made at once.
    free: usize,
    budget: Budget,
}

/// Makes the calls of the queue until nothing is left or the service is.
pub(super) async fn pull(run: &Run, queue: &mut Queue) -> Result<()> {
    let clock = run.client.clock();
    let begun = clock.elapsed();
    let mut flight = FuturesUnordered::new();
    let mut publishing = Publishing::idle(run);
    let (mut failures, mut stop) = (0_u32, None::<Error>);
    let mut calls = 0_u64;
    let files = queue.left_in_short().files.saturating_add(queue.left_in_short().converting);
    run.progress.update(|told| told.jobs_left = files);
    loop {
        let course = course(run, flight.len())?;
        let mut free = if stop.is_none() { course.free } else { 0 };
        while free > 0
            && let Some(work) = queue.take(run.now(), clock.elapsed())
        {
            free = free.saturating_sub(1);
            flight.push(async move {
                let after = perform(run, &work).await;
                (work, after)
            });
        }
        let is_over = stop.is_some() || queue.is_empty();
        if flight.is_empty() && is_over && publishing.is_idle() {
            break;
        }
        tell(run, queue, &course.budget, flight.len(), (clock.elapsed().saturating_sub(begun), calls));
        if stop.is_none() {
            publishing.begin_if_due()?;
        }
        let pause = pause(run, queue, &course, flight.len());
        tokio::select! {
            biased;
            () = run.progress.ended() => {
                // Of the kind of a full disk, after which nothing is published.
                stop = Some(Error::new(Kind::File, "the sync was ended; all that was finished is kept"));
                publishing = Publishing::idle(run);
            }
            Some((work, after)) = flight.next(), if !flight.is_empty() => match after {
                Ok(after) => {
                    failures = 0;
                    calls = calls.saturating_add(1);
                    if matches!((&work, &after), (Work::File(_), After::Done)) {
                        run.progress.update(|told| {
                            told.jobs_done = told.jobs_done.saturating_add(1);
                            told.jobs_left = told.jobs_left.saturating_sub(1);
                        });
                    }
                    queue.put(after);
                }
                Err(error) => {
                    failures = failures.saturating_add(1);
                    run.note(format!("{}: {error}", named(&work)));
                    if stop.is_none() && (ends_all(&error) || failures >= FEW) {
                        stop = Some(error);
                    }
                }
            },
            outcome = publishing.ended() => outcome?,
            () = clock.sleep(pause), if !is_over => {}
        }
    }
    stop.map_or(Ok(()), Err)
}

/// How many calls may be made now.
fn course(run: &Run, on_the_way: usize) -> Result<Course> {
    let budget = run.client.budget()?;
    let slots = usize::try_from(budget.remaining).unwrap_or(usize::MAX);
    Ok(Course { free: slots.min(run.options.concurrency.saturating_sub(on_the_way)), budget })
}

/// How long there is nothing to do, unless a reply comes.
fn pause(run: &Run, queue: &Queue, course: &Course, on_the_way: usize) -> Duration {
    let is_full = on_the_way >= run.options.concurrency;
    let pause = if is_full {
        LONGEST_SLEEP
    } else if queue.has_more() {
        course.budget.next_call_in
    } else {
        let ripe = queue.next_ripe().map(|at| at.signed_duration_since(run.now()).to_std().unwrap_or_default());
        ripe.unwrap_or(LONGEST_SLEEP).max(course.budget.next_call_in)
    };
    pause.clamp(SHORTEST_SLEEP, LONGEST_SLEEP)
}

/// Tells how far it has come.
fn tell(run: &Run, queue: &Queue, budget: &Budget, on_the_way: usize, (took, calls): (Duration, u64)) {
    let left = queue.left_in_short();
    let on_the_way = u64::try_from(on_the_way).unwrap_or(u64::MAX);
    let calls_left = left.least().saturating_add(on_the_way);
    let now = run.now();
    let ripens = queue.last_ripe().and_then(|at| at.signed_duration_since(now).to_std().ok()).unwrap_or_default();
    // Without a limit the pace is that of the service.
    let at_pace = match u32::try_from(calls) {
        Ok(calls) if calls > 0 && budget.windows.is_empty() => {
            took.checked_div(calls).unwrap_or_default().saturating_mul(u32::try_from(calls_left).unwrap_or(u32::MAX))
        }
        _ => Duration::ZERO,
    };
    let limited = (budget.remaining == 0 && queue.has_more()).then_some(budget.next_call_in);
    let limit_until = limited.and_then(|wait| now.checked_add_signed(TimeDelta::from_std(wait).ok()?));
    let is_waiting = on_the_way == 0 && !queue.has_more();
    run.progress.update(|told| {
        told.phase = Phase::Pulling;
        told.calls_left = calls_left;
        told.converting = left.converting;
        told.waiting_until = queue.next_ripe().filter(|_| is_waiting);
        told.limit_until = limit_until;
        told.left = Some(time_at_limit(calls_left, budget).max(ripens).max(at_pace));
    });
}

/// What a call is for, in words.
pub(super) fn named(work: &Work) -> String {
    match work {
        Work::File(file) => format!("the file of {}", file.id()),
        Work::Detail { id, .. } => format!("the detail of {id}"),
        Work::Record { list, id } => format!("{} {id}", list.records()),
        Work::Locations(device, _) => format!("{} of {}", device.row_name, device.id),
    }
}
