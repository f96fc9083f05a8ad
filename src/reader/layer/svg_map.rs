//! Draws a layer as an SVG map: collects the values of a column.

use arrow_array::cast::AsArray;
use arrow_array::{Array, ArrayRef};
use arrow_schema::DataType;

use super::Layer;
use super::cell_access::floats;
use super::crs::{Crs, OwnPlane};
use super::picture::{Drawing, NumberClasses, Picture, RecordColours, Values, draw, number_classes, record_colours};
use headland_base::error::{Error, Kind, Result};

/// The most records that a map is drawn from. Longer layers are sampled at a regular interval.
const MAX_SAMPLE: usize = 200_000;

/// The values of a column.
enum MapColumn {
    Numbers(Vec<Option<f64>>),
    Names(Vec<Option<String>>),
}

impl Layer {
    /// Draws an SVG map of one column with legend, unit, scale bar, title, and the drawn and total number of records.
    /// Without the index of a column, it draws locations without values. Needs no network and no font file.
    pub fn picture(&self, index: Option<usize>, options: &Picture) -> Result<String> {
        if self.geometry.is_none() {
            let message = format!("layer `{}` has no geometry, so there is nothing to draw", self.name);
            return Err(Error::new(Kind::Value, message));
        }
        let (low, high) = options.limits;
        let is_range = low.zip(high).is_none_or(|(low, high)| low < high);
        if !is_range || [low, high].into_iter().flatten().any(|limit| !limit.is_finite()) {
            let shown = |limit: Option<f64>| limit.map_or_else(|| "None".to_owned(), |limit| limit.to_string());
            let (low, high) = (shown(low), shown(high));
            let message = format!("`vmin` and `vmax`: expected finite numbers with vmin < vmax, got {low} and {high}");
            return Err(Error::new(Kind::Value, message));
        }
        let crs = if options.as_is { None } else { Some(self.known_crs()?) };
        // Coordinates without a way to WGS 84 are drawn as they are.
        let transform = crs.filter(|crs| OwnPlane::new(crs).is_none()).map(Crs::to_wgs84).transpose()?;
        let column = index.and_then(|index| self.schema.fields().get(index)).map(|field| field.name().clone());
        let shown = index.map(|index| self.map_column(index)).transpose()?;
        let unit = options.unit.clone().or_else(|| {
            let units = self.units();
            units.into_iter().find(|(name, _)| Some(name) == column.as_ref()).map(|(_, unit)| unit)
        });
        let names = shown.as_ref().map_or_else(Vec::new, MapColumn::names);
        let step = self.len().div_ceil(MAX_SAMPLE).max(1);
        let geometries: Vec<Option<&[u8]>> =
            self.geometries().enumerate().map(|(row, wkb)| wkb.filter(|_| row % step == 0)).collect();
        draw(&Drawing {
            geometries: &geometries,
            sample_of: (step > 1).then(|| self.geometries().flatten().count()),
            values: shown.as_ref().map_or(Values::None, |shown| shown.values(&names)),
            transform: transform.as_ref(),
            title: options.title.as_deref().unwrap_or(&self.name),
            column: column.as_deref().map(|name| options.label.as_deref().unwrap_or(name)),
            unit: unit.as_deref(),
            width: options.width,
            limits: options.limits,
        })
    }

    /// The colours of the records, as on a map of the column at this position.
    pub fn colours(&self, index: Option<usize>) -> Result<RecordColours> {
        let shown = index.map(|index| self.map_column(index)).transpose()?;
        let names = shown.as_ref().map_or_else(Vec::new, MapColumn::names);
        let values = shown.as_ref().map_or(Values::None, |shown| shown.values(&names));
        Ok(record_colours(&values, self.len()))
    }

    /// The classes of the column of numbers at this position, as on a map of it.
    pub(super) fn number_classes(&self, index: usize, unit: Option<&str>) -> Result<NumberClasses> {
        self.numbers(index).map(|numbers| number_classes(&numbers, unit))
    }

    /// The cells of a column of numbers.
    pub(super) fn numbers(&self, index: usize) -> Result<Vec<Option<f64>>> {
        match self.map_column(index)? {
            MapColumn::Numbers(numbers) => Ok(numbers),
            MapColumn::Names(_) => Err(self.no_colours(index)),
        }
    }

    /// The values of a column. A type without colours is an error.
    fn map_column(&self, index: usize) -> Result<MapColumn> {
        let cells = self.all_cells(index).and_then(|cells| to_map_column(&cells));
        cells.ok_or_else(|| self.no_colours(index))
    }

    fn no_colours(&self, index: usize) -> Error {
        let name = self.schema.fields().get(index).map(|field| field.name().as_str()).unwrap_or_default();
        Error::new(Kind::Value, format!("column `{name}` contains neither numbers nor text, so it has no colours"))
    }
}

impl MapColumn {
    fn names(&self) -> Vec<Option<&str>> {
        match self {
            Self::Names(names) => names.iter().map(Option::as_deref).collect(),
            Self::Numbers(_) => Vec::new(),
        }
    }

    /// The values for a map; `names` are those of [`MapColumn::names`].
    fn values<'a>(&'a self, names: &'a [Option<&'a str>]) -> Values<'a> {
        match self {
            Self::Numbers(numbers) => Values::Numbers(numbers),
            Self::Names(_) => Values::Categories(names),
        }
    }
}

fn to_map_column(array: &ArrayRef) -> Option<MapColumn> {
    if let Some(numbers) = floats(array) {
        return Some(MapColumn::Numbers(numbers.iter().collect()));
    }
    Some(match array.data_type() {
        DataType::LargeUtf8 => {
            MapColumn::Names(array.as_string::<i64>().iter().map(|value| value.map(str::to_owned)).collect())
        }
        DataType::Boolean => MapColumn::Names(
            (0..array.len())
                .map(|row| array.is_valid(row).then(|| array.as_boolean().value(row).to_string()))
                .collect(),
        ),
        _ => return None,
    })
}
