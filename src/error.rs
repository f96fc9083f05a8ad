//! What can go wrong, by kind, with the facts of the case; one kind is one exception class in Python.

use std::borrow::Cow;
use std::fmt;
use std::time::Duration;

/// The result of everything in headland that can fail.
pub type Result<T> = std::result::Result<T, Error>;

/// The number by which every system says that it has no memory left (`ENOMEM`).
pub(crate) const OUT_OF_MEMORY: i32 = 12;

/// What went wrong, in the words users catch it by.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Kind {
    /// The service refused the credentials, the signature or the time stamp (401).
    Authentication,
    /// The access key does not permit the data (403).
    PermissionDenied,
    /// There is no such record or address (404).
    NotFound,
    /// The address does not take this HTTP method (405).
    MethodNotAllowed,
    /// The service found something wrong in the request (other 4XX).
    InvalidRequest,
    /// The record is in the way of another one, such as a map queued twice.
    Conflict,
    /// The rate limit is exceeded and the deadline of the call leaves no room to wait (429).
    RateLimited,
    /// The service is in trouble and stayed so for the whole deadline (5XX).
    ServiceUnavailable,
    /// The job recorded no coverage, so there is nothing to download.
    NoCoverage,
    /// The service could not convert the job.
    ConversionFailed,
    /// The service needs more time than the deadline leaves.
    NotReady,
    /// The reply to an upload was lost and the list does not tell whether it arrived; or that to another POST, which must
    /// not be sent twice and which no list tells of.
    UploadOutcomeUnknown,
    /// The connection failed: name, port, TLS, time-out, broken body.
    Transport,
    /// The reply is not what the specification promises.
    Decode,
    /// The archive or file of field data cannot be read.
    Archive,
    /// The client is set up wrongly.
    Configuration,
    /// A file on this machine cannot be read or written.
    File,
    /// An argument has the wrong type; no call was made.
    Type,
    /// An argument has a wrong value; no call was made.
    Value,
}

impl Kind {
    /// Every kind, so that tests can prove that none is left without a Python class.
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

/// An argument that helps against a failure.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Argument {
    /// Chooses a layer.
    Layer,
    /// Replaces a file.
    Overwrite,
    /// Reads damaged archives, where it is off.
    Strict,
}

impl Argument {
    /// As Python code passes it.
    const fn python_name(self) -> &'static str {
        match self {
            Self::Layer => "`layer`",
            Self::Overwrite => "overwrite=True",
            Self::Strict => "`strict=False`",
        }
    }

    /// As the command line takes it.
    const fn option_name(self) -> &'static str {
        match self {
            Self::Layer => "`--layer`",
            Self::Overwrite => "--overwrite",
            Self::Strict => "`--lenient` (`strict=False`)",
        }
    }
}

/// The end of a message: what an argument does about the failure.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Hint {
    /// The argument.
    pub argument: Argument,
    /// The text in front of its name, with what separates it from the sentence.
    before: Cow<'static, str>,
    /// The text behind its name.
    after: Cow<'static, str>,
}

/// The facts of a failure; each that is known becomes an attribute of the Python exception.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Facts {
    /// The row of the table, such as `job_data.list`.
    pub endpoint: Option<&'static str>,
    /// The HTTP method.
    pub method: Option<&'static str>,
    /// The HTTP status of the last reply.
    pub status: Option<u16>,
    /// How many requests were sent.
    pub attempts: Option<u32>,
    /// The time from the call to the failure.
    pub elapsed: Option<Duration>,
    /// How long the service asks to wait before the next request.
    pub retry_after: Option<Duration>,
    /// Which check of the service failed (specification 5.2), as it named it.
    pub check: Option<String>,
    /// The service's clock minus ours, in seconds, where it was measured.
    pub clock_skew: Option<f64>,
    /// The details to pass to the operator's support (`result` of a `ServiceResponse`).
    pub result: Option<String>,
    /// Records that may be the one an upload made.
    pub candidates: Vec<String>,
    /// The member of the archive.
    pub member: Option<String>,
    /// The record, counted from 0.
    pub record: Option<u64>,
    /// The offset in bytes inside the member.
    pub offset: Option<u64>,
    /// The column of the file or the path of the field in a reply.
    pub field: Option<String>,
    /// What the operating system said, where a local file or a lack of memory is the cause.
    pub os_error: Option<i32>,
    /// The argument that helps.
    pub hint: Option<Hint>,
    /// The archive that the message begins with.
    pub source: Option<String>,
    /// The setting that is wrong, by the name that `client::doctor` has advice under.
    pub setting: Option<&'static str>,
    /// The status of a conversion that failed, such as `CONVERSION_STATUS_FAILED`.
    pub conversion: Option<String>,
    /// Whether a web page or another document came in place of a reply of the service.
    pub is_document: bool,
}

/// One failure: its kind, a sentence that names what, where and what to do, and the facts.
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
    /// A failure of `kind`, told by `message`.
    #[must_use]
    pub fn new(kind: Kind, message: impl Into<String>) -> Self {
        Self { inner: Box::new(Inner { kind, message: message.into(), facts: Facts::default() }) }
    }

    /// A failure to read or write a local file, with the operating system's word kept.
    #[must_use]
    pub fn file(action: &str, path: &std::path::Path, cause: &std::io::Error) -> Self {
        Self::new(Kind::File, format!("cannot {action} `{}`: {cause}", path.display()))
            .with(|facts| facts.os_error = cause.raw_os_error())
    }

    /// A source that cannot be read: the message is its name and `what`.
    #[must_use]
    pub fn for_source(kind: Kind, source: impl Into<String>, what: impl Into<String>) -> Self {
        Self::new(kind, what).with(|facts| facts.source = Some(source.into()))
    }

    /// A wrong setting of a client.
    #[must_use]
    pub fn for_setting(setting: &'static str, message: impl Into<String>) -> Self {
        Self::new(Kind::Configuration, message).with(|facts| facts.setting = Some(setting))
    }

    /// An archive that cannot be read, with the member that is the cause.
    #[must_use]
    pub fn archive(member: impl Into<String>, message: impl Into<String>) -> Self {
        let member = member.into();
        Self::new(Kind::Archive, message).with(|facts| facts.member = Some(member))
    }

    /// The same failure with more facts.
    #[must_use]
    pub fn with(mut self, fill: impl FnOnce(&mut Facts)) -> Self {
        fill(&mut self.inner.facts);
        self
    }

    /// The same failure, whose message ends with what an argument does about it: `before`, the argument, `after`.
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

    /// The same failure with another sentence in front of the hint, made of the one that it has.
    #[must_use]
    pub fn map_message(mut self, write: impl FnOnce(&str) -> String) -> Self {
        self.inner.message = write(&self.sentence());
        self.with(|facts| facts.source = None)
    }

    /// The same failure under another kind, for callers that know better what the user was doing.
    #[must_use]
    pub fn with_kind(mut self, kind: Kind) -> Self {
        self.inner.kind = kind;
        self
    }

    /// The same failure with every text that a service may have written as `write` gives it.
    #[must_use]
    pub fn map_texts(mut self, write: impl Fn(&str) -> String) -> Self {
        let Inner { message, facts, .. } = &mut *self.inner;
        let facts =
            [&mut facts.check, &mut facts.result, &mut facts.field, &mut facts.conversion].into_iter().flatten();
        for text in std::iter::once(message).chain(facts) {
            *text = write(text);
        }
        for candidate in &mut self.inner.facts.candidates {
            *candidate = write(candidate);
        }
        self
    }

    /// What went wrong.
    #[must_use]
    pub fn kind(&self) -> Kind {
        self.inner.kind
    }

    /// The sentence and the hint, without the facts.
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

    /// The sentence alone, with the source in front.
    fn sentence(&self) -> Cow<'_, str> {
        let Inner { message, facts, .. } = &*self.inner;
        match &facts.source {
            None => message.into(),
            Some(source) => format!("`{source}` {message}").into(),
        }
    }

    /// The text for users of the command line, where it differs: arguments are options there.
    #[must_use]
    pub fn cli_message(&self) -> Option<String> {
        self.inner.facts.hint.as_ref()?;
        Some(self.message_with(Argument::option_name).into_owned() + &self.location())
    }

    /// Whether the machine lacks memory, which says nothing against the data.
    #[must_use]
    pub fn lacks_memory(&self) -> bool {
        self.inner.facts.os_error == Some(OUT_OF_MEMORY)
    }

    /// The facts of the case.
    #[must_use]
    pub fn facts(&self) -> &Facts {
        &self.inner.facts
    }

    /// Where it happened, in parentheses.
    fn location(&self) -> String {
        let facts = &self.inner.facts;
        let mut parts = Vec::new();
        if let Some(member) = &facts.member {
            parts.push(format!("member `{member}`"));
        }
        if let Some(field) = &facts.field {
            parts.push(format!("field `{field}`"));
        }
        if let Some(record) = facts.record {
            parts.push(format!("record {record}"));
        }
        if let Some(offset) = facts.offset {
            parts.push(format!("offset {offset}"));
        }
        if let Some(endpoint) = facts.endpoint {
            parts.push(endpoint.to_owned());
        }
        if let Some(status) = facts.status {
            parts.push(format!("HTTP {status}"));
        }
        if let Some(attempts) = facts.attempts.filter(|attempts| *attempts > 1) {
            parts.push(format!("{attempts} attempts"));
        }
        if let Some(elapsed) = facts.elapsed.filter(|elapsed| *elapsed > Duration::from_secs(1)) {
            parts.push(format!("after {:.1} s", elapsed.as_secs_f64()));
        }
        if parts.is_empty() { String::new() } else { format!(" ({})", parts.join(", ")) }
    }
}

impl fmt::Display for Error {
    /// The message, then where it happened: users paste this line into support mails.
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
