//! Tests signatures against the vectors of an independent implementation (field notes, Signature).

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "a test says what it expects by unwrapping")]

use headland::signing::{SigningInput, SigningKey};
use proptest::prelude::*;

/// Base64 of the bytes 0 to 31.
const SECRET: &str = "AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8=";

/// Method, host, path, signature.
const VECTORS: &[(&str, &str, &str, &str)] = &[
    ("GET", "host.example.com", "/absolute/path", "4E01Xug8xUuv7g007yDeA+uEF7A="),
    ("GET", "host.example.com", "/FieldComputers/460/PrescriptionMaps", "NFuX+AipWftjKzmiX7BNGT4lp5A="),
    ("put", "HOST.example.com", "/prescriptionmaps/11/fieldcomputers/460", "6cp8lu3hgBbzFdWM+sTeLI8ZGfA="),
    ("GET", "localhost:8080", "/jobdata/11", "SiODYCk3zi4FQoNP/djZEewg6Cs="),
    ("GET", "localhost", "/jobdata/11", "luBGCwUWCT+ORvocXbCahFwSJrc="),
];

fn signed<'a>(method: &'a str, host: &'a str, path: &'a str) -> SigningInput<'a> {
    SigningInput {
        method,
        host,
        path,
        timestamp: 1_234_567_890,
        api_key: "ApiKeyAbC123",
        access_key: "AccessKeyXyZ789",
    }
}

#[test]
fn every_vector_is_reproduced_and_verified() {
    let key = SigningKey::from_base64(SECRET).unwrap();
    for (method, host, path, signature) in VECTORS {
        let request = signed(method, host, path);
        assert_eq!(request.signature(&key), *signature, "{method} {host} {path}");
        assert!(request.verify(&key, signature));
    }
}

#[test]
fn signature_over_another_text_is_rejected() {
    let key = SigningKey::from_base64(SECRET).unwrap();
    let request = signed("GET", "host.example.com", "/absolute/path");
    let signature = request.signature(&key);
    let later = SigningInput { timestamp: 1_234_567_891, ..request };
    let case_changed = SigningInput { api_key: "APIKEYABC123", ..request };
    assert!(!later.verify(&key, &signature));
    assert!(!case_changed.verify(&key, &signature), "keys keep their letter case");
    assert!(!request.verify(&key, "not base64!"));
    assert!(!request.verify(&key, ""));
}

#[test]
fn secret_that_is_not_base64_is_an_error_that_does_not_show_it() {
    let error = SigningKey::from_base64("my secret phrase").unwrap_err();
    assert!(error.to_string().contains("not base64"));
    assert!(!error.to_string().contains("phrase"));
    assert!(SigningKey::from_base64(" ").is_err(), "an empty secret signs nothing");
    assert_eq!(format!("{:?}", SigningKey::from_base64(SECRET).unwrap()), "SigningKey(hidden)");
}

proptest! {
    #[test]
    fn signing_never_panics_and_always_verifies(method in ".*", host in ".*", path in ".*", timestamp: i64) {
        let key = SigningKey::from_base64(SECRET).unwrap();
        let request = SigningInput { timestamp, ..signed(&method, &host, &path) };
        let signature = request.signature(&key);
        prop_assert!(request.verify(&key, &signature));
        prop_assert_eq!(request.canonical_text().matches("\r\n").count() >= 6, true);
    }
}
