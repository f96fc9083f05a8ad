//! The two envelopes of specification 2.1: `ServiceIndex` for all lists, `ServiceResponse` for errors and waits.

use super::shape::{Field, Shape};

/// The fields in addition to the items of a list. The items follow under the item kind's name.
pub static SERVICE_INDEX: Shape = Shape {
    name: "ServiceIndex",
    doc: "The envelope of every list.",
    section: "2.1",
    fields: &[
        Field::integer("TotalCount", "total_count", "1", "Total records in the list."),
        Field::integer(
            "PageSize",
            "page_size",
            "1",
            "Records in this response, or the number asked for: services differ, so nothing is computed from it.",
        ),
        Field::boolean("IsPreviousPage", "is_previous_page", "Whether pages exist before this one."),
        Field::boolean("IsNextPage", "is_next_page", "Whether pages exist after this one."),
        Field::integer("PageIndex", "page_index", "1", "Zero-based index of this page."),
        Field::integer("TotalPages", "total_pages", "1", "Number of pages."),
    ],
    hoists: &[],
};

/// The body of all errors, and of replies that need more time.
pub static SERVICE_RESPONSE: Shape = Shape {
    name: "ServiceResponse",
    doc: "The service's word on an error or on a wait.",
    section: "2.1",
    fields: &[
        Field::text("status", "status", "Overall status, such as `INVALID_REQUEST` or `MORE_TIME_NEEDED`."),
        Field::text("errorInfo", "error_info", "Text that may be shown to a user; a wait as `hh:mm:ss`."),
        Field::text("result", "result", "Details to pass to the operator's support."),
    ],
    hoists: &[],
};
