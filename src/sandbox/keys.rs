//! The keys of a sandbox: made from its seed, and who is behind an access key.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use chrono::{DateTime, Utc};

use super::Keys;
use crate::error::Result;
use crate::signing::SigningKey;
use crate::wire::{Name, Value};

/// Sets the keys apart from everything else that is drawn from the same seed.
const SALT: u64 = 0x6865_6164_6C61_6E64;

/// How many customers the service has.
pub(super) const CUSTOMERS: u32 = 2;

/// What the service knows about its keys.
pub(super) struct KeyRing {
    /// The keys as they are handed out.
    pub(super) keys: Keys,
    /// The bytes of the shared secret.
    pub(super) signing_key: SigningKey,
}

/// What an access key gives.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Grant {
    /// Whose data they are: 0 or 1.
    pub(super) customer: u32,
    /// Whether the customer has not revoked it.
    pub(super) is_active: bool,
}

impl KeyRing {
    /// The keys of that seed; they look like issued ones.
    pub(super) fn new(seed: u64) -> Result<Self> {
        let mut random = fastrand::Rng::with_seed(seed ^ SALT);
        let api_key = std::iter::repeat_with(|| random.alphanumeric()).take(32).collect();
        let mut secret = [0_u8; 32];
        random.fill(&mut secret);
        let shared_secret = STANDARD.encode(secret);
        let signing_key = SigningKey::from_base64(&shared_secret)?;
        let mut guid = || guid(random.u128(..));
        let (access_key, other_access_key, revoked_access_key) = (guid(), guid(), guid());
        let mut token = || std::iter::repeat_with(|| random.alphanumeric()).take(48).collect();
        let (dispatch_token, other_dispatch_token) = (token(), token());
        let keys = Keys {
            api_key,
            shared_secret,
            access_key,
            other_access_key,
            revoked_access_key,
            dispatch_token,
            other_dispatch_token,
        };
        Ok(Self { keys, signing_key })
    }

    /// What that access key gives; `None` for a key that was never issued.
    pub(super) fn grant(&self, access_key: &str) -> Option<Grant> {
        let grant = |customer, is_active| Some(Grant { customer, is_active });
        match access_key {
            key if key == self.keys.access_key => grant(0, true),
            key if key == self.keys.other_access_key => grant(1, true),
            key if key == self.keys.revoked_access_key => grant(0, false),
            _ => None,
        }
    }

    /// The customer behind a bearer token of the dispatch service.
    pub(super) fn customer_of(&self, token: &str) -> Option<u32> {
        [&self.keys.dispatch_token, &self.keys.other_dispatch_token]
            .into_iter()
            .zip(0..)
            .find_map(|(known, customer)| (known == token).then_some(customer))
    }

    /// The access key summary (specification 2.7).
    pub(super) fn summary(access_key: &str, grant: Grant) -> Value {
        let (id, name, contact) = match (grant.customer, grant.is_active) {
            (0, true) => ("101", "Farm data", "office@farm.example"),
            (0, false) => ("102", "Farm data, earlier partner", "office@farm.example"),
            _ => ("201", "Contractor data", "desk@contractor.example"),
        };
        let expires = DateTime::<Utc>::from_timestamp(2_524_608_000, 0).map_or(Value::Null, Value::Time);
        let text = |text: &str| Value::Text(text.to_owned());
        Value::Record(vec![
            (Name::Borrowed("access_key"), text(access_key)),
            (Name::Borrowed("id"), text(id)),
            (Name::Borrowed("friendly_name"), text(name)),
            (Name::Borrowed("description"), text("Read access to field data and uploads")),
            (Name::Borrowed("is_active"), Value::Boolean(grant.is_active)),
            (Name::Borrowed("contact"), text(contact)),
            (Name::Borrowed("expiration_date_time"), expires),
        ])
    }
}

/// A GUID in its usual form, marked as a random one (version 4).
pub(super) fn guid(bits: u128) -> String {
    let bits = (bits & !(0xF_u128 << 76) & !(0x3_u128 << 62)) | (0x4_u128 << 76) | (0x2_u128 << 62);
    let digits = format!("{bits:032x}");
    let mut text = String::with_capacity(36);
    for (place, digit) in digits.chars().enumerate() {
        if matches!(place, 8 | 12 | 16 | 20) {
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
    fn keys_follow_the_seed_and_look_issued() {
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
    fn nobody_is_behind_a_key_that_was_not_issued() {
        let ring = KeyRing::new(0).unwrap();
        assert_eq!(ring.grant(&ring.keys.other_access_key), Some(Grant { customer: 1, is_active: true }));
        assert_eq!(ring.grant(&ring.keys.revoked_access_key), Some(Grant { customer: 0, is_active: false }));
        assert_eq!(ring.grant(&ring.keys.access_key.to_uppercase()), None);
        assert_eq!(ring.grant(""), None);
    }
}
