//! SQL views of the dataset: all rows, those of each job type, canonical rows of each kind, and catalog tables.
//!
//! Views of rows can convert numbers to the units of a system, file by file.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use arrow_schema::{Field, Schema};

use super::footer::{Footer, GEOMETRY, crs};
use super::mixed_units::{conversion_factor, converted_schema};
use super::published::{Dataset, Part};
use super::schema_union::{UNIT, UNIT_SEPARATOR, column_units};
use super::{canonical, footer, manifest};
use headland_agronomy::System;
use headland_base::error::{Error, Kind, Result};
use headland_reader::layer::Cancel;

/// View of all rows.
const ALL_ROWS: &str = "dataset";

/// Types of the partition keys: a digest of digits alone must not become a number. See
/// <https://duckdb.org/docs/stable/data/partitioning/hive_partitioning>.
const KEYS: &str = "hive_partitioning = true, hive_types = {'job_type': VARCHAR, 'year': INTEGER, 'columns': VARCHAR}";

/// A statement that creates a view, and the columns of the view with their units.
type ViewStatement = (String, Vec<(String, String)>);

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

    /// Verifies the files of these views and returns the statements that create the views, and the columns of each view
    /// with their units. `units` converts numbers to those of a system.
    pub fn view_statements(
        &self,
        names: &[String],
        units: Option<System>,
        cancel: &Cancel,
    ) -> Result<Vec<ViewStatement>> {
        let views = self.views()?;
        let wanted: Vec<&(String, View<'_>)> = views.iter().filter(|(name, _)| names.contains(name)).collect();
        if let Some(name) = names.iter().find(|name| !wanted.iter().any(|(known, _)| known == *name)) {
            return Err(Error::new(Kind::Value, format!("there is no view `{name}`")));
        }
        let files: BTreeMap<PathBuf, &str> = wanted.iter().flat_map(|(_, view)| self.view_files(view)).collect();
        Self::verify(&files.into_iter().collect::<Vec<_>>(), cancel)?;
        wanted
            .iter()
            .map(|(name, view)| {
                let (query, units) = self.select_statement(view, units)?;
                Ok((format!("CREATE VIEW {} AS {query}", quote(name, '"')), units))
            })
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

    /// Query of a view, and the units of its columns.
    fn select_statement(&self, view: &View<'_>, units: Option<System>) -> Result<ViewStatement> {
        let parts = match view {
            View::Parts(parts) => parts,
            View::Tables(_) => {
                let files: Vec<String> = self.view_files(view).iter().map(|(path, _)| path_text(path)).collect();
                return Ok((format!("SELECT * FROM read_parquet([{}])", files.join(", ")), Vec::new()));
            }
        };
        let footers = parts.iter().map(|part| footer::read(&part.path, &part.crc32)).collect::<Result<Vec<_>>>()?;
        let with_crs = |footer: &Footer| {
            let field = footer.schema.field_with_name(GEOMETRY).ok()?;
            footer.geometry.as_ref().map(|name| (name.clone(), crs(field).is_some()))
        };
        let geometries: BTreeSet<(String, bool)> = footers.iter().filter_map(with_crs).collect();
        let systems: BTreeSet<bool> = geometries.iter().map(|(_, is_known)| *is_known).collect();
        // Files with the same conversions are read together.
        let mut groups: BTreeMap<Vec<String>, (Vec<String>, BTreeSet<String>)> = BTreeMap::new();
        let mut columns = ColumnUnits::default();
        for (part, footer) in parts.iter().zip(&footers) {
            let target = units.map(|system| converted_schema(&footer.schema, system));
            columns.add(target.as_ref().unwrap_or(&footer.schema));
            let conversions = target.map(|target| conversions(&footer.schema, &target)).unwrap_or_default();
            let (files, names) = groups.entry(conversions).or_default();
            files.push(path_text(&part.path));
            names.extend(footer.geometry.clone());
        }
        let select = |(conversions, (files, names)): (Vec<String>, (Vec<String>, BTreeSet<String>))| {
            // `DuckDB` applies the coordinate system of the first part to all parts, so none is stated if one is unknown.
            let without_crs = |name: &String| format!("{0}::GEOMETRY AS {0}", quote(name, '"'));
            let names = names.iter().filter(|_| systems.len() > 1);
            let replaced: Vec<String> = names.map(without_crs).chain(conversions).collect();
            let replaced =
                if replaced.is_empty() { String::new() } else { format!(" REPLACE ({})", replaced.join(", ")) };
            format!("SELECT *{replaced} FROM read_parquet([{}], union_by_name = true, {KEYS})", files.join(", "))
        };
        let selects: Vec<String> = groups.into_iter().map(select).collect();
        Ok((selects.join(" UNION ALL BY NAME "), columns.0))
    }
}

/// Units of the columns of several files. SQL compares names without case.
#[derive(Default)]
struct ColumnUnits(Vec<(String, String)>);

impl ColumnUnits {
    fn add(&mut self, schema: &Schema) {
        for (name, unit) in column_units(schema) {
            match self.0.iter_mut().find(|(known, _)| known.eq_ignore_ascii_case(&name)) {
                Some((_, units)) if units.split(UNIT_SEPARATOR).any(|known| known == unit) => {}
                Some((_, units)) => *units = format!("{units}{UNIT_SEPARATOR}{unit}"),
                None => self.0.push((name, unit)),
            }
        }
    }
}

/// Expressions for `REPLACE` that convert columns of a file to the units of `target`.
fn conversions(schema: &Schema, target: &Schema) -> Vec<String> {
    let unit = |field: &Field| field.metadata().get(UNIT).cloned().unwrap_or_default();
    let columns = schema.fields().iter().zip(target.fields());
    let factor = |(from, to): (&Arc<Field>, &Arc<Field>)| {
        let factor = conversion_factor(&unit(from), &unit(to))?;
        let name = quote(from.name(), '"');
        // A number without an exponent would be a decimal.
        Some(format!("CAST({name} AS DOUBLE) * {factor:e} AS {name}"))
    };
    columns.filter_map(factor).collect()
}

/// A path as text in SQL.
fn path_text(path: &Path) -> String {
    quote(&path.to_string_lossy(), '\'')
}

/// Quotes a name or text in SQL. `DuckDB` treats a path as a pattern only if no file has that name.
fn quote(text: &str, mark: char) -> String {
    format!("{mark}{}{mark}", text.replace(mark, &format!("{mark}{mark}")))
}
