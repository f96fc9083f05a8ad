//! Plans a publication: which parts are kept and which layers are written.
//!
//! A part is rewritten only if one of its jobs changed or was removed, or if it is small and its folder gets more rows.

use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};

use super::convert::{self, ConvertedLayer};
use super::farm_fields::{FieldNames, NamedGround};
use super::hilbert::Sides;
use super::manifest::{self, Manifest};
use super::row_origin::{CanonicalOrigin, RowOrigin};
use super::schema;
use super::source_archive::{RejectedArchive, SourceArchive};
use headland_base::error::{Error, Result};
use headland_reader::layer::boundary::boundaries;
use headland_reader::layer::{Cancel, run_ordered, threads};

/// Target sizes of the files. A single larger layer is still one file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Sizes {
    /// Rows of a part: 1,000,000.
    pub rows: u64,
    /// Bytes of a part: 128 MiB. Also limits the converted rows kept in memory between two passes over the archives.
    pub bytes: u64,
}

impl Default for Sizes {
    fn default() -> Self {
        Self { rows: 1_000_000, bytes: 128 << 20 }
    }
}

/// Layer to be written.
#[derive(Debug)]
pub(super) struct PendingLayer {
    /// Index of its archive in `wanted`.
    pub(super) archive_index: usize,
    pub(super) name: String,
    pub(super) rows: u64,
    pub(super) bounds: Option<Sides>,
    pub(super) positions: Vec<(f64, f64)>,
    /// Converted rows, if they fit in memory.
    pub(super) converted: Option<ConvertedLayer>,
}

/// Plan of a publication.
#[derive(Debug, Default)]
pub(super) struct Plan {
    pub(super) kept: Vec<manifest::Part>,
    /// Layers to be written, by folder.
    pub(super) written: BTreeMap<String, Vec<PendingLayer>>,
    /// Field boundaries in job order, each with the index of its archive in `wanted`.
    pub(super) boundaries: Vec<(usize, manifest::Boundary)>,
    pub(super) rejected: Vec<RejectedArchive>,
}

impl Plan {
    /// Ground of layers whose field the service states.
    pub(super) fn named_ground(&self, wanted: &[SourceArchive]) -> Vec<NamedGround> {
        let by_key = index_by_key(wanted);
        let source = |origin: &RowOrigin| wanted.get(*by_key.get(&(&*origin.kind, &*origin.job_id))?);
        let kept = self.kept.iter().flat_map(|part| &part.origins);
        let kept = kept.map(|origin| (source(origin), &origin.positions));
        let written = self.written.values().flatten();
        let written = written.map(|layer| (wanted.get(layer.archive_index), &layer.positions));
        let named = |(source, positions): (Option<&SourceArchive>, &Vec<(f64, f64)>)| {
            let source = source?;
            let (job_id, field) = (source.job_id.clone(), source.field.clone()?);
            Some(NamedGround { job_id, field, year: schema::job_year(source), positions: positions.clone() })
        };
        kept.chain(written).filter_map(named).collect()
    }

    /// Writes kept parts again if the field of canonical rows is another, such as that of a new boundary.
    pub(super) fn rewrite_renamed(&mut self, fields: &FieldNames, wanted: &[SourceArchive]) -> Result<()> {
        let by_key = index_by_key(wanted);
        for part in std::mem::take(&mut self.kept) {
            let mut is_same = true;
            let mut layers = Vec::new();
            for origin in &part.origins {
                let found = by_key.get(&(&*origin.kind, &*origin.job_id)).copied();
                let Some((index, source)) = found.and_then(|index| Some((index, wanted.get(index)?))) else { continue };
                if let Some(CanonicalOrigin { stated_field, field, .. }) = &origin.canonical {
                    is_same &= fields.name(source, stated_field.as_deref(), &origin.positions)? == *field;
                }
                layers.push(PendingLayer::from_origin(origin, index));
            }
            if is_same {
                self.kept.push(part);
            } else {
                self.written.entry(part.folder().to_owned()).or_default().extend(layers);
            }
        }
        Ok(())
    }
}

impl PendingLayer {
    /// Layer of the last generation, which is read again.
    fn from_origin(origin: &RowOrigin, archive_index: usize) -> Self {
        Self {
            archive_index,
            name: origin.layer.clone(),
            rows: origin.rows,
            bounds: origin.bbox,
            positions: origin.positions.clone(),
            converted: None,
        }
    }
}

/// Index of each archive by the kind and id of its record.
fn index_by_key(wanted: &[SourceArchive]) -> HashMap<(&str, &str), usize> {
    wanted.iter().enumerate().map(|(index, source)| ((source.kind.as_str(), &*source.job_id), index)).collect()
}

/// Part of the last generation.
struct PreviousPart<'a> {
    part: &'a manifest::Part,
    /// Layers that are still wanted unchanged: index in the part and index in `wanted`.
    live: Vec<(usize, usize)>,
    is_whole: bool,
}

/// Compares the wanted archives with the last generation.
///
/// If `is_retry`, archives are read before their row counts are used, since one of them differed from its last read.
pub(super) fn plan_parts(
    last: Option<&Manifest>,
    is_present: &dyn Fn(&manifest::Part) -> bool,
    wanted: &[SourceArchive],
    sizes: Sizes,
    is_retry: bool,
    cancel: &Cancel,
) -> Result<Plan> {
    let by_key = index_by_key(wanted);
    let parts: Vec<PreviousPart<'_>> =
        last.iter().flat_map(|last| &last.parts).map(|part| compare_part(part, &by_key, wanted, is_present)).collect();
    let unchanged: HashSet<usize> = parts.iter().flat_map(|part| &part.live).map(|(_, index)| *index).collect();
    let mut plan = Plan::default();
    // The folder of a new or changed layer is known only after reading it.
    let new: Vec<usize> = (0..wanted.len()).filter(|index| !unchanged.contains(index)).collect();
    read_archives(&mut plan, &new, wanted, None, sizes, cancel)?;
    for boundary in last.iter().flat_map(|last| &last.boundaries) {
        let found = by_key.get(&(&*boundary.kind, &*boundary.job_id)).filter(|index| unchanged.contains(index));
        if let Some((index, source)) = found.and_then(|index| Some((*index, wanted.get(*index)?)))
            && source.sha256 == boundary.archive
        {
            let (year, field) = (schema::job_year(source), source.field.clone());
            plan.boundaries.push((index, manifest::Boundary { year, field, ..boundary.clone() }));
        }
    }
    plan.boundaries.sort_by(|(a, one), (b, other)| (a, &one.layer).cmp(&(b, &other.layer)));
    let mut touched: BTreeSet<String> = plan.written.keys().cloned().collect();
    let broken = parts.iter().filter(|part| !part.is_whole && !part.live.is_empty());
    touched.extend(broken.map(|part| part.part.folder().to_owned()));
    let mut rewritten: Vec<(&manifest::Part, &RowOrigin, usize)> = Vec::new();
    for part in &parts {
        let is_small = part.part.rows < sizes.rows / 2 && part.part.bytes < sizes.bytes / 2;
        let live =
            part.live.iter().filter_map(|(origin, index)| Some((part.part, part.part.origins.get(*origin)?, *index)));
        if part.is_whole && !(is_small && touched.contains(part.part.folder())) {
            let mut kept = part.part.clone();
            for (origin, (_, index)) in kept.origins.iter_mut().zip(&part.live) {
                if let Some(source) = wanted.get(*index) {
                    origin.refresh(source);
                }
            }
            plan.kept.push(kept);
        } else {
            rewritten.extend(live);
        }
    }
    if is_retry {
        let chosen: HashSet<(usize, &str)> =
            rewritten.iter().map(|(_, origin, index)| (*index, &*origin.layer)).collect();
        let archives: BTreeSet<usize> = rewritten.iter().map(|(_, _, index)| *index).collect();
        let archives: Vec<usize> = archives.into_iter().collect();
        read_archives(
            &mut plan,
            &archives,
            wanted,
            Some(&|index, layer| chosen.contains(&(index, layer))),
            sizes,
            cancel,
        )?;
    } else {
        for (part, origin, index) in rewritten {
            let layer = PendingLayer::from_origin(origin, index);
            plan.written.entry(part.folder().to_owned()).or_default().push(layer);
        }
    }
    Ok(plan)
}

/// Finds the layers of a part that are still wanted unchanged.
fn compare_part<'a>(
    part: &'a manifest::Part,
    by_key: &HashMap<(&str, &str), usize>,
    wanted: &[SourceArchive],
    is_present: &dyn Fn(&manifest::Part) -> bool,
) -> PreviousPart<'a> {
    let is_live = |(index, origin): (usize, &RowOrigin)| {
        let found = *by_key.get(&(&*origin.kind, &*origin.job_id))?;
        let source = wanted.get(found)?;
        let has_same_job = origin.canonical.as_ref().is_none_or(|canonical| canonical.job == source.job_digest());
        let is_same = source.sha256 == origin.archive
            && has_same_job
            && part.path.starts_with(&schema::job_folder(source))
            && convert::cart_layer_name(source).is_none_or(|name| name == origin.layer);
        is_same.then_some((index, found))
    };
    let live: Vec<_> = part.origins.iter().enumerate().filter_map(is_live).collect();
    let is_whole = live.len() == part.origins.len() && is_present(part);
    PreviousPart { part, live, is_whole }
}

/// Selects layers by archive index and layer name.
type LayerFilter<'a> = &'a (dyn Fn(usize, &str) -> bool + Sync);

/// Reads archives to learn the folders of their layers; unreadable ones are rejected.
///
/// Without `chosen`, all layers are read, and field boundaries are moved to their table.
fn read_archives(
    plan: &mut Plan,
    archives: &[usize],
    wanted: &[SourceArchive],
    chosen: Option<LayerFilter<'_>>,
    sizes: Sizes,
    cancel: &Cancel,
) -> Result<()> {
    // Archives are read in parallel, each on one thread.
    let each = (archives.len() > 1).then_some(1);
    let read = |step: usize, found: &mut Option<Result<Vec<ConvertedLayer>>>| {
        cancel.check()?;
        if let Some((index, source)) = archives.get(step).and_then(|index| Some((*index, wanted.get(*index)?))) {
            let layers = convert::layer_names(source).and_then(|names| {
                let is_chosen = |name: &&String| chosen.is_none_or(|chosen| chosen(index, name));
                names.iter().filter(is_chosen).map(|name| convert::convert_layer(source, name, each)).collect()
            });
            *found = Some(layers);
        }
        Ok(())
    };
    // Keeps converted layers until they are written, up to the byte limit of a part.
    let (mut kept_bytes, mut next) = (0_u64, archives.iter());
    run_ordered(threads(), archives.len(), read, &mut |found: &mut Option<Result<Vec<ConvertedLayer>>>| {
        let (Some(index), Some(found)) = (next.next(), found.take()) else { return Ok(()) };
        let Some(source) = wanted.get(*index) else { return Ok(()) };
        match found {
            Ok(layers) => {
                let can_be: Vec<bool> = layers.iter().map(|layer| layer.layer.can_be_boundary()).collect();
                for (layer, is_boundary) in layers.into_iter().zip(boundaries(&can_be)) {
                    if is_boundary && chosen.is_none() {
                        plan.boundaries.push((*index, to_boundary(source, layer)));
                        continue;
                    }
                    let folder = layer.folder(source);
                    let (rows, bounds, name) = (layer.len() as u64, layer.bounds, layer.name.clone());
                    let positions = layer.positions.clone();
                    let more = kept_bytes.saturating_add(layer.memory_size() as u64);
                    let fits = more <= sizes.bytes;
                    if fits {
                        kept_bytes = more;
                    }
                    let converted = fits.then_some(layer);
                    plan.written.entry(folder).or_default().push(PendingLayer {
                        archive_index: *index,
                        name,
                        rows,
                        bounds,
                        positions,
                        converted,
                    });
                }
            }
            Err(error) => plan.rejected.push(RejectedArchive::from_error(source, archive_error(error)?)),
        }
        Ok(())
    })
}

fn to_boundary(source: &SourceArchive, layer: ConvertedLayer) -> manifest::Boundary {
    manifest::Boundary {
        kind: source.kind.as_str().to_owned(),
        job_id: source.job_id.clone(),
        layer: layer.name,
        archive: source.sha256.clone(),
        year: schema::job_year(source),
        field: source.field.clone(),
        digest: layer.digest,
    }
}

/// The error if the archive is its cause; otherwise fails, which ends the publication.
pub(super) fn archive_error(error: Error) -> Result<Error> {
    /// `ENOMEM`, `ENFILE` and `EMFILE`.
    const MACHINE_ERRORS: [i32; 3] = [12, 23, 24];
    if error.facts().os_error.is_some_and(|code| MACHINE_ERRORS.contains(&code)) { Err(error) } else { Ok(error) }
}
