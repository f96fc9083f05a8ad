//! Reads the file of a job, whose archive may have the boundary of the field as another layer.

use std::sync::Arc;

use super::boundary::boundaries;
use super::{Layer, layers, read};
use crate::archive::{ReadOptions, Source};
use headland_base::error::{Argument, Result};

/// Archives of jobs with more layers than this are left to the caller, who names one.
const MAX_LAYERS: usize = 8;

/// Reads the layer of a job. If the archive has several, it is the one that is no boundary, with the boundary.
pub fn read_job(source: &Source, options: &ReadOptions) -> Result<Layer> {
    let error = match read(source, options) {
        Err(error) if options.layer.is_none() => error,
        result => return result,
    };
    if error.facts().hint.as_ref().is_none_or(|hint| hint.argument != Argument::Layer) {
        return Err(error);
    }
    read_with_boundary(source, options)?.ok_or(error)
}

/// The layer of the job and its boundary; `None` if several layers can be that of the job.
fn read_with_boundary(source: &Source, options: &ReadOptions) -> Result<Option<Layer>> {
    let names = layers(source, options)?;
    if names.len() > MAX_LAYERS {
        return Ok(None);
    }
    let of = |name: &String| ReadOptions { layer: Some(name.clone()), ..options.clone() };
    // Names of columns are those of the job's layer alone.
    let whole = |name: &String| read(source, &ReadOptions { columns: None, ..of(name) });
    let all = names.iter().map(whole).collect::<Result<Vec<Layer>>>()?;
    let can_be: Vec<bool> = all.iter().map(Layer::can_be_boundary).collect();
    let (mut jobs, mut outlines) = (Vec::new(), Vec::new());
    for ((layer, name), is_boundary) in all.into_iter().zip(&names).zip(boundaries(&can_be)) {
        if is_boundary { outlines.push(layer) } else { jobs.push((layer, name)) }
    }
    let ([_], Some((layer, name))) = (jobs.as_slice(), jobs.last()) else { return Ok(None) };
    let mut layer = if options.columns.is_some() { read(source, &of(name))? } else { layer.clone() };
    layer.boundary = if outlines.len() == 1 { outlines.pop().map(Arc::new) } else { None };
    Ok(Some(layer))
}
