//! Parses settings from Python: seconds, windows, content types, location of the limiter's state.

use std::path::PathBuf;
use std::time::Duration;

use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;

use headland_client::limiter::Window;
use headland_client::{LimiterState, OnError};
use headland_wire::Content;

/// Parses a duration in seconds.
pub(super) fn parse_seconds(argument: &str, seconds: f64) -> PyResult<Duration> {
    Duration::try_from_secs_f64(seconds)
        .map_err(|_| PyValueError::new_err(format!("`{argument}`: expected finite seconds >= 0, got {seconds}")))
}

/// Parses windows from pairs of calls and seconds.
pub(super) fn parse_windows(pairs: Vec<(u32, f64)>) -> PyResult<Vec<Window>> {
    let window = |(calls, period)| Ok(Window { calls, period: parse_seconds("rate_limits", period)? });
    pairs.into_iter().map(window).collect()
}

/// Parses the location of the limiter's state.
pub(super) fn parse_limiter_state(given: Option<PathBuf>) -> LimiterState {
    match given {
        None => LimiterState::Shared,
        Some(word) if word.as_os_str() == "memory" => LimiterState::Memory,
        Some(path) => LimiterState::File(path),
    }
}

/// Parses the content type in which records are requested.
pub(super) fn parse_content_type(word: &str) -> PyResult<Content> {
    match word {
        "json" => Ok(Content::Json),
        "xml" => Ok(Content::Xml),
        _ => Err(PyValueError::new_err(format!("`accept`: expected 'json' or 'xml', got '{word}'"))),
    }
}

/// Parses the handling of record values that cannot be read.
pub(super) fn parse_on_error(word: &str) -> PyResult<OnError> {
    match word {
        "raise" => Ok(OnError::Raise),
        "null" => Ok(OnError::Null),
        _ => Err(PyValueError::new_err(format!("`on_error`: expected 'raise' or 'null', got '{word}'"))),
    }
}
