//! A source into a layer: the set is chosen, its members are read side by side, and what they say is held together.

use std::sync::Arc;

use arrow_schema::Schema;

use super::Layer;
use super::crs::Crs;
use super::fmis;
use super::grain_cart;
use super::paired_reader::Rows;
use super::schema;
use super::sidecars::{self, Sidecars};
use crate::archive::{self, Code, Diagnostic, ReadOptions, Set, Source};
use crate::error::{Argument, Error, Kind, Result};

/// Reads one layer of a zip, a folder or a shapefile, or a grain cart file.
pub fn read(source: &Source, options: &ReadOptions) -> Result<Layer> {
    options.check()?;
    read_checked(source, options).map_err(|error| advised(error, options))
}

/// The same error, which says what else can be done where it is about damage at a place.
pub(super) fn advised(error: Error, options: &ReadOptions) -> Error {
    let facts = error.facts();
    let is_damage = facts.field.is_none() && (facts.record.is_some() || facts.offset.is_some());
    let is_hinted = facts.hint.is_some();
    if options.strict && error.kind() == Kind::Archive && is_damage && !error.lacks_memory() && !is_hinted {
        return error.hinting("; ", Argument::Strict, " reads what can be saved");
    }
    error
}

fn read_checked(source: &Source, options: &ReadOptions) -> Result<Layer> {
    let (set, mut notes) = chosen(source, options)?;
    let mut layer = match at_once(&set, source, options, &mut notes) {
        Some(layer) => layer?,
        None => whole(&set, source, options, notes)?,
    };
    Diagnostic::sort(&mut layer.diagnostics);
    layer.in_system_of(options)
}

/// The set that is meant, and what was refused on the way to it.
pub(super) fn chosen(source: &Source, options: &ReadOptions) -> Result<(Set, Vec<Diagnostic>)> {
    let (sets, notes) = archive::sets(source, options)?;
    let set = Set::choose(sets, options.layer.as_deref(), source)?;
    if options.strict {
        set.lacks_refused(&notes)?;
    }
    Ok((set, notes))
}

/// The layer of a set that is no shapefile, which is read at once; `None` where it is one.
pub(super) fn at_once(
    set: &Set,
    source: &Source,
    options: &ReadOptions,
    notes: &mut Vec<Diagnostic>,
) -> Option<Result<Layer>> {
    if let Some(grc) = &set.grc {
        return Some(grain_cart::read(set.name.clone(), source.name(), grc, options, std::mem::take(notes)));
    }
    let product = set.fmis.as_ref()?;
    Some(fmis::read(set.name.clone(), source.name(), product, options, std::mem::take(notes)))
}

/// The layer of a shapefile, all its rows in one batch.
fn whole(set: &Set, source: &Source, options: &ReadOptions, mut notes: Vec<Diagnostic>) -> Result<Layer> {
    let mut rows = Rows::whole(set, options, &mut notes)?;
    let count = rows.common(set, options, &mut notes)?;
    let head = head(set, source, options, &rows, &mut notes)?;
    let mut layer = rows.take(&head, count, true)?;
    rows.tell(&mut notes);
    layer.diagnostics = notes;
    Ok(layer)
}

/// A layer without rows: its schema, and what its sidecars say of coordinates and units.
pub(super) fn head(
    set: &Set,
    source: &Source,
    options: &ReadOptions,
    rows: &Rows,
    notes: &mut Vec<Diagnostic>,
) -> Result<Layer> {
    let mut fields = rows.fields();
    if set.shp.is_none() {
        let message = "there is no .shp, so the layer is a table without geometries";
        notes.push(Diagnostic::new(Code::NoShp, message));
    }
    if set.dbf.is_none() {
        let message = "there is no .dbf, so the layer has no columns but its geometry";
        notes.push(Diagnostic::new(Code::NoDbf, message));
    }
    let mut prj = prj(set, options, notes)?;
    let coded = prj.as_deref().and_then(Crs::from_code);
    let is_code = coded.is_some();
    let crs = prj.as_deref().and_then(|text| crs(text, coded, set, notes));
    if is_code {
        // A code is no text that a reader of coordinate systems takes, so that it is not handed on as one.
        prj = crs.as_ref().map(|crs| crs.wkt().to_owned());
    }
    let mut geometry = None;
    if rows.shapes.is_some() {
        let names: Vec<String> = fields.iter().map(|field| field.name().clone()).collect();
        geometry = Some(fields.len());
        fields.push(schema::geometry_field(&names, crs.as_ref(), prj.as_deref()));
    }
    let schema = Arc::new(Schema::new(fields));
    tell_twins(&schema, set, notes);
    let sidecars = Sidecars::read(set, notes);
    let layer = Layer {
        name: set.name.clone(),
        source: source.name(),
        schema,
        batches: Vec::new(),
        geometry,
        crs,
        prj,
        metadata: Vec::new(),
        diagnostics: Vec::new(),
        types: Vec::new(),
    };
    Ok(sidecars.on(layer, set, options.columns.is_none(), notes))
}

/// Tells of columns of one name, which only stand apart in what is written.
fn tell_twins(schema: &Schema, set: &Set, notes: &mut Vec<Diagnostic>) {
    let names = schema::distinct_names(schema);
    if let Some((field, name)) = schema.fields().iter().zip(&names).find(|(field, name)| field.name() != *name) {
        let message = format!(
            "several columns are called `{}`; files that are written and GeoJSON call the later ones `{name}` and so on",
            field.name()
        );
        let member = set.dbf.as_ref().map(|dbf| dbf.name().to_owned()).unwrap_or_default();
        notes.push(Diagnostic::new(Code::DuplicateColumn, message).in_member(&member));
    }
}

/// The text of the .prj, if there is any.
fn prj(set: &Set, options: &ReadOptions, notes: &mut Vec<Diagnostic>) -> Result<Option<String>> {
    let Some(prj) = &set.prj else {
        if set.shp.is_some() {
            notes.push(Diagnostic::new(Code::NoPrj, "there is no .prj, so the coordinate system is unknown"));
        }
        return Ok(None);
    };
    let Some(bytes) = sidecars::small(prj, sidecars::MOST, options.strict, notes)? else { return Ok(None) };
    let text = String::from_utf8_lossy(&bytes);
    let text = text.trim_start_matches('\u{feff}').trim_matches(['\0', ' ', '\r', '\n', '\t']);
    if text.is_empty() {
        let message = "the .prj is empty, so the coordinate system is unknown";
        notes.push(Diagnostic::new(Code::CrsUnknown, message).in_member(prj.name()));
        return Ok(None);
    }
    Ok(Some(text.to_owned()))
}

/// The system of a text, or of the code that it was found to be.
fn crs(text: &str, coded: Option<Result<Crs>>, set: &Set, notes: &mut Vec<Diagnostic>) -> Option<Crs> {
    let member = set.prj.as_ref().map(|prj| prj.name().to_owned()).unwrap_or_default();
    if coded.as_ref().is_some_and(std::result::Result::is_ok) {
        let message = format!("it holds the code `{text}` and no well-known text; the code was taken");
        notes.push(Diagnostic::new(Code::CrsByCode, message).in_member(&member));
    }
    match coded.unwrap_or_else(|| Crs::from_wkt(text)) {
        Ok(crs) => {
            if crs.projjson().is_none() {
                let message =
                    format!("`{}` cannot be said in PROJJSON: GeoParquet will have no coordinate system", crs.name());
                notes.push(Diagnostic::new(Code::CrsWithoutProjjson, message).in_member(&member));
            }
            if let Some(message) = crs.caution() {
                notes.push(Diagnostic::new(Code::DatumOffset, message).in_member(&member));
            }
            Some(crs)
        }
        Err(error) => {
            let message = format!("the coordinate system is unknown: {}", error.message());
            notes.push(Diagnostic::new(Code::CrsUnknown, message).in_member(&member));
            None
        }
    }
}
