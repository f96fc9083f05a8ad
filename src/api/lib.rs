//! Endpoint table: one row per endpoint, one shape per record, one file per group of the specification.
//!
//! Client calls, sandbox routes, decoders, encoders, Python methods, `TypedDict`s and reference pages use this table.
//! To add an endpoint, add a row to its group's file, and the shape that it returns if it is new. Add its behaviour to the
//! group's file of the sandbox. Then run `make generate`.

pub mod access_key;
pub mod dispatch_service;
pub mod envelope;
pub mod events;
pub mod field_computers;
pub mod field_hubs;
pub mod grain_carts;
pub mod job_data;
pub mod legacy_orders;
pub mod locations;

/// The OpenAPI document, generated from the table.
pub mod openapi;

pub mod prescription_maps;
pub mod products;
pub mod row;
pub mod shape;
pub mod uploads;

pub use row::{Body, Endpoint, Index, Listing, Method, Parameter, Place, Returns, Service};
pub use shape::{Derived, Field, Kind, Shape};

/// The groups in the order of the specification's table 4.2, as attributes of the client. The row of the access key has
/// no group, so its group name is empty.
pub static GROUPS: &[Group] = &[
    Group { name: "", doc: "The access key itself.", rows: access_key::ROWS },
    Group {
        name: "field_computers",
        doc: "Field computers: the in-cab displays that record job data.",
        rows: field_computers::ROWS,
    },
    Group {
        name: "prescription_maps",
        doc: "Prescription maps: files of target rates that are sent to field computers.",
        rows: prescription_maps::ROWS,
    },
    Group {
        name: "job_data",
        doc: "Job data: the yield, as-applied and planting files that field computers produce.",
        rows: job_data::ROWS,
    },
    Group {
        name: "field_hubs",
        doc: "Field hubs: the modems that report where machines are and how their inputs stand.",
        rows: field_hubs::ROWS,
    },
    Group {
        name: "grain_carts",
        doc: "Grain carts: the files of loads that carts weigh in the field.",
        rows: grain_carts::ROWS,
    },
    Group {
        name: "dispatch",
        doc: "The dispatch service: field operations, the equipment that they are assigned to, products and batches.",
        rows: &[],
    },
    Group {
        name: "dispatch.field_operations",
        doc: "Field operations: work orders of the dispatch service, their mixes, targets and completions.",
        rows: dispatch_service::FIELD_OPERATIONS,
    },
    Group {
        name: "dispatch.equipment",
        doc: "Equipment of the dispatch service, and the work that is assigned to it.",
        rows: dispatch_service::EQUIPMENT,
    },
    Group { name: "dispatch.products", doc: "Products of the dispatch service.", rows: dispatch_service::PRODUCTS },
    Group { name: "dispatch.batches", doc: "Batches of the dispatch service.", rows: dispatch_service::BATCHES },
    Group {
        name: "legacy_orders",
        doc: "Work orders of the legacy order service, which the dispatch service replaces.",
        rows: legacy_orders::ROWS,
    },
];

/// A group of rows.
#[derive(Debug)]
pub struct Group {
    /// The attribute of the client, empty for rows of the client itself. A dot separates the attribute of a subgroup.
    pub name: &'static str,
    /// The first sentence of the group's documentation.
    pub doc: &'static str,
    /// The rows, in the order of the specification; empty if the group only contains other groups.
    pub rows: &'static [Endpoint],
}

/// All rows of the table.
pub fn rows() -> impl Iterator<Item = &'static Endpoint> {
    GROUPS.iter().flat_map(|group| group.rows)
}

/// The row with a full name, such as `job_data.list`.
#[must_use]
pub fn row(full_name: &str) -> Option<&'static Endpoint> {
    rows().find(|row| row.full_name == full_name)
}
