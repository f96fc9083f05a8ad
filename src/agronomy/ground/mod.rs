//! The ground that rows work, each piece of which counts once.

pub(crate) mod boundary_bands;
pub(crate) mod convex_clip;
pub(crate) mod coverage;
#[cfg(test)]
pub(crate) mod coverage_tests;
pub(crate) mod first_owner;
pub(crate) mod layer_area;
pub(crate) mod logged_shapes;
pub(crate) mod owner_strips;
pub(crate) mod row_areas;
pub(crate) mod seasons;
pub(crate) mod swaths;
#[cfg(test)]
pub(crate) mod swaths_tests;
pub(crate) mod sweep_state;
pub(crate) mod worked_ground;
