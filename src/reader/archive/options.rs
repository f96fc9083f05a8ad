//! Reading options with their checks, and the limits that are checked before any allocation.

use super::encoding::Encoding;
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

/// Limits that are checked before any allocation.
///
/// The defaults accept real archives of field data and bound the memory. Reading needs about as much memory as the .shp
/// and .dbf have bytes. The format of a .shp ends at 4 GiB. The largest yield data deflate to a tenth, and tables
/// padded with blanks to a hundredth. So a zip of 6 MB that inflates to 1 GB is refused. A valid .dbf may exceed 4 GiB;
/// raise `bytes` to read it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// Members of an archive or files of a folder: 65,536.
    pub members: usize,
    /// Bytes of one member, inflated or stored: 4 GiB, the largest size of a .shp.
    pub bytes: u64,
    /// Inflated size of a member above 64 MiB divided by its compressed size: 100.
    pub ratio: u64,
    /// Levels of archives inside archives: 1.
    pub nesting: usize,
    /// Bytes of a member's name: 4,096.
    pub name: usize,
}

/// Smaller members may have any ratio, since a column of blanks exceeds the limit.
const UNCHECKED_RATIO_SIZE: u64 = 64 << 20;

impl Limits {
    /// An error if a member is larger than the limit.
    pub(super) fn check_size(&self, size: u64) -> std::result::Result<(), String> {
        if size > self.bytes {
            let limit = self.bytes;
            return Err(format!(
                "its {size} bytes are more than the limit of {limit}; if you trust it, raise Limits(bytes=...)"
            ));
        }
        Ok(())
    }

    /// Whether `size` bytes are too many from `compressed_size` bytes.
    pub(super) fn is_beyond_ratio(&self, size: u64, compressed_size: u64) -> bool {
        size > UNCHECKED_RATIO_SIZE && size / compressed_size.max(1) > self.ratio
    }
}

impl Default for Limits {
    fn default() -> Self {
        Self { members: 65_536, bytes: 4 << 30, ratio: 100, nesting: 1, name: 4_096 }
    }
}
