//! Advice of `headland doctor`: the next step for each cause of failing calls.

use crate::transport::Certificate;

pub(super) const SET_CLOCK: &str = "set this machine's clock and keep it synchronized by network time (`timedatectl \
     set-ntp true` on Linux): the service refuses requests that are 120 s off";
pub(super) const DATES_DIFFER: &str = "report to the operator: the service's Date and its time check disagree";
pub(super) const TROUBLE: &str =
    "the service fails: try again in a few minutes; if it still fails, report it to the operator";
pub(super) const REFUSES_ALL: &str = "report to the operator: the service answers, but refuses its simplest call";
pub(super) const PATH: &str =
    "set base_url to the URL from the operator, without `/accesskey` or any other call at its end";
pub(super) const API_KEY: &str = "copy api_key again as it was issued, and check that base_url is the service that \
     issued it: a test and a production service have different keys";
pub(super) const UNNAMED: &str = "the service does not say which check failed: copy api_key again, too; ";
pub(super) const SIGN_LOWER_CASE: &str = "ask the operator to check the signature over the path in lower case";
pub(super) const ASK_CUSTOMER: &str = "ask the customer to issue a new access key in the portal";
pub(super) const SHARE: &str = "let programs on one machine share `limiter_state`, and give each machine that uses \
     this API key its share by `rate_limits`";
pub(super) const WRITABLE: &str = "make that file and its folder writable, or set limiter_state to one that is";

/// A wrong setting, the step that it belongs to, and what to do about it.
const SETTINGS: &[(&str, &str, &str)] = &[
    (
        "environment",
        "settings",
        "export these variables with the values from the operator and the customer, or write a profile and name it",
    ),
    ("mode", "settings", "run that `chmod`: only you may have access to a file with the secret"),
    ("owner", "settings", "write these settings into a file of your own, or name one: `headland login` writes it"),
    ("folder", "settings", "run that `chmod`: others could replace the file by one of their own"),
    ("not TOML", "settings", "fix the file: a table `[name]`, then lines such as base_url = \"https://host\""),
    ("no profile", "settings", "name a profile that the file has, or add this one"),
    (
        "names",
        "settings",
        "correct the names in that table; base_url, api_key, shared_secret and access_key are needed",
    ),
    (
        "profiles",
        "settings",
        "write that file, readable by you alone (mode 0600), or set the HEADLAND_ variables and name no profile",
    ),
    ("no secret", "settings", "run that `keyring set` and paste the shared secret"),
    ("no keyring", "settings", "run that `pip install`, or write shared_secret into the profile"),
    ("keyring", "settings", "unlock the system's keyring, or write shared_secret into the profile instead"),
    ("plain http", "address", "write `https://` in base_url"),
    ("base_url", "address", "set base_url to the URL from the operator, such as https://host or https://host/path"),
    (
        "shared_secret",
        "settings",
        "copy shared_secret again as it was issued: letters, digits, `+` and `/`, with its `=` signs, without quotes",
    ),
    (
        "ca_file",
        "TLS",
        "set ca_file to a file of certificates in PEM format: it begins with -----BEGIN CERTIFICATE-----",
    ),
    ("certificates", "TLS", "install the system's CA certificates (package ca-certificates), or set ca_file"),
    ("SSL_CERT_FILE", "TLS", "set that variable to the system's CA certificates, or unset it"),
    ("api_key", "settings", "copy api_key again as it was issued, without blanks or line ends"),
    ("access_key", "settings", "copy access_key again as the portal shows it, without blanks or line ends"),
];

/// The step that a wrong setting belongs to, and what to do about it.
#[must_use]
pub fn about_setting(setting: Option<&str>) -> (&'static str, &'static str) {
    let known = SETTINGS.iter().find(|(name, ..)| Some(*name) == setting);
    known.map_or(("settings", "correct that setting"), |(_, step, advice)| (*step, *advice))
}

/// What to do about a variable that sets no proxy, besides the other advice.
pub(super) fn about_ignored_proxy(variable: &str, otherwise: &str) -> String {
    format!(
        "calls ignore {variable}, because it is not the address of a proxy, such as `http://proxy:3128`: correct it; or \
         if this network needs no proxy: {otherwise}"
    )
}

/// What to do about the certificate of the host `name`.
pub(super) fn about_certificate(certificate: Certificate, name: &str, port: u16) -> String {
    match certificate {
        Certificate::Untrusted => format!(
            "no authority that this machine trusts issued the certificate of {name}: if the operator, or a proxy that \
             decrypts TLS, has its own authority, get its certificate as a PEM file and set ca_file (HEADLAND_CA_FILE)"
        ),
        Certificate::OfAuthority => format!(
            "{name} presents the certificate of an authority: its operator must issue one for the server, with \
             basicConstraints CA:FALSE"
        ),
        Certificate::OutOfDate => "the certificate is not valid at the time of this machine's clock: check the clock; \
             if it is right, tell the operator"
            .to_owned(),
        Certificate::OfOtherName => {
            format!("the certificate is for another host than {name}: set base_url to that host")
        }
        Certificate::NoTls => {
            format!("the server on port {port} of {name} does not use TLS: check the port in base_url")
        }
        Certificate::Other => {
            format!("ask the operator about the certificate of {name}, or set ca_file if it has its own authority")
        }
    }
}
