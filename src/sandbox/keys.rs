//! The keys of a sandbox: made from its seed, and who is behind an access key.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use chrono::{DateTime, Utc};

use crate::error;
use crate::signing::SigningKey;
use crate::wire::{Name, Value};

/// Sets the keys apart from everything else that is drawn from the same seed.
const KEY_SALT: u64 = 0x6865_6164_6C61_6E64;

/// How many customers the service has.
pub(super) const CUSTOMERS: u32 = 2;

/// The keys of a sandbox. They are made up from its seed and open nothing else.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Keys {
    /// The partner's API key.
    pub api_key: String,
    /// The partner's shared secret.
    pub shared_secret: String,
    /// The access key of the customer whose fields [`Sandbox::truth`](super::Sandbox::truth) describes.
    pub access_key: String,
    /// The access key of another customer, with other data.
    pub other_access_key: String,
    /// An access key that its customer revoked.
    pub revoked_access_key: String,
    /// An access key of the same customer that gives one field computer and what belongs to it.
    pub partial_access_key: String,
    /// An access key of the same customer that gives everything and may not write.
    pub read_only_access_key: String,
    /// An access key of the same customer that has expired.
    pub expired_access_key: String,
    /// The bearer token of the first customer for the dispatch service and for the legacy order service.
    pub dispatch_token: String,
    /// The bearer token of the other customer.
    pub other_dispatch_token: String,
}

/// What the service knows about its keys.
pub(super) struct KeyRing {
    /// The keys as they are handed out.
    pub(super) keys: Keys,
    /// The bytes of the shared secret.
    pub(super) signing_key: SigningKey,
}

/// When the access keys expire, and when the expired one did: 2050-01-01 and 2025-01-01, UTC.
const EXPIRES: i64 = 2_524_608_000;
const EXPIRED: i64 = 1_735_689_600;

/// The part of an account that an access key gives.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Scope {
    WholeAccount,
    FirstComputer,
}

/// What an access key gives.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Grant {
    /// Whose data they are: 0 or 1.
    pub(super) customer: u32,
    /// Whether the customer has not revoked it. An expired key is not revoked: its summary shows which of both it is.
    is_active: bool,
    /// When it expires, in seconds since 1970-01-01 UTC.
    expires: i64,
    /// What of the customer's account it gives.
    pub(super) scope: Scope,
    /// Whether it permits POST and PUT.
    pub(super) may_write: bool,
    /// The `ID` and the `FriendlyName` of its summary.
    id: &'static str,
    name: &'static str,
}

impl Grant {
    /// Whether the key opens anything but its own summary at that time, or the check that failed.
    pub(super) fn check(&self, now: DateTime<Utc>) -> Result<(), String> {
        if !self.is_active {
            return Err("access key check failed: the customer revoked this access key".to_owned());
        }
        if self.expires <= now.timestamp() {
            let when = self.expiration().map(|time| time.format("%Y-%m-%dT%H:%M:%SZ").to_string());
            return Err(format!("access key check failed: this access key expired on {}", when.unwrap_or_default()));
        }
        Ok(())
    }

    fn expiration(&self) -> Option<DateTime<Utc>> {
        DateTime::from_timestamp(self.expires, 0)
    }
}

impl KeyRing {
    /// The keys of that seed; they look like issued ones.
    pub(super) fn new(seed: u64) -> error::Result<Self> {
        let mut random = fastrand::Rng::with_seed(seed ^ KEY_SALT);
        let api_key = std::iter::repeat_with(|| random.alphanumeric()).take(32).collect();
        let mut secret = [0_u8; 32];
        random.fill(&mut secret);
        let shared_secret = STANDARD.encode(secret);
        let signing_key = SigningKey::from_base64(&shared_secret)?;
        let mut guid = || guid(random.u128(..));
        let (access_key, other_access_key, revoked_access_key) = (guid(), guid(), guid());
        let (partial_access_key, read_only_access_key, expired_access_key) = (guid(), guid(), guid());
        let mut token = || std::iter::repeat_with(|| random.alphanumeric()).take(48).collect();
        let (dispatch_token, other_dispatch_token) = (token(), token());
        let keys = Keys {
            api_key,
            shared_secret,
            access_key,
            other_access_key,
            revoked_access_key,
            partial_access_key,
            read_only_access_key,
            expired_access_key,
            dispatch_token,
            other_dispatch_token,
        };
        Ok(Self { keys, signing_key })
    }

    /// What that access key gives; `None` for a key that was never issued.
    pub(super) fn grant(&self, access_key: &str) -> Option<Grant> {
        let full = Grant {
            customer: 0,
            is_active: true,
            expires: EXPIRES,
            scope: Scope::WholeAccount,
            may_write: true,
            id: "101",
            name: "Farm data",
        };
        let keys = &self.keys;
        [
            (&keys.access_key, full),
            (&keys.other_access_key, Grant { customer: 1, id: "201", name: "Contractor data", ..full }),
            (
                &keys.revoked_access_key,
                Grant { is_active: false, id: "102", name: "Farm data, earlier partner", ..full },
            ),
            (&keys.partial_access_key, Grant { scope: Scope::FirstComputer, id: "103", name: "One combine", ..full }),
            (&keys.read_only_access_key, Grant { may_write: false, id: "104", name: "Farm data, to look at", ..full }),
            (&keys.expired_access_key, Grant { expires: EXPIRED, id: "105", name: "Farm data, last year", ..full }),
        ]
        .into_iter()
        .find_map(|(key, grant)| (key == access_key).then_some(grant))
    }

    /// The customer behind a bearer token of the dispatch service.
    pub(super) fn customer_for_token(&self, token: &str) -> Option<u32> {
        [&self.keys.dispatch_token, &self.keys.other_dispatch_token]
            .into_iter()
            .zip(0..)
            .find_map(|(known, customer)| (known == token).then_some(customer))
    }

    /// The access key summary (specification 2.7).
    pub(super) fn summary(access_key: &str, grant: Grant) -> Value {
        let contact = if grant.customer == 0 { "office@farm.example" } else { "desk@contractor.example" };
        let description =
            if grant.may_write { "Read access to field data and uploads" } else { "Read access to field data" };
        let text = |text: &str| Value::Text(text.to_owned());
        Value::Record(vec![
            (Name::Borrowed("access_key"), text(access_key)),
            (Name::Borrowed("id"), text(grant.id)),
            (Name::Borrowed("friendly_name"), text(grant.name)),
            (Name::Borrowed("description"), text(description)),
            (Name::Borrowed("is_active"), Value::Boolean(grant.is_active)),
            (Name::Borrowed("contact"), text(contact)),
            (Name::Borrowed("expiration_date_time"), grant.expiration().map_or(Value::Null, Value::Time)),
        ])
    }
}

/// A GUID in its usual form, marked as a random one (version 4).
pub(super) fn guid(bits: u128) -> String {
    let bits = (bits & !(0xF_u128 << 76) & !(0x3_u128 << 62)) | (0x4_u128 << 76) | (0x2_u128 << 62);
    let digits = format!("{bits:032x}");
    let mut text = String::with_capacity(36);
    for (position, digit) in digits.chars().enumerate() {
        if matches!(position, 8 | 12 | 16 | 20) {
            text.push('-');
        }
        text.push(digit);
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_depend_on_the_seed_only_and_have_the_issued_form() {
        let (one, same, other) = (KeyRing::new(7).unwrap(), KeyRing::new(7).unwrap(), KeyRing::new(8).unwrap());
        assert_eq!(one.keys.shared_secret, same.keys.shared_secret);
        assert_eq!(one.keys.access_key, same.keys.access_key);
        assert_ne!(one.keys.api_key, other.keys.api_key);
        assert_eq!(STANDARD.decode(&one.keys.shared_secret).unwrap().len(), 32);
        assert_eq!(one.keys.api_key.len(), 32);
        let parts: Vec<usize> = one.keys.access_key.split('-').map(str::len).collect();
        assert_eq!(parts, [8, 4, 4, 4, 12]);
        assert_eq!(one.keys.access_key.as_bytes()[14], b'4');
    }

    #[test]
    fn key_that_was_not_issued_has_no_grant() {
        let ring = KeyRing::new(0).unwrap();
        assert_eq!(ring.grant(&ring.keys.other_access_key).unwrap().customer, 1);
        assert!(ring.grant(&ring.keys.revoked_access_key).unwrap().check(Utc::now()).is_err());
        assert_eq!(ring.grant(&ring.keys.access_key.to_uppercase()), None);
        assert_eq!(ring.grant(""), None);
    }
}
