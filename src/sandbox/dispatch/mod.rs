//! The dispatch service and the legacy order service (specification 2.8, 3, 4.6, 4.7), each at its own address.
//!
//! Specification 2.8 defines no payloads; this service defines its own. Field names match in any letter case. Unknown
//! fields are stored and returned. Fields that the service sets (`id`, `status`, `assignments`, ...) are ignored in a
//! payload. PUT replaces the previous payload.
//!
//! - Field operation: `id` (a GUID), `status` (`Pre-Released`, then `Released`), `operation` (the operation type, which
//!   selects the completion requirements), `mix`, `mixes`, `target`, `assignments`, `completions`. No field is
//!   required. The body of `.../mixes` is `{"mixes": [...]}` or the list. The bodies of `.../mix` and `.../target` are
//!   stored unchanged.
//! - Assignment: `id`, `equipmentId`, `fieldOperationId` (required). A repeated assignment is 409.
//! - Completion: `id`, and the fields of the requirements, which are checked on POST and PUT. The specification does
//!   not say whether an operation must be released before its completion; here it need not be.
//! - Requirements: `operation`, `isDefault`, `requirements`. The last is a list of `name`, `type` (`text`, `number`,
//!   `boolean` or `dateTime`; without a type any value), `required`, and `custom` (set by the service: not a default
//!   requirement).
//! - The operations of an equipment are all assigned ones, regardless of `status`. Specification 4.6 says "list field
//!   operations of equipment" without a condition; the variant `released-only` is the other interpretation.
//! - Legacy work order: `id`, `operator` (a user or operator, since the service is user-centric), `completion` (one, or
//!   null). No legacy row releases an order, so an order has no `Pre-Released` status and is visible to its operator
//!   immediately. The operator of the token is `operator-1`. `POST .../reassign` accepts `orderId` or `orderIds`, and
//!   `operator` or `user`. Completions contain `orderId` and are checked against the default requirements.
//! - Errors are a `ServiceResponse` in JSON. `Accept` is ignored, since the specification defines no other payload
//!   format.

mod address;
mod body;
mod completions;
mod dispatch_records;
mod legacy;
mod lists;
mod operations;
mod paging;
mod payload;
mod replies;
mod routes;
mod seed;

pub(super) use address::Address;
pub(super) use dispatch_records::Kind;
pub(super) use routes::{answer, fault_reply};
pub(super) use seed::fill;
