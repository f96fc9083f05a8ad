//! The time of each row, in any form that displays write.

pub(crate) mod context;
pub(crate) mod numbers;
pub(crate) mod parts;
pub(crate) mod row_times;
