//! Jobs together: their types and names, tables of several, and means of fields.

pub(crate) mod concat;
pub(crate) mod field_means;
pub(crate) mod kind_table;
pub(crate) mod parts;
pub(crate) mod repeated_jobs;
pub(crate) mod rows_without_mass;
pub(crate) mod selection;
pub(crate) mod types;
