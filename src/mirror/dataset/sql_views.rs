//! SQL views of the dataset: all rows, those of each job type, canonical rows of each kind, and catalog tables.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use super::footer::{GEOMETRY, crs};
use super::published::{Dataset, Part};
use super::{canonical, footer, manifest};
use crate::error::{Error, Kind, Result};
use crate::layer::Cancel;

/// View of all rows.
const ALL_ROWS: &str = "dataset";

/// Types of the partition keys: a digest of digits alone must not become a number. See
/// <https://duckdb.org/docs/stable/data/partitioning/hive_partitioning>.
const KEYS: &str = "hive_partitioning = true, hive_types = {'job_type': VARCHAR, 'year': INTEGER, 'columns': VARCHAR}";

/// Source of a view.
enum View<'a> {
    Parts(Vec<Part>),
    Tables(Vec<&'a manifest::Table>),
}

impl Dataset {
    /// View names, those of job types first. A job type with the name of a fixed view has no view, so that fixed views
    /// are the same in every mirror.
    pub fn view_names(&self) -> Result<Vec<String>> {
        Ok(self.views()?.into_iter().map(|(name, _)| name).collect())
    }

    /// Verifies the files of these views and returns the statements that create the views.
    pub fn view_statements(&self, names: &[String], cancel: &Cancel) -> Result<Vec<String>> {
        let views = self.views()?;
        let wanted: Vec<&(String, View<'_>)> = views.iter().filter(|(name, _)| names.contains(name)).collect();
        if let Some(name) = names.iter().find(|name| !wanted.iter().any(|(known, _)| known == *name)) {
            return Err(Error::new(Kind::Value, format!("there is no view `{name}`")));
        }
        let files: BTreeMap<PathBuf, &str> = wanted.iter().flat_map(|(_, view)| self.view_files(view)).collect();
        Self::verify(&files.into_iter().collect::<Vec<_>>(), cancel)?;
        wanted
            .iter()
            .map(|(name, view)| Ok(format!("CREATE VIEW {} AS {}", quote(name, '"'), self.select_statement(view)?)))
            .collect()
    }

    fn views(&self) -> Result<Vec<(String, View<'_>)>> {
        let parts = self.parts()?;
        let stem = |table: &manifest::Table| {
            Path::new(&table.path).file_stem().map(|stem| stem.to_string_lossy().into_owned()).unwrap_or_default()
        };
        let tables = self.manifest.catalog.iter().map(|table| (stem(table), View::Tables(vec![table])));
        let mut fixed: Vec<(String, View<'_>)> = tables.collect();
        for (_, name) in canonical::TABLES {
            let files = || self.manifest.parts.iter().flat_map(|part| &part.canonical);
            let files: Vec<&manifest::Table> = files().filter(|table| table.is_in(name)).collect();
            if !files.is_empty() {
                fixed.push((name.to_owned(), View::Tables(files)));
            }
        }
        if !parts.is_empty() {
            fixed.insert(0, (ALL_ROWS.to_owned(), View::Parts(parts.clone())));
        }
        let mut views: Vec<(String, View<'_>)> = Vec::new();
        // SQL names are case-insensitive.
        let is = |name: &str, other: &str| name.to_lowercase() == other.to_lowercase();
        for part in parts {
            let Some(name) = part.job_type.clone() else { continue };
            if fixed.iter().any(|(other, _)| is(&name, other)) {
                continue;
            }
            match views.iter_mut().find(|(other, _)| is(&name, other)) {
                Some((_, View::Parts(typed_parts))) => typed_parts.push(part),
                _ => views.push((name, View::Parts(vec![part]))),
            }
        }
        views.extend(fixed);
        Ok(views)
    }

    /// Files of a view with their checksums.
    fn view_files<'a>(&'a self, view: &'a View<'_>) -> Vec<(PathBuf, &'a str)> {
        match view {
            View::Parts(parts) => parts.iter().map(|part| (part.path.clone(), &*part.crc32)).collect(),
            View::Tables(tables) => tables.iter().map(|table| (self.path().join(&table.path), &*table.crc32)).collect(),
        }
    }

    /// Query of a view.
    fn select_statement(&self, view: &View<'_>) -> Result<String> {
        let files: Vec<String> =
            self.view_files(view).iter().map(|(path, _)| quote(&path.to_string_lossy(), '\'')).collect();
        let files = files.join(", ");
        let View::Parts(parts) = view else { return Ok(format!("SELECT * FROM read_parquet([{files}])")) };
        let mut columns = BTreeSet::new();
        let mut systems = BTreeSet::new();
        for part in parts {
            let footer = footer::read(&part.path, &part.crc32)?;
            if let (Some(name), Ok(field)) = (footer.geometry, footer.schema.field_with_name(GEOMETRY)) {
                columns.insert(name);
                systems.insert(crs(field).is_some());
            }
        }
        // `DuckDB` applies the coordinate system of the first part to all parts, so none is stated if one is unknown.
        let without_crs = |name: &String| format!("{0}::GEOMETRY AS {0}", quote(name, '"'));
        let columns_sql = if systems.len() > 1 {
            format!("* REPLACE ({})", columns.iter().map(without_crs).collect::<Vec<_>>().join(", "))
        } else {
            "*".to_owned()
        };
        Ok(format!("SELECT {columns_sql} FROM read_parquet([{files}], union_by_name = true, {KEYS})"))
    }
}

/// Quotes a name or text in SQL. `DuckDB` treats a path as a pattern only if no file has that name.
fn quote(text: &str, mark: char) -> String {
    format!("{mark}{}{mark}", text.replace(mark, &format!("{mark}{mark}")))
}
