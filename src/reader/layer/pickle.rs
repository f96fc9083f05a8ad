//! Serializes a layer for pickling: a JSON header and the buffers of its columns.

use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::sync::{Arc, Mutex, PoisonError};

use arrow_array::cast::AsArray;
use arrow_array::types::{
    ArrowPrimitiveType, ByteArrayType, Date32Type, Float64Type, Int32Type, Int64Type, LargeBinaryType, LargeUtf8Type,
    TimestampMicrosecondType,
};
use arrow_array::{Array, ArrayRef, BooleanArray, GenericByteArray, PrimitiveArray, RecordBatch, RecordBatchOptions};
use arrow_buffer::{ArrowNativeType, BooleanBuffer, Buffer, NullBuffer, OffsetBuffer, ScalarBuffer};
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
            let columns = batch.columns().iter();
            let has_nulls = columns.map(|array| pack_column(array, &mut buffers)).collect::<Option<_>>();
            batches
                .push((batch.num_rows(), has_nulls.ok_or_else(|| invalid_parts("a column has an unsupported type"))?));
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
    Ok(match kind {
        "bool" => DataType::Boolean,
        "int32" => DataType::Int32,
        "int64" => DataType::Int64,
        "float64" => DataType::Float64,
        "date" => DataType::Date32,
        "time" => DataType::Timestamp(TimeUnit::Microsecond, zone.map(Into::into)),
        "string" => DataType::LargeUtf8,
        "bytes" => DataType::LargeBinary,
        _ => return Err(invalid_parts("a column has an unknown type")),
    })
}

/// Appends the buffers of a column, sliced to its rows: validity first, if it has nulls. Returns whether it has nulls.
fn pack_column(array: &ArrayRef, buffers: &mut Vec<Buffer>) -> Option<bool> {
    let nulls = array.nulls().filter(|nulls| nulls.null_count() > 0);
    buffers.extend(nulls.map(|nulls| nulls.inner().sliced()));
    match array.data_type() {
        DataType::Boolean => buffers.push(array.as_boolean().values().sliced()),
        DataType::Int32 => buffers.push(array.as_primitive::<Int32Type>().values().inner().clone()),
        DataType::Int64 => buffers.push(array.as_primitive::<Int64Type>().values().inner().clone()),
        DataType::Float64 => buffers.push(array.as_primitive::<Float64Type>().values().inner().clone()),
        DataType::Date32 => buffers.push(array.as_primitive::<Date32Type>().values().inner().clone()),
        DataType::Timestamp(..) => {
            buffers.push(array.as_primitive::<TimestampMicrosecondType>().values().inner().clone());
        }
        DataType::LargeUtf8 => pack_byte_array(array.as_bytes::<LargeUtf8Type>(), buffers),
        DataType::LargeBinary => pack_byte_array(array.as_bytes::<LargeBinaryType>(), buffers),
        _ => return None,
    }
    Some(nulls.is_some())
}

fn pack_byte_array<T: ByteArrayType<Offset = i64>>(array: &GenericByteArray<T>, buffers: &mut Vec<Buffer>) {
    let offsets = array.value_offsets();
    let to_index = |offset: Option<&i64>| offset.and_then(|offset| usize::try_from(*offset).ok()).unwrap_or(0);
    let (first, last) = (to_index(offsets.first()), to_index(offsets.last()));
    let start = offsets.first().copied().unwrap_or(0);
    buffers.push(offsets.iter().map(|offset| offset.saturating_sub(start)).collect());
    buffers.push(array.values().slice_with_length(first, last.saturating_sub(first)));
}

/// Restores the next column with `rows` values.
fn unpack_column<'a>(
    kind: &DataType,
    rows: usize,
    has_nulls: bool,
    buffers: &mut impl Iterator<Item = &'a [u8]>,
) -> Result<ArrayRef> {
    let mut next = || buffers.next().ok_or_else(|| invalid_parts("a column is missing"));
    let nulls = if has_nulls { Some(NullBuffer::new(read_bits(next()?, rows)?)) } else { None };
    Ok(match kind {
        DataType::Boolean => Arc::new(BooleanArray::new(read_bits(next()?, rows)?, nulls)),
        DataType::Int32 => Arc::new(read_primitive::<Int32Type>(next()?, nulls)?),
        DataType::Int64 => Arc::new(read_primitive::<Int64Type>(next()?, nulls)?),
        DataType::Float64 => Arc::new(read_primitive::<Float64Type>(next()?, nulls)?),
        DataType::Date32 => Arc::new(read_primitive::<Date32Type>(next()?, nulls)?),
        DataType::Timestamp(_, zone) => {
            Arc::new(read_primitive::<TimestampMicrosecondType>(next()?, nulls)?.with_timezone_opt(zone.clone()))
        }
        DataType::LargeUtf8 => Arc::new(read_byte_array::<LargeUtf8Type>(next()?, next()?, nulls)?),
        _ => Arc::new(read_byte_array::<LargeBinaryType>(next()?, next()?, nulls)?),
    })
}

fn read_bits(bytes: &[u8], rows: usize) -> Result<BooleanBuffer> {
    if bytes.len() < rows.div_ceil(8) {
        return Err(invalid_parts("a column is too short"));
    }
    Ok(BooleanBuffer::new(Buffer::from(bytes), 0, rows))
}

/// Copies a buffer to aligned memory.
fn read_numbers<T: ArrowNativeType>(bytes: &[u8]) -> Result<ScalarBuffer<T>> {
    if !bytes.len().is_multiple_of(size_of::<T>()) {
        return Err(invalid_parts("a column is truncated"));
    }
    Ok(ScalarBuffer::from(Buffer::from(bytes)))
}

fn read_primitive<T: ArrowPrimitiveType>(bytes: &[u8], nulls: Option<NullBuffer>) -> Result<PrimitiveArray<T>> {
    PrimitiveArray::try_new(read_numbers(bytes)?, nulls).map_err(invalid_parts)
}

fn read_byte_array<T: ByteArrayType<Offset = i64>>(
    offsets: &[u8],
    values: &[u8],
    nulls: Option<NullBuffer>,
) -> Result<GenericByteArray<T>> {
    let offsets = read_numbers::<i64>(offsets)?;
    if offsets.first().is_none_or(|first| *first < 0) || !offsets.is_sorted() {
        return Err(invalid_parts("texts overlap"));
    }
    GenericByteArray::try_new(OffsetBuffer::new(offsets), Buffer::from(values), nulls).map_err(invalid_parts)
}
