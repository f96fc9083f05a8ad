//! Reads a dataset in record batches with bounded memory and a schema fixed in advance.

use super::Layer;
use super::attributes::TypeOverrides;
use super::columns::ColumnType;
use super::paired_reader::{PairedReader, row_count_error};
use super::read::{choose_files, empty_layer, read_non_shapefile, with_hint};
use super::type_scan;
use crate::archive::{Diagnostic, LayerFiles, ReadOptions, Source};
use headland_base::error::{Error, Kind, Result};

/// How the columns of a stream get their types.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum TypePolicy {
    /// By the header. Without `strict`, as [`TypePolicy::Scan`].
    #[default]
    Header,
    /// By the header, except for these columns.
    Named(Vec<(String, ColumnType)>),
    /// By a first pass over all cells, with the types of [`super::read`].
    Scan,
}

/// A layer that is read in batches.
pub struct Stream {
    /// The layer without rows, in the coordinates of the file and in the requested ones.
    source_layer: Layer,
    head: Layer,
    pending: Pending,
    size: usize,
    /// The number of rows returned.
    rows_returned: usize,
    /// Diagnostics other than those of the readers.
    diagnostics: Vec<Diagnostic>,
    is_finished: bool,
}

/// The rows that are left.
enum Pending {
    /// The members of a shapefile.
    Shapefile { reader: Box<PairedReader>, set: Box<LayerFiles>, options: Box<ReadOptions> },
    /// The rows of a layer that was read completely.
    Layer(Box<Layer>),
}

impl Stream {
    /// Opens a source to read `size` records per batch. Types that no column can have are an error here.
    pub fn open(source: &Source, options: &ReadOptions, types: &TypePolicy, size: usize) -> Result<Self> {
        options.check()?;
        Self::open_checked(source, options, types, size).map_err(|error| with_hint(error, options))
    }

    fn open_checked(source: &Source, options: &ReadOptions, types: &TypePolicy, size: usize) -> Result<Self> {
        let (set, mut diagnostics) = choose_files(source, options)?;
        if let Some(layer) = read_non_shapefile(&set, source, options, &mut diagnostics) {
            return Self::from_layer(layer?, options, types, size);
        }
        let scanned;
        let overrides = match types {
            TypePolicy::Named(named) => TypeOverrides::ByName(named),
            TypePolicy::Header if options.strict => TypeOverrides::ByName(&[]),
            // Without `strict`, rows must match a complete read, whose types only a first pass finds.
            TypePolicy::Header | TypePolicy::Scan => {
                scanned = type_scan::scan_types(&set, options, &mut diagnostics)?;
                TypeOverrides::ByIndex(&scanned)
            }
        };
        let reader = PairedReader::open_batched(&set, options, overrides, size, &mut diagnostics)?;
        if let (Some((shapes, records)), true) = (reader.declared_mismatch(), options.strict) {
            return Err(row_count_error(&set, shapes, records));
        }
        let source_layer = empty_layer(&set, source, options, &reader, &mut diagnostics)?;
        let head = source_layer.clone().reproject(options)?;
        let (set, options) = (Box::new(set), Box::new(options.clone()));
        let pending = Pending::Shapefile { reader: Box::new(reader), set, options };
        Ok(Self { source_layer, head, pending, size: size.max(1), rows_returned: 0, diagnostics, is_finished: false })
    }

    fn from_layer(layer: Layer, options: &ReadOptions, types: &TypePolicy, size: usize) -> Result<Self> {
        if let TypePolicy::Named(named) = types
            && let Some((name, _)) = named.first()
        {
            let message = format!("the columns of `{}` have fixed types: `types` cannot change `{name}`", layer.name);
            return Err(Error::new(Kind::Value, message));
        }
        let layer = layer.reproject(options)?;
        let head = Layer { batches: Vec::new(), diagnostics: Vec::new(), ..layer.clone() };
        let diagnostics = layer.diagnostics.clone();
        Ok(Self {
            source_layer: head.clone(),
            head,
            pending: Pending::Layer(Box::new(layer)),
            size: size.max(1),
            rows_returned: 0,
            diagnostics,
            is_finished: false,
        })
    }

    /// The layer without rows: name, source, schema, coordinate system and units.
    #[must_use]
    pub fn head(&self) -> &Layer {
        &self.head
    }

    /// Repairs and omissions so far; complete after the last batch.
    #[must_use]
    pub fn diagnostics(&self) -> Vec<Diagnostic> {
        let mut diagnostics = Vec::new();
        if let Pending::Shapefile { reader, .. } = &self.pending {
            reader.report(&mut diagnostics);
        }
        diagnostics.extend(self.diagnostics.iter().cloned());
        Diagnostic::sort(&mut diagnostics);
        diagnostics
    }

    /// Returns the next nonempty batch; `None` after the last one or an error.
    ///
    /// Deleted records make a batch shorter. An error replaces the batch it occurs in.
    pub fn next_batch(&mut self) -> Result<Option<Layer>> {
        while !self.is_finished {
            let batch = self.read_batch();
            self.is_finished |= batch.is_err();
            if let Some(batch) = batch?.filter(|batch| !batch.is_empty()) {
                self.rows_returned = self.rows_returned.saturating_add(batch.len());
                return Ok(Some(batch));
            }
        }
        Ok(None)
    }

    fn read_batch(&mut self) -> Result<Option<Layer>> {
        match &mut self.pending {
            Pending::Shapefile { reader, set, options } => {
                let batch = reader.next_batch(&self.source_layer, self.size, set, options, &mut self.diagnostics);
                let (layer, is_last) = batch.map_err(|error| with_hint(error, options))?;
                self.is_finished = is_last;
                let before = self.rows_returned as u64;
                let layer = layer.reproject(options).map_err(|error| {
                    error.with(|facts| facts.record = facts.record.map(|row| row.saturating_add(before)))
                })?;
                Ok(Some(layer))
            }
            Pending::Layer(layer) => {
                let Some(batch) = layer.batches.first() else {
                    self.is_finished = true;
                    return Ok(None);
                };
                let count = batch.num_rows().min(self.size);
                let next = batch.slice(0, count);
                let rest = batch.slice(count, batch.num_rows() - count);
                if rest.num_rows() == 0 {
                    layer.batches.remove(0);
                } else if let Some(first) = layer.batches.first_mut() {
                    *first = rest;
                }
                Ok(Some(Layer { batches: vec![next], types: layer.types.clone(), ..self.source_layer.clone() }))
            }
        }
    }
}
