//! Conversions (specification 4.4): a handle that polls, waits for and fetches a file that may take time.

use std::path::PathBuf;
use std::time::Duration;

use super::arguments::Arguments;
use super::destination::{Delivered, Destination, Sink, Target};
use super::download::{CONVERSION, not_ready, pause};
use super::receive_file::{FileCall, FileResult, request_file};
use super::setup::Client;
use crate::transport::{Classified, Waiting};
use headland_api::{Endpoint, row};
use headland_base::error::{Error, Kind, Result};
use headland_base::part_file::PartFile;

/// A file that the service may still have to create.
#[derive(Debug)]
pub struct Conversion {
    client: Client,
    row: &'static Endpoint,
    arguments: Arguments,
    file: FileCall,
    polls: u32,
    /// The last reply of the service, and when to poll again.
    last_reply: Option<(Classified, Duration)>,
    stored: Option<(PartFile, PathBuf)>,
}

impl Conversion {
    pub(super) fn new(client: Client, row: &'static Endpoint, arguments: Arguments) -> Result<Self> {
        let file = FileCall::new(row, &arguments)?;
        Ok(Self { client, row, arguments, file, polls: 0, last_reply: None, stored: None })
    }

    /// Parses an id from [`Conversion::id`] into the row and its arguments.
    pub(super) fn resume(client: Client, id: &str) -> Result<Self> {
        let wrong =
            || Error::new(Kind::Value, format!("`id`: expected the id of a conversion from its handle, got `{id}`"));
        let mut parts = id.split('/');
        let row = parts.next().and_then(row).ok_or_else(wrong)?;
        let given: Vec<(&str, String)> =
            row.parameters.iter().map(|parameter| parameter.name).zip(parts.by_ref().map(str::to_owned)).collect();
        if parts.next().is_some() || given.len() != row.parameters.len() {
            return Err(wrong());
        }
        Self::new(client, row, Arguments::new(row, &given)?)
    }

    /// The file of a prescription map as it was uploaded, for a service that has no shapefile of it.
    pub fn as_uploaded(&self) -> Result<Option<Self>> {
        if self.row.full_name != "prescription_maps.read" || self.arguments.get("format") != Some("shp") {
            return Ok(None);
        }
        let id = self.arguments.get("id").unwrap_or_default().to_owned();
        let arguments = Arguments::new(self.row, &[("id", id), ("format", "bin".to_owned())])?;
        let mut uploaded = Self::new(self.client.clone(), self.row, arguments)?;
        uploaded.file.max_bytes = self.file.max_bytes;
        Ok(Some(uploaded))
    }

    /// Id from which another process can resume: the row's full name and the values, separated by slashes.
    #[must_use]
    pub fn id(&self) -> String {
        let values: Vec<&str> =
            self.row.parameters.iter().filter_map(|parameter| self.arguments.get(parameter.name)).collect();
        format!("{}/{}", self.row.full_name, values.join("/"))
    }

    /// Polls once. While the wait that the service stated lasts, it returns false without a call.
    pub async fn ready(&mut self) -> Result<bool> {
        self.ready_within(self.client.context().timeouts.call).await
    }

    /// Polls and waits as the service states until the file is ready. Returns `NotReady` at the deadline.
    pub async fn wait(&mut self, timeout: Option<Duration>) -> Result<()> {
        let deadline = self.deadline(timeout);
        let client = self.client.clone();
        let mut waiting = client.context().waiting();
        loop {
            if self.ready_within(self.poll_timeout(deadline, timeout)).await? {
                return Ok(());
            }
            self.sleep_until_next_poll(deadline.saturating_sub(self.now()), &mut waiting).await?;
        }
    }

    /// Limits the file to this number of bytes, instead of 4 GiB.
    #[must_use]
    pub fn with_max_bytes(mut self, bytes: u64) -> Self {
        self.file.max_bytes = bytes;
        self
    }

    /// Waits if necessary, and delivers the file. A file that `ready` or `wait` received is not fetched again.
    pub async fn result(&mut self, target: Target) -> Result<Delivered> {
        self.result_within(target, None).await
    }

    /// Same as [`Conversion::result`], with a deadline as in [`Conversion::wait`].
    pub async fn result_within(&mut self, target: Target, timeout: Option<Duration>) -> Result<Delivered> {
        let destination = Destination::from_target(&target)?;
        let deadline = self.deadline(timeout);
        let client = self.client.clone();
        let mut waiting = client.context().waiting();
        loop {
            if let Some((part, name)) = &self.stored {
                return destination.deliver_copy(part, name);
            }
            if self.pause_left().is_zero()
                && let Some(sink) = self.poll(&destination, self.poll_timeout(deadline, timeout)).await?
            {
                return destination.deliver(sink);
            }
            self.sleep_until_next_poll(deadline.saturating_sub(self.now()), &mut waiting).await?;
        }
    }

    async fn ready_within(&mut self, timeout: Duration) -> Result<bool> {
        if self.stored.is_some() {
            return Ok(true);
        }
        if !self.pause_left().is_zero() {
            return Ok(false);
        }
        if let Some(Sink::Part(part, name)) = self.poll(&Destination::Temporary, timeout).await? {
            self.stored = Some((part, name));
            return Ok(true);
        }
        Ok(false)
    }

    async fn poll(&mut self, destination: &Destination, timeout: Duration) -> Result<Option<Sink>> {
        let context = self.client.context();
        let mut attempts = context.attempts(&self.file.call, timeout);
        match request_file(&mut attempts, &self.file, destination).await? {
            FileResult::File(sink) => {
                self.last_reply = None;
                Ok(Some(sink))
            }
            FileResult::Damaged(_, error) => Err(error),
            FileResult::MoreTime(classified) => {
                let pause = pause(&classified, self.polls);
                self.polls = self.polls.saturating_add(1);
                let classified = Classified { error: attempts.finish(classified.error), ..classified };
                self.last_reply = Some((classified, self.now().saturating_add(pause)));
                Ok(None)
            }
        }
    }

    async fn sleep_until_next_poll(&self, time_left: Duration, waiting: &mut Waiting<'_>) -> Result<()> {
        let pause = self.pause_left();
        if pause >= time_left
            && let Some((classified, _)) = &self.last_reply
        {
            return Err(not_ready(&classified.error, pause, time_left).with(|facts| facts.handle = Some(self.id())));
        }
        waiting.report(pause, || format!("{CONVERSION} ({})", self.id()));
        self.client.context().clock.sleep(pause).await;
        Ok(())
    }

    /// The remaining part of the wait that the service stated.
    fn pause_left(&self) -> Duration {
        self.last_reply.as_ref().map_or(Duration::ZERO, |(_, until)| until.saturating_sub(self.now()))
    }

    fn deadline(&self, timeout: Option<Duration>) -> Duration {
        self.now().saturating_add(timeout.unwrap_or(self.client.context().timeouts.call))
    }

    /// The time limit of one request. A timeout of zero polls once, without waiting for the conversion.
    fn poll_timeout(&self, deadline: Duration, timeout: Option<Duration>) -> Duration {
        if timeout == Some(Duration::ZERO) {
            return self.client.context().timeouts.read;
        }
        deadline.saturating_sub(self.now())
    }

    fn now(&self) -> Duration {
        self.client.context().clock.elapsed()
    }
}
