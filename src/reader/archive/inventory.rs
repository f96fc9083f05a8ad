//! Describes the members of an archive without a layer: their formats, and which tool reads them.

use super::diagnostic::Diagnostic;
use super::member::Member;
use super::member_names;
use headland_base::names::same;

/// Names per kind in a message; the others are counted.
const MAX_LISTED: usize = 3;

/// The kinds of members, in the order of the message.
#[derive(Clone, Copy, PartialEq, Eq)]
enum MemberKind {
    IsoXml,
    Fmis,
    Prescription,
    Archive,
    Xml,
    Geodatabase,
    Table,
    Vector,
    Raster,
    Sidecar,
    Other,
}

const KINDS: [MemberKind; 11] = [
    MemberKind::IsoXml,
    MemberKind::Fmis,
    MemberKind::Prescription,
    MemberKind::Archive,
    MemberKind::Xml,
    MemberKind::Geodatabase,
    MemberKind::Table,
    MemberKind::Vector,
    MemberKind::Raster,
    MemberKind::Sidecar,
    MemberKind::Other,
];

impl MemberKind {
    fn from_member(member: &Member) -> Self {
        let (stem, ending) = member.stem_and_ending();
        let file = member.file_name();
        let folders: Vec<&str> = stem.split('/').collect();
        let is_in = |names: &[&str]| folders.iter().any(|part| names.iter().any(|name| same(part, name)));
        let starts = |start: &str| file.get(..start.len()).is_some_and(|found| found.eq_ignore_ascii_case(start));
        let is_iso = ["TASKDATA", "LINKLIST", "TLG", "GRD"].iter().any(|start| starts(start));
        match &*ending {
            "xml" | "bin" if is_in(&["taskdata"]) || is_iso => Self::IsoXml,
            "tab" => Self::Fmis,
            "xml" if ["advanced.xml", "jobdata.xml"].iter().any(|name| file.eq_ignore_ascii_case(name)) => Self::Fmis,
            "rx" | "irx" | "agx" => Self::Prescription,
            _ if is_in(&["rx", "prescription", "prescriptions", "prescriptionmaps"]) => Self::Prescription,
            "zip" | "7z" | "rar" | "gz" | "tar" => Self::Archive,
            "xml" => Self::Xml,
            "gdbtable" | "gdbtablx" | "gdbindexes" | "freelist" | "atx" | "spx" => Self::Geodatabase,
            _ if folders.iter().any(|part| part.to_ascii_lowercase().ends_with(".gdb")) => Self::Geodatabase,
            "csv" | "tsv" | "xls" | "xlsx" => Self::Table,
            "gpkg" | "geojson" | "parquet" | "geoparquet" | "fgb" | "kml" | "gpx" | "gml" => Self::Vector,
            "tif" | "tiff" | "jp2" | "vrt" => Self::Raster,
            "shx" | "prj" | "cpg" | "json" | "qpj" | "qix" | "sbn" | "sbx" => Self::Sidecar,
            _ => Self::Other,
        }
    }

    fn description(self) -> &'static str {
        match self {
            Self::IsoXml => "ISOXML task data (ISO 11783-10), which headland does not read",
            Self::Fmis => {
                "parts of an FMIS folder (reading a table `Product_N.tab` needs its layout `advanced.xml` next to it)"
            }
            Self::Prescription => "prescriptions in a proprietary format of the display",
            Self::Archive => "archives inside it that were not opened (`Limits(nesting=...)`) or are not zip files",
            Self::Xml => "XML, which `hl.read_tree` reads as nested dicts",
            Self::Geodatabase => {
                "a file geodatabase (.gdb), which `geopandas.read_file` reads from the path of its folder"
            }
            Self::Table => "tables, which `pandas.read_csv` or `pandas.read_excel` read",
            Self::Vector => "maps in other formats, which `geopandas.read_file` or `geopandas.read_parquet` read",
            Self::Raster => "rasters, which rasterio reads",
            Self::Sidecar => "sidecars of a shapefile without the shapefile",
            Self::Other => "files in a proprietary format of the display or in an unknown format",
        }
    }
}

/// The first member of each Office document, which is a zip of XML.
const OFFICE_MARKER: &str = "[Content_Types].xml";

/// A clause about an Office document as a whole, since its parts are of no use.
fn describe_office(members: &[Member]) -> Option<&'static str> {
    members.iter().find(|member| member.name() == OFFICE_MARKER)?;
    let has = |folder: &str| members.iter().any(|member| member.name().starts_with(folder));
    Some(if has("xl/") {
        "it is an Excel workbook (.xlsx), which `pandas.read_excel` reads"
    } else if has("word/") {
        "it is a Word document (.docx), which contains no records"
    } else if has("ppt/") {
        "it is a PowerPoint presentation (.pptx), which contains no records"
    } else {
        "it is an Office document (`[Content_Types].xml`), which contains no records"
    })
}

/// A clause such as `it holds ISOXML task data ... (`TASKDATA/TASKDATA.XML`)`, with refused members and advice.
pub(super) fn describe_members(members: &[Member], diagnostics: &[Diagnostic]) -> String {
    if let Some(office) = describe_office(members) {
        return office.to_owned();
    }
    let mut parts = Vec::new();
    for kind in KINDS {
        let names: Vec<&str> =
            members.iter().filter(|member| MemberKind::from_member(member) == kind).map(Member::name).collect();
        if names.is_empty() {
            continue;
        }
        let listed: Vec<String> = names.iter().take(MAX_LISTED).map(|name| format!("`{name}`")).collect();
        let more = names.len().saturating_sub(listed.len());
        let more = if more == 0 { String::new() } else { format!(" and {more} more") };
        parts.push(format!("{}: {}{more}", kind.description(), listed.join(", ")));
    }
    let what = match (parts.is_empty(), diagnostics.is_empty()) {
        (true, true) => "it is empty".to_owned(),
        (true, false) => "it contains nothing that could be read".to_owned(),
        _ => format!("it contains {}", parts.join("; ")),
    };
    let describe = |diagnostic: &Diagnostic| match &diagnostic.member {
        Some(member) => {
            format!(
                "; `{member}` was left out: {}",
                diagnostic.message.trim_start_matches(member_names::REFUSED_PREFIX)
            )
        }
        None => format!("; {}", diagnostic.message),
    };
    let more = diagnostics.len().saturating_sub(MAX_LISTED);
    let more = if more == 0 { String::new() } else { format!("; and {more} more of this kind") };
    let refused = diagnostics.iter().take(MAX_LISTED).map(describe).collect::<String>() + &more;
    let has_kind = |kind| members.iter().any(|member| MemberKind::from_member(member) == kind);
    let is_of_display =
        has_kind(MemberKind::IsoXml) || (has_kind(MemberKind::Other) && !has_kind(MemberKind::Geodatabase));
    let advice = if is_of_display {
        ". For a job, the service can convert such files: request the format SHP, as `client.job_data.read(id)` does, \
         or FMIS"
    } else {
        ""
    };
    format!("{what}{refused}{advice}")
}
