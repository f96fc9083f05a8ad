//! Records and lists as XML documents, with the habits of the variants.
//!
//! Roots are named after the reply (`ServiceIndex`, `ServiceResponse`, the detail's shape) and declare a namespace of
//! their own, as the field notes describe. The items of a list follow the envelope, without an element around them.

use super::encode_job::{COMMON, display_name, is_job, nested_element};
use super::variants::{Habits, Variant};
use crate::api::envelope::SERVICE_INDEX;
use crate::api::{Index, Kind, Shape};
use crate::wire::{Element, Value};

/// The prefix of the variant `xml-prefix`.
const PREFIX: &str = "s";

/// A record: a detail or a `ServiceResponse`.
pub(super) fn record(shape: &'static Shape, record: &Value, habits: &Habits) -> String {
    document(element(shape.name, shape, record, habits), habits)
}

/// A page of a list.
pub(super) fn list(index: &Index, envelope: &Value, items: &[Value], habits: &Habits) -> String {
    let mut root = Element::of(SERVICE_INDEX.name, &SERVICE_INDEX, envelope);
    root.children.extend(items.iter().map(|item| element(index.kind, index.item, item, habits)));
    document(root, habits)
}

fn element(name: &str, shape: &'static Shape, record: &Value, habits: &Habits) -> Element {
    let mut element = Element::of(name, shape, record);
    change_lists(&mut element, shape, is_job(shape), habits);
    if is_job(shape) {
        if habits.has(Variant::NestedJob) {
            nest(&mut element);
        }
        if habits.has(Variant::DisplayNames) {
            element.children.iter_mut().for_each(rename_for_display);
        }
    }
    element
}

/// Writes the lists of a record as the variants do.
fn change_lists(element: &mut Element, shape: &'static Shape, of_job: bool, habits: &Habits) {
    let mut children = Vec::with_capacity(element.children.len());
    for mut child in std::mem::take(&mut element.children) {
        let field = shape.fields.iter().find(|field| field.wire == child.name);
        let Some(Kind::Records(inner, _)) = field.map(|field| field.kind) else {
            children.push(child);
            continue;
        };
        for item in &mut child.children {
            change_lists(item, inner, of_job, habits);
            if of_job && habits.has(Variant::BareFiles) && inner.field("uri").is_some() {
                item.text = item
                    .children
                    .iter()
                    .find(|child| child.name == "Uri")
                    .map_or_else(String::new, |uri| uri.text.clone());
                item.children.clear();
            }
        }
        // A list without items keeps its element: nothing else would tell it from a list that is not there.
        if habits.has(Variant::XmlRepeated) && !child.children.is_empty() {
            children.append(&mut child.children);
            continue;
        }
        if let ([item], true) = (&mut child.children[..], habits.has(Variant::BareItem)) {
            let Element { text, children, .. } = std::mem::take(item);
            child = Element { text, children, ..child };
        }
        children.push(child);
    }
    element.children = children;
}

/// Moves a job's own fields into `YieldJob`, `SprayerJob` or `PlanterJob`.
fn nest(job: &mut Element) {
    let job_type = job.children.iter().find(|child| child.name == "JobType").map(|child| child.text.as_str());
    let Some(name) = job_type.and_then(nested_element) else { return };
    // `File` is an available file that stands alone.
    let is_common = |child: &Element| COMMON.contains(&child.name.as_str()) || child.name == "File";
    let (common, own) = std::mem::take(&mut job.children).into_iter().partition(is_common);
    job.children = common;
    job.children.push(Element::new(name, own));
}

fn rename_for_display(element: &mut Element) {
    element.name = display_name(&element.name).replace(' ', "_");
    element.children.iter_mut().for_each(rename_for_display);
}

/// The document, its root in a namespace.
fn document(mut root: Element, habits: &Habits) -> String {
    let vendor = habits.has(Variant::XmlVendor);
    if vendor {
        root.name = root.name.replacen("Service", "Slingshot", 1);
    }
    let authority = if vendor { "schemas.vendor.example" } else { "schemas.example.com" };
    let namespace = format!("http://{authority}/{}/2010", root.name);
    if habits.has(Variant::XmlCamel) {
        rename(&mut root, &|name| {
            let mut letters = name.chars();
            letters.next().map(|first| first.to_ascii_lowercase()).into_iter().chain(letters).collect()
        });
    }
    let declaration = if habits.has(Variant::XmlPrefix) {
        rename(&mut root, &|name| format!("{PREFIX}:{name}"));
        format!("xmlns:{PREFIX}")
    } else {
        "xmlns".to_owned()
    };
    root.attributes.push((declaration, namespace));
    root.document(if habits.has(Variant::XmlNoProlog) {
        ""
    } else if habits.has(Variant::XmlPlainProlog) {
        "<?xml version=\"1.0\"?>\r\n"
    } else {
        "<?xml version=\"1.0\" encoding=\"utf-8\"?>"
    })
}

fn rename(element: &mut Element, to: &impl Fn(&str) -> String) {
    element.name = to(&element.name);
    element.children.iter_mut().for_each(|child| rename(child, to));
}
