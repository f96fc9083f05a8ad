//! The ground that rows work, each piece of which counts once.

pub(crate) mod boundary_bands;
pub(crate) mod convex_clip;
pub(crate) mod group_ground;
pub(crate) mod layer_area;
pub(crate) mod logged_areas;
pub(crate) mod logged_shapes;
pub(crate) mod outer_edges;
pub(crate) mod polygon_coverage;
pub(crate) mod seasons;
pub(crate) mod swath_coverage;
#[cfg(test)]
pub(crate) mod swath_coverage_tests;
pub(crate) mod swaths;
#[cfg(test)]
pub(crate) mod swaths_tests;
pub(crate) mod sweep_state;
pub(crate) mod sweep_strips;
pub(crate) mod worked_ground;
