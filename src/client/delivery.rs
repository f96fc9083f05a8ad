//! Deliveries: a handle that follows a prescription map from the queue of a field computer to the computer.
//!
//! A field computer fetches its maps when it is switched on and online, which may be days later. The service states no
//! time, so the pauses between two polls grow, and the handle can be resumed by its id.

use std::time::Duration;

use super::arguments::check_id;
use super::queue_map::state_of;
use super::setup::Client;
use headland_api::field_computers::STATES;
use headland_base::error::{Argument, Error, Kind, Result};

/// The call that queues a map, which begins the ids of handles.
pub(super) const SEND: &str = "prescription_maps.send";

/// Pauses between polls; they double up to the longest, which leaves the rate limit to other calls.
const FIRST_PAUSE: Duration = Duration::from_secs(2);
const LONGEST_PAUSE: Duration = Duration::from_secs(60);

/// Polls in a row that may find the map in neither list, because a service may take a moment to list it.
const MAX_MISSING: u32 = 3;

/// A prescription map on its way to a field computer.
#[derive(Clone, Debug)]
pub struct Delivery {
    client: Client,
    map: String,
    computer: String,
    polls: u32,
    missing: u32,
    is_delivered: bool,
}

/// The id of a delivery. Ids of maps and computers are opaque, so only a checksum shows that one was damaged.
fn handle(map: &str, computer: &str) -> String {
    let text = format!("{SEND}/{map}/{computer}");
    // FNV-1a of 32 bits, by Fowler, Noll and Vo.
    let sum = text.bytes().fold(0x811c_9dc5_u32, |sum, byte| (sum ^ u32::from(byte)).wrapping_mul(0x0100_0193));
    format!("{text}/{:04x}", (sum >> 16) ^ (sum & 0xffff))
}

impl Delivery {
    pub(super) fn new(client: Client, map: &str, computer: &str) -> Self {
        let (map, computer) = (map.to_owned(), computer.to_owned());
        Self { client, map, computer, polls: 0, missing: 0, is_delivered: false }
    }

    /// Parses an id from [`Delivery::id`].
    pub(super) fn resume(client: Client, id: &str) -> Result<Self> {
        let parts: Vec<&str> = id.split('/').collect();
        if let [SEND, map, computer, _] = parts.as_slice()
            && let (Ok(map), Ok(computer)) = (check_id(map), check_id(computer))
            && handle(&map, &computer) == id
        {
            return Ok(Self::new(client, &map, &computer));
        }
        let message = format!(
            "`id`: expected the whole handle of a delivery, such as `{}` (map 82 for field computer 460, and a checksum), got \
             `{id}`; copy it from `error.handle` or `delivery.id`, or send the map again with `wait=True`, which follows a \
             map that is queued",
            handle("82", "460")
        );
        Err(Error::new(Kind::Value, message))
    }

    /// Id from which another process can resume: the call, the map, the field computer and a checksum, separated by slashes.
    #[must_use]
    pub fn id(&self) -> String {
        handle(&self.map, &self.computer)
    }

    /// Reads the lists of the field computer once and returns whether the map is delivered.
    ///
    /// The queue is read first: a map that is sent again is listed as queued and, from the first time, as delivered.
    pub async fn ready(&mut self) -> Result<bool> {
        if self.is_delivered {
            return Ok(true);
        }
        let state = state_of(&self.client, &self.map, &self.computer, STATES)
            .await
            .map_err(|error| error.with(|facts| facts.handle = Some(self.id())))?;
        self.missing = if state.is_none() { self.missing.saturating_add(1) } else { 0 };
        if self.missing >= MAX_MISSING {
            let message = format!(
                "prescription map {} is neither queued for nor delivered to field computer {}: it was removed, or \
                 replaced on the device by a newer file of its name; send it again",
                self.map, self.computer
            );
            return Err(Error::new(Kind::NotFound, message).with(|facts| facts.endpoint = Some(SEND)));
        }
        self.is_delivered = state.is_some() && state != STATES.first().copied();
        Ok(self.is_delivered)
    }

    /// Polls until the map is delivered. At the deadline it polls a last time, and returns `NotReady`.
    pub async fn wait(&mut self, timeout: Option<Duration>) -> Result<()> {
        let client = self.client.clone();
        let context = client.context();
        let timeout = timeout.unwrap_or(context.timeouts.call);
        let begun = context.clock.elapsed();
        let mut waiting = context.waiting();
        loop {
            let is_last = context.clock.elapsed().saturating_sub(begun) >= timeout;
            if self.ready().await? {
                return Ok(());
            }
            let left = timeout.saturating_sub(context.clock.elapsed().saturating_sub(begun));
            if is_last || left.is_zero() {
                return Err(self.not_ready(timeout));
            }
            let pause = FIRST_PAUSE.saturating_mul(1 << self.polls.min(10)).min(LONGEST_PAUSE).min(left);
            self.polls = self.polls.saturating_add(1);
            waiting.report(pause, || {
                format!("field computer {} to fetch prescription map {}, which is queued", self.computer, self.map)
            });
            context.clock.sleep(pause).await;
        }
    }

    /// The error of a map that is still queued at the deadline.
    fn not_ready(&self, waited: Duration) -> Error {
        let message = format!(
            "field computer {} has not fetched prescription map {} within {} s: the map stays queued until the computer \
             is switched on and online",
            self.computer,
            self.map,
            waited.as_secs_f64()
        );
        Error::new(Kind::NotReady, message).with_hint("; ", Argument::Delivery, "").with(|facts| {
            facts.endpoint = Some(SEND);
            facts.handle = Some(self.id());
        })
    }
}
