//! Coordinate systems: parses a .prj to PROJJSON and an EPSG code, if certain, and transforms to WGS 84.
//!
//! Modern datums (NAD83, ETRS89, GDA94, NZGD2000, SIRGAS 2000 ...) differ from WGS 84 by a metre or two. They are
//! transformed as PROJ does without grids: unchanged, or with the published seven parameters. [`Crs::caution`] states
//! the error. The same applies to an "unknown datum" on the ellipsoid GRS 1980 or WGS 84, which machine displays write.
//! Older datums with a different shift in each region need `TOWGS84` in the text; otherwise a transform is an error, and
//! areas, swaths and cells are computed in the plane of the projected system itself ([`OwnPlane`]).

mod datum;
mod definition;
mod diagnostics;
mod epsg;
mod from_wkt;
mod local_plane;
mod own_plane;
mod parameters;
mod plane_map;
mod projection;
mod projjson;
mod transform;
mod utm;
mod wkt;

pub use local_plane::LocalPlane;
pub use own_plane::OwnPlane;
pub use plane_map::PlaneMap;
pub use transform::Transform;
pub use utm::utm;

use definition::Definition;
use headland_base::error::{Error, Kind, Result};

/// The coordinate system of a layer.
#[derive(Clone, Debug)]
pub struct Crs {
    text: String,
    name: String,
    /// How the text compares with the code that it states.
    code: epsg::CodeOfText,
    projjson: Option<serde_json::Value>,
    definition: Definition,
}

const WGS84_TEXT: &str = "GEOGCS[\"GCS_WGS_1984\",DATUM[\"D_WGS_1984\",SPHEROID[\"WGS_1984\",6378137.0,298.257223563]],\
                          PRIMEM[\"Greenwich\",0.0],UNIT[\"Degree\",0.0174532925199433]]";

impl Crs {
    /// Parses WKT1, as written by ESRI and GDAL, or WKT2. An unsupported projection is an error only in
    /// [`Crs::to_wgs84`], so that the layer can be read.
    ///
    /// Formats: OGC 01-009 (WKT1) and [OGC 18-010r7](https://docs.ogc.org/is/18-010r7/18-010r7.html) (WKT2).
    pub fn from_wkt(text: &str) -> Result<Self> {
        let definition = from_wkt::read_definition(&wkt::parse(text)?)?;
        let code = epsg::code_of_text(&definition);
        let projjson = projjson::write(&definition, code.code);
        let name = match &definition {
            Definition::Geographic(system) => system.name.clone(),
            Definition::Projected(system) => system.name.clone(),
            Definition::Other(_) => "unnamed".to_owned(),
        };
        Ok(Self { text: text.to_owned(), name, code, projjson, definition })
    }

    /// Parses a code such as `EPSG:4326` or `urn:ogc:def:crs:EPSG::4326`. `None` for other text; an error for an
    /// unknown code.
    #[must_use]
    pub fn from_code(text: &str) -> Option<Result<Self>> {
        let upper = text.trim().to_ascii_uppercase();
        let from_urn = || upper.strip_prefix("URN:OGC:DEF:CRS:EPSG:")?.split_once(':').map(|(_, number)| number);
        let number: u32 = upper.strip_prefix("EPSG:").or_else(from_urn)?.trim().parse().ok()?;
        let unknown = || {
            let message = format!(
                "the .prj contains the code EPSG:{number}, which headland does not know, instead of well-known text"
            );
            Error::new(Kind::Archive, message)
        };
        let known = epsg::wkt_from_code(number).and_then(|text| Self::from_wkt(&text).ok());
        Some(known.filter(|crs| crs.code.code == Some(number)).ok_or_else(unknown))
    }

    /// Longitude and latitude on WGS 84, the system of GeoJSON.
    #[must_use]
    pub fn wgs84() -> Self {
        let definition = datum::wgs84();
        let projjson = projjson::write(&definition, Some(4326));
        let name = "WGS 84".to_owned();
        let code = epsg::CodeOfText { code: Some(4326), ..epsg::CodeOfText::default() };
        Self { text: WGS84_TEXT.to_owned(), name, code, projjson, definition }
    }

    /// The unchanged text.
    #[must_use]
    pub fn wkt(&self) -> &str {
        &self.text
    }

    /// The [PROJJSON](https://proj.org/en/stable/specifications/projjson.html); `None` if the projection is not
    /// supported.
    #[must_use]
    pub fn projjson(&self) -> Option<&serde_json::Value> {
        self.projjson.as_ref()
    }

    /// The EPSG code, if all parameters prove it, or if the text states it and agrees with it.
    #[must_use]
    pub fn epsg(&self) -> Option<u32> {
        self.code.code.filter(|code| epsg::authority(*code) == "EPSG")
    }

    /// The code with its registry, such as `EPSG:32612` or `ESRI:102004`.
    #[must_use]
    pub fn code(&self) -> Option<String> {
        self.code.code.map(|code| format!("{}:{code}", epsg::authority(code)))
    }

    /// The name, such as `WGS 84` or `UTM_Zone_12_Northern_Hemisphere`.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Whether coordinates are longitudes and latitudes.
    #[must_use]
    pub fn is_geographic(&self) -> bool {
        matches!(self.definition, Definition::Geographic(_))
    }

    /// The transform to longitude and latitude on WGS 84. An error names the unsupported projection or datum.
    pub fn to_wgs84(&self) -> Result<Transform> {
        self.way_to_wgs84().map_err(|reason| {
            let name = if matches!(self.definition, Definition::Other(_)) { "of this layer" } else { &self.name };
            transform::unsupported(name, &reason)
        })
    }

    /// The transform to WGS 84, or the reason why there is none, as a clause.
    pub(super) fn way_to_wgs84(&self) -> std::result::Result<Transform, String> {
        transform::prepare(&self.definition)
    }

    /// Whether coordinates of both systems are equal, regardless of their texts and names.
    #[must_use]
    pub fn is_same(&self, other: &Self) -> bool {
        self.text == other.text
            || self.code.code.is_some() && self.code.code == other.code.code
            || epsg::is_same(&self.definition, &other.definition)
    }
}
