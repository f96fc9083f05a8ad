//! Imports Arrow C schemas and arrays, and exports schemas with metadata sorted by key.
//!
//! `arrow-schema` keeps metadata in a hash map and exports them in a random order. Sorted, equal tables are equal in
//! every process.

use std::collections::BTreeMap;
use std::ffi::c_int;
use std::sync::OnceLock;

use arrow_array::ffi::{FFI_ArrowArray, FFI_ArrowSchema, from_ffi};
use arrow_array::ffi_stream::FFI_ArrowArrayStream;
use arrow_array::{ArrayRef, make_array};
use arrow_schema::{ArrowError, Schema};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::PyCapsule;

type GetSchema = unsafe extern "C" fn(*mut FFI_ArrowArrayStream, *mut FFI_ArrowSchema) -> c_int;

/// The `get_schema` callback of `arrow-array`, the same for every stream.
static UNSORTED_GET_SCHEMA: OnceLock<GetSchema> = OnceLock::new();

/// `EIO`, the error of the C stream interface for a failed schema export.
const EIO: c_int = 5;

/// Imports the schema of an object of another library.
pub(super) fn import(object: &Bound<'_, PyAny>) -> PyResult<Schema> {
    let capsule = object.call_method0("__arrow_c_schema__")?.cast_into::<PyCapsule>()?;
    let pointer = capsule.pointer_checked(Some(c"arrow_schema"))?.cast::<FFI_ArrowSchema>();
    // SAFETY: a capsule with this name holds a schema, which lives as long as the capsule.
    let schema = unsafe { pointer.as_ref() };
    Schema::try_from(schema).map_err(|error| PyValueError::new_err(format!("the schema cannot be read: {error}")))
}

/// Imports an array of another library, which shares its memory.
pub(super) fn import_array(object: &Bound<'_, PyAny>) -> PyResult<ArrayRef> {
    let capsules = object.call_method0("__arrow_c_array__")?;
    let (schema, array) = capsules.extract::<(Bound<'_, PyCapsule>, Bound<'_, PyCapsule>)>()?;
    let schema = schema.pointer_checked(Some(c"arrow_schema"))?.cast::<FFI_ArrowSchema>();
    let array = array.pointer_checked(Some(c"arrow_array"))?.cast::<FFI_ArrowArray>();
    // SAFETY: capsules with these names hold a schema and an array of that schema. The schema lives as long as its
    // capsule. The array is moved out of its capsule, which is then empty.
    let data = unsafe { from_ffi(FFI_ArrowArray::from_raw(array.as_ptr()), schema.as_ref()) };
    // Buffers of files that are mapped to memory can be unaligned, which arrays refuse with a panic.
    let aligned = data.map(|mut data| {
        data.align_buffers();
        make_array(data)
    });
    aligned.map_err(|error| PyValueError::new_err(format!("the array cannot be read: {error}")))
}

/// Exports a schema to the C interface.
pub(super) fn export(schema: &Schema) -> Result<FFI_ArrowSchema, ArrowError> {
    sort_metadata(&FFI_ArrowSchema::try_from(schema)?)
}

/// Returns the stream with a schema whose metadata are sorted.
pub(super) fn with_sorted_schema(mut stream: FFI_ArrowArrayStream) -> FFI_ArrowArrayStream {
    if let Some(unsorted) = stream.get_schema {
        UNSORTED_GET_SCHEMA.get_or_init(|| unsorted);
        stream.get_schema = Some(get_schema);
    }
    stream
}

unsafe extern "C" fn get_schema(stream: *mut FFI_ArrowArrayStream, out: *mut FFI_ArrowSchema) -> c_int {
    let Some(unsorted) = UNSORTED_GET_SCHEMA.get() else { return EIO };
    let mut schema = FFI_ArrowSchema::empty();
    // SAFETY: the consumer passes a stream of `arrow-array`, whose own callback accepts it and fills `schema`.
    let code = unsafe { unsorted(stream, &raw mut schema) };
    if code != 0 {
        return code;
    }
    let Ok(schema) = sort_metadata(&schema) else { return EIO };
    // SAFETY: `out` is the consumer's memory for one schema and holds none yet.
    unsafe { out.write(schema) };
    0
}

fn sort_metadata(schema: &FFI_ArrowSchema) -> Result<FFI_ArrowSchema, ArrowError> {
    let children = schema.children().map(sort_metadata).collect::<Result<Vec<_>, _>>()?;
    let dictionary = schema.dictionary().map(sort_metadata).transpose()?;
    let mut copy = FFI_ArrowSchema::try_new(schema.format(), children, dictionary)?
        .with_name(schema.name().unwrap_or_default())?;
    if let Some(flags) = schema.flags() {
        copy = copy.with_flags(flags)?;
    }
    let metadata: BTreeMap<String, String> = schema.metadata()?.into_iter().collect();
    copy.with_metadata(metadata)
}
