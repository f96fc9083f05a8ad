//! Selects the XML document of a source: the file itself, or the only `.xml` of a zip or a folder.

use super::Document;
use crate::archive::limits::Limits;
use crate::archive::member::Member;
use crate::archive::source::Source;
use crate::archive::unicode_names::find_name;
use headland_base::error::{Error, Kind, Result};

/// Reads the document of a source. `member` selects one of several, by its name with or without folders.
pub fn read_document(source: &Source, member: Option<&str>, limits: &Limits) -> Result<Document> {
    let mut diagnostics = Vec::new();
    let members = source.documents(limits, &mut diagnostics)?;
    let chosen = choose(&members, member, source)?;
    limits.check_size(chosen.size()).map_err(|reason| chosen.fault(reason))?;
    Document::read(&chosen, limits.bytes)
}

fn choose(members: &[Member], wanted: Option<&str>, source: &Source) -> Result<Member> {
    let wrong = |kind: Kind, why: &str, members: &[&Member]| {
        let names: Vec<String> = members.iter().take(10).map(|member| format!("`{}`", member.name())).collect();
        let more = if members.len() > names.len() { ", ..." } else { "" };
        let listed =
            if names.is_empty() { "no XML document".to_owned() } else { format!("{}{more}", names.join(", ")) };
        Error::new(kind, format!("`{}` {why}: it contains {listed}", source.name()))
    };
    let only = |found: Vec<Member>, kind: Kind, none: &str, several: &str, all: &[&Member]| {
        if found.len() > 1 {
            return Err(wrong(kind, several, &found.iter().collect::<Vec<_>>()));
        }
        found.into_iter().next().ok_or_else(|| wrong(kind, none, all))
    };
    let documents: Vec<&Member> = members.iter().filter(|member| member.stem_and_ending().1 == "xml").collect();
    if let Some(wanted) = wanted {
        let names = members.iter().flat_map(|member| [member.name(), member.file_name()]);
        let wanted = find_name("member", wanted, names)?.unwrap_or(wanted);
        let exact = members.iter().find(|member| member.name() == wanted);
        if let Some(exact) = exact {
            return Ok(exact.clone());
        }
        let is_it = |member: &&Member| {
            member.name().eq_ignore_ascii_case(wanted) || member.file_name().eq_ignore_ascii_case(wanted)
        };
        let found: Vec<Member> = members.iter().filter(is_it).cloned().collect();
        let none = format!("has no member `{wanted}`");
        let several = format!("has several members `{wanted}`; pass `member` with its folders");
        return only(found, Kind::Value, &none, &several, &documents);
    }
    // A single file is the document, regardless of its name.
    if let [single] = members
        && documents.is_empty()
        && source.is_file_of(single)
    {
        return Ok(single.clone());
    }
    let found: Vec<Member> = documents.iter().map(|member| (*member).clone()).collect();
    let several = "contains several XML documents; choose one with `member`";
    only(found, Kind::Archive, "contains no XML document to read as a tree", several, &documents)
}
