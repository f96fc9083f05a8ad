//! A source into batches of rows in bounded memory: the schema stands before the first row is read.

use arrow_schema::SchemaRef;

use super::Layer;
use super::attributes::Choice;
use super::columns::ColumnType;
use super::paired_reader::{Rows, mismatch};
use super::read::{advised, at_once, chosen, head};
use super::type_scan;
use crate::archive::{Diagnostic, ReadOptions, Set, Source};
use crate::error::{Error, Kind, Result};

/// How the columns of a stream get their types.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Types {
    /// By the header alone; without `strict` as [`Types::Scan`].
    #[default]
    Header,
    /// By the header, but for these columns.
    Named(Vec<(String, ColumnType)>),
    /// By a first pass over all cells, as [`super::read`] decides.
    Scan,
}

/// A layer that is read batch by batch.
pub struct Stream {
    /// The layer without rows, in the coordinates of the file and in those that were asked for.
    plain: Layer,
    head: Layer,
    pending: Pending,
    size: usize,
    /// The rows that were given.
    given: usize,
    /// What is known apart from what the readers count.
    notes: Vec<Diagnostic>,
    ended: bool,
}

/// What is left to read.
enum Pending {
    /// The members of a shapefile.
    Rows { rows: Box<Rows>, set: Box<Set>, options: Box<ReadOptions> },
    /// The rows of a layer that was read at once.
    Layer(Box<Layer>),
}

impl Stream {
    /// Opens a source to read `size` records at a time; types that no column can have are an error at once.
    pub fn open(source: &Source, options: &ReadOptions, types: &Types, size: usize) -> Result<Self> {
        options.check()?;
        Self::open_checked(source, options, types, size).map_err(|error| advised(error, options))
    }

    fn open_checked(source: &Source, options: &ReadOptions, types: &Types, size: usize) -> Result<Self> {
        let (set, mut notes) = chosen(source, options)?;
        if let Some(layer) = at_once(&set, source, options, &mut notes) {
            return Self::of_layer(layer?, options, types, size);
        }
        let scanned;
        let choice = match types {
            Types::Named(named) => Choice::Named(named),
            Types::Header if options.strict => Choice::Named(&[]),
            // Without `strict`, what a whole read keeps is kept here too, and only a first pass finds it.
            Types::Header | Types::Scan => {
                scanned = type_scan::types(&set, options, &mut notes)?;
                Choice::Placed(&scanned)
            }
        };
        let rows = Rows::in_batches(&set, options, choice, size, &mut notes)?;
        if let (Some((shapes, records)), true) = (rows.declared_mismatch(), options.strict) {
            return Err(mismatch(&set, shapes, records));
        }
        let plain = head(&set, source, options, &rows, &mut notes)?;
        let head = plain.clone().in_system_of(options)?;
        let (set, options) = (Box::new(set), Box::new(options.clone()));
        let pending = Pending::Rows { rows: Box::new(rows), set, options };
        Ok(Self { plain, head, pending, size: size.max(1), given: 0, notes, ended: false })
    }

    fn of_layer(layer: Layer, options: &ReadOptions, types: &Types, size: usize) -> Result<Self> {
        if let Types::Named(named) = types
            && let Some((name, _)) = named.first()
        {
            let message =
                format!("the columns of `{}` have types of their own: `types` cannot change `{name}`", layer.name);
            return Err(Error::new(Kind::Value, message));
        }
        let layer = layer.in_system_of(options)?;
        let head = Layer { batches: Vec::new(), diagnostics: Vec::new(), ..layer.clone() };
        let notes = layer.diagnostics.clone();
        Ok(Self {
            plain: head.clone(),
            head,
            pending: Pending::Layer(Box::new(layer)),
            size: size.max(1),
            given: 0,
            notes,
            ended: false,
        })
    }

    /// The layer without its rows: name, source, schema, coordinate system and units.
    #[must_use]
    pub fn head(&self) -> &Layer {
        &self.head
    }

    /// The schema of every batch.
    #[must_use]
    pub fn schema(&self) -> SchemaRef {
        self.head.schema()
    }

    /// What was repaired or left out so far; all of it after the last batch.
    #[must_use]
    pub fn diagnostics(&self) -> Vec<Diagnostic> {
        let mut notes = Vec::new();
        if let Pending::Rows { rows, .. } = &self.pending {
            rows.tell(&mut notes);
        }
        notes.extend(self.notes.iter().cloned());
        Diagnostic::sort(&mut notes);
        notes
    }

    /// The next batch, never an empty one; `None` after the last, and after an error.
    ///
    /// Deleted records leave a batch shorter. An error takes the place of the batch that it falls into.
    pub fn next_batch(&mut self) -> Result<Option<Layer>> {
        while !self.ended {
            let batch = self.read();
            self.ended |= batch.is_err();
            if let Some(batch) = batch?.filter(|batch| !batch.is_empty()) {
                self.given = self.given.saturating_add(batch.len());
                return Ok(Some(batch));
            }
        }
        Ok(None)
    }

    fn read(&mut self) -> Result<Option<Layer>> {
        match &mut self.pending {
            Pending::Rows { rows, set, options } => {
                let batch = rows.batch(&self.plain, self.size, set, options, &mut self.notes);
                let (layer, is_last) = batch.map_err(|error| advised(error, options))?;
                self.ended = is_last;
                let given = self.given as u64;
                let layer = layer.in_system_of(options).map_err(|error| {
                    error.with(|facts| facts.record = facts.record.map(|row| row.saturating_add(given)))
                })?;
                Ok(Some(layer))
            }
            Pending::Layer(layer) => {
                let Some(batch) = layer.batches.first() else {
                    self.ended = true;
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
                Ok(Some(Layer { batches: vec![next], types: layer.types.clone(), ..self.plain.clone() }))
            }
        }
    }
}
