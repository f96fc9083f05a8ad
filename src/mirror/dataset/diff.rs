//! Which parts stay as they are, and which rows are written anew: a part is only touched when a job of it changed or went,
//! or when it is small and its folder gets more rows.

use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};

use super::convert::{self, ConvertedLayer};
use super::hilbert::Sides;
use super::manifest::{self, Manifest};
use super::schema;
use super::source_archive::{RejectedArchive, SourceArchive};
use crate::error::{Error, Result};
use crate::layer::boundary::boundaries;
use crate::layer::{Cancel, run_ordered, threads};

/// How large the files are meant to be; a single layer that is larger is one file all the same.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Sizes {
    /// Rows of a part: 1,000,000.
    pub rows: u64,
    /// Bytes of a part, and of the rows that are kept in memory between two passes over the archives: 128 MiB.
    pub bytes: u64,
}

impl Default for Sizes {
    fn default() -> Self {
        Self { rows: 1_000_000, bytes: 128 << 20 }
    }
}

/// A layer that is written anew.
#[derive(Debug)]
pub(super) struct PendingLayer {
    /// The place of its archive among those that are wanted.
    pub(super) archive_index: usize,
    pub(super) name: String,
    pub(super) rows: u64,
    pub(super) bounds: Option<Sides>,
    /// What was read, where there was room to keep it.
    pub(super) converted: Option<ConvertedLayer>,
}

/// What a publication does.
#[derive(Debug, Default)]
pub(super) struct Plan {
    pub(super) kept: Vec<manifest::Part>,
    /// By folder, what is written there.
    pub(super) written: BTreeMap<String, Vec<PendingLayer>>,
    /// Boundaries of fields, each with the place of its archive among those that are wanted, in the order of jobs.
    pub(super) boundaries: Vec<(usize, manifest::Boundary)>,
    pub(super) rejected: Vec<RejectedArchive>,
}

/// What a part of the last generation still has.
struct PreviousPart<'a> {
    part: &'a manifest::Part,
    /// Its layers that are wanted as they are: places among its own and among those that are wanted.
    live: Vec<(usize, usize)>,
    is_whole: bool,
}

/// Compares what is wanted with the last generation. With `again`, archives are read before their rows are counted on,
/// since one of them was found to be another than it was.
pub(super) fn plan_parts(
    last: Option<&Manifest>,
    is_present: &dyn Fn(&manifest::Part) -> bool,
    wanted: &[SourceArchive],
    sizes: Sizes,
    is_retry: bool,
    cancel: &Cancel,
) -> Result<Plan> {
    let by_key: HashMap<(&str, &str), usize> =
        wanted.iter().enumerate().map(|(index, source)| ((source.kind.as_str(), &*source.job_id), index)).collect();
    let parts: Vec<PreviousPart<'_>> =
        last.iter().flat_map(|last| &last.parts).map(|part| compare_part(part, &by_key, wanted, is_present)).collect();
    let unchanged: HashSet<usize> = parts.iter().flat_map(|part| &part.live).map(|(_, index)| *index).collect();
    let mut plan = Plan::default();
    // What is new or changed has to be read before it is known where it belongs.
    let new: Vec<usize> = (0..wanted.len()).filter(|index| !unchanged.contains(index)).collect();
    read_archives(&mut plan, &new, wanted, None, sizes, cancel)?;
    for boundary in last.iter().flat_map(|last| &last.boundaries) {
        let found = by_key.get(&(&*boundary.kind, &*boundary.job_id)).filter(|index| unchanged.contains(index));
        if let Some((index, source)) = found.and_then(|index| Some((*index, wanted.get(*index)?)))
            && source.sha256 == boundary.archive
        {
            plan.boundaries.push((index, manifest::Boundary { year: schema::job_year(source), ..boundary.clone() }));
        }
    }
    plan.boundaries.sort_by(|(a, one), (b, other)| (a, &one.layer).cmp(&(b, &other.layer)));
    let mut touched: BTreeSet<String> = plan.written.keys().cloned().collect();
    let broken = parts.iter().filter(|part| !part.is_whole && !part.live.is_empty());
    touched.extend(broken.map(|part| part.part.folder().to_owned()));
    let mut rewritten: Vec<(&manifest::Part, &manifest::RowOrigin, usize)> = Vec::new();
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
            let (name, rows, bounds) = (origin.layer.clone(), origin.rows, origin.bbox);
            let layer = PendingLayer { archive_index: index, name, rows, bounds, converted: None };
            plan.written.entry(part.folder().to_owned()).or_default().push(layer);
        }
    }
    Ok(plan)
}

/// What a part still has of what is wanted.
fn compare_part<'a>(
    part: &'a manifest::Part,
    by_key: &HashMap<(&str, &str), usize>,
    wanted: &[SourceArchive],
    is_present: &dyn Fn(&manifest::Part) -> bool,
) -> PreviousPart<'a> {
    let is_live = |(index, origin): (usize, &manifest::RowOrigin)| {
        let found = *by_key.get(&(&*origin.kind, &*origin.job_id))?;
        let source = wanted.get(found)?;
        let is_same = source.sha256 == origin.archive
            && part.path.starts_with(&schema::job_folder(source))
            && convert::cart_layer_name(source).is_none_or(|name| name == origin.layer);
        is_same.then_some((index, found))
    };
    let live: Vec<_> = part.origins.iter().enumerate().filter_map(is_live).collect();
    let is_whole = live.len() == part.origins.len() && is_present(part);
    PreviousPart { part, live, is_whole }
}

/// Which layers of which archive are read.
type LayerFilter<'a> = &'a (dyn Fn(usize, &str) -> bool + Sync);

/// Reads archives to learn where their layers belong; those that cannot be read are refused. Without `chosen`, all layers
/// are read, and those that are the boundary of a field go into a table of their own.
fn read_archives(
    plan: &mut Plan,
    archives: &[usize],
    wanted: &[SourceArchive],
    chosen: Option<LayerFilter<'_>>,
    sizes: Sizes,
    cancel: &Cancel,
) -> Result<()> {
    // Of several archives, each is read on one thread.
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
    // Layers that were read are kept until they are written, as long as they take no more memory than a part has bytes.
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
        digest: layer.digest,
    }
}

/// The error of an archive that is left out; one that says nothing about the archive ends the work.
pub(super) fn archive_error(error: Error) -> Result<Error> {
    /// Out of memory, and too many files open here and in the whole system.
    const MACHINE_ERRORS: [i32; 3] = [12, 23, 24];
    if error.facts().os_error.is_some_and(|code| MACHINE_ERRORS.contains(&code)) { Err(error) } else { Ok(error) }
}
