//! Catalog tables with rows for each layer: provenance of canonical columns, units, mean yields, and covered ground.
//!
//! The rows of layers whose parts are kept come from the last generation.

use std::collections::{BTreeMap, HashMap};
use std::path::Path;
use std::sync::Arc;

use arrow_array::cast::AsArray as _;
use arrow_array::{Array, ArrayRef, Float64Array, Int32Array, Int64Array, RecordBatch, StringArray};
use arrow_schema::{DataType, Field, Schema, SchemaRef};

use super::canonical::row_year;
use super::catalog_writer::{self, CatalogWriter};
use super::convert::ConvertedLayer;
use super::manifest::{Manifest, Part, Table};
use super::row_origin::FieldName;
use super::schema::{JOB_ID, LAYER, OWN_COLUMNS};
use super::source_archive::SourceArchive;
use headland_agronomy::{JobMeans, job_means, provenance, row_field};
use headland_base::error::{Error, Kind, Result};
use headland_reader::layer::Layer;

/// Rule of a layer without canonical rows.
const REFUSED: &str = "refused";

/// Key of a row: job and layer.
type Key = (String, String);

/// Rows of a table by layer.
struct LayerTable {
    name: &'static str,
    schema: SchemaRef,
    rows: BTreeMap<Key, Vec<RecordBatch>>,
}

/// The tables.
pub(super) struct LayerTables {
    harmonized: LayerTable,
    units: LayerTable,
    field_means: LayerTable,
    covered_areas: LayerTable,
}

fn text(name: &'static str, documentation: &str) -> Field {
    column(name, DataType::Utf8, documentation, "")
}

fn column(name: &'static str, data_type: DataType, documentation: &str, unit: &str) -> Field {
    let mut metadata = HashMap::from([("documentation".to_owned(), documentation.to_owned())]);
    if !unit.is_empty() {
        metadata.insert("unit".to_owned(), unit.to_owned());
    }
    Field::new(name, data_type, true).with_metadata(metadata)
}

impl LayerTables {
    pub(super) fn new() -> Self {
        let table = |name, columns: Vec<Field>| {
            let keys = [text(JOB_ID, "Id of the job."), text(LAYER, "Layer of its archive.")];
            let fields: Vec<Field> = keys.into_iter().chain(columns).collect();
            LayerTable { name, schema: Arc::new(Schema::new(fields)), rows: BTreeMap::new() }
        };
        Self {
            harmonized: table(
                "harmonized",
                vec![
                    text("column", "Canonical column; null for a layer without canonical rows."),
                    text("source", "Column of the archive, or those that a computed column follows from."),
                    text("unit", "Unit of the canonical column; `unknown` if it is null for this reason."),
                    text("unit_in", "Unit of the source."),
                    text("rule", "How the column was found; `refused` for a layer without canonical rows."),
                    text("evidence", "What proves the unit, or why the layer has no canonical rows."),
                ],
            ),
            units: table(
                "units",
                vec![
                    text("original", "Column of the dataset."),
                    text("unit", "Its unit; `unknown` for numbers without a stated unit."),
                ],
            ),
            field_means: table(
                "field_means",
                vec![
                    text("job_name", "Name of the job in the list."),
                    text(
                        "field",
                        "Stated by rows, job or archive, or that of the boundary or the job on the same ground.",
                    ),
                    column("year", DataType::Int32, "Year in which the job started, or of its first row.", ""),
                    text("crop", "The crop, if it is known."),
                    column("rows", DataType::Int64, "Rows of the layer.", ""),
                    column("rows_without_yield", DataType::Int64, "Rows without a dry mass above 0.", ""),
                    column("worked_area", DataType::Float64, "Sum of the worked areas of rows.", "m2"),
                    column("covered_area", DataType::Float64, "Ground, each piece once; null without a mean.", "m2"),
                    column("dry_mass", DataType::Float64, "Dry mass of all rows; null without a mean.", "kg"),
                    column("mean", DataType::Float64, "Dry mass by covered area.", "kg/ha"),
                    column(
                        "market_moisture",
                        DataType::Float64,
                        "Water of the dry mass: the crop's market moisture.",
                        "%",
                    ),
                ],
            ),
            covered_areas: table(
                "covered_areas",
                vec![
                    column("covered_area", DataType::Float64, "Worked ground, each piece once; null if unknown.", "m2"),
                    text("reason", "Why the ground is unknown."),
                ],
            ),
        }
    }

    fn tables(&mut self) -> [&mut LayerTable; 4] {
        [&mut self.harmonized, &mut self.units, &mut self.field_means, &mut self.covered_areas]
    }

    /// Adds the rows of the last generation; [`Self::keep`] drops those of layers that were rewritten.
    pub(super) fn read(last: (&Path, &Manifest)) -> Result<Self> {
        let mut tables = Self::new();
        for table in tables.tables() {
            for batch in catalog_writer::read_previous(last, table.name)? {
                table.split(&batch)?;
            }
        }
        Ok(tables)
    }

    /// Keeps only the rows of layers in these parts.
    pub(super) fn keep(&mut self, parts: &[Part]) {
        let kept: std::collections::BTreeSet<Key> = parts
            .iter()
            .flat_map(|part| &part.origins)
            .map(|origin| (origin.job_id.clone(), origin.layer.clone()))
            .collect();
        for table in self.tables() {
            table.rows.retain(|key, _| kept.contains(key));
        }
    }

    /// Adds the units of a layer.
    pub(super) fn add_units(&mut self, source: &SourceArchive, layer: &ConvertedLayer) -> Result<()> {
        let fields = layer.columns.table.schema.fields();
        let unit = |field: &Arc<Field>| field.metadata().get("unit").map(|unit| (field.name().clone(), unit.clone()));
        let (names, units): (Vec<String>, Vec<String>) = fields.iter().skip(OWN_COLUMNS).filter_map(unit).unzip();
        self.units.add(
            source,
            &layer.name,
            vec![Arc::new(StringArray::from(names)), Arc::new(StringArray::from(units))],
        )
    }

    /// Adds the reason why a layer has no canonical rows.
    pub(super) fn add_refused(&mut self, source: &SourceArchive, layer: &str, reason: &Error) -> Result<()> {
        let one = |text: Option<&str>| Arc::new(StringArray::from(vec![text])) as ArrayRef;
        let reason = reason.message();
        let columns = vec![one(None), one(None), one(None), one(None), one(Some(REFUSED)), one(Some(&reason))];
        self.harmonized.add(source, layer, columns)
    }

    /// Adds the provenance of a harmonised layer, and the mean yield of a harvest.
    pub(super) fn add_harmonized(
        &mut self,
        source: &SourceArchive,
        layer: &str,
        harmonized: &Layer,
        field: Option<&FieldName>,
    ) -> Result<()> {
        let mut provenance = provenance(harmonized);
        if let (Some(found), None) = (field, row_field(harmonized)) {
            let entry = [("column", "field"), ("rule", &*found.rule)].into_iter();
            let entry = entry.chain(found.evidence.as_deref().map(|evidence| ("evidence", evidence)));
            provenance.push(entry.map(|(key, value)| (key.to_owned(), value.to_owned())).collect());
        }
        let column = |key: &str| {
            let cell = |entry: &Vec<(String, String)>| {
                entry.iter().find(|(name, _)| name == key).map(|(_, value)| value.clone())
            };
            Arc::new(provenance.iter().map(cell).collect::<StringArray>()) as ArrayRef
        };
        let columns = ["column", "source", "unit", "unit_in", "rule", "evidence"].map(column).into();
        self.harmonized.add(source, layer, columns)?;
        let year = row_year(source, harmonized);
        let JobMeans { means, covered_area, .. } = job_means(harmonized, field.map(|found| &*found.name));
        for mean in means {
            let text = |text: Option<&str>| Arc::new(StringArray::from(vec![text])) as ArrayRef;
            let count =
                |rows: u64| Arc::new(Int64Array::from(vec![i64::try_from(rows).unwrap_or(i64::MAX)])) as ArrayRef;
            let number = |value: Option<f64>| Arc::new(Float64Array::from(vec![value])) as ArrayRef;
            let columns = vec![
                text(Some(&*source.name).filter(|name| !name.is_empty())),
                text(mean.field.as_deref()),
                Arc::new(Int32Array::from(vec![mean.year.or(year)])),
                text(mean.crop.as_deref()),
                count(mean.rows),
                count(mean.rows_without_yield),
                number(Some(mean.worked_area)),
                number(mean.covered_area),
                number(mean.dry_mass),
                number(mean.mean()),
                number(mean.market_moisture),
            ];
            self.field_means.add(source, layer, columns)?;
        }
        self.add_covered(source, layer, covered_area)
    }

    /// Adds the ground that a job worked, or the reason why it is unknown.
    fn add_covered(&mut self, source: &SourceArchive, layer: &str, covered_area: Result<f64>) -> Result<()> {
        let (area, reason) = match covered_area {
            Ok(area) => (Some(area), None),
            Err(reason) => (None, Some(reason.message().into_owned())),
        };
        let columns = vec![
            Arc::new(Float64Array::from(vec![area])) as ArrayRef,
            Arc::new(StringArray::from(vec![reason.as_deref()])) as ArrayRef,
        ];
        self.covered_areas.add(source, layer, columns)
    }

    /// Writes the tables to the catalog.
    pub(super) fn write(mut self, catalog: &CatalogWriter<'_>) -> Result<Vec<Table>> {
        let write = |table: &mut LayerTable| {
            let batches: Vec<RecordBatch> = table.rows.values().flatten().cloned().collect();
            catalog.write_batches(table.name, &table.schema, &batches)
        };
        self.tables().into_iter().map(write).collect()
    }
}

impl LayerTable {
    /// Adds rows of a layer; `columns` follow the keys.
    fn add(&mut self, source: &SourceArchive, layer: &str, columns: Vec<ArrayRef>) -> Result<()> {
        let rows = columns.first().map_or(0, Array::len);
        if rows == 0 {
            return Ok(());
        }
        let key = |text: &str| Arc::new(StringArray::from(vec![text; rows])) as ArrayRef;
        let arrays = [key(&source.job_id), key(layer)].into_iter().chain(columns).collect();
        let batch = RecordBatch::try_new(Arc::clone(&self.schema), arrays).map_err(|cause| {
            Error::new(Kind::Archive, format!("cannot add layer `{layer}` to the table `{}`: {cause}", self.name))
        })?;
        self.rows.entry((source.job_id.clone(), layer.to_owned())).or_default().push(batch);
        Ok(())
    }

    /// Adds rows of the last generation, which are sorted by layer.
    fn split(&mut self, batch: &RecordBatch) -> Result<()> {
        let batch = RecordBatch::try_new(Arc::clone(&self.schema), batch.columns().to_vec()).map_err(|cause| {
            Error::new(
                Kind::Archive,
                format!("the table `{}` of the last generation is of another format: {cause}", self.name),
            )
        })?;
        let keys = batch.columns().first().and_then(|jobs| jobs.as_string_opt::<i32>());
        let layers = batch.columns().get(1).and_then(|layers| layers.as_string_opt::<i32>());
        let (Some(jobs), Some(layers)) = (keys, layers) else { return Ok(()) };
        let mut start = 0;
        while start < batch.num_rows() {
            let key = (jobs.value(start), layers.value(start));
            let same = |row: &usize| (jobs.value(*row), layers.value(*row)) == key;
            let count = (start..batch.num_rows()).take_while(same).count();
            let rows = batch.slice(start, count);
            self.rows.entry((key.0.to_owned(), key.1.to_owned())).or_default().push(rows);
            start = start.saturating_add(count);
        }
        Ok(())
    }
}
