//! Reading options with their checks.

use super::encoding::Encoding;
use super::limits::Limits;
use headland_base::error::{Error, Kind, Result};

/// How to read an archive.
#[derive(Clone, Debug)]
pub struct ReadOptions {
    /// The layer, if a source has several.
    pub layer: Option<String>,
    /// The columns, in the order of the file; all if `None`.
    pub columns: Option<Vec<String>>,
    /// The encoding of text, regardless of what the archive declares.
    pub encoding: Option<String>,
    /// Whether damage is an error. Otherwise the rest is read, and diagnostics report what was lost.
    pub strict: bool,
    /// Number of threads; if `None`, two on a machine with several cores.
    pub threads: Option<usize>,
    /// The limits of a source.
    pub limits: Limits,
    /// The coordinate system to transform to: `EPSG:4326` or `WGS84`.
    pub to_crs: Option<String>,
}

impl ReadOptions {
    /// An error if an option is invalid for every archive. Called before an archive is opened or downloaded.
    pub fn check(&self) -> Result<()> {
        if let Some(target) = self.to_crs.as_deref().filter(|target| !is_wgs84(target)) {
            let message = format!(
                "unsupported `to_crs`: layers can be transformed to `EPSG:4326` (`WGS84`) only, got `{target}`; for other \
                 systems, use `layer.to_geopandas().to_crs(...)`"
            );
            return Err(Error::new(Kind::Value, message));
        }
        match &self.encoding {
            Some(name) if name.contains(char::is_control) || Encoding::from_name(name).is_none() => {
                let message = format!(
                    "unsupported `encoding`: expected `utf-8`, `cp1252`, all of cp1250 to cp1258, latin-1 and \
                     iso-8859-1 to -16, of DOS cp437, cp737, cp775, cp850, cp852, cp855, cp857, cp860 to cp863, cp865, \
                     cp866, cp869, cp874, of the Macintosh cp10000, cp10006, cp10007, cp10029, koi8-r, koi8-u, \
                     shift_jis, euc-jp, gbk, gb18030, big5, euc-kr or others, got `{}`; FMIS tables in UTF-16 need no \
                     `encoding`",
                    name.escape_debug()
                );
                Err(Error::new(Kind::Value, message))
            }
            _ => Ok(()),
        }
    }
}

/// Whether a name of a coordinate system means WGS 84.
fn is_wgs84(name: &str) -> bool {
    ["EPSG:4326", "WGS84", "WGS 84", "OGC:CRS84", "4326"].iter().any(|known| name.trim().eq_ignore_ascii_case(known))
}

impl Default for ReadOptions {
    fn default() -> Self {
        Self {
            layer: None,
            columns: None,
            encoding: None,
            strict: true,
            threads: None,
            limits: Limits::default(),
            to_crs: None,
        }
    }
}
