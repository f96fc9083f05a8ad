//! Error kinds and their fields. Each kind maps to one Python exception class.

use std::borrow::Cow;
use std::fmt;
use std::time::Duration;

use crate::error_numbers::{ENOMEM, error_number};

/// The result type of headland.
pub type Result<T> = std::result::Result<T, Error>;

/// The error number for a lack of memory, the same on every system.
pub const OUT_OF_MEMORY: i32 = ENOMEM;

/// The kind of an error, which selects the exception class.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Kind {
    /// The service refused the credentials, the signature or the time stamp (401).
    Authentication,
    /// The access key does not permit the data (403).
    PermissionDenied,
    /// There is no such record or address (404).
    NotFound,
    /// The address does not support this HTTP method (405).
    MethodNotAllowed,
    /// The service rejected the request (other 4XX).
    InvalidRequest,
    /// The record conflicts with another one, such as a map queued twice.
    Conflict,
    /// The rate limit is exceeded, and the wait would exceed the deadline of the call (429).
    RateLimited,
    /// The service failed until the deadline (5XX).
    ServiceUnavailable,
    /// The job recorded no coverage, so there is nothing to download.
    NoCoverage,
    /// The service could not convert the job.
    ConversionFailed,
    /// The service needs more time than the deadline leaves.
    NotReady,
    /// The reply to an upload was lost, and the list does not show whether the upload succeeded. Or the reply to
    /// another POST, which must not be repeated and which no list shows.
    UploadOutcomeUnknown,
    /// The connection failed: name, port, TLS, time-out, broken body.
    Transport,
    /// The reply does not match the specification.
    Decode,
    /// The archive or file of field data cannot be read.
    Archive,
    /// The configuration of the client is invalid.
    Configuration,
    /// A file on this machine cannot be read or written.
    File,
    /// An argument has the wrong type; no call was made.
    Type,
    /// An argument has an invalid value; no call was made.
    Value,
}

impl Kind {
    /// All kinds, so that tests can check that each has a Python class.
    pub const ALL: &'static [Self] = &[
        Self::Authentication,
        Self::PermissionDenied,
        Self::NotFound,
        Self::MethodNotAllowed,
        Self::InvalidRequest,
        Self::Conflict,
        Self::RateLimited,
        Self::ServiceUnavailable,
        Self::NoCoverage,
        Self::ConversionFailed,
        Self::NotReady,
        Self::UploadOutcomeUnknown,
        Self::Transport,
        Self::Decode,
        Self::Archive,
        Self::Configuration,
        Self::File,
        Self::Type,
        Self::Value,
    ];

    /// The name of the Python class.
    #[must_use]
    pub const fn class_name(self) -> &'static str {
        match self {
            Self::Authentication => "AuthenticationError",
            Self::PermissionDenied => "PermissionDenied",
            Self::NotFound => "NotFound",
            Self::MethodNotAllowed => "MethodNotAllowed",
            Self::InvalidRequest => "InvalidRequest",
            Self::Conflict => "Conflict",
            Self::RateLimited => "RateLimited",
            Self::ServiceUnavailable => "ServiceUnavailable",
            Self::NoCoverage => "NoCoverage",
            Self::ConversionFailed => "ConversionFailed",
            Self::NotReady => "NotReady",
            Self::UploadOutcomeUnknown => "UploadOutcomeUnknown",
            Self::Transport => "TransportError",
            Self::Decode => "DecodeError",
            Self::Archive => "ArchiveError",
            Self::Configuration => "ConfigurationError",
            Self::File => "HeadlandError",
            Self::Type => "TypeError",
            Self::Value => "ValueError",
        }
    }
}

/// An argument that resolves an error.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Argument {
    /// Selects a layer.
    Layer,
    /// Replaces a file.
    Overwrite,
    /// Reads damaged archives if it is off.
    Strict,
    /// Follows a delivery.
    Delivery,
}

impl Argument {
    /// The argument in Python.
    const fn python_name(self) -> &'static str {
        match self {
            Self::Layer => "`layer`",
            Self::Overwrite => "overwrite=True",
            Self::Strict => "`strict=False`",
            Self::Delivery => "`client.delivery(error.handle).wait()` follows it, also in another process",
        }
    }

    /// The option of the command line.
    const fn option_name(self) -> &'static str {
        match self {
            Self::Layer => "`--layer`",
            Self::Overwrite => "--overwrite",
            Self::Strict => "`--lenient` (`strict=False`)",
            Self::Delivery => "the same command follows it, and sends nothing twice",
        }
    }
}

/// The end of a message: an argument that resolves the error.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Hint {
    /// The argument.
    pub argument: Argument,
    /// The text before its name, including the separator.
    before: Cow<'static, str>,
    /// The text after its name.
    after: Cow<'static, str>,
}

/// The fields of an error. Each known field becomes an attribute of the Python exception.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Facts {
    /// The row of the table, such as `job_data.list`.
    pub endpoint: Option<&'static str>,
    /// The id in the path of the call.
    pub id: Option<String>,
    /// The HTTP method.
    pub method: Option<&'static str>,
    /// The HTTP status of the last reply.
    pub status: Option<u16>,
    /// The number of requests sent.
    pub attempts: Option<u32>,
    /// The time from the call to the error.
    pub elapsed: Option<Duration>,
    /// The wait before the next request that the service demands.
    pub retry_after: Option<Duration>,
    /// The check of the service that failed (specification 5.2), as the service names it.
    pub check: Option<String>,
    /// The clock of the service minus the local clock, in seconds, if measured.
    pub clock_skew: Option<f64>,
    /// The details to pass to the operator's support (`result` of a `ServiceResponse`).
    pub result: Option<String>,
    /// Records that may be the result of an upload.
    pub candidates: Vec<String>,
    /// The member of the archive.
    pub member: Option<String>,
    /// The record, counted from 0.
    pub record: Option<u64>,
    /// The offset in bytes inside the member.
    pub offset: Option<u64>,
    /// The column of the file, or the path of the field in a reply.
    pub field: Option<String>,
    /// The error number of the operating system, for local files and a lack of memory.
    pub os_error: Option<i32>,
    /// The argument that resolves the error.
    pub hint: Option<Hint>,
    /// The archive at the start of the message.
    pub source: Option<String>,
    /// The invalid setting, by the name that the advice of `client::doctor` uses.
    pub setting: Option<&'static str>,
    /// The id of the handle with which another process can wait for the result.
    pub handle: Option<String>,
    /// The status of a failed conversion, such as `CONVERSION_STATUS_FAILED`.
    pub conversion: Option<String>,
    /// Whether the reply was a web page or another document instead of a reply of the service.
    pub is_document: bool,
}

/// An error: its kind, a message with the cause and the remedy, and its fields.
#[derive(Clone)]
pub struct Error {
    inner: Box<Inner>,
}

#[derive(Clone)]
struct Inner {
    kind: Kind,
    message: String,
    facts: Facts,
}

impl Error {
    /// An error with a kind and a message.
    #[must_use]
    pub fn new(kind: Kind, message: impl Into<String>) -> Self {
        Self { inner: Box::new(Inner { kind, message: message.into(), facts: Facts::default() }) }
    }

    /// An error of a local file, with the message and number of the operating system.
    #[must_use]
    pub fn file(action: &str, path: &std::path::Path, cause: &std::io::Error) -> Self {
        Self::new(Kind::File, format!("cannot {action} `{}`: {cause}", path.display()))
            .with(|facts| facts.os_error = error_number(cause))
    }

    /// An error of a source. The message is its name followed by `what`.
    #[must_use]
    pub fn for_source(kind: Kind, source: impl Into<String>, what: impl Into<String>) -> Self {
        Self::new(kind, what).with(|facts| facts.source = Some(source.into()))
    }

    /// An invalid setting of a client.
    #[must_use]
    pub fn for_setting(setting: &'static str, message: impl Into<String>) -> Self {
        Self::new(Kind::Configuration, message).with(|facts| facts.setting = Some(setting))
    }

    /// An invalid value of an argument.
    #[must_use]
    pub fn for_argument(argument: &str, message: impl Into<String>) -> Self {
        Self::new(Kind::Value, message).with(|facts| facts.field = Some(argument.to_owned()))
    }

    /// An error of an archive, with the member that caused it.
    #[must_use]
    pub fn archive(member: impl Into<String>, message: impl Into<String>) -> Self {
        let member = member.into();
        Self::new(Kind::Archive, message).with(|facts| facts.member = Some(member))
    }

    /// The same error with more fields.
    #[must_use]
    pub fn with(mut self, fill: impl FnOnce(&mut Facts)) -> Self {
        fill(&mut self.inner.facts);
        self
    }

    /// The same error with a hint at the end of its message: `before`, the argument, `after`.
    #[must_use]
    pub fn with_hint(
        self,
        before: impl Into<Cow<'static, str>>,
        argument: Argument,
        after: impl Into<Cow<'static, str>>,
    ) -> Self {
        let hint = Hint { argument, before: before.into(), after: after.into() };
        self.with(|facts| facts.hint = Some(hint))
    }

    /// The same error with a new message before the hint, made from the current one.
    #[must_use]
    pub fn map_message(mut self, write: impl FnOnce(&str) -> String) -> Self {
        self.inner.message = write(&self.sentence());
        self.with(|facts| facts.source = None)
    }

    /// The same error with another kind, for callers that know the operation of the user.
    #[must_use]
    pub fn with_kind(mut self, kind: Kind) -> Self {
        self.inner.kind = kind;
        self
    }

    /// The same error with `write` applied to each text that may come from a service.
    #[must_use]
    pub fn map_texts(mut self, write: impl Fn(&str) -> String) -> Self {
        let Inner { message, facts, .. } = &mut *self.inner;
        let known = [&mut facts.check, &mut facts.result, &mut facts.field, &mut facts.conversion, &mut facts.id];
        for text in std::iter::once(message).chain(known.into_iter().flatten()) {
            *text = write(text);
        }
        for candidate in &mut self.inner.facts.candidates {
            *candidate = write(candidate);
        }
        self
    }

    /// The kind of the error.
    #[must_use]
    pub fn kind(&self) -> Kind {
        self.inner.kind
    }

    /// The message and the hint, without the fields.
    #[must_use]
    pub fn message(&self) -> Cow<'_, str> {
        self.message_with(Argument::python_name)
    }

    fn message_with(&self, name: fn(Argument) -> &'static str) -> Cow<'_, str> {
        let sentence = self.sentence();
        match &self.inner.facts.hint {
            None => sentence,
            Some(Hint { argument, before, after }) => [&*sentence, before, name(*argument), after].concat().into(),
        }
    }

    /// The message alone, with the source before it.
    fn sentence(&self) -> Cow<'_, str> {
        let Inner { message, facts, .. } = &*self.inner;
        match &facts.source {
            None => message.into(),
            Some(source) => format!("`{source}` {message}").into(),
        }
    }

    /// The message for the command line, if it differs: there, arguments are options.
    #[must_use]
    pub fn cli_message(&self) -> Option<String> {
        self.inner.facts.hint.as_ref()?;
        Some(self.message_with(Argument::option_name).into_owned() + &self.location())
    }

    /// Whether the cause is a lack of memory, which is no defect of the data.
    #[must_use]
    pub fn lacks_memory(&self) -> bool {
        self.inner.facts.os_error == Some(OUT_OF_MEMORY)
    }

    /// The fields of the error.
    #[must_use]
    pub fn facts(&self) -> &Facts {
        &self.inner.facts
    }

    /// The location of the error, in parentheses. The replies of a call do not explain an error of a local file.
    fn location(&self) -> String {
        let (facts, mut parts) = (&self.inner.facts, Vec::new());
        let of_call = Some(facts).filter(|_| self.inner.kind != Kind::File);
        if let Some(member) = &facts.member {
            parts.push(format!("member `{member}`"));
        }
        // Most messages name the column or the argument themselves.
        if let Some(field) = facts.field.as_ref().filter(|field| !self.message().contains(&format!("`{field}`"))) {
            parts.push(format!("field `{field}`"));
        }
        if let Some(record) = facts.record {
            parts.push(format!("record {record}"));
        }
        if let Some(offset) = facts.offset {
            parts.push(format!("offset {offset}"));
        }
        if let Some(endpoint) = facts.endpoint {
            let of = facts.id.as_ref().map(|id| format!(" of {id}")).unwrap_or_default();
            parts.push(format!("{endpoint}{of}"));
        }
        if let Some(status) = of_call.and_then(|facts| facts.status) {
            parts.push(format!("HTTP {status}"));
        }
        if let Some(attempts) = of_call.and_then(|facts| facts.attempts).filter(|attempts| *attempts > 1) {
            parts.push(format!("{attempts} attempts"));
        }
        if let Some(elapsed) = of_call.and_then(|facts| facts.elapsed).filter(|elapsed| elapsed.as_secs() > 0) {
            parts.push(format!("after {:.1} s", elapsed.as_secs_f64()));
        }
        if parts.is_empty() { String::new() } else { format!(" ({})", parts.join(", ")) }
    }
}

impl fmt::Display for Error {
    /// The message, then the location: users paste this line into support mails.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message())?;
        f.write_str(&self.location())
    }
}

impl fmt::Debug for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:?}: {self}", self.inner.kind)
    }
}

impl std::error::Error for Error {}
