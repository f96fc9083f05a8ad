//! Styles for QGIS of the tables with canonical rows: the classes of maps, with one scale for each crop or quantity.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::Arc;

use arrow_array::cast::AsArray as _;
use arrow_array::types::Float64Type;
use arrow_array::{Array as _, LargeStringArray, RecordBatch};
use arrow_schema::{DataType, Field, Schema, SchemaRef};

use super::canonical::TABLES;
use super::footer;
use super::published::Dataset;
use super::row_groups::{RowGroups, read_group};
use headland_agronomy::JobKind;
use headland_base::error::Result;
use headland_reader::layer::Cancel;
use headland_reader::layer::qgis_style::{RowGroup, of_table};

/// Maximum number of rows from which the classes of a table are made; of more, every n-th counts.
const MOST_ROWS: u64 = 1_000_000;

/// Maximum number of groups of a style, those with the most rows.
const MOST_GROUPS: usize = 20;

/// The values of the key columns, and the numbers of their rows.
type Groups = BTreeMap<Vec<Option<String>>, Vec<Option<f64>>>;

impl Dataset {
    /// Name and text of each style, such as `harvest_rows.qml`. Rows of points and of polygons have one each, since a
    /// symbol of QGIS draws only one of them.
    pub fn qgis_styles(&self, cancel: &Cancel) -> Result<Vec<(String, String)>> {
        let mut styles = Vec::new();
        for (kind, name) in TABLES {
            let (column, keys) = match kind {
                JobKind::Yield => ("yield_dry", &["crop"][..]),
                JobKind::AsApplied => ("applied_rate", &["quantity"][..]),
                JobKind::Planting => ("applied_rate", &["crop", "quantity"][..]),
            };
            let (groups, types) = self.groups(name, column, keys, cancel)?;
            if groups.is_empty() {
                continue;
            }
            for (is_polygons, suffix) in [(false, ""), (true, "_polygons")] {
                if types.contains(&is_polygons) {
                    styles.push((format!("{name}{suffix}.qml"), of_table(column, &groups, is_polygons)));
                }
            }
        }
        Ok(styles)
    }

    /// The groups of a table that have numbers, and whether its files have points (false) or polygons (true).
    fn groups(
        &self,
        table: &str,
        column: &'static str,
        keys: &[&'static str],
        cancel: &Cancel,
    ) -> Result<(Vec<RowGroup>, Vec<bool>)> {
        let texts = keys.iter().map(|name| Field::new(*name, DataType::LargeUtf8, true));
        let fields: Vec<Field> = texts.chain([Field::new(column, DataType::Float64, true)]).collect();
        let schema: SchemaRef = Arc::new(Schema::new(fields));
        let files: Vec<_> = self.manifest.tables().filter(|file| file.is_in(table)).collect();
        let rows = files.iter().map(|file| file.rows).fold(0, u64::saturating_add);
        let step = usize::try_from(rows.div_ceil(MOST_ROWS)).unwrap_or(usize::MAX).max(1);
        let (mut found, mut types) = (Groups::new(), Vec::new());
        for file in files {
            let path: PathBuf = self.path().join(&file.path);
            let footer = footer::read(&path, &file.crc32)?;
            types.extend(footer.types.iter().map(|geometry| geometry.ends_with("Polygon")));
            let part = RowGroups {
                path,
                crc32: file.crc32.clone(),
                job_type: None,
                year: None,
                groups: Vec::new(),
                bounds: None,
                jobs: None,
            };
            for group in &footer.groups {
                cancel.check()?;
                for batch in read_group(&part, &footer, group.index, &schema, None)? {
                    add(&mut found, &batch, step);
                }
            }
        }
        let mut groups: Vec<_> =
            found.into_iter().filter(|(_, numbers)| numbers.iter().flatten().next().is_some()).collect();
        groups.sort_by_key(|(_, numbers)| std::cmp::Reverse(numbers.len()));
        groups.truncate(MOST_GROUPS);
        let group = |(values, numbers): (Vec<Option<String>>, _)| {
            let unit = match values.last().and_then(Option::as_deref) {
                Some("volume") => "L/ha",
                Some("count") => "seeds/ha",
                _ => "kg/ha",
            };
            let named = values.first().and_then(Option::as_deref).unwrap_or("unknown");
            let label = format!("{named}: {column} in {unit}");
            RowGroup { label, keys: keys.iter().copied().zip(values).collect(), unit, numbers }
        };
        Ok((groups.into_iter().map(group).collect(), types))
    }
}

/// Adds every n-th row of a batch, whose last column has the numbers.
fn add(groups: &mut Groups, batch: &RecordBatch, step: usize) {
    let Some((numbers, keys)) = batch.columns().split_last() else { return };
    let Some(numbers) = numbers.as_primitive_opt::<Float64Type>() else { return };
    let keys: Vec<_> = keys.iter().filter_map(|key| key.as_string_opt::<i64>()).collect();
    for (row, number) in numbers.iter().enumerate().step_by(step) {
        let value = |key: &&LargeStringArray| key.is_valid(row).then(|| key.value(row).to_owned());
        groups.entry(keys.iter().map(value).collect()).or_default().push(number);
    }
}
