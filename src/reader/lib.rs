//! Job data to tables: archives and their layers, independent of any service.

/// Readers of job data: zip, shapefile, .dbf and sidecars, grain carts, FMIS folders and XML.
pub mod archive;

/// Records to Arrow, GeoJSON, GeoParquet and maps; coordinate systems.
pub mod layer;
