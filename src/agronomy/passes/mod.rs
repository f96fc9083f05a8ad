//! Passes of the machine, and the delay of its sensors.

pub(crate) mod flow_delay;
pub(crate) mod flow_dropouts;
pub(crate) mod gaps;
pub(crate) mod runs;
pub(crate) mod settled;
