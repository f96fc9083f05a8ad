//! Causes of a refused certificate, and advice.

/// The cause, as far as it is known.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Certificate {
    /// It is the certificate of an authority and identifies no server.
    OfAuthority,
    /// It is signed by no authority that this machine trusts.
    Untrusted,
    /// It has expired or is not valid yet.
    OutOfDate,
    /// It is valid for another name.
    OfOtherName,
    /// The peer does not speak TLS.
    NoTls,
    /// Any other cause.
    Other,
}

impl Certificate {
    /// Reads the message of rustls: the layers in between pass its errors as text.
    #[must_use]
    pub fn from_message(message: &str) -> Self {
        let says = |words: &[&str]| words.iter().any(|word| message.contains(word));
        if says(&["CaUsedAsEndEntity"]) {
            Self::OfAuthority
        } else if says(&["UnknownIssuer", "BadSignature", "UnsupportedSignature"]) {
            Self::Untrusted
        } else if says(&["xpired", "NotValidYet", "not valid yet"]) {
            Self::OutOfDate
        } else if says(&["NotValidForName", "not valid for"]) {
            Self::OfOtherName
        } else if says(&["InvalidContentType", "corrupt"]) {
            Self::NoTls
        } else {
            Self::Other
        }
    }

    /// The advice that the error of a call contains.
    pub(super) fn advice(self) -> &'static str {
        match self {
            Self::OfAuthority => {
                "Its certificate is that of an authority (basicConstraints CA:TRUE), which is never valid for a \
                 server, even if ca_file contains it: make one for the server with basicConstraints CA:FALSE and \
                 its name in subjectAltName, and pass that as ca_file or sign it with that authority"
            }
            Self::OutOfDate => {
                "Its certificate is not valid at the time of this machine's clock: check the clock; if it is right, \
                 renew the certificate"
            }
            Self::OfOtherName => {
                "Its certificate is for another host: use the name in its subjectAltName as the host, or make one for \
                 this host"
            }
            Self::NoTls => "The port does not answer with TLS: check the scheme and the port of base_url",
            Self::Untrusted | Self::Other => "Pass ca_file if its certificate is from a private authority",
        }
    }
}
