//! Options of a mirror, with their defaults.

use std::time::Duration;

use super::job_filter::Filter;
use headland_agronomy::MarketMoisture;
use headland_client::OnError;

/// Options of a mirror.
#[derive(Clone, Debug, PartialEq)]
pub struct Options {
    /// Maximum age of the last full list of jobs. Other lists may miss changes, since the service does not promise that
    /// `date` or ids show all.
    pub relist: Duration,
    /// Overlap of incremental lists with the previous ones.
    pub overlap: Duration,
    /// Maximum number of concurrent calls.
    pub concurrency: usize,
    /// Interval of publications during a long sync.
    pub publish_every: Duration,
    /// Whether to mirror device locations.
    pub locations: bool,
    /// Handling of unreadable values in lists.
    pub on_error: OnError,
    /// Jobs whose details and files are requested.
    pub filter: Filter,
    /// Water of dry masses in canonical rows, where it is not that of the crop.
    pub market_moisture: MarketMoisture,
}

impl Default for Options {
    fn default() -> Self {
        Self {
            relist: Duration::from_secs(86_400),
            overlap: Duration::from_secs(48 * 3_600),
            concurrency: 16,
            publish_every: Duration::from_secs(600),
            locations: true,
            on_error: OnError::Null,
            filter: Filter::default(),
            market_moisture: MarketMoisture::default(),
        }
    }
}
