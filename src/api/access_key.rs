//! The access key: one row, one shape (specification 2.7).

use super::row::{Body, Endpoint, Method, Returns};
use super::shape::{Field, Shape};

/// The rows of this group.
pub static ROWS: &[Endpoint] = &[Endpoint {
    full_name: "access_key",
    method: Method::Get,
    path: "/accesskey",
    parameters: &[],
    paged: false,
    body: Body::None,
    returns: Returns::Detail(&ACCESS_KEY),
    repeatable: true,
    doc: "Describes the access key that signs the requests. It answers for revoked and expired keys too, so it finds \
          the cause of a refused key.",
    section: "4.2, 2.7",
    example: "active = client.access_key()[\"is_active\"]",
}];

/// The detail of the access key.
pub static ACCESS_KEY: Shape = Shape {
    name: "AccessKeyDetail",
    doc: "What a customer's access key is and whether it still gives access.",
    section: "2.7",
    fields: &[
        Field::text("AccessKey", "access_key", "The access key, in the form of a GUID."),
        Field::id("ID", "id", "Id of the access key."),
        Field::text("FriendlyName", "friendly_name", "Name that the customer gave the key."),
        Field::text("Description", "description", "Description that the customer gave the key."),
        Field::boolean("IsActive", "is_active", "Whether the key gives access; false after it was revoked."),
        Field::text("Contact", "contact", "Contact e-mail address."),
        Field::time("ExpirationDateTime", "expiration_date_time", "When the key expires."),
    ],
    hoists: &[],
};
