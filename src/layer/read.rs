//! A source into a layer: the set is chosen, its members are read side by side, and what they say is held together.

use std::collections::BTreeSet;

use arrow_schema::{ArrowError, Field};

use super::crs::Crs;
use super::geometry::Geometries;
use super::table::{self, Table};
use super::{Layer, grain_cart, schema, units};
use crate::archive::{self, Diagnostic, Encoding, Index, Member, Options, Set, Source};
use crate::error::{Error, Kind, Result};

/// Sidecars are small; more than this is none.
const SIDECAR: u64 = 4 << 20;

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
        Some(name) if Encoding::named(name).is_none() => {
            wrong(format!("`encoding` takes the name of an encoding, such as `cp1252`, not `{name}`"))
        }
        _ => Ok(()),
    }
}

/// Reads one layer of a zip, a folder or a shapefile, or a grain cart file.
pub fn read(source: &Source, options: &Options) -> Result<Layer> {
    check(options)?;
    let (sets, mut notes) = archive::sets(source, &options.limits)?;
    let set = Set::choose(sets, options.layer.as_deref(), source)?;
    if options.strict {
        set.lacks_refused(&notes)?;
    }
    let layer = if let Some(grc) = &set.grc {
        grain_cart::read(set.name.clone(), source.name(), grc, options, notes)?
    } else {
        let (shapes, table) = members(&set, options, &mut notes)?;
        assemble(set, source, options, shapes, table, notes)?
    };
    match options.to_crs {
        Some(_) => layer.into_wgs84(),
        None => Ok(layer),
    }
}

fn is_wgs84(name: &str) -> bool {
    ["EPSG:4326", "WGS84", "WGS 84", "OGC:CRS84", "4326"].iter().any(|known| name.trim().eq_ignore_ascii_case(known))
}

/// Shapes and records, on two threads where there are two.
fn members(set: &Set, options: &Options, notes: &mut Vec<Diagnostic>) -> Result<(Option<Geometries>, Option<Table>)> {
    let threads = options.threads.or_else(|| std::thread::available_parallelism().ok().map(usize::from)).unwrap_or(1);
    let read_table = || set.dbf.as_ref().map(|dbf| table::read(dbf, set.cpg.as_ref(), options)).transpose();
    let read_shapes = || -> Result<_> {
        let mut notes = Vec::new();
        let shapes = set.shp.as_ref().map(|shp| shapes(shp, set, options, &mut notes)).transpose()?;
        Ok((shapes, notes))
    };
    let (shapes, table) = if threads > 1 && set.shp.is_some() && set.dbf.is_some() {
        std::thread::scope(|scope| {
            let other = scope.spawn(read_shapes);
            let table = read_table();
            let shapes = other.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic));
            (shapes, table)
        })
    } else {
        (read_shapes(), read_table())
    };
    // Without `strict`, one half may stand for itself where the other cannot be read at all.
    let both = set.shp.is_some() && set.dbf.is_some();
    let mut lost = |error: Error| {
        if options.strict || !both || error.kind() != Kind::Archive {
            return Err(error);
        }
        let member = error.facts().member.clone().unwrap_or_default();
        notes.push(Diagnostic::new("member-lost", format!("it could not be read: {error}")).in_member(&member));
        Ok(())
    };
    let shapes = match shapes {
        Ok((shapes, found)) => Some((shapes, found)),
        Err(error) => lost(error).map(|()| None)?,
    };
    let table = match table {
        Err(error) if shapes.is_some() => lost(error).map(|()| None)?,
        table => table?,
    };
    let (shapes, found) = shapes.unwrap_or_default();
    notes.extend(found);
    Ok((shapes, table))
}

/// The geometries of a .shp.
fn shapes(shp: &Member, set: &Set, options: &Options, notes: &mut Vec<Diagnostic>) -> Result<Geometries> {
    let index = match &set.shx {
        None => None,
        Some(shx) => match Index::read(shx, shp.size()) {
            Err(error) if !options.strict => {
                notes.push(
                    Diagnostic::new("shx-damaged", format!("the index was ignored: {error}")).in_member(shx.name()),
                );
                None
            }
            index => index?,
        },
    };
    match &index {
        None => {
            let message = "there is no index (.shx); the records were read one after the other";
            notes.push(Diagnostic::new("no-shx", message).in_member(shp.name()));
        }
        Some(index) if !index.is_in_order() => {
            let message = "the records stand in another order than the index; rows follow the index";
            notes.push(Diagnostic::new("out-of-order", message).in_member(shp.name()));
        }
        Some(_) => {}
    }
    let read = |has_m| {
        let mut found = Vec::new();
        let mut all = Geometries::new(has_m, shp.size());
        archive::records(shp, index.as_ref(), options.strict, &mut found, |header, number, record| {
            all.push(header, number, &record);
            Ok(())
        })?;
        Ok::<_, Error>((all, found))
    };
    let (mut all, mut found) = read(None)?;
    // An M that comes late changes every record before it; such files are rare enough to be read twice.
    if all.needs_m {
        (all, found) = read(Some(true))?;
    }
    notes.extend(found);
    all.findings.tell(shp.name(), None, notes);
    Ok(all)
}

fn assemble(
    set: Set,
    source: &Source,
    options: &Options,
    shapes: Option<Geometries>,
    table: Option<Table>,
    mut notes: Vec<Diagnostic>,
) -> Result<Layer> {
    let shape_count = shapes.as_ref().map(Geometries::len);
    let (records, deleted) = match table {
        Some(Table { records, ref deleted, .. }) => (Some(records), deleted.clone()),
        None => (None, Vec::new()),
    };
    let rows = match (shape_count, records) {
        (Some(shapes), Some(records)) if shapes != records => {
            let message = format!("the .shp has {shapes} records and the .dbf {records}: they do not belong together");
            let member = set.dbf.as_ref().map(|dbf| dbf.name().to_owned()).unwrap_or_default();
            if options.strict {
                return Err(Error::archive(member, message).with(|facts| facts.record = Some(shapes.min(records))));
            }
            let message = format!("{message}; the first {} were kept", shapes.min(records));
            notes.push(Diagnostic::new("row-mismatch", message).in_member(&member).at(shapes.min(records)));
            shapes.min(records)
        }
        (shapes, records) => shapes.or(records).unwrap_or(0),
    };
    if set.dbf.is_none() {
        let message = "there is no .dbf, so the layer has no columns but its geometry";
        notes.push(Diagnostic::new("no-dbf", message));
    }
    let deleted: BTreeSet<u64> = deleted.into_iter().filter(|record| *record < rows).collect();
    let kept = usize::try_from(rows).unwrap_or(usize::MAX).saturating_sub(deleted.len());
    let prj = prj(&set, options, &mut notes)?;
    let crs = prj.as_deref().and_then(|text| crs(text, &set, &mut notes));

    let (mut fields, mut arrays) = (Vec::new(), Vec::new());
    let broken = |cause: ArrowError| Error::new(Kind::Archive, format!("the columns do not form a table: {cause}"));
    if let Some(table) = table {
        notes.extend(table.notes);
        for column in table.columns {
            fields.push(Field::new(&column.name, column.data_type(), true));
            arrays.push(column.finish().map_err(broken)?.slice(0, kept));
        }
    }
    let mut geometry = None;
    let mut types = Vec::new();
    if let Some(shapes) = shapes {
        let names: Vec<String> = fields.iter().map(|field| field.name().clone()).collect();
        geometry = Some(fields.len());
        fields.push(schema::geometry_field(&names, crs.as_ref(), prj.as_deref()));
        types = shapes.types.iter().copied().collect();
        arrays.push(shapes.without(&deleted).finish().map_err(broken)?.slice(0, kept));
    }
    let (schema, batch) = schema::batch(fields, arrays, kept).map_err(broken)?;
    let units = vendor_units(&set, options, &mut notes)?;
    let unknown: Vec<&str> =
        units.iter().map(|(name, _)| name.as_str()).filter(|name| schema.field_with_name(name).is_err()).collect();
    if !unknown.is_empty() {
        let message = format!("it states units of columns that the layer does not have: {}", unknown.join(", "));
        let member = set.metadata.as_ref().map(|member| member.name().to_owned()).unwrap_or_default();
        notes.push(Diagnostic::new("units-unmatched", message).in_member(&member));
    }
    let layer = Layer {
        name: set.name,
        source: source.name(),
        schema,
        batches: vec![batch],
        geometry,
        crs,
        prj,
        metadata: Vec::new(),
        diagnostics: notes,
        types,
    };
    Ok(if units.is_empty() { layer } else { layer.with_units(&units) })
}

/// The text of the .prj.
fn prj(set: &Set, options: &Options, notes: &mut Vec<Diagnostic>) -> Result<Option<String>> {
    let Some(prj) = &set.prj else {
        if set.shp.is_some() {
            notes.push(Diagnostic::new("no-prj", "there is no .prj, so the coordinate system is unknown"));
        }
        return Ok(None);
    };
    let Some(bytes) = sidecar(prj, options, notes)? else { return Ok(None) };
    let text = String::from_utf8_lossy(&bytes);
    Ok(Some(text.trim_start_matches('\u{feff}').trim_matches(['\0', ' ', '\r', '\n']).to_owned()))
}

fn crs(text: &str, set: &Set, notes: &mut Vec<Diagnostic>) -> Option<Crs> {
    let member = set.prj.as_ref().map(|prj| prj.name().to_owned()).unwrap_or_default();
    match Crs::from_wkt(text) {
        Ok(crs) => Some(crs),
        Err(error) => {
            let message = format!("the coordinate system is unknown: {}", error.message());
            notes.push(Diagnostic::new("crs-unknown", message).in_member(&member));
            None
        }
    }
}

fn vendor_units(set: &Set, options: &Options, notes: &mut Vec<Diagnostic>) -> Result<Vec<(String, String)>> {
    let Some(metadata) = &set.metadata else { return Ok(Vec::new()) };
    let Some(bytes) = sidecar(metadata, options, notes)? else { return Ok(Vec::new()) };
    Ok(units::from_metadata(&bytes).unwrap_or_else(|| {
        let message = "it is not the JSON that was expected; the units are unknown";
        notes.push(Diagnostic::new("metadata-ignored", message).in_member(metadata.name()));
        Vec::new()
    }))
}

/// The bytes of a small member; without `strict`, a damaged one is as good as none.
fn sidecar(member: &Member, options: &Options, notes: &mut Vec<Diagnostic>) -> Result<Option<Vec<u8>>> {
    match member.read_all(SIDECAR) {
        Err(error) if !options.strict => {
            notes.push(
                Diagnostic::new("sidecar-lost", format!("it could not be read: {error}")).in_member(member.name()),
            );
            Ok(None)
        }
        bytes => bytes.map(Some),
    }
}
