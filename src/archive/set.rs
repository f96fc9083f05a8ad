//! Members that belong together: one set is one layer.

use super::member::Member;
use super::names;
use super::note::Diagnostic;
use super::options::Limits;
use super::source::Source;
use crate::error::{Error, Kind, Result};

/// The members of one layer; a set without shapes is a table.
#[derive(Clone, Debug)]
pub struct Set {
    /// The name of the layer.
    pub name: String,
    /// The shapes.
    pub shp: Option<Member>,
    /// Where each shape is.
    pub shx: Option<Member>,
    /// The columns.
    pub dbf: Option<Member>,
    /// The coordinate system.
    pub prj: Option<Member>,
    /// The encoding of text.
    pub cpg: Option<Member>,
    /// What a vendor says about the columns, such as their units.
    pub metadata: Option<Member>,
    /// The text of a grain cart, which is a layer of its own.
    pub grc: Option<Member>,
}

/// The layers of a source, in its order, and what was refused on the way.
pub fn sets(source: &Source, limits: &Limits) -> Result<(Vec<Set>, Vec<Diagnostic>)> {
    let mut notes = Vec::new();
    let members = source.members(limits, &mut notes)?;
    let sets = group(&members);
    if sets.is_empty() {
        return Err(nothing(source, &members, &notes));
    }
    Ok((sets, notes))
}

/// The names of the layers of a source.
pub fn layers(source: &Source, limits: &Limits) -> Result<Vec<String>> {
    Ok(sets(source, limits)?.0.into_iter().map(|set| set.name).collect())
}

impl Set {
    /// The one that is meant: by name, or the only one with shapes, or the only one.
    pub fn choose(sets: Vec<Self>, name: Option<&str>, source: &Source) -> Result<Self> {
        let listed = || sets.iter().map(|set| format!("`{}`", set.name)).collect::<Vec<_>>().join(", ");
        if let Some(name) = name {
            let message = || format!("`{}` has no layer `{name}`; it has {}", source.name(), listed());
            let found =
                sets.iter().position(|set| set.name == name).ok_or_else(|| Error::new(Kind::Value, message()))?;
            return sets.into_iter().nth(found).ok_or_else(|| Error::new(Kind::Value, name.to_owned()));
        }
        let with_shapes = sets.iter().filter(|set| set.shp.is_some()).count();
        if with_shapes > 1 || (with_shapes == 0 && sets.len() > 1) {
            let message =
                format!("`{}` has {} layers; choose one with `layer`: {}", source.name(), sets.len(), listed());
            return Err(Error::new(Kind::Archive, message));
        }
        let found = sets.iter().position(|set| set.shp.is_some()).unwrap_or(0);
        sets.into_iter().nth(found).ok_or_else(|| Error::new(Kind::Archive, "there is no layer".to_owned()))
    }
}

impl Set {
    /// An error where a member that this layer lacks was refused for its name: then the data need it.
    pub fn lacks_refused(&self, notes: &[Diagnostic]) -> Result<()> {
        let stem = self.name.rsplit('/').next().unwrap_or(&self.name);
        let lacking = [("shp", &self.shp), ("shx", &self.shx), ("dbf", &self.dbf), ("prj", &self.prj)];
        for note in notes.iter().filter(|note| note.code == names::REFUSED) {
            let member = note.member.as_deref().unwrap_or_default();
            let file = member.rsplit(['/', '\\']).next().unwrap_or(member).split('\0').next().unwrap_or_default();
            let is_needed = file.rsplit_once('.').is_some_and(|(name, ending)| {
                let role = lacking.iter().find(|(role, _)| role.eq_ignore_ascii_case(ending));
                name.eq_ignore_ascii_case(stem) && role.is_some_and(|(_, found)| found.is_none())
            });
            if is_needed {
                let message = format!("layer `{}` needs a member that is refused: {}", self.name, note.message);
                return Err(Error::archive(member, message));
            }
        }
        Ok(())
    }
}

fn group(members: &[Member]) -> Vec<Set> {
    let of_kind =
        |kind: &str| -> Vec<&Member> { members.iter().filter(|member| member.stem_and_ending().1 == kind).collect() };
    // The same stem, to the letter if possible: `T.DBF` belongs to `t.shp` only where there is no `t.dbf`.
    let sibling = |stem: &str, kind: &str, suffix: &str| -> Option<Member> {
        let wanted = format!("{stem}{suffix}");
        let found = of_kind(kind);
        let exact = found.iter().find(|member| member.stem_and_ending().0 == wanted);
        let loose = || found.iter().find(|member| member.stem_and_ending().0.eq_ignore_ascii_case(&wanted));
        exact.or_else(loose).map(|member| (*member).clone())
    };
    let set = |stem: &str, shp: Option<&Member>, dbf: Option<Member>| Set {
        name: stem.to_owned(),
        shp: shp.cloned(),
        shx: shp.and_then(|_| sibling(stem, "shx", "")),
        dbf,
        prj: sibling(stem, "prj", ""),
        cpg: sibling(stem, "cpg", ""),
        metadata: sibling(stem, "json", "-Deere-Metadata"),
        grc: None,
    };
    let mut sets: Vec<Set> = Vec::new();
    for shp in of_kind("shp") {
        let stem = shp.stem_and_ending().0;
        sets.push(set(stem, Some(shp), sibling(stem, "dbf", "")));
    }
    for dbf in of_kind("dbf") {
        let used = sets.iter().any(|set| set.dbf.as_ref().is_some_and(|used| used.name() == dbf.name()));
        if !used {
            sets.push(set(dbf.stem_and_ending().0, None, Some(dbf.clone())));
        }
    }
    sets.extend(of_kind("grc").into_iter().map(|grc| Set {
        name: grc.stem_and_ending().0.to_owned(),
        shp: None,
        shx: None,
        dbf: None,
        prj: None,
        cpg: None,
        metadata: None,
        grc: Some(grc.clone()),
    }));
    let short = |name: &str| name.rsplit('/').next().unwrap_or(name).to_owned();
    let names: Vec<String> = sets.iter().map(|set| short(&set.name)).collect();
    for (set, name) in sets.iter_mut().zip(&names) {
        // Two layers of one name in different folders keep their folders.
        if names.iter().filter(|other| *other == name).count() == 1 {
            set.name.clone_from(name);
        }
    }
    sets
}

fn nothing(source: &Source, members: &[Member], notes: &[Diagnostic]) -> Error {
    let members: Vec<String> = members.iter().take(5).map(|member| format!("`{}`", member.file_name())).collect();
    let what = if members.is_empty() { "it is empty".to_owned() } else { format!("it holds {}", members.join(", ")) };
    let refused: String = notes
        .iter()
        .take(3)
        .map(|note| ["; `", note.member.as_deref().unwrap_or_default(), "`: ", &note.message].concat())
        .collect();
    let message = format!("`{}` holds no shapefile, no .dbf and no .grc: {what}{refused}", source.name());
    Error::new(Kind::Archive, message).with(|facts| facts.member = notes.first().and_then(|note| note.member.clone()))
}
