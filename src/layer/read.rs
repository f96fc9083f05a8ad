//! A source into a layer: the set is chosen, its members are read side by side, and what they say is held together.

use std::sync::Arc;

use arrow_schema::{Field, Schema};

use super::Layer;
use super::crs::Crs;
use super::fmis;
use super::grain_cart;
use super::rows::{Rows, held_together};
use super::schema::{self, broken};
use super::shapes::column::ShapeColumn;
use super::sidecars::{self, Sidecars};
use super::table::TableReader;
use crate::archive::{self, Code, Diagnostic, Encoding, Options, Set, Source};
use crate::error::{Argument, Error, Kind, Result};

/// Refuses options that no archive could be read with, for those who fetch one first.
pub fn check(options: &Options) -> Result<()> {
    let wrong = |message: String| Err(Error::new(Kind::Value, message));
    match &options.to_crs {
        Some(target) if !is_wgs84(target) => {
            return wrong(format!(
                "`to_crs` takes `EPSG:4326` (`WGS84`), which layers can be transformed to, not `{target}`"
            ));
        }
        _ => {}
    }
    match &options.encoding {
        Some(name) if name.contains(char::is_control) || Encoding::named(name).is_none() => wrong(format!(
            "`encoding` takes the name of an encoding that headland reads: `utf-8`, \
             `cp1252`, all of cp1250 to cp1258, latin-1 and iso-8859-1 to -16, of DOS cp437, cp737, cp775, cp850, cp852, \
             cp855, cp857, cp860 to cp863, cp865, cp866, cp869, cp874, of the Macintosh cp10000, cp10006, cp10007, cp10029, \
             koi8-r, koi8-u, shift_jis, euc-jp, gbk, gb18030, big5, euc-kr and others, not `{}`; FMIS tables in UTF-16 are \
             read as such without it",
            name.escape_debug()
        )),
        _ => Ok(()),
    }
}

/// Reads one layer of a zip, a folder or a shapefile, or a grain cart file.
pub fn read(source: &Source, options: &Options) -> Result<Layer> {
    check(options)?;
    read_checked(source, options).map_err(|error| advised(error, options))
}

/// The same error, which says what else can be done where it is about damage at a place.
pub(super) fn advised(error: Error, options: &Options) -> Error {
    let facts = error.facts();
    let is_damage = facts.field.is_none() && (facts.record.is_some() || facts.offset.is_some());
    let is_hinted = facts.hint.is_some();
    if options.strict && error.kind() == Kind::Archive && is_damage && !error.lacks_memory() && !is_hinted {
        return error.hinting("; ", Argument::Strict, " reads what can be saved");
    }
    error
}

fn read_checked(source: &Source, options: &Options) -> Result<Layer> {
    let (set, mut notes) = chosen(source, options)?;
    let mut layer = if let Some(layer) = at_once(&set, source, options, &mut notes) {
        layer?
    } else {
        let rows = members(&set, options, &mut notes)?;
        assemble(&set, source, options, rows, notes)?
    };
    Diagnostic::sort(&mut layer.diagnostics);
    match options.to_crs {
        Some(_) => layer.into_wgs84(),
        None => Ok(layer),
    }
}

/// The set that is meant, and what was refused on the way to it.
pub(super) fn chosen(source: &Source, options: &Options) -> Result<(Set, Vec<Diagnostic>)> {
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
    options: &Options,
    notes: &mut Vec<Diagnostic>,
) -> Option<Result<Layer>> {
    if let Some(grc) = &set.grc {
        return Some(grain_cart::read(set.name.clone(), source.name(), grc, options, std::mem::take(notes)));
    }
    let product = set.fmis.as_ref()?;
    Some(fmis::read(set.name.clone(), source.name(), product, options, std::mem::take(notes)))
}

fn is_wgs84(name: &str) -> bool {
    ["EPSG:4326", "WGS84", "WGS 84", "OGC:CRS84", "4326"].iter().any(|known| name.trim().eq_ignore_ascii_case(known))
}

/// All shapes and records.
fn members(set: &Set, options: &Options, notes: &mut Vec<Diagnostic>) -> Result<Rows> {
    let mut lost = Vec::new();
    let mut rows = Rows::whole(set, options, None, &mut lost)?;
    rows.advance(u64::MAX)?;
    // An M that comes late changes every record before it; such files are rare enough to be read twice.
    if rows.shapes.as_ref().is_some_and(ShapeColumn::needs_m) {
        lost.clear();
        rows = Rows::whole(set, options, Some(true), &mut lost)?;
        rows.advance(u64::MAX)?;
    }
    notes.extend(lost);
    Ok(rows)
}

fn assemble(set: &Set, source: &Source, options: &Options, rows: Rows, mut notes: Vec<Diagnostic>) -> Result<Layer> {
    let Rows { mut shapes, table, .. } = rows;
    let mut apart = Vec::new();
    let count = held_together(set, shapes.as_ref(), table.as_ref(), options, &mut apart)?;
    let (deleted, lost) = table.as_ref().map(|table| table.deleted(count)).unwrap_or_default();
    if let Some(shapes) = &mut shapes {
        shapes.settle(&deleted, count);
        shapes.tell(&mut notes);
    }
    notes.extend(apart);
    let kept = usize::try_from(count.saturating_sub(lost)).unwrap_or(usize::MAX);
    let fields = table.as_ref().map(TableReader::fields).unwrap_or_default();
    let mut sidecars = Vec::new();
    let mut layer = head(set, source, options, fields, shapes.is_some(), &mut sidecars)?;
    if let Some(table) = &table {
        table.tell(&mut notes);
    }
    notes.extend(sidecars);
    layer.diagnostics = notes;
    let mut arrays = table.map(TableReader::finish).transpose().map_err(|cause| broken(&cause))?.unwrap_or_default();
    if let Some(shapes) = shapes {
        let (geometry, types) = shapes.finish(&deleted).map_err(|cause| broken(&cause))?;
        arrays.push(geometry);
        layer.types = types;
    }
    layer.with_batch(arrays, kept)
}

/// A layer without rows: its schema, and what its sidecars say of coordinates and units.
pub(super) fn head(
    set: &Set,
    source: &Source,
    options: &Options,
    mut fields: Vec<Field>,
    has_shapes: bool,
    notes: &mut Vec<Diagnostic>,
) -> Result<Layer> {
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
    if has_shapes {
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
fn prj(set: &Set, options: &Options, notes: &mut Vec<Diagnostic>) -> Result<Option<String>> {
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
