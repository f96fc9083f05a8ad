//! Reads canonical columns of a harmonised layer as arrays over all rows, in canonical units.

use arrow_array::Array as _;
use arrow_array::cast::AsArray;
use arrow_array::types::{Int32Type, Int64Type, TimestampMicrosecondType};
use arrow_schema::{DataType, SchemaRef};

use crate::columns::cell_values::{arrays, numbers};
use crate::columns::provenance as keys;
use headland_base::error::{Error, Result};
use headland_reader::archive::Code;
use headland_reader::layer::Layer;
use headland_reader::layer::units::Unit;

/// How the message of a proof of units without a result begins.
pub(crate) const UNEXPLAINED: &str = "no combination of units explains";

/// The canonical columns of a layer.
pub(crate) struct CanonicalValues<'a> {
    layer: &'a Layer,
    schema: SchemaRef,
    /// Kilograms in a bushel, for columns that do not state it.
    kg_per_bushel: Option<f64>,
}

impl<'a> CanonicalValues<'a> {
    pub(crate) fn new(layer: &'a Layer, kg_per_bushel: Option<f64>) -> Self {
        Self { layer, schema: layer.schema(), kg_per_bushel }
    }

    /// The number of rows.
    pub(crate) fn rows(&self) -> usize {
        self.layer.len()
    }

    fn index(&self, name: &str) -> Option<usize> {
        self.schema.fields().iter().position(|field| field.name() == name && keys::is_added(field))
    }

    /// Whether the layer has the column.
    pub(crate) fn has(&self, name: &str) -> bool {
        self.index(name).is_some()
    }

    /// An entry of the metadata of a column.
    pub(crate) fn metadata(&self, name: &str, key: &str) -> Option<&str> {
        self.schema.field(self.index(name)?).metadata().get(key).map(String::as_str)
    }

    /// The unit of a column.
    pub(crate) fn unit(&self, name: &str) -> Option<Unit> {
        Unit::parse(self.metadata(name, "unit")?)
    }

    /// The numbers of a column, converted to `unit`. Null and values that are not finite are NaN.
    ///
    /// `None` without the column, without a finite value, and if the unit cannot be converted: a volume of grain needs
    /// the weight of a bushel for a mass.
    pub(crate) fn numbers(&self, name: &str, unit: &str) -> Option<Vec<f64>> {
        let index = self.index(name)?;
        if !matches!(self.schema.field(index).data_type(), DataType::Float64 | DataType::Int32 | DataType::Int64) {
            return None;
        }
        let factor = match self.metadata(name, "unit") {
            Some(stated) if stated != unit => {
                let weight = self.metadata(name, keys::KG_PER_BUSHEL).and_then(|text| text.parse().ok());
                Unit::parse(stated)?.factor(Unit::parse(unit)?, weight.or(self.kg_per_bushel)).ok()?
            }
            _ => 1.0,
        };
        let mut values = numbers(self.layer, index);
        let mut has_value = false;
        for value in &mut values {
            *value = if value.is_finite() { *value * factor } else { f64::NAN };
            has_value |= value.is_finite();
        }
        has_value.then_some(values)
    }

    /// The integers of a column; 0 where it is null or the layer lacks it.
    pub(crate) fn integers(&self, name: &str) -> Vec<i64> {
        let mut values = Vec::with_capacity(self.rows());
        for array in self.index(name).into_iter().flat_map(|index| arrays(self.layer, index)) {
            if let Some(array) = array.as_primitive_opt::<Int64Type>() {
                values.extend(array.iter().map(Option::unwrap_or_default));
            } else if let Some(array) = array.as_primitive_opt::<Int32Type>() {
                values.extend(array.iter().map(|cell| cell.map_or(0, i64::from)));
            }
        }
        values.resize(self.rows(), 0);
        values
    }

    /// The flags of a column, `default` where it is null. `None` if it is null everywhere or the layer lacks it.
    pub(crate) fn flags(&self, name: &str, default: bool) -> Option<Vec<bool>> {
        let mut values = Vec::with_capacity(self.rows());
        let mut has_value = false;
        for array in arrays(self.layer, self.index(name)?) {
            let array = array.as_boolean_opt()?;
            has_value |= array.null_count() < array.len();
            values.extend(array.iter().map(|flag| flag.unwrap_or(default)));
        }
        has_value.then_some(values)
    }

    /// Seconds since the earliest row; NaN where the time is null. `None` without times.
    pub(crate) fn seconds(&self) -> Option<Vec<f64>> {
        let mut micros = Vec::with_capacity(self.rows());
        for array in arrays(self.layer, self.index("time")?) {
            micros.extend(array.as_primitive_opt::<TimestampMicrosecondType>()?.iter());
        }
        let earliest = micros.iter().flatten().copied().min()?;
        #[expect(clippy::cast_precision_loss, reason = "the time of a job is far below 2^53 microseconds")]
        let seconds = |time: i64| time.saturating_sub(earliest) as f64 / 1e6;
        Some(micros.into_iter().map(|time| time.map_or(f64::NAN, seconds)).collect())
    }

    /// The texts of a column; `None` if the layer lacks it.
    pub(crate) fn texts(&self, name: &str) -> Option<impl Iterator<Item = Option<&str>>> {
        let texts = arrays(self.layer, self.index(name)?).filter_map(|array| array.as_string_opt::<i64>());
        Some(texts.flat_map(|array| array.iter()))
    }

    /// The one text that all rows with a text have.
    pub(crate) fn common_text(&self, name: &str) -> Option<&str> {
        let texts = arrays(self.layer, self.index(name)?).filter_map(|array| array.as_string_opt::<i64>());
        let mut texts = texts.flat_map(|array| array.iter().flatten());
        let first = texts.next()?;
        texts.all(|text| text == first).then_some(first)
    }

    /// An error if the layer lacks a column only because the unit of the original one is unknown.
    pub(crate) fn check_unit(&self, name: &str) -> Result<()> {
        if self.has(name) {
            return Ok(());
        }
        let mut fields = self.schema.fields().iter();
        let is_original = |canonical: &String| canonical == name;
        match fields.find(|field| field.metadata().get(keys::CANONICAL).is_some_and(is_original)) {
            None => Ok(()),
            Some(field) => {
                let original = field.metadata().get(keys::ORIGINAL_NAME).unwrap_or(field.name());
                // What the proof of units met, if it says more than that one is unknown.
                let mut said = self.layer.diagnostics().iter().filter(|said| said.code == Code::UnitUnknown);
                let proof = said.find(|said| said.message.starts_with(UNEXPLAINED));
                let proof = proof.map(|said| format!(" ({})", said.message)).unwrap_or_default();
                let message = format!(
                    "column `{original}` is `{name}`, but its unit is unknown{proof}; pass `units={{\"{original}\": ...}}` to \
                     `headland.harmonize`"
                );
                Err(Error::for_argument("units", message))
            }
        }
    }
}
