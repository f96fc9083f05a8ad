//! Records into Arrow, GeoJSON, GeoParquet and pictures; coordinate systems.

/// The area of polygons on the ellipsoid.
pub mod area;

/// Coordinate systems: from the text of a .prj to PROJJSON, EPSG codes and WGS 84.
pub mod crs;

/// A layer as a small map that needs nothing but a browser.
pub mod picture;

mod walk;
