//! Groups the members of a source into layers.

use std::collections::{HashMap, HashSet};

use super::diagnostic::Diagnostic;
use super::diagnostic_code::Code;
use super::fmis::{self, Fmis};
use super::inventory::describe_members;
use super::member::Member;
use super::member_names;
use super::options::ReadOptions;
use super::source::Source;
use super::unicode_names::find_name;
use headland_base::error::{Argument, Error, Kind, Result};

/// Most names in a message.
const MAX_LISTED: usize = 20;

/// Number of ways to form the name of a layer.
const NAME_FORMS: usize = 4;

/// The members of one layer. Without a .shp, it is a table.
#[derive(Clone, Debug)]
pub struct LayerFiles {
    /// The name of the layer.
    pub name: String,
    /// The geometries.
    pub shp: Option<Member>,
    /// The index of the .shp.
    pub shx: Option<Member>,
    /// The columns.
    pub dbf: Option<Member>,
    /// The coordinate system.
    pub prj: Option<Member>,
    /// The encoding of text: a .cpg, or else a .cst.
    pub cpg: Option<Member>,
    /// Metadata of a vendor about the columns, such as their units.
    pub metadata: Option<Member>,
    /// Metadata of the .shp in XML: ISO, FGDC or ESRI.
    pub shp_xml: Option<Member>,
    /// A grain cart file, which is a layer of its own.
    pub grc: Option<Member>,
    /// A product of an FMIS folder, which is a layer of its own.
    pub fmis: Option<Fmis>,
}

/// The layers of a source in its order, and diagnostics about refused members.
pub fn layer_files(source: &Source, options: &ReadOptions) -> Result<(Vec<LayerFiles>, Vec<Diagnostic>)> {
    let mut diagnostics = Vec::new();
    let members = source.members(&options.limits, options.strict, &mut diagnostics)?;
    let mut layers = group_into_layers(&members);
    if layers.is_empty() {
        return Err(no_layer_error(source, &members, &diagnostics));
    }
    // A path of one file selects its layer, even if `T.DBF` is next to `t.shp` and `t.dbf`.
    if layers.iter().any(|layer| layer.is_selected_by(source)) {
        layers.retain(|layer| layer.is_selected_by(source));
    }
    make_names_unique(&mut layers);
    Ok((layers, diagnostics))
}

/// The names of the layers of a source. Only `limits` and `strict` of the options are used.
pub fn layers(source: &Source, options: &ReadOptions) -> Result<Vec<String>> {
    Ok(layer_files(source, options)?.0.into_iter().map(|layer| layer.name).collect())
}

impl LayerFiles {
    /// The requested layer, or the only one.
    pub fn choose(layers: Vec<Self>, name: Option<&str>, source: &Source) -> Result<Self> {
        let no_layer = || Error::new(Kind::Archive, "the source has no layer".to_owned());
        let listed = || {
            let names: Vec<String> = layers.iter().take(MAX_LISTED).map(|layer| format!("`{}`", layer.name)).collect();
            let more = layers.len().saturating_sub(MAX_LISTED);
            let more = if more == 0 { String::new() } else { format!(" and {more} more, which `layers` lists") };
            names.join(", ") + &more
        };
        if let Some(name) = name {
            let message = || format!("has no layer `{name}`; it has {}", listed());
            let main_members = || layers.iter().filter_map(Self::main_member);
            let names = layers.iter().map(|layer| layer.name.as_str()).chain(main_members().map(Member::name));
            let name = find_name("layer", name, names.chain(main_members().map(Member::file_name)))?.unwrap_or(name);
            let by_name = layers.iter().position(|layer| layer.name == name);
            // `a/poly.shp` selects the layer of that file, and so does `poly.shp` if it is unique.
            let only = |is_it: &dyn Fn(&Member) -> bool| {
                let mut found = layers.iter().enumerate().filter(|(_, layer)| layer.main_member().is_some_and(is_it));
                found.next().filter(|_| found.next().is_none()).map(|(index, _)| index)
            };
            let by_path = only(&|main_member| main_member.name() == name);
            let found = by_name.or(by_path).or_else(|| only(&|main_member| main_member.file_name() == name));
            let found = found.ok_or_else(|| Error::for_source(Kind::Value, source.name(), message()))?;
            return layers.into_iter().nth(found).ok_or_else(no_layer);
        }
        // A table next to shapes is a layer as well, so reading the first layer would skip one silently.
        if layers.len() > 1 {
            let error = Error::for_source(Kind::Archive, source.name(), format!("has {} layers", layers.len()));
            return Err(error.with_hint("; choose one with ", Argument::Layer, format!(": {}", listed())));
        }
        layers.into_iter().next().ok_or_else(no_layer)
    }

    /// Its name in a form: stem without and with folders, then file name without and with folders.
    fn name_in_form(&self, form: usize) -> &str {
        let file = self.main_member().map_or("", Member::name);
        let name = if form < 2 { &self.name } else { file };
        if form.is_multiple_of(2) { name.rsplit('/').next().unwrap_or(name) } else { name }
    }

    /// The file that defines the layer.
    fn main_member(&self) -> Option<&Member> {
        let fmis = self.fmis.as_ref().map(|fmis| &fmis.tab);
        [&self.shp, &self.dbf, &self.grc].into_iter().find_map(Option::as_ref).or(fmis)
    }

    /// Whether the source is one of its files.
    fn is_selected_by(&self, source: &Source) -> bool {
        self.files().any(|file| source.is_file_of(file))
    }

    /// Its files, without metadata.
    fn files(&self) -> impl Iterator<Item = &Member> {
        let fmis = self.fmis.as_ref().map(|fmis| &fmis.tab);
        [&self.shp, &self.shx, &self.dbf, &self.prj, &self.cpg].into_iter().flatten().chain(fmis)
    }

    /// An error if the layer lacks a member that was refused for its name or as a link.
    pub fn check_refused_members(&self, diagnostics: &[Diagnostic]) -> Result<()> {
        let stem = self.main_member().map_or("", |main_member| main_member.stem_and_ending().0);
        let stem = stem.rsplit('/').next().unwrap_or(stem);
        let lacking = [("shp", &self.shp), ("shx", &self.shx), ("dbf", &self.dbf), ("prj", &self.prj)];
        for diagnostic in
            diagnostics.iter().filter(|diagnostic| [Code::RefusedName, Code::RefusedLink].contains(&diagnostic.code))
        {
            let member = diagnostic.member.as_deref().unwrap_or_default();
            let file = member.rsplit(['/', '\\']).next().unwrap_or(member).split('\0').next().unwrap_or_default();
            let is_needed = file.rsplit_once('.').is_some_and(|(name, ending)| {
                let role = lacking.iter().find(|(role, _)| role.eq_ignore_ascii_case(ending));
                // A name without a stem may belong to any layer.
                let is_own = name.is_empty() || name.eq_ignore_ascii_case(stem);
                is_own && role.is_some_and(|(_, found)| found.is_none())
            });
            if is_needed {
                let reason = diagnostic.message.trim_start_matches(member_names::REFUSED_PREFIX);
                let message = format!("layer `{}` needs a member that was rejected: {reason}", self.name);
                return Err(Error::archive(member, message));
            }
        }
        Ok(())
    }
}

fn group_into_layers(members: &[Member]) -> Vec<LayerFiles> {
    let with_ending =
        |kind: &str| -> Vec<&Member> { members.iter().filter(|member| member.stem_and_ending().1 == kind).collect() };
    // An archive may have tens of thousands of members, so names are indexed.
    let (mut exact, mut loose) = (HashMap::new(), HashMap::new());
    for member in members {
        let (stem, kind) = member.stem_and_ending();
        loose.entry((stem.to_ascii_lowercase(), kind.clone())).or_insert(member);
        exact.entry((stem.to_owned(), kind)).or_insert(member);
    }
    // An exact stem takes precedence: `T.DBF` belongs to `t.shp` only if there is no `t.dbf`.
    let sibling = |stem: &str, kind: &str, suffix: &str| -> Option<Member> {
        let wanted = (format!("{stem}{suffix}"), kind.to_owned());
        let found = exact.get(&wanted).or_else(|| loose.get(&(wanted.0.to_ascii_lowercase(), wanted.1)));
        found.map(|member| (*member).clone())
    };
    let shapefile = |stem: &str, shp: Option<&Member>, dbf: Option<Member>| LayerFiles {
        name: stem.to_owned(),
        shp: shp.cloned(),
        shx: shp.and_then(|_| sibling(stem, "shx", "")),
        dbf,
        prj: sibling(stem, "prj", ""),
        // Older programs write the encoding to a .cst.
        cpg: sibling(stem, "cpg", "").or_else(|| sibling(stem, "cst", "")),
        metadata: sibling(stem, "json", "-Deere-Metadata"),
        shp_xml: shp.and_then(|_| sibling(stem, "xml", ".shp")),
        grc: None,
        fmis: None,
    };
    let mut layers: Vec<LayerFiles> = Vec::new();
    for shp in with_ending("shp") {
        let stem = shp.stem_and_ending().0;
        layers.push(shapefile(stem, Some(shp), sibling(stem, "dbf", "")));
    }
    let used: HashSet<String> =
        layers.iter().filter_map(|layer| layer.dbf.as_ref()).map(|dbf| dbf.name().to_owned()).collect();
    for dbf in with_ending("dbf") {
        if !used.contains(dbf.name()) {
            let stem = dbf.stem_and_ending().0;
            layers.push(shapefile(stem, None, Some(dbf.clone())));
        }
    }
    let single = |member: &Member| LayerFiles {
        name: member.stem_and_ending().0.to_owned(),
        shp: None,
        shx: None,
        dbf: None,
        prj: None,
        cpg: None,
        metadata: None,
        shp_xml: None,
        grc: None,
        fmis: None,
    };
    layers.extend(with_ending("grc").into_iter().map(|grc| LayerFiles { grc: Some(grc.clone()), ..single(grc) }));
    let products = fmis::products(members).into_iter();
    layers.extend(products.map(|product| LayerFiles { fmis: Some(product.clone()), ..single(&product.tab) }));
    layers
}

/// Gives each layer its shortest unique name. Equal names in different folders keep their folders, and those in one
/// folder their extensions.
fn make_names_unique(layers: &mut [LayerFiles]) {
    // An archive may have tens of thousands of layers with long names, so names are borrowed here.
    let mut chosen = vec![0; layers.len()];
    for form in 0..NAME_FORMS - 1 {
        let mut counts: HashMap<&str, usize> = HashMap::new();
        for (layer, _) in layers.iter().zip(&chosen).filter(|(_, chosen)| **chosen == form) {
            *counts.entry(layer.name_in_form(form)).or_default() += 1;
        }
        for (layer, chosen) in layers.iter().zip(&mut chosen) {
            if *chosen == form && counts.get(layer.name_in_form(form)) != Some(&1) {
                *chosen = form + 1;
            }
        }
    }
    // `a.dbf` may be a file of two layers `a`, and the layer of a file `a.dbf.shp`.
    let mut counts: HashMap<&str, usize> = HashMap::new();
    for (layer, form) in layers.iter().zip(&chosen) {
        *counts.entry(layer.name_in_form(*form)).or_default() += 1;
    }
    let repeated: Vec<bool> =
        layers.iter().zip(&chosen).map(|(layer, form)| counts.get(layer.name_in_form(*form)) != Some(&1)).collect();
    for ((layer, form), is_repeated) in layers.iter_mut().zip(chosen).zip(repeated) {
        layer.name = layer.name_in_form(if is_repeated { NAME_FORMS - 1 } else { form }).to_owned();
    }
}

fn no_layer_error(source: &Source, members: &[Member], diagnostics: &[Diagnostic]) -> Error {
    let contents = describe_members(members, diagnostics);
    let what = if source.is_folder() { "is a folder, and " } else { "" };
    let message = format!("{what}contains no layer (a shapefile, a .dbf, a .grc or an FMIS folder): {contents}");
    let member = diagnostics.iter().find_map(|diagnostic| diagnostic.member.clone());
    Error::for_source(Kind::Archive, source.name(), message).with(|facts| facts.member = member)
}
