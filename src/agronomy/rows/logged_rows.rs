//! The logged columns that order rows: machine, section, time, sequence, position and distance.

/// Metres: rows that are nearer to each other are at the same location.
pub(crate) const SAME_LOCATION: f64 = 0.01;

/// What the log says of the order of rows. Not a number is null.
pub(crate) struct LoggedRows<'a> {
    /// Machine of each row, of each job.
    pub(crate) source: &'a [u32],
    /// Section of the header or boom, 0 without one.
    pub(crate) section: &'a [i64],
    /// Seconds.
    pub(crate) time: Option<&'a [f64]>,
    /// Numbers that grow with the log.
    pub(crate) order: Option<&'a [f64]>,
    /// Metres in a plane.
    pub(crate) x: &'a [f64],
    pub(crate) y: &'a [f64],
    /// Logged length of the step in metres; empty without one.
    pub(crate) distance: &'a [f64],
    /// Flow of grain, in any unit; empty without one.
    pub(crate) flow: &'a [f64],
    /// Whether the positions were logged in degrees, which no wrong coordinate system scales.
    pub(crate) is_geographic: bool,
    /// Whether the positions are those of polygons, whose steps say nothing.
    pub(crate) has_shapes: bool,
}
