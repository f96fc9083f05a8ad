//! Finds the column of rates in a table, and reads it.

use arrow_array::cast::AsArray as _;
use arrow_array::{Array, ArrayRef};

use headland_agronomy::{PrescribedRate, prescribed_rate};
use headland_reader::archive::{Code, Diagnostic};
use headland_reader::layer::{Layer, floats};

/// The column of rates, or why there is none.
#[derive(Debug)]
pub(super) enum RateColumn {
    /// Its name and cells.
    Found(String, Vec<Option<f64>>),
    /// Several columns can be the rate.
    Several(Diagnostic, Vec<Self>),
    /// No column, or one that cannot be read.
    Unknown(Diagnostic),
}

/// Finds the column: that of the name, else `RATE`, else the only numeric one that is no id.
pub(super) fn find(layer: &Layer, name: Option<&str>) -> RateColumn {
    let schema = layer.schema();
    let names: Vec<&str> = schema
        .fields()
        .iter()
        .enumerate()
        .filter(|(index, _)| Some(*index) != layer.geometry_index())
        .map(|(_, field)| field.name().as_str())
        .collect();
    let positions = |is_it: &dyn Fn(&str) -> bool| -> Vec<usize> {
        let fields = schema.fields().iter().enumerate();
        let found = fields.filter(|(index, field)| Some(*index) != layer.geometry_index() && is_it(field.name()));
        found.map(|(index, _)| index).collect()
    };
    let listed = names.iter().map(|name| format!("`{name}`")).collect::<Vec<_>>().join(", ");
    let missing = |what: &str| {
        let message = format!(
            "{what}, so a display finds no rate; the columns: {}",
            if listed.is_empty() { "none" } else { &listed }
        );
        RateColumn::Unknown(Diagnostic::new(Code::RateMissing, message))
    };
    let several = |several: &[usize]| {
        let described: Vec<String> = several
            .iter()
            .filter_map(|index| schema.fields().get(*index).map(|field| format!("`{}`", field.name())))
            .collect();
        let message = format!(
            "several columns can be the rate, and all are checked: {}; name it with `rate`, or call one column RATE in the file",
            described.join(", ")
        );
        let columns = several.iter().map(|index| read(layer, *index)).collect();
        RateColumn::Several(Diagnostic::new(Code::RateAmbiguous, message), columns)
    };
    if let Some(name) = name {
        let mut found = positions(&|other| other == name);
        if found.is_empty() {
            found = positions(&|other| other.eq_ignore_ascii_case(name));
        }
        return match *found {
            [] => missing(&format!("there is no column `{name}`")),
            [index] => read(layer, index),
            _ => several(&found),
        };
    }
    match prescribed_rate(layer) {
        PrescribedRate::Column(index) => read(layer, index),
        PrescribedRate::Missing => match positions(&|name| name.to_ascii_lowercase().contains("rate")).first() {
            Some(index) => read(layer, *index),
            None => missing("there is no column `RATE` and no numeric column that is no id and no size"),
        },
        PrescribedRate::Several(found) => several(&found),
    }
}

fn read(layer: &Layer, index: usize) -> RateColumn {
    let name = layer.schema().fields().get(index).map(|field| field.name().clone()).unwrap_or_default();
    let Some(array) = layer.all_cells(index) else { return RateColumn::Found(name, Vec::new()) };
    match floats(&array) {
        Some(numbers) => RateColumn::Found(name, numbers.iter().collect()),
        None => text_column(&name, &array),
    }
}

/// A column that is no number, with its first cell.
fn text_column(name: &str, array: &ArrayRef) -> RateColumn {
    let text = array.as_string_opt::<i64>();
    let cell = text.filter(|text| !text.is_empty() && text.is_valid(0)).map_or("", |text| text.value(0).trim());
    let example = if cell.is_empty() { String::new() } else { format!(", such as `{cell}` in row 0") };
    let message = format!(
        "the column `{name}` does not contain numbers but texts or values of another kind{example}; displays read a rate \
         from a numeric column only"
    );
    RateColumn::Unknown(Diagnostic::new(Code::RateText, message).at_record(0))
}

/// Whether a finding is of the cells of one column.
pub(super) fn is_of_rates(code: Code) -> bool {
    matches!(
        code,
        Code::RateUnreadable
            | Code::RateNull
            | Code::RateNotFinite
            | Code::RateNegative
            | Code::RateOutlier
            | Code::RateText
    )
}
