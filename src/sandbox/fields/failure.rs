//! Conversion failures: each error status of specification 3 with a message.

/// Reason why a job cannot be converted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Failure {
    /// General error, no detail.
    General,
    /// Internal server error.
    Server,
    /// Server has restarted.
    Restart,
    /// Source file cannot be accessed. The original cannot be downloaded either.
    FileNotFound,
    /// Conversion utility returned a failed status.
    Convert,
    /// Conversion utility returned a failed status, because of the file.
    InvalidFile,
}

impl Failure {
    /// Returns the value of `Status`.
    #[must_use]
    pub const fn status(self) -> &'static str {
        match self {
            Self::General => "CONVERSION_STATUS_FAILED",
            Self::Server => "CONVERSION_STATUS_SERVER_ERR",
            Self::Restart => "CONVERSION_STATUS_SERVER_RESTART",
            Self::FileNotFound => "CONVERSION_STATUS_FILE_NOT_FOUND",
            Self::Convert => "CONVERSION_STATUS_FAILED_CONVERT",
            Self::InvalidFile => "CONVERSION_STATUS_INVALID_JOB_DATA_FILE",
        }
    }

    /// Returns the value of `errorInfo`.
    #[must_use]
    pub const fn why(self) -> &'static str {
        match self {
            Self::General => "The conversion failed.",
            Self::Server => "The server had an internal error while it converted the job.",
            Self::Restart => "The server has restarted while it converted the job.",
            Self::FileNotFound => "The source file of the job cannot be accessed.",
            Self::Convert => "The conversion utility could not read the passes that the job recorded.",
            Self::InvalidFile => "The conversion utility found no valid job data in the file.",
        }
    }
}
