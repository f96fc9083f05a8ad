//! Reads a dataset into a layer: picks its files, reads .shp and .dbf concurrently, checks row counts.

use std::sync::Arc;

use arrow_schema::Schema;

use super::Layer;
use super::crs::Crs;
use super::fmis;
use super::grain_cart;
use super::paired_reader::PairedReader;
use super::schema;
use super::sidecars::{self, Sidecars};
use crate::archive::{self, Code, Diagnostic, LayerFiles, ReadOptions, Source};
use headland_base::error::{Argument, Error, Kind, Result};

/// Reads one layer of a zip, a folder, a shapefile or a grain cart file.
pub fn read(source: &Source, options: &ReadOptions) -> Result<Layer> {
    options.check()?;
    read_checked(source, options).map_err(|error| with_hint(error, options))
}

/// Adds a hint about `strict` to an error about damage.
pub(super) fn with_hint(error: Error, options: &ReadOptions) -> Error {
    let facts = error.facts();
    let is_damage = facts.field.is_none() && (facts.record.is_some() || facts.offset.is_some());
    let is_hinted = facts.hint.is_some();
    if options.strict && error.kind() == Kind::Archive && is_damage && !error.lacks_memory() && !is_hinted {
        return error.with_hint("; ", Argument::Strict, " reads the recoverable data");
    }
    error
}

fn read_checked(source: &Source, options: &ReadOptions) -> Result<Layer> {
    let (set, mut diagnostics) = choose_files(source, options)?;
    let mut layer = match read_non_shapefile(&set, source, options, &mut diagnostics) {
        Some(layer) => layer?,
        None => read_shapefile(&set, source, options, diagnostics)?,
    };
    Diagnostic::sort(&mut layer.diagnostics);
    layer.reproject(options)
}

/// Picks the files of the requested layer. Also returns the diagnostics of refused members.
pub(super) fn choose_files(source: &Source, options: &ReadOptions) -> Result<(LayerFiles, Vec<Diagnostic>)> {
    let (sets, diagnostics) = archive::layer_files(source, options)?;
    let set = LayerFiles::choose(sets, options.layer.as_deref(), source)?;
    if options.strict {
        set.check_refused_members(&diagnostics)?;
    }
    Ok((set, diagnostics))
}

/// Reads a grain cart file or an FMIS folder; `None` for a shapefile.
pub(super) fn read_non_shapefile(
    set: &LayerFiles,
    source: &Source,
    options: &ReadOptions,
    diagnostics: &mut Vec<Diagnostic>,
) -> Option<Result<Layer>> {
    if let Some(grc) = &set.grc {
        return Some(grain_cart::read(set.name.clone(), source.name(), grc, options, std::mem::take(diagnostics)));
    }
    let product = set.fmis.as_ref()?;
    Some(fmis::read(set.name.clone(), source.name(), product, options, std::mem::take(diagnostics)))
}

/// Reads a shapefile into one batch.
fn read_shapefile(
    set: &LayerFiles,
    source: &Source,
    options: &ReadOptions,
    mut diagnostics: Vec<Diagnostic>,
) -> Result<Layer> {
    let mut reader = PairedReader::read_all(set, options, &mut diagnostics)?;
    let count = reader.check_row_counts(set, options, &mut diagnostics)?;
    let template = empty_layer(set, source, options, &reader, &mut diagnostics)?;
    let mut layer = reader.take(&template, count, true)?;
    reader.report(&mut diagnostics);
    layer.diagnostics = diagnostics;
    Ok(layer)
}

/// A layer without rows: schema, coordinate system and units.
pub(super) fn empty_layer(
    set: &LayerFiles,
    source: &Source,
    options: &ReadOptions,
    reader: &PairedReader,
    diagnostics: &mut Vec<Diagnostic>,
) -> Result<Layer> {
    let mut fields = reader.fields();
    if set.shp.is_none() {
        diagnostics.push(Diagnostic::from_code(Code::NoShp));
    }
    if set.dbf.is_none() {
        diagnostics.push(Diagnostic::from_code(Code::NoDbf));
    }
    let mut prj = read_prj(set, options, diagnostics)?;
    let crs_from_code = prj.as_deref().and_then(Crs::from_code);
    let is_code = crs_from_code.is_some();
    let crs = prj.as_deref().and_then(|text| parse_crs(text, crs_from_code, set, diagnostics));
    if is_code {
        // A code is no WKT, so pass the WKT of that code.
        prj = crs.as_ref().map(|crs| crs.wkt().to_owned());
    }
    let mut geometry = None;
    if reader.shapes.is_some() {
        let names: Vec<String> = fields.iter().map(|field| field.name().clone()).collect();
        geometry = Some(fields.len());
        fields.push(schema::geometry_field(&names, crs.as_ref(), prj.as_deref()));
    }
    let schema = Arc::new(Schema::new(fields));
    report_duplicate_names(&schema, set, diagnostics);
    let sidecars = Sidecars::read(set, diagnostics);
    let layer = Layer { geometry, crs, prj, ..Layer::new(&*set.name, source.name(), schema) };
    Ok(sidecars.apply_to(layer, set, options.columns.is_none(), diagnostics))
}

/// Reports columns with the same name, which are renamed in written files.
fn report_duplicate_names(schema: &Schema, set: &LayerFiles, diagnostics: &mut Vec<Diagnostic>) {
    let names = schema::distinct_names(schema);
    if let Some((field, name)) = schema.fields().iter().zip(&names).find(|(field, name)| field.name() != *name) {
        let message = format!(
            "several columns have the name `{}`; written files and GeoJSON name the later ones `{name}` and so on",
            field.name()
        );
        let member = set.dbf.as_ref().map(|dbf| dbf.name().to_owned()).unwrap_or_default();
        diagnostics.push(Diagnostic::new(Code::DuplicateColumn, message).in_member(&member));
    }
}

/// The text of the .prj, if present.
fn read_prj(set: &LayerFiles, options: &ReadOptions, diagnostics: &mut Vec<Diagnostic>) -> Result<Option<String>> {
    let Some(prj) = &set.prj else {
        if set.shp.is_some() {
            diagnostics.push(Diagnostic::from_code(Code::NoPrj));
        }
        return Ok(None);
    };
    let Some(bytes) = sidecars::read_small(prj, sidecars::MAX_SIZE, options.strict, diagnostics)? else {
        return Ok(None);
    };
    let text = String::from_utf8_lossy(&bytes);
    let text = text.trim_start_matches('\u{feff}').trim_matches(['\0', ' ', '\r', '\n', '\t']);
    if text.is_empty() {
        let message = "the .prj is empty, so the coordinate system is unknown";
        diagnostics.push(Diagnostic::new(Code::CrsUnknown, message).in_member(prj.name()));
        return Ok(None);
    }
    Ok(Some(text.to_owned()))
}

/// Parses the coordinate system, or uses the one found by its code.
fn parse_crs(
    text: &str,
    crs_from_code: Option<Result<Crs>>,
    set: &LayerFiles,
    diagnostics: &mut Vec<Diagnostic>,
) -> Option<Crs> {
    let member = set.prj.as_ref().map(|prj| prj.name().to_owned()).unwrap_or_default();
    if crs_from_code.as_ref().is_some_and(std::result::Result::is_ok) {
        let message = format!("the .prj contains the code `{text}` instead of well-known text; the code was used");
        diagnostics.push(Diagnostic::new(Code::CrsByCode, message).in_member(&member));
    }
    match crs_from_code.unwrap_or_else(|| Crs::from_wkt(text)) {
        Ok(crs) => {
            diagnostics.extend(crs.diagnostics().into_iter().map(|found| found.in_member(&member)));
            Some(crs)
        }
        Err(error) => {
            let message = format!("the coordinate system is unknown: {}", error.message());
            diagnostics.push(Diagnostic::new(Code::CrsUnknown, message).in_member(&member));
            None
        }
    }
}
