//! Severities of diagnostics, and the macro that declares the enum of their codes from a table.

/// How much a diagnostic matters to a user of the data.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Severity {
    /// Data are lost, or values are suspect.
    Error,
    /// Something was repaired, assumed or is missing.
    Warning,
    /// For information only.
    Info,
}

impl Severity {
    /// All severities, the most severe first.
    pub const ALL: &'static [Self] = &[Self::Error, Self::Warning, Self::Info];

    /// Its name.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Error => "error",
            Self::Warning => "warning",
            Self::Info => "info",
        }
    }
}

macro_rules! codes {
    ($($name:ident = $text:literal, $severity:ident, $documentation:literal;)+) => {
        /// The kind of a diagnostic.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub enum Code {
            $(#[doc = $documentation] $name,)+
            /// A code of another release, read from a pickle.
            Other(&'static str),
        }

        impl Code {
            /// All codes of this release, in the order of the documentation.
            pub const ALL: &'static [Self] = &[$(Self::$name),+];

            /// Its stable name, such as `no-shx`.
            #[must_use]
            pub const fn as_str(self) -> &'static str {
                match self {
                    $(Self::$name => $text,)+
                    Self::Other(text) => text,
                }
            }

            /// Its severity.
            #[must_use]
            pub const fn severity(self) -> Severity {
                match self {
                    $(Self::$name => Severity::$severity,)+
                    Self::Other(_) => Severity::Warning,
                }
            }

            /// What was found and done about it, as a clause without a full stop. It is the message if all cases are
            /// equal.
            #[must_use]
            pub const fn documentation(self) -> &'static str {
                match self {
                    $(Self::$name => $documentation,)+
                    Self::Other(_) => "a diagnostic of another release",
                }
            }
        }
    };
}

pub(super) use codes;
