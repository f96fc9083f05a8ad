//! Writes classes and colours of maps as styles of QGIS, in its
//! [QML format](https://docs.qgis.org/latest/en/docs/user_manual/appendices/qgis_file_formats.html).

use std::fmt::Write as _;
use std::path::Path;

use super::picture::text::escape;
use super::picture::{MISSING, NumberClasses, number_classes};
use headland_base::error::{Error, Kind, Result};

/// Marks a style that a later run may replace.
const MARK: &str = "<!-- Written by headland, which replaces this file. -->";

/// Rows of a table that share a scale.
#[derive(Debug)]
pub struct RowGroup {
    /// What the legend calls them.
    pub label: String,
    /// Columns and the values by which these rows are selected; `None` is null.
    pub keys: Vec<(&'static str, Option<String>)>,
    /// The unit of the numbers.
    pub unit: &'static str,
    /// Numbers of the mapped column.
    pub numbers: Vec<Option<f64>>,
}

/// An error if there is a style that headland did not write, such as one of a user.
pub(super) fn check_replaceable(path: &Path) -> Result<()> {
    if !path.is_file() {
        return Ok(());
    }
    let content = std::fs::read(path).map_err(|cause| Error::file("read", path, &cause))?;
    if content.windows(MARK.len()).any(|part| part == MARK.as_bytes()) {
        return Ok(());
    }
    let shown = path.display();
    let message = format!(
        "cannot write `{shown}`: it is a style that headland did not write, which would be lost; move it away, or choose \
         another name for the raster"
    );
    Err(Error::new(Kind::File, message))
}

/// The style of a raster with one band.
pub(super) fn of_raster(classes: &NumberClasses) -> String {
    let kind = if classes.is_exact { "EXACT" } else { "DISCRETE" };
    let mut items = String::new();
    for (value, colour, label) in &classes.classes {
        let label = escape(label);
        let _ = writeln!(items, r#"<item value="{value:?}" color="{colour}" alpha="255" label="{label}"/>"#);
    }
    document(&format!(
        r#"<pipe>
<rasterrenderer type="singlebandpseudocolor" band="1" opacity="1" alphaBand="-1" nodataColor=""><rastershader>
<colorrampshader colorRampType="{kind}" classificationMode="1" clip="0">
{items}</colorrampshader>
</rastershader></rasterrenderer>
</pipe>"#
    ))
}

/// The style of a table of points or polygons: the classes of a column, on a scale for each group of rows.
#[must_use]
pub fn of_table(column: &str, groups: &[RowGroup], is_polygons: bool) -> String {
    // QGIS gives a symbol to the first rule that names it, so each rule has one of its own.
    let (mut rules, mut symbols, mut count) = (String::new(), String::new(), 0_usize);
    let mut rule = |rules: &mut String, label: &str, filter: &str, colour: &str| {
        let (label, filter) = (escape(label), escape(filter));
        let _ = writeln!(rules, r#"<rule label="{label}" symbol="{count}" filter="{filter}"/>"#);
        symbols.push_str(&symbol(count, colour, is_polygons));
        count += 1;
    };
    for group in groups {
        let (label, filter) = (escape(&group.label), escape(&filter_of(group)));
        let _ = writeln!(rules, r#"<rule label="{label}" filter="{filter}">"#);
        let classes = number_classes(&group.numbers, Some(group.unit));
        let mut least = None;
        for (most, colour, label) in classes.classes {
            let filter = if classes.is_exact { format!("\"{column}\" = {most:?}") } else { range(column, least, most) };
            rule(&mut rules, &label, &filter, &colour);
            least = Some(most);
        }
        rule(&mut rules, "no value", "ELSE", MISSING);
        rules.push_str("</rule>\n");
    }
    document(&format!(
        "<renderer-v2 type=\"RuleRenderer\" symbollevels=\"0\" forceraster=\"0\" enableorderby=\"0\">\n\
         <rules>\n{rules}</rules>\n<symbols>\n{symbols}</symbols>\n</renderer-v2>"
    ))
}

fn document(content: &str) -> String {
    format!(
        "<!DOCTYPE qgis PUBLIC 'http://mrcc.com/qgis.dtd' 'SYSTEM'>\n{MARK}\n\
         <qgis version=\"3.22\" styleCategories=\"Symbology\">{content}</qgis>\n"
    )
}

/// The expression that selects the rows of a group.
fn filter_of(group: &RowGroup) -> String {
    let term = |(column, value): &(&str, Option<String>)| match value {
        Some(value) => format!("\"{column}\" = '{}'", value.replace('\\', r"\\").replace('\'', "''")),
        None => format!("\"{column}\" IS NULL"),
    };
    group.keys.iter().map(term).collect::<Vec<_>>().join(" AND ")
}

/// The expression of the numbers of a class: above the largest of the class before it, up to its own, if it has one.
fn range(column: &str, least: Option<f64>, most: f64) -> String {
    let above = least.map(|least| format!("\"{column}\" > {least:?}"));
    let up_to = most.is_finite().then(|| format!("\"{column}\" <= {most:?}"));
    above.into_iter().chain(up_to).collect::<Vec<_>>().join(" AND ")
}

fn symbol(name: usize, colour: &str, is_polygons: bool) -> String {
    let (kind, class, rest) = if is_polygons {
        ("fill", "SimpleFill", r#"<prop k="style" v="solid"/>"#)
    } else {
        ("marker", "SimpleMarker", r#"<prop k="name" v="circle"/><prop k="size" v="1.6"/>"#)
    };
    format!(
        "<symbol name=\"{name}\" type=\"{kind}\" alpha=\"1\"><layer class=\"{class}\" enabled=\"1\" locked=\"0\" \
         pass=\"0\"><prop k=\"color\" v=\"{colour}\"/><prop k=\"outline_style\" v=\"no\"/>{rest}</layer></symbol>\n"
    )
}
