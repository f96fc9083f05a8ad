//! What a log says of the order of its rows.

/// Metres: rows that are nearer to each other are at the same location.
pub(super) const SAME_LOCATION: f64 = 0.01;

/// What the log says of the order of rows. Not a number is null.
pub(super) struct LoggedRows<'a> {
    /// Machine of each row, of each job.
    pub(super) source: &'a [u32],
    /// Section of the header or boom, 0 without one.
    pub(super) section: &'a [i64],
    /// Seconds.
    pub(super) time: Option<&'a [f64]>,
    /// Numbers that grow with the log.
    pub(super) order: Option<&'a [f64]>,
    /// Metres in a plane.
    pub(super) x: &'a [f64],
    pub(super) y: &'a [f64],
    /// Logged length of the step in metres; empty without one.
    pub(super) distance: &'a [f64],
    /// Whether the positions are those of polygons, whose steps say nothing.
    pub(super) has_shapes: bool,
}
