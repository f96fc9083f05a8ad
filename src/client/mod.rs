//! What users do with the service: calls, pages, downloads, uploads, conversions.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use chrono::{DateTime, Utc};

use crate::api::Endpoint;
use crate::clock::Clock;
use crate::error::Result;
use crate::limiter::{Budget, Window};
use crate::secret::Secret;
use crate::transport::Transport;
use crate::wire::Value;

/// How a client is set up; `Client::new` checks it.
#[derive(Clone, Debug)]
pub struct Config {
    pub base_url: String,
    pub api_key: Secret,
    pub shared_secret: Secret,
    pub access_key: Secret,
    pub rate_limits: Vec<Window>,
    pub limiter_state: LimiterState,
    pub page_size: u32,
    pub timeout: Timeout,
    pub ca_file: Option<PathBuf>,
}
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum LimiterState {
    Shared,
    File(PathBuf),
    Memory,
}
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Timeout {
    pub connect: Duration,
    pub read: Duration,
    pub call: Duration,
}
#[derive(Clone, Debug)]
pub struct Arguments {}
impl Arguments {
    pub fn new(_row: &'static Endpoint, _given: &[(&str, String)]) -> Result<Self> {
        todo!()
    }
}
#[derive(Clone, Debug)]
pub enum Target {
    Memory,
    Disk { to: PathBuf, overwrite: bool },
}
#[derive(Debug)]
pub enum Delivered {
    Bytes(Vec<u8>),
    File(PathBuf),
}
#[derive(Clone, Debug)]
pub struct UploadFile {
    pub name: String,
    pub content: bytes::Bytes,
}
#[derive(Clone, Debug)]
pub struct Created {
    pub id: String,
    pub uri: String,
}

#[derive(Clone)]
pub struct Client {}
impl Client {
    pub fn new(_config: Config) -> Result<Self> {
        todo!()
    }
    pub fn with_parts(_config: Config, _transport: Arc<dyn Transport>, _clock: Arc<dyn Clock>) -> Result<Self> {
        todo!()
    }
    /// The same client (one budget, one learnt clock) with connections of its own, for another runtime.
    pub fn twin(&self) -> Result<Self> {
        todo!()
    }
    /// The same client in a process that was just forked: nothing of the parent's connections, locks or files is used.
    pub fn after_fork(&self) -> Result<Self> {
        todo!()
    }
    pub async fn detail(&self, _row: &'static Endpoint, _arguments: &Arguments) -> Result<Value> {
        todo!()
    }
    pub fn pages(
        &self,
        _row: &'static Endpoint,
        _arguments: Arguments,
        _page_size: Option<u32>,
        _page: Option<u64>,
    ) -> Result<Pages> {
        todo!()
    }
    pub async fn download(
        &self,
        _row: &'static Endpoint,
        _arguments: &Arguments,
        _target: Target,
    ) -> Result<Delivered> {
        todo!()
    }
    pub async fn upload(&self, _row: &'static Endpoint, _file: UploadFile) -> Result<Created> {
        todo!()
    }
    pub fn conversion(&self, _row: &'static Endpoint, _arguments: Arguments) -> Result<Conversion> {
        todo!()
    }
    /// The conversion that another process named by [`Conversion::id`].
    pub fn resume(&self, _id: &str) -> Result<Conversion> {
        todo!()
    }
    pub fn budget(&self) -> Result<Budget> {
        todo!()
    }
    pub fn take_warnings(&self) -> Vec<String> {
        todo!()
    }
    pub fn describe(&self) -> String {
        todo!()
    }
}
pub struct Pages {}
impl Pages {
    pub async fn next_page(&mut self) -> Result<Option<Vec<Value>>> {
        todo!()
    }
    pub async fn total(&mut self) -> Result<Option<u64>> {
        todo!()
    }
}
pub struct Conversion {}
impl Conversion {
    pub fn id(&self) -> String {
        todo!()
    }
    pub async fn ready(&mut self) -> Result<bool> {
        todo!()
    }
    pub async fn wait(&mut self, _timeout: Option<Duration>) -> Result<()> {
        todo!()
    }
    pub async fn result(&mut self, _target: Target) -> Result<Delivered> {
        todo!()
    }
    pub fn ask_again_at(&self) -> Option<DateTime<Utc>> {
        todo!()
    }
}
