//! The variables with the system's certificates: `SSL_CERT_FILE` and `SSL_CERT_DIR`, which only Unix systems other than
//! macOS read.

use std::env::{split_paths, var_os};
use std::path::Path;

use reqwest::Certificate;

/// Whether the certificates of this system come from files that the variables may replace.
const READS_VARIABLES: bool = cfg!(all(unix, not(target_os = "macos")));

/// The files in which distributions keep the certificates of all authorities.
const BUNDLES: [&str; 5] = [
    "/etc/ssl/certs/ca-certificates.crt",
    "/etc/pki/tls/certs/ca-bundle.crt",
    "/etc/ssl/ca-bundle.pem",
    "/etc/pki/ca-trust/extracted/pem/tls-ca-bundle.pem",
    "/etc/ssl/cert.pem",
];

/// The system's certificates if `SSL_CERT_FILE` is set but empty, which counts as unset. The TLS library would read a
/// file without a name.
pub(super) fn certificates_without_file() -> Option<Vec<Certificate>> {
    let is_empty = var_os("SSL_CERT_FILE").is_some_and(|value| value.is_empty());
    let has_folder = var_os("SSL_CERT_DIR").is_some_and(|value| !value.is_empty());
    if !READS_VARIABLES || !is_empty || has_folder {
        return None;
    }
    BUNDLES.iter().find_map(|path| read(Path::new(path)).ok())
}

/// Names the variable whose certificates cannot be read, and the reason.
pub(super) fn unreadable_certificates() -> Option<String> {
    if !READS_VARIABLES {
        return None;
    }
    let file = var_os("SSL_CERT_FILE").filter(|value| !value.is_empty());
    if let Some(file) = file.as_ref().map(Path::new)
        && let Err(why) = read(file)
    {
        return Some(format!("SSL_CERT_FILE is `{}`, which {why}", file.display()));
    }
    let folders = var_os("SSL_CERT_DIR").unwrap_or_default();
    let missing = split_paths(&folders).find(|folder| !folder.as_os_str().is_empty() && !folder.is_dir())?;
    Some(format!("SSL_CERT_DIR contains `{}`, which is not a folder", missing.display()))
}

fn read(path: &Path) -> Result<Vec<Certificate>, String> {
    let pem = std::fs::read(path).map_err(|error| format!("cannot be read: {error}"))?;
    match Certificate::from_pem_bundle(&pem) {
        Ok(found) if !found.is_empty() => Ok(found),
        _ => Err("contains no certificates in PEM format".to_owned()),
    }
}
