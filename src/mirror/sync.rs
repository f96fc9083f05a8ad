//! Loop of a pull: makes the most urgent call whenever the rate limit has a free slot, until no work is left.
//!
//! A call is chosen only when its slot is free, so that a conversion that becomes ready meanwhile takes precedence.
//! Calls run concurrently, so that the rate limit bounds the duration and not the latency. Each finished call is one
//! journal transaction.
//!
//! An error of the service, the connection or this machine ends the pull. Calls in flight finish, and all finished work
//! is kept. Cancellation works the same way, but nothing is published. A record that fails by itself is skipped until
//! the next run.

use std::time::Duration;

use chrono::TimeDelta;
use futures_util::stream::{FuturesUnordered, StreamExt as _};

use super::call_queue::{NextStep, Queue, Task};
use super::execute_call::execute;
use super::progress::{Phase, time_at_limit};
use super::publisher_thread::Publisher;
use super::writer::{MirrorWriter, is_fatal};
use headland_base::error::{Error, Kind, Result};
use headland_client::limiter::Budget;

/// Consecutive failures of single records after which the service is considered to fail.
const MAX_CONSECUTIVE_FAILURES: u32 = 3;

/// Longest sleep: the clock may be set meanwhile, or the laptop closed.
const LONGEST_SLEEP: Duration = Duration::from_secs(10);

/// Shortest sleep.
const SHORTEST_SLEEP: Duration = Duration::from_millis(2);

/// Calls that may start now, and the budget.
struct Concurrency {
    /// Number of calls that may start.
    free: usize,
    budget: Budget,
}

/// Makes the calls of the queue until none is left or the service fails.
pub(super) async fn pull(writer: &MirrorWriter, queue: &mut Queue) -> Result<()> {
    let clock = writer.client.clock();
    let begun = clock.elapsed();
    let mut in_flight = FuturesUnordered::new();
    let mut publisher = Publisher::new(writer);
    let (mut failures, mut stop) = (0_u32, None::<Error>);
    let mut calls = 0_u64;
    let files = queue.remaining_without_pages().files.saturating_add(queue.remaining_without_pages().converting);
    writer.progress.update(|snapshot| snapshot.jobs_left = files);
    loop {
        let concurrency = concurrency(writer, in_flight.len());
        let mut free = if stop.is_none() { concurrency.free } else { 0 };
        while free > 0
            && let Some(task) = queue.next_task(writer.now(), clock.elapsed())
        {
            free = free.saturating_sub(1);
            in_flight.push(async move {
                let next = execute(writer, &task).await;
                (task, next)
            });
        }
        let is_over = stop.is_some() || queue.is_empty();
        if in_flight.is_empty() && is_over && publisher.is_idle() {
            break;
        }
        report_progress(
            writer,
            queue,
            &concurrency.budget,
            in_flight.len(),
            (clock.elapsed().saturating_sub(begun), calls),
        );
        if stop.is_none() {
            publisher.begin_if_due()?;
        }
        let pause = pause(writer, queue, &concurrency, in_flight.len());
        tokio::select! {
            biased;
            () = writer.progress.wait_for_end() => {
                // Same kind as a full disk, after which nothing is published.
                stop = Some(Error::new(Kind::File, "the sync was stopped; finished work is kept"));
                publisher = Publisher::new(writer);
            }
            Some((task, next)) = in_flight.next(), if !in_flight.is_empty() => match next {
                Ok(next) => {
                    failures = 0;
                    calls = calls.saturating_add(1);
                    if matches!((&task, &next), (Task::File(_), NextStep::Done)) {
                        writer.progress.update(|snapshot| {
                            snapshot.jobs_done = snapshot.jobs_done.saturating_add(1);
                            snapshot.jobs_left = snapshot.jobs_left.saturating_sub(1);
                        });
                    }
                    queue.schedule(next);
                }
                Err(error) => {
                    failures = failures.saturating_add(1);
                    writer.add_note(format!("{}: {error}", describe_task(&task)));
                    if stop.is_none() && (is_fatal(&error) || failures >= MAX_CONSECUTIVE_FAILURES) {
                        stop = Some(error);
                    }
                }
            },
            outcome = publisher.wait_if_running() => outcome?,
            () = clock.sleep(pause), if !is_over => {}
        }
    }
    stop.map_or(Ok(()), Err)
}

/// Number of calls that may start now.
fn concurrency(writer: &MirrorWriter, in_flight: usize) -> Concurrency {
    let budget = writer.client.budget();
    let slots = usize::try_from(budget.remaining).unwrap_or(usize::MAX);
    Concurrency { free: slots.min(writer.options.concurrency.saturating_sub(in_flight)), budget }
}

/// Time until the next work, unless a reply is received.
fn pause(writer: &MirrorWriter, queue: &Queue, concurrency: &Concurrency, in_flight: usize) -> Duration {
    let is_full = in_flight >= writer.options.concurrency;
    let pause = if is_full {
        LONGEST_SLEEP
    } else if queue.has_immediate_tasks() {
        concurrency.budget.next_call_in
    } else {
        let until_ready = queue
            .next_ready_at()
            .map(|ready_at| ready_at.signed_duration_since(writer.now()).to_std().unwrap_or_default());
        until_ready.unwrap_or(LONGEST_SLEEP).max(concurrency.budget.next_call_in)
    };
    pause.clamp(SHORTEST_SLEEP, LONGEST_SLEEP)
}

/// Updates the progress.
fn report_progress(
    writer: &MirrorWriter,
    queue: &Queue,
    budget: &Budget,
    in_flight: usize,
    (took, calls): (Duration, u64),
) {
    let remaining = queue.remaining_without_pages();
    let in_flight = u64::try_from(in_flight).unwrap_or(u64::MAX);
    let calls_left = remaining.min_calls().saturating_add(in_flight);
    let now = writer.now();
    let conversion_wait = queue
        .last_ready_at()
        .and_then(|ready_at| ready_at.signed_duration_since(now).to_std().ok())
        .unwrap_or_default();
    // Without a rate limit, the pace of the service counts.
    let at_pace = match u32::try_from(calls) {
        Ok(calls) if calls > 0 && budget.windows.is_empty() => {
            took.checked_div(calls).unwrap_or_default().saturating_mul(u32::try_from(calls_left).unwrap_or(u32::MAX))
        }
        _ => Duration::ZERO,
    };
    let limited = (budget.remaining == 0 && queue.has_immediate_tasks()).then_some(budget.next_call_in);
    let limit_until = limited.and_then(|wait| now.checked_add_signed(TimeDelta::from_std(wait).ok()?));
    let is_waiting = in_flight == 0 && !queue.has_immediate_tasks();
    writer.progress.update(|snapshot| {
        snapshot.phase = Phase::Pulling;
        snapshot.calls_left = calls_left;
        snapshot.converting = remaining.converting;
        snapshot.waiting_until = queue.next_ready_at().filter(|_| is_waiting);
        snapshot.limit_until = limit_until;
        snapshot.time_left = Some(time_at_limit(calls_left, budget).max(conversion_wait).max(at_pace));
    });
}

/// Describes a call for messages.
pub(super) fn describe_task(task: &Task) -> String {
    match task {
        Task::File(file) => format!("the file of {}", file.id()),
        Task::Detail { id, .. } => format!("the detail of {id}"),
        Task::Record { list, id } => format!("{} {id}", list.records()),
        Task::Locations(device, _) => format!("{} of {}", device.row_name, device.id),
    }
}
