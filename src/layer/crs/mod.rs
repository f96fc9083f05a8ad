//! Coordinate systems: the text of a .prj into PROJJSON, an EPSG code where certain, and a transform to WGS 84.
//!
//! The datums of today (NAD83, ETRS89, GDA94, NZGD2000, SIRGAS 2000 ...) lie a metre or two from WGS 84. They come to it
//! as PROJ brings them there without grids: taken for it, or by the published seven parameters; [`Crs::caution`] says how
//! far off that may be. The same holds for systems that say "unknown datum" on the ellipsoid GRS 1980 or WGS 84, as
//! machine displays write them. Older datums with different shifts in each region need `TOWGS84` in the text; without it
//! a transform is an error and never a guess.

mod datum;
mod definition;
mod epsg;
mod from_wkt;
mod parameters;
mod projection;
mod projjson;
mod transform;
mod wkt;

pub use transform::Transform;

use crate::error::{Error, Kind, Result};
use definition::Definition;

/// The coordinate system of a layer, as its .prj tells it.
#[derive(Clone, Debug)]
pub struct Crs {
    text: String,
    name: String,
    epsg: Option<u32>,
    projjson: Option<serde_json::Value>,
    definition: Definition,
}

const WGS84_TEXT: &str = "GEOGCS[\"GCS_WGS_1984\",DATUM[\"D_WGS_1984\",SPHEROID[\"WGS_1984\",6378137.0,298.257223563]],\
                          PRIMEM[\"Greenwich\",0.0],UNIT[\"Degree\",0.0174532925199433]]";

impl Crs {
    /// Reads well-known text: WKT1 as ESRI and as GDAL write it, or WKT2. A projection that is not understood is no
    /// error here (the layer can be read all the same) but in [`Crs::to_wgs84`].
    pub fn from_wkt(text: &str) -> Result<Self> {
        let definition = from_wkt::read_definition(&wkt::parse(text)?)?;
        let epsg = epsg::certain_code(&definition);
        let projjson = projjson::write(&definition, epsg);
        let name = match &definition {
            Definition::Geographic(system) => system.name.clone(),
            Definition::Projected(system) => system.name.clone(),
            Definition::Other(_) => "unnamed".to_owned(),
        };
        Ok(Self { text: text.to_owned(), name, epsg, projjson, definition })
    }

    /// Reads a text that is a code and no well-known text: `EPSG:4326` or `urn:ogc:def:crs:EPSG::4326`. `None` where it is
    /// something else, and an error where the code is not known here.
    #[must_use]
    pub fn from_code(text: &str) -> Option<Result<Self>> {
        let upper = text.trim().to_ascii_uppercase();
        let from_urn = || upper.strip_prefix("URN:OGC:DEF:CRS:EPSG:")?.split_once(':').map(|(_, number)| number);
        let number: u32 = upper.strip_prefix("EPSG:").or_else(from_urn)?.trim().parse().ok()?;
        let unknown = || {
            let message =
                format!("the .prj holds the code EPSG:{number}, which headland does not know, and no well-known text");
            Error::new(Kind::Archive, message)
        };
        let known = epsg::wkt_from_code(number).and_then(|text| Self::from_wkt(&text).ok());
        Some(known.filter(|crs| crs.epsg == Some(number)).ok_or_else(unknown))
    }

    /// Longitudes and latitudes on WGS 84, the system of GeoJSON.
    #[must_use]
    pub fn wgs84() -> Self {
        let definition = datum::wgs84();
        let projjson = projjson::write(&definition, Some(4326));
        Self { text: WGS84_TEXT.to_owned(), name: "WGS 84".to_owned(), epsg: Some(4326), projjson, definition }
    }

    /// The text it was read from, unchanged.
    #[must_use]
    pub fn wkt(&self) -> &str {
        &self.text
    }

    /// The system as PROJJSON; None where its projection is not understood.
    #[must_use]
    pub fn projjson(&self) -> Option<&serde_json::Value> {
        self.projjson.as_ref()
    }

    /// The EPSG code, where the text gives it or every parameter proves it.
    #[must_use]
    pub fn epsg(&self) -> Option<u32> {
        self.epsg
    }

    /// The name, such as `WGS 84` or `UTM_Zone_12_Northern_Hemisphere`.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Whether coordinates are longitudes and latitudes, not distances on a map.
    #[must_use]
    pub fn is_geographic(&self) -> bool {
        matches!(self.definition, Definition::Geographic(_))
    }

    /// How far from their places on WGS 84 transformed coordinates may be, in a sentence, where that is more than
    /// centimetres.
    #[must_use]
    pub fn caution(&self) -> Option<String> {
        transform::caution(&self.definition)
    }

    /// The transform to longitude and latitude on WGS 84; an error names the projection or datum that is in the way.
    pub fn to_wgs84(&self) -> Result<Transform> {
        transform::prepare(&self.definition)
    }
}
