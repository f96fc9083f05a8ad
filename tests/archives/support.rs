//! Reads archives for the tests, and extracts rows, codes, geometries and cells.

use headland::archive::{Diagnostic, ReadOptions};
use headland::error::{Error, Kind};
use headland::layer::{self, Layer};

use crate::{builder, canonical_text, stream, wkt};

/// The layer of a zip or a grain cart file.
pub(crate) fn read(bytes: &[u8], strict: bool) -> Result<Layer, Error> {
    layer::read(&builder::source(bytes.to_vec()), &ReadOptions { strict, ..ReadOptions::default() })
}

/// The layer of members in a zip.
#[track_caller]
pub(crate) fn read_members(members: &[(&str, &[u8])]) -> Layer {
    read(&builder::zip(members), true).unwrap()
}

/// The codes of all diagnostics, in their order.
pub(crate) fn codes(layer: &Layer) -> Vec<&'static str> {
    layer.diagnostics().iter().map(|note| note.code.as_str()).collect()
}

/// The diagnostics with a code.
pub(crate) fn found<'a>(layer: &'a Layer, code: &str) -> Vec<&'a Diagnostic> {
    layer.diagnostics().iter().filter(|note| note.code.as_str() == code).collect()
}

/// The only diagnostic with a code.
#[track_caller]
pub(crate) fn only<'a>(layer: &'a Layer, code: &str) -> &'a Diagnostic {
    let [note] = found(layer, code)[..] else { panic!("one {code}: {:?}", layer.diagnostics()) };
    note
}

/// The geometries as text.
pub(crate) fn texts(layer: &Layer) -> Vec<Option<String>> {
    layer.geometries().map(|wkb| wkb.map(wkt::text)).collect()
}

/// The cells of a column as canonical text.
pub(crate) fn column(layer: &Layer, name: &str) -> Vec<String> {
    let array = layer.batches()[0].column_by_name(name).unwrap();
    (0..layer.len()).map(|row| canonical_text::text(array, row)).collect()
}

/// Expected outcome in a table of inputs: the number of rows with these codes, or an error with this message.
pub(crate) type Expected<'a> = Result<(usize, &'a [&'a str]), &'a str>;

/// Compares an input with its row of a table, whole and in batches; returns the layer, if there is one.
#[track_caller]
pub(crate) fn check(what: &str, bytes: &[u8], strict: bool, expected: Expected<'_>) -> Option<Layer> {
    let source = builder::source(bytes.to_vec());
    let options = ReadOptions { strict, ..ReadOptions::default() };
    stream::same(layer::read(&source, &options), &source, &options, 2, what);
    match (read(bytes, strict), expected) {
        (Ok(layer), Ok((rows, wanted))) => {
            assert_eq!((layer.len(), &codes(&layer)[..]), (rows, wanted), "{what}: {:?}", layer.diagnostics());
            Some(layer)
        }
        (Err(error), Err(words)) => {
            assert_eq!(error.kind(), Kind::Archive, "{what}: {error}");
            assert!(error.message().contains(words), "{what}: `{words}` in: {error}");
            None
        }
        (Ok(layer), Err(words)) => panic!("{what}: no error `{words}`, but {:?}", layer.diagnostics()),
        (Err(error), Ok(_)) => panic!("{what}: {error}"),
    }
}
