//! The dataset as views of SQL: one of all rows, one of each job type, one of each table of the catalog.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use super::footer::{GEOMETRY, crs};
use super::published::{Dataset, Part};
use super::{footer, manifest};
use crate::error::{Error, Kind, Result};
use crate::layer::Cancel;

/// The view of all rows.
const ALL_ROWS: &str = "dataset";

/// What the folders say, as texts and numbers: a digest of digits alone is no number.
const KEYS: &str = "hive_partitioning = true, hive_types = {'job_type': VARCHAR, 'year': INTEGER, 'columns': VARCHAR}";

/// What a view is over.
enum View<'a> {
    Parts(Vec<Part>),
    Table(&'a manifest::Table),
}

impl Dataset {
    /// The names of the views: first those of job types. A job type with the name of another view has none of its own,
    /// since what that view holds is the same in every mirror.
    pub fn view_names(&self) -> Result<Vec<String>> {
        Ok(self.views()?.into_iter().map(|(name, _)| name).collect())
    }

    /// Compares the files of these views with their checksums, and writes the statements that make the views.
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
        let tables = self.manifest.catalog.iter().map(|table| (stem(table), View::Table(table)));
        let mut fixed: Vec<(String, View<'_>)> = tables.collect();
        if !parts.is_empty() {
            fixed.insert(0, (ALL_ROWS.to_owned(), View::Parts(parts.clone())));
        }
        let mut views: Vec<(String, View<'_>)> = Vec::new();
        // SQL does not distinguish upper from lower case in names.
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

    /// The files of a view with their checksums.
    fn view_files<'a>(&'a self, view: &'a View<'_>) -> Vec<(PathBuf, &'a str)> {
        match view {
            View::Parts(parts) => parts.iter().map(|part| (part.path.clone(), &*part.crc32)).collect(),
            View::Table(table) => vec![(self.path().join(&table.path), &table.crc32)],
        }
    }

    /// The query that a view stands for.
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
        // DuckDB takes the coordinate system of the first part for that of all; where one is unknown, none is claimed.
        let without_crs = |name: &String| format!("{0}::GEOMETRY AS {0}", quote(name, '"'));
        let columns_sql = if systems.len() > 1 {
            format!("* REPLACE ({})", columns.iter().map(without_crs).collect::<Vec<_>>().join(", "))
        } else {
            "*".to_owned()
        };
        Ok(format!("SELECT {columns_sql} FROM read_parquet([{files}], union_by_name = true, {KEYS})"))
    }
}

/// A name or a text in SQL. `DuckDB` takes a path for a pattern only where there is no such file.
fn quote(text: &str, mark: char) -> String {
    format!("{mark}{}{mark}", text.replace(mark, &format!("{mark}{mark}")))
}
