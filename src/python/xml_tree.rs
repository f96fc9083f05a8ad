//! Converts XML documents to nested dicts.

use pyo3::prelude::*;
use pyo3::types::{PyDict, PyList, PyString};

use super::layer::{SourceArgument, as_archive_error};
use super::{bridge, read_options};
use headland_reader::archive::{self, Content, Document, Event, Source};

/// Key of the text of an element with attributes.
const TEXT: &str = "#text";

/// Key of the ordered texts and elements of an element with mixed content.
const CONTENT: &str = "#content";

/// An element in progress.
struct OpenElement<'py> {
    name: Bound<'py, PyString>,
    holds: Content,
    /// Attributes and children; `None` until the first one.
    dict: Option<Bound<'py, PyDict>>,
    text: Option<Bound<'py, PyString>>,
    content: Option<Bound<'py, PyList>>,
}

/// Reads the XML document of a source.
#[pyfunction]
#[pyo3(signature = (source, member, limits))]
pub(super) fn read_tree<'py>(
    py: Python<'py>,
    source: SourceArgument,
    member: Option<String>,
    limits: &Bound<'py, PyAny>,
) -> PyResult<Bound<'py, PyDict>> {
    let (source, limits) = (Source::from(source), read_options::parse_limits(limits)?);
    let read = move |_: &_| archive::read_document(&source, member.as_deref(), &limits).map_err(as_archive_error);
    document_to_dict(py, &bridge::compute(py, read)?)
}

fn document_to_dict<'py>(py: Python<'py>, document: &Document) -> PyResult<Bound<'py, PyDict>> {
    let root = PyDict::new(py);
    let mut open: Vec<OpenElement<'py>> = Vec::new();
    for event in document.events() {
        match event {
            Event::Open(name, holds) => {
                let name = PyString::intern(py, document.name(*name));
                let content = (*holds == Content::Mixed).then(|| PyList::empty(py));
                open.push(OpenElement { name, holds: *holds, dict: None, text: None, content });
            }
            Event::Attribute(name, value) => {
                if let Some(element) = open.last_mut() {
                    let key = PyString::intern(py, &format!("@{}", document.name(*name)));
                    element.dict_mut(py).set_item(key, document.text(value))?;
                }
            }
            Event::Text(text) => {
                let Some(element) = open.last_mut() else { continue };
                match (&element.content, element.holds) {
                    (Some(content), _) => content.append(document.text(text))?,
                    (None, Content::Text) => element.text = Some(PyString::new(py, document.text(text))),
                    // White space between elements is formatting.
                    (None, _) => {}
                }
            }
            Event::Close => {
                let Some(element) = open.pop() else { continue };
                let name = element.name.clone();
                let value = element.close(py)?;
                match open.last_mut() {
                    Some(parent) => parent.add(py, &name, &value)?,
                    None => root.set_item(name, value)?,
                }
            }
        }
        // A document of many megabytes takes seconds, in which Ctrl-C must work.
        if open.len() <= 2 {
            py.check_signals()?;
        }
    }
    Ok(root)
}

impl<'py> OpenElement<'py> {
    fn dict_mut(&mut self, py: Python<'py>) -> &Bound<'py, PyDict> {
        self.dict.get_or_insert_with(|| PyDict::new(py))
    }

    /// Adds a child. The second child with the same name turns its value into a list.
    fn add(&mut self, py: Python<'py>, name: &Bound<'py, PyString>, value: &Bound<'py, PyAny>) -> PyResult<()> {
        let dict = self.dict_mut(py);
        match dict.get_item(name)? {
            None => dict.set_item(name, value)?,
            Some(known) => match known.cast::<PyList>() {
                Ok(list) => list.append(value)?,
                Err(_) => dict.set_item(name, PyList::new(py, [&known, value])?)?,
            },
        }
        if let Some(content) = &self.content {
            let child = PyDict::new(py);
            child.set_item(name, value)?;
            content.append(child)?;
        }
        Ok(())
    }

    /// Returns the value of the element: its text if it has nothing else, or a dict.
    fn close(self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        let Some(dict) = self.dict else {
            return Ok(self.text.unwrap_or_else(|| PyString::intern(py, "")).into_any());
        };
        if let Some(text) = self.text {
            dict.set_item(TEXT, text)?;
        }
        if let Some(content) = self.content {
            dict.set_item(CONTENT, content)?;
        }
        Ok(dict.into_any())
    }
}
