//! Which parts stay as they are, and which rows are written anew: a part is only touched when a job of it changed or went,
//! or when it is small and its folder gets more rows.

use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};

use super::convert::{self, Rows};
use super::hilbert::Sides;
use super::manifest::{self, Manifest};
use super::schema;
use super::source_archive::{Origin, Refusal};
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
pub(super) struct Piece {
    /// The place of its archive among those that are wanted.
    pub(super) origin: usize,
    pub(super) layer: String,
    pub(super) rows: u64,
    pub(super) bounds: Option<Sides>,
    /// What was read, where there was room to keep it.
    pub(super) read: Option<Rows>,
}

/// What a publication does.
#[derive(Debug, Default)]
pub(super) struct Plan {
    pub(super) kept: Vec<manifest::Part>,
    /// By folder, what is written there.
    pub(super) written: BTreeMap<String, Vec<Piece>>,
    /// Boundaries of fields, each with the place of its archive among those that are wanted, in the order of jobs.
    pub(super) boundaries: Vec<(usize, manifest::Boundary)>,
    pub(super) refused: Vec<Refusal>,
}

/// What a part of the last generation still has.
struct Known<'a> {
    part: &'a manifest::Part,
    /// Its layers that are wanted as they are: places among its own and among those that are wanted.
    live: Vec<(usize, usize)>,
    is_whole: bool,
}

/// Compares what is wanted with the last generation. With `again`, archives are read before their rows are counted on,
/// since one of them was found to be another than it was.
pub(super) fn plan(
    last: Option<&Manifest>,
    is_there: &dyn Fn(&manifest::Part) -> bool,
    wanted: &[Origin],
    sizes: Sizes,
    again: bool,
    cancel: &Cancel,
) -> Result<Plan> {
    let by_key: HashMap<(&str, &str), usize> =
        wanted.iter().enumerate().map(|(at, origin)| ((origin.kind.word(), &*origin.job_id), at)).collect();
    let parts: Vec<Known<'_>> =
        last.iter().flat_map(|last| &last.parts).map(|part| known(part, &by_key, wanted, is_there)).collect();
    let settled: HashSet<usize> = parts.iter().flat_map(|part| &part.live).map(|(_, at)| *at).collect();
    let mut plan = Plan::default();
    // What is new or changed has to be read before it is known where it belongs.
    let new: Vec<usize> = (0..wanted.len()).filter(|at| !settled.contains(at)).collect();
    survey(&mut plan, &new, wanted, None, sizes, cancel)?;
    for boundary in last.iter().flat_map(|last| &last.boundaries) {
        let found = by_key.get(&(&*boundary.kind, &*boundary.job_id)).filter(|at| settled.contains(at));
        if let Some((at, origin)) = found.and_then(|at| Some((*at, wanted.get(*at)?)))
            && origin.sha256 == boundary.archive
        {
            plan.boundaries.push((at, manifest::Boundary { year: schema::year(origin), ..boundary.clone() }));
        }
    }
    plan.boundaries.sort_by(|(a, one), (b, other)| (a, &one.layer).cmp(&(b, &other.layer)));
    let mut touched: BTreeSet<String> = plan.written.keys().cloned().collect();
    let broken = parts.iter().filter(|part| !part.is_whole && !part.live.is_empty());
    touched.extend(broken.map(|part| part.part.folder().to_owned()));
    let mut anew: Vec<(&manifest::Part, &manifest::Source, usize)> = Vec::new();
    for part in &parts {
        let is_open = part.part.rows < sizes.rows / 2 && part.part.bytes < sizes.bytes / 2;
        let live = part.live.iter().filter_map(|(source, at)| Some((part.part, part.part.origins.get(*source)?, *at)));
        if part.is_whole && !(is_open && touched.contains(part.part.folder())) {
            let mut kept = part.part.clone();
            for (source, (_, at)) in kept.origins.iter_mut().zip(&part.live) {
                if let Some(origin) = wanted.get(*at) {
                    source.refresh(origin);
                }
            }
            plan.kept.push(kept);
        } else {
            anew.extend(live);
        }
    }
    if again {
        let chosen: HashSet<(usize, &str)> = anew.iter().map(|(_, source, at)| (*at, &*source.layer)).collect();
        let archives: BTreeSet<usize> = anew.iter().map(|(_, _, at)| *at).collect();
        let archives: Vec<usize> = archives.into_iter().collect();
        survey(&mut plan, &archives, wanted, Some(&|at, layer| chosen.contains(&(at, layer))), sizes, cancel)?;
    } else {
        for (part, source, at) in anew {
            let (layer, rows, bounds) = (source.layer.clone(), source.rows, source.bbox);
            let piece = Piece { origin: at, layer, rows, bounds, read: None };
            plan.written.entry(part.folder().to_owned()).or_default().push(piece);
        }
    }
    Ok(plan)
}

/// What a part still has of what is wanted.
fn known<'a>(
    part: &'a manifest::Part,
    by_key: &HashMap<(&str, &str), usize>,
    wanted: &[Origin],
    is_there: &dyn Fn(&manifest::Part) -> bool,
) -> Known<'a> {
    let is_live = |(at, source): (usize, &manifest::Source)| {
        let found = *by_key.get(&(&*source.kind, &*source.job_id))?;
        let origin = wanted.get(found)?;
        let is_same = origin.sha256 == source.archive
            && part.path.starts_with(&schema::job_folder(origin))
            && convert::cart_name(origin).is_none_or(|name| name == source.layer);
        is_same.then_some((at, found))
    };
    let live: Vec<_> = part.origins.iter().enumerate().filter_map(is_live).collect();
    let is_whole = live.len() == part.origins.len() && is_there(part);
    Known { part, live, is_whole }
}

/// Which layers of which archive are read.
type Chosen<'a> = &'a (dyn Fn(usize, &str) -> bool + Sync);

/// Reads archives to learn where their layers belong; those that cannot be read are refused. Without `chosen`, all layers
/// are read, and those that are the boundary of a field go into a table of their own.
fn survey(
    plan: &mut Plan,
    archives: &[usize],
    wanted: &[Origin],
    chosen: Option<Chosen<'_>>,
    sizes: Sizes,
    cancel: &Cancel,
) -> Result<()> {
    // Of several archives, each is read on one thread.
    let each = (archives.len() > 1).then_some(1);
    let read = |step: usize, found: &mut Option<Result<Vec<Rows>>>| {
        cancel.check()?;
        if let Some((at, origin)) = archives.get(step).and_then(|at| Some((*at, wanted.get(*at)?))) {
            let layers = convert::names(origin).and_then(|names| {
                let is_chosen = |name: &&String| chosen.is_none_or(|chosen| chosen(at, name));
                names.iter().filter(is_chosen).map(|name| convert::read(origin, name, each)).collect()
            });
            *found = Some(layers);
        }
        Ok(())
    };
    // Layers that were read are kept until they are written, as long as they take no more memory than a part has bytes.
    let (mut held, mut next) = (0_u64, archives.iter());
    run_ordered(threads(), archives.len(), read, &mut |found: &mut Option<Result<Vec<Rows>>>| {
        let (Some(at), Some(found)) = (next.next(), found.take()) else { return Ok(()) };
        let Some(origin) = wanted.get(*at) else { return Ok(()) };
        match found {
            Ok(layers) => {
                let can_be: Vec<bool> = layers.iter().map(|rows| rows.layer.can_be_boundary()).collect();
                for (rows, is_boundary) in layers.into_iter().zip(boundaries(&can_be)) {
                    if is_boundary && chosen.is_none() {
                        plan.boundaries.push((*at, boundary(origin, rows)));
                        continue;
                    }
                    let folder = rows.folder(origin);
                    let (count, bounds, layer) = (rows.len() as u64, rows.bounds, rows.name.clone());
                    let more = held.saturating_add(rows.memory() as u64);
                    let has_room = more <= sizes.bytes;
                    if has_room {
                        held = more;
                    }
                    let read = has_room.then_some(rows);
                    plan.written.entry(folder).or_default().push(Piece {
                        origin: *at,
                        layer,
                        rows: count,
                        bounds,
                        read,
                    });
                }
            }
            Err(error) => plan.refused.push(Refusal::of(origin, refused(error)?)),
        }
        Ok(())
    })
}

fn boundary(origin: &Origin, rows: Rows) -> manifest::Boundary {
    manifest::Boundary {
        kind: origin.kind.word().to_owned(),
        job_id: origin.job_id.clone(),
        layer: rows.name,
        archive: origin.sha256.clone(),
        year: schema::year(origin),
        digest: rows.digest,
    }
}

/// The error of an archive that is left out; one that says nothing about the archive ends the work.
pub(super) fn refused(error: Error) -> Result<Error> {
    /// Out of memory, and too many files open here and in the whole system.
    const OF_THE_MACHINE: [i32; 3] = [12, 23, 24];
    if error.facts().os_error.is_some_and(|code| OF_THE_MACHINE.contains(&code)) { Err(error) } else { Ok(error) }
}
