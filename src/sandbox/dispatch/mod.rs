//! The dispatch service and the legacy order service (specification 4.6, 4.7, 2.8, 3), each at its own address.
//!
//! Payloads are not shown (2.8). These are the ones of this service; names of fields are read in any letter case, fields
//! that it does not know are kept and given back, and what it sets itself (`id`, `status`, `assignments`, ...) it does
//! not take from a payload. PUT replaces what the caller gave before.
//!
//! - Field operation: `id` (a GUID), `status` (`Pre-Released`, then `Released`), `operation` (the operation type, by which
//!   completions are checked), `mix`, `mixes`, `target`, `assignments`, `completions`. Nothing is required to create one.
//!   A body of `.../mixes` is `{"mixes": [...]}` or the list alone; those of `.../mix` and `.../target` are taken as they are.
//! - Assignment: `id`, `equipmentId`, `fieldOperationId` (required). Assigning the same work twice is 409.
//! - Completion: `id`, and the fields that the requirements name, which are checked on POST and on PUT. Whether work must
//!   be released before it is completed is not shown: it need not be here.
//! - Requirements: `operation`, `isDefault`, `requirements`: a list of `name`, `type` (`text`, `number`, `boolean` or
//!   `dateTime`; any value without one), `required`, `custom` (set by the service: not one of the default ones).
//! - The list of an equipment's operations holds all that are assigned to it, whatever their `status`: 4.6 says "list field
//!   operations of equipment" without a condition. The variant `released-only` is the other reading.
//! - Legacy work order: `id`, `operator` (a user or operator, since the service is user-centric), `completion` (one, or
//!   null). No legacy row releases an order, so it has no Pre-Released: it is its operator's from the start. The token's
//!   operator is `operator-1`. `POST .../reassign` takes `orderId` or `orderIds`, and `operator` or `user`. Completions
//!   carry `orderId` and are checked against the default requirements.
//! - Errors carry a `ServiceResponse` in JSON; `Accept` is not looked at, since no other form of a payload is shown.

mod address;
mod body;
mod completions;
mod legacy;
mod lists;
mod operations;
mod paging;
mod payload;
mod replies;
mod routes;
mod seed;
mod store;

pub(super) use address::Address;
pub(super) use routes::{answer, fault_reply};
pub(super) use seed::fill;
pub(super) use store::Kind;
