//! API key, access keys and tokens of a sandbox, and the grant of each access key.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use chrono::{DateTime, Utc};

use headland_base::error;
use headland_base::times::iso;
use headland_client::signing::SigningKey;
use headland_wire::{Name, Value};

/// Separates the random stream of keys from other streams of the same seed.
const KEY_SALT: u64 = 0x6865_6164_6C61_6E64;

/// Number of customers.
pub(super) const CUSTOMERS: u32 = 2;

/// Keys of a sandbox, generated from its seed. No other service accepts them.
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
    /// An access key of the same customer, limited to one field computer and its data.
    pub partial_access_key: String,
    /// An access key of the same customer with read access to the whole account.
    pub read_only_access_key: String,
    /// An expired access key of the same customer.
    pub expired_access_key: String,
    /// Bearer token of the first customer for the dispatch service and the legacy order service.
    pub dispatch_token: String,
    /// Bearer token of the other customer.
    pub other_dispatch_token: String,
}

/// Keys with the decoded shared secret.
pub(super) struct KeyRing {
    /// Public keys.
    pub(super) keys: Keys,
    /// The decoded shared secret.
    pub(super) signing_key: SigningKey,
}

/// Expiration of valid keys and of the expired key: 2050-01-01 and 2025-01-01 UTC, in seconds since 1970-01-01.
const EXPIRES: i64 = 2_524_608_000;
const EXPIRED: i64 = 1_735_689_600;

/// Scope of an access key.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Scope {
    WholeAccount,
    FirstComputer,
}

/// Grant of an access key.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Grant {
    /// Index of the customer: 0 or 1.
    pub(super) customer: u32,
    /// Whether the key is not revoked. An expired key is not revoked; the summary distinguishes both.
    is_active: bool,
    /// Expiration in seconds since 1970-01-01 UTC.
    expires: i64,
    /// Scope within the customer's account.
    pub(super) scope: Scope,
    /// Whether POST and PUT are permitted.
    pub(super) may_write: bool,
    /// `ID` and `FriendlyName` of the summary.
    id: &'static str,
    name: &'static str,
}

impl Grant {
    /// Checks that the key is valid at `now` for other data than its summary. Returns a message that names the failed
    /// check.
    pub(crate) fn check(&self, now: DateTime<Utc>) -> Result<(), String> {
        if !self.is_active {
            return Err("access key check failed: the customer revoked this access key".to_owned());
        }
        if self.expires <= now.timestamp() {
            let when = self.expiration().map(|time| iso::write(&time));
            return Err(format!("access key check failed: this access key expired on {}", when.unwrap_or_default()));
        }
        Ok(())
    }

    fn expiration(&self) -> Option<DateTime<Utc>> {
        DateTime::from_timestamp(self.expires, 0)
    }
}

impl KeyRing {
    /// Generates the keys of a seed, in the form of issued keys.
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

    /// Returns the grant of an access key; `None` for an unknown key.
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

    /// Returns the customer of a bearer token of the dispatch service.
    pub(super) fn customer_for_token(&self, token: &str) -> Option<u32> {
        [&self.keys.dispatch_token, &self.keys.other_dispatch_token]
            .into_iter()
            .zip(0..)
            .find_map(|(known, customer)| (known == token).then_some(customer))
    }

    /// Returns the access key summary (specification 2.7).
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

/// Formats random bits as a version 4 UUID ([RFC 9562, 5.4](https://www.rfc-editor.org/rfc/rfc9562#section-5.4)).
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
