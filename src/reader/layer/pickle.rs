//! Serializes a layer for pickling: a JSON header and the buffers of its columns.

use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::sync::{Arc, Mutex, PoisonError};

use arrow_array::{Array, ArrayRef, RecordBatch, RecordBatchOptions, make_array};
use arrow_buffer::Buffer;
use arrow_data::ArrayData;
use arrow_schema::{DataType, Field, Schema, TimeUnit};
use serde::{Deserialize, Serialize};

use super::Layer;
use super::crs::Crs;
use crate::archive::{Code, Diagnostic};
use headland_base::error::{Error, Kind, Result};

/// The length limit of a diagnostic code in bytes.
const LONGEST_CODE: usize = 64;

/// All of a layer except the column buffers.
#[derive(Serialize, Deserialize)]
struct LayerHeader<'a> {
    name: Cow<'a, str>,
    source: Cow<'a, str>,
    fields: Vec<ColumnHeader<'a>>,
    metadata_of_schema: BTreeMap<String, String>,
    geometry: Option<usize>,
    crs: Option<Cow<'a, str>>,
    prj: Option<Cow<'a, str>>,
    metadata: Vec<(String, String)>,
    diagnostics: Vec<DiagnosticParts<'a>>,
    types: Vec<u32>,
    /// For each batch its row count, and whether each column has nulls.
    batches: Vec<(usize, Vec<bool>)>,
    /// The header of the boundary, whose buffers follow those of the layer.
    boundary: Option<String>,
}

/// Code, message, member and record of a diagnostic.
type DiagnosticParts<'a> = (Cow<'a, str>, String, Option<String>, Option<u64>);

/// Name, type and metadata of a column.
#[derive(Serialize, Deserialize)]
struct ColumnHeader<'a> {
    name: Cow<'a, str>,
    kind: Cow<'a, str>,
    /// The time zone of timestamps.
    zone: Option<Cow<'a, str>>,
    nullable: bool,
    metadata: BTreeMap<String, String>,
}

/// Sorts metadata by key, so that equal layers have equal pickles.
fn sorted(metadata: &HashMap<String, String>) -> BTreeMap<String, String> {
    metadata.iter().map(|(key, value)| (key.clone(), value.clone())).collect()
}

fn invalid_parts(cause: impl std::fmt::Display) -> Error {
    Error::new(Kind::Value, format!("invalid parts of a layer: {cause}"))
}

impl Layer {
    /// Serializes the layer for [`Layer::from_parts`].
    pub fn to_parts(&self) -> Result<(String, Vec<Buffer>)> {
        let mut fields = Vec::new();
        for field in self.schema.fields() {
            let (kind, zone) = type_name(field.data_type()).ok_or_else(|| {
                invalid_parts(format!("column `{}` has the type {}", field.name(), field.data_type()))
            })?;
            fields.push(ColumnHeader {
                name: Cow::Borrowed(field.name()),
                kind: Cow::Borrowed(kind),
                zone: zone.map(Cow::Borrowed),
                nullable: field.is_nullable(),
                metadata: sorted(field.metadata()),
            });
        }
        let mut buffers = Vec::new();
        let mut batches = Vec::new();
        for batch in &self.batches {
            let has_nulls = batch.columns().iter().map(|array| pack_column(array, &mut buffers)).collect();
            batches.push((batch.num_rows(), has_nulls));
        }
        let mut boundary = None;
        if let Some(layer) = self.boundary() {
            let (header, more) = layer.to_parts()?;
            buffers.extend(more);
            boundary = Some(header);
        }
        let header = LayerHeader {
            name: Cow::Borrowed(&self.name),
            source: Cow::Borrowed(&self.source),
            fields,
            metadata_of_schema: sorted(self.schema.metadata()),
            geometry: self.geometry,
            crs: self.crs.as_ref().map(|crs| Cow::Borrowed(crs.wkt())),
            prj: self.prj.as_deref().map(Cow::Borrowed),
            metadata: self.metadata.clone(),
            diagnostics: self
                .diagnostics
                .iter()
                .map(|diagnostic| {
                    (
                        Cow::Borrowed(diagnostic.code.as_str()),
                        diagnostic.message.clone(),
                        diagnostic.member.clone(),
                        diagnostic.record,
                    )
                })
                .collect(),
            types: self.types.clone(),
            batches,
            boundary,
        };
        Ok((serde_json::to_string(&header).map_err(invalid_parts)?, buffers))
    }

    /// Restores a layer; an error if header and buffers do not match.
    pub fn from_parts(header: &str, buffers: &[&[u8]]) -> Result<Self> {
        let header: LayerHeader<'_> = serde_json::from_str(header).map_err(invalid_parts)?;
        let mut fields = Vec::new();
        for column in &header.fields {
            let kind = data_type(&column.kind, column.zone.as_deref())?;
            fields.push(
                Field::new(&*column.name, kind, column.nullable)
                    .with_metadata(column.metadata.clone().into_iter().collect()),
            );
        }
        let schema = Arc::new(Schema::new_with_metadata(fields, header.metadata_of_schema.into_iter().collect()));
        let mut buffers = buffers.iter().copied();
        let mut batches = Vec::new();
        for (rows, has_nulls) in &header.batches {
            let fields = schema.fields().iter().zip(has_nulls);
            let arrays =
                fields.map(|(field, has_nulls)| unpack_column(field.data_type(), *rows, *has_nulls, &mut buffers));
            let arrays = arrays.collect::<Result<Vec<ArrayRef>>>()?;
            let options = RecordBatchOptions::new().with_row_count(Some(*rows));
            batches
                .push(RecordBatch::try_new_with_options(Arc::clone(&schema), arrays, &options).map_err(invalid_parts)?);
        }
        let geometry = header.geometry;
        if geometry
            .is_some_and(|index| schema.fields().get(index).is_none_or(|f| *f.data_type() != DataType::LargeBinary))
        {
            return Err(invalid_parts("the geometry column does not contain bytes"));
        }
        let rest: Vec<&[u8]> = buffers.collect();
        let boundary = header.boundary.map(|header| Self::from_parts(&header, &rest).map(Arc::new)).transpose()?;
        let diagnostic = |(code, message, member, record): DiagnosticParts<'_>| {
            Ok(Diagnostic { code: code_from_name(&code)?, message, member, record })
        };
        Ok(Self {
            name: header.name.into_owned(),
            source: header.source.into_owned(),
            schema,
            batches,
            geometry,
            crs: header.crs.map(|text| Crs::from_wkt(&text)).transpose()?,
            prj: header.prj.map(Cow::into_owned),
            metadata: header.metadata,
            diagnostics: header.diagnostics.into_iter().map(diagnostic).collect::<Result<_>>()?,
            types: header.types,
            boundary,
        })
    }
}

/// Finds a code by name. An unknown code, from another release, is leaked as `Code::Other`; there are few.
fn code_from_name(code: &str) -> Result<Code> {
    static CODES: Mutex<BTreeSet<&'static str>> = Mutex::new(BTreeSet::new());
    if let Some(known) = Code::from_name(code) {
        return Ok(known);
    }
    if code.len() > LONGEST_CODE {
        return Err(invalid_parts("a diagnostic has no code"));
    }
    let mut codes = CODES.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some(known) = codes.get(code) {
        return Ok(Code::Other(known));
    }
    let new: &'static str = Box::leak(code.to_owned().into_boxed_str());
    codes.insert(new);
    Ok(Code::Other(new))
}

/// Type name and time zone of each column type that layers have.
pub(super) fn type_name(kind: &DataType) -> Option<(&'static str, Option<&str>)> {
    Some(match kind {
        DataType::Boolean => ("bool", None),
        DataType::Int32 => ("int32", None),
        DataType::Int64 => ("int64", None),
        DataType::Float64 => ("float64", None),
        DataType::Date32 => ("date", None),
        DataType::Timestamp(TimeUnit::Microsecond, zone) => ("time", zone.as_deref()),
        DataType::LargeUtf8 => ("string", None),
        DataType::LargeBinary => ("bytes", None),
        _ => return None,
    })
}

fn data_type(kind: &str, zone: Option<&str>) -> Result<DataType> {
    use DataType::{Boolean, Date32, Float64, Int32, Int64, LargeBinary, LargeUtf8, Timestamp};
    let time = Timestamp(TimeUnit::Microsecond, zone.map(Into::into));
    let mut all = [Boolean, Int32, Int64, Float64, Date32, time, LargeUtf8, LargeBinary].into_iter();
    let found = all.find(|data_type| type_name(data_type).is_some_and(|(name, _)| name == kind));
    found.ok_or_else(|| invalid_parts("a column has an unknown type"))
}

/// Appends the buffers of a column, sliced to its rows: validity first, if it has nulls. Returns whether it has nulls.
fn pack_column(array: &ArrayRef, buffers: &mut Vec<Buffer>) -> bool {
    let nulls = array.nulls().filter(|nulls| nulls.null_count() > 0);
    buffers.extend(nulls.map(|nulls| nulls.inner().sliced()));
    let data = array.to_data();
    match data.buffers() {
        [offsets, values] => {
            let offsets = offsets.typed_data::<i64>();
            let start = offsets.first().copied().unwrap_or(0);
            let to_index = |offset: i64| usize::try_from(offset).unwrap_or(0);
            buffers.push(offsets.iter().map(|offset| offset.saturating_sub(start)).collect());
            let size = offsets.last().map_or(0, |end| to_index(end.saturating_sub(start)));
            buffers.push(values.slice_with_length(to_index(start), size));
        }
        [bits] if *data.data_type() == DataType::Boolean => buffers.push(bits.bit_slice(data.offset(), data.len())),
        numbers => buffers.extend_from_slice(numbers),
    }
    nulls.is_some()
}

/// Restores the next column with `rows` values, from copies of its buffers in aligned memory. Arrow checks offsets and
/// texts, but takes a buffer of another size for a mistake of the program.
fn unpack_column<'a>(
    kind: &DataType,
    rows: usize,
    has_nulls: bool,
    buffers: &mut impl Iterator<Item = &'a [u8]>,
) -> Result<ArrayRef> {
    let mut next = |size: Option<usize>| {
        let bytes = buffers.next().ok_or_else(|| invalid_parts("a column is missing"))?;
        let is_whole = size.is_none_or(|size| bytes.len() == size);
        if is_whole { Ok(Buffer::from(bytes)) } else { Err(invalid_parts("a column has another number of rows")) }
    };
    let bits = rows.div_ceil(8);
    let nulls = if has_nulls { Some(next(Some(bits))?) } else { None };
    let (size, has_texts) = match (kind, kind.primitive_width()) {
        (_, Some(width)) => (rows.saturating_mul(width), false),
        (DataType::Boolean, _) => (bits, false),
        _ => (rows.saturating_add(1).saturating_mul(size_of::<i64>()), true),
    };
    let mut column = vec![next(Some(size))?];
    if has_texts {
        column.push(next(None)?);
    }
    let data = ArrayData::builder(kind.clone()).len(rows).null_bit_buffer(nulls).buffers(column).build();
    Ok(make_array(data.map_err(invalid_parts)?))
}
