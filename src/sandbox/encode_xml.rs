//! Encodes records and lists as XML documents, with the active variants.
//!
//! The root is `ServiceIndex`, `ServiceResponse` or the shape of the detail, each in its own namespace (field notes).
//! The items of a list follow the envelope without a parent element.

use super::encode_job::{COMMON, display_name, is_job, nested_element};
use super::variants::{ActiveVariants, Variant};
use headland_api::envelope::SERVICE_INDEX;
use headland_api::{Index, Kind, Shape};
use headland_wire::{Element, Value};

/// Namespace prefix of the variant `xml-prefix`.
const PREFIX: &str = "s";

/// Encodes a detail or a `ServiceResponse`.
pub(super) fn record(shape: &'static Shape, record: &Value, variants: &ActiveVariants) -> String {
    document(element(shape.name, shape, record, variants), variants)
}

/// Encodes a page of a list.
pub(super) fn list(index: &Index, envelope: &Value, items: &[Value], variants: &ActiveVariants) -> String {
    let mut root = Element::from_record(SERVICE_INDEX.name, &SERVICE_INDEX, envelope);
    root.children.extend(items.iter().map(|item| element(index.kind, index.item, item, variants)));
    document(root, variants)
}

fn element(name: &str, shape: &'static Shape, record: &Value, variants: &ActiveVariants) -> Element {
    let mut element = Element::from_record(name, shape, record);
    rewrite_lists(&mut element, shape, is_job(shape), variants);
    if is_job(shape) {
        if variants.has(Variant::NestedJob) {
            nest(&mut element);
        }
        if variants.has(Variant::DisplayNames) {
            element.children.iter_mut().for_each(rename_for_display);
        }
    }
    element
}

/// Rewrites the lists of a record according to the variants.
fn rewrite_lists(element: &mut Element, shape: &'static Shape, in_job: bool, variants: &ActiveVariants) {
    let mut children = Vec::with_capacity(element.children.len());
    for mut child in std::mem::take(&mut element.children) {
        let field = shape.fields.iter().find(|field| field.wire == child.name);
        let Some(Kind::Records(inner, _)) = field.map(|field| field.kind) else {
            children.push(child);
            continue;
        };
        for item in &mut child.children {
            rewrite_lists(item, inner, in_job, variants);
            if in_job && variants.has(Variant::BareFiles) && inner.field("uri").is_some() {
                item.text = item
                    .children
                    .iter()
                    .find(|child| child.name == "Uri")
                    .map_or_else(String::new, |uri| uri.text.clone());
                item.children.clear();
            }
        }
        // An empty list keeps its element; otherwise it would be the same as a missing list.
        if variants.has(Variant::XmlRepeated) && !child.children.is_empty() {
            children.append(&mut child.children);
            continue;
        }
        if let ([item], true) = (&mut child.children[..], variants.has(Variant::BareItem)) {
            let Element { text, children, .. } = std::mem::take(item);
            child = Element { text, children, ..child };
        }
        children.push(child);
    }
    element.children = children;
}

/// Moves the type-specific fields of a job into `YieldJob`, `SprayerJob` or `PlanterJob`.
fn nest(job: &mut Element) {
    let job_type = job.children.iter().find(|child| child.name == "JobType").map(|child| child.text.as_str());
    let Some(name) = job_type.and_then(nested_element) else { return };
    // `File` is an available file without its list element (`xml-repeated`).
    let is_common = |child: &Element| COMMON.contains(&child.name.as_str()) || child.name == "File";
    let (common, own) = std::mem::take(&mut job.children).into_iter().partition(is_common);
    job.children = common;
    job.children.push(Element::new(name, own));
}

fn rename_for_display(element: &mut Element) {
    element.name = display_name(&element.name).replace(' ', "_");
    element.children.iter_mut().for_each(rename_for_display);
}

/// Writes the document with the root in a namespace.
fn document(mut root: Element, variants: &ActiveVariants) -> String {
    let vendor = variants.has(Variant::XmlVendor);
    if vendor {
        root.name = root.name.replacen("Service", "Slingshot", 1);
    }
    let authority = if vendor { "schemas.vendor.example" } else { "schemas.example.com" };
    let namespace = format!("http://{authority}/{}/2010", root.name);
    if variants.has(Variant::XmlCamel) {
        rename(&mut root, &|name| {
            let mut letters = name.chars();
            letters.next().map(|first| first.to_ascii_lowercase()).into_iter().chain(letters).collect()
        });
    }
    let declaration = if variants.has(Variant::XmlPrefix) {
        rename(&mut root, &|name| format!("{PREFIX}:{name}"));
        format!("xmlns:{PREFIX}")
    } else {
        "xmlns".to_owned()
    };
    root.attributes.push((declaration, namespace));
    root.document(if variants.has(Variant::XmlNoProlog) {
        ""
    } else if variants.has(Variant::XmlPlainProlog) {
        "<?xml version=\"1.0\"?>\r\n"
    } else {
        "<?xml version=\"1.0\" encoding=\"utf-8\"?>"
    })
}

fn rename(element: &mut Element, to: &impl Fn(&str) -> String) {
    element.name = to(&element.name);
    element.children.iter_mut().for_each(|child| rename(child, to));
}
