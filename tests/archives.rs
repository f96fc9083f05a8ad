//! The archive reader from outside: real files against GDAL's reading, generated files, broken ones.

#[path = "archives/canon.rs"]
mod canon;
#[path = "archives/corpus.rs"]
mod corpus;
#[path = "archives/hostile.rs"]
mod hostile;
