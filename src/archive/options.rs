//! Reading options with their checks, and the limits that are checked before any allocation.

use super::encoding::Encoding;
use crate::error::{Error, Kind, Result};

/// How an archive is read; every option has a default.
#[derive(Clone, Debug)]
pub struct ReadOptions {
    /// Which layer, where a source holds several.
    pub layer: Option<String>,
    /// Which columns; all where `None`. Their order is the file's.
    pub columns: Option<Vec<String>>,
    /// The encoding of text, whatever the archive says about it.
    pub encoding: Option<String>,
    /// Whether damage is an error; otherwise what can be saved is read and a diagnostic says what was lost.
    pub strict: bool,
    /// How many threads may work; two where `None` and the machine has them.
    pub threads: Option<usize>,
    /// What a source may ask for.
    pub limits: Limits,
    /// A coordinate system to transform into: `EPSG:4326` or `WGS84`.
    pub to_crs: Option<String>,
}

impl ReadOptions {
    /// Refuses options that no archive can be read with, before an archive is opened or downloaded.
    pub fn check(&self) -> Result<()> {
        if let Some(target) = self.to_crs.as_deref().filter(|target| !is_wgs84(target)) {
            let message =
                format!("`to_crs` takes `EPSG:4326` (`WGS84`), which layers can be transformed to, not `{target}`");
            return Err(Error::new(Kind::Value, message));
        }
        match &self.encoding {
            Some(name) if name.contains(char::is_control) || Encoding::from_name(name).is_none() => {
                let message = format!(
                    "`encoding` takes the name of an encoding that headland reads: `utf-8`, \
                     `cp1252`, all of cp1250 to cp1258, latin-1 and iso-8859-1 to -16, of DOS cp437, cp737, cp775, \
                     cp850, cp852, cp855, cp857, cp860 to cp863, cp865, cp866, cp869, cp874, of the Macintosh cp10000, \
                     cp10006, cp10007, cp10029, koi8-r, koi8-u, shift_jis, euc-jp, gbk, gb18030, big5, euc-kr and \
                     others, not `{}`; FMIS tables in UTF-16 are read as such without it",
                    name.escape_debug()
                );
                Err(Error::new(Kind::Value, message))
            }
            _ => Ok(()),
        }
    }
}

/// Whether a name of a coordinate system is one of WGS 84.
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

/// Limits that come before any allocation.
///
/// The defaults take every honest archive of field data and leave a laptop its memory: what is read of an archive takes
/// about as much memory as its .shp and .dbf have bytes, a .shp has at most 4 GiB by its own format, and the largest
/// yield data deflate to a tenth, tables of blank-padded text to a hundredth. A zip of 6 MB that inflates to 1 GB is
/// neither. An honest .dbf may be larger than 4 GiB: whoever trusts it raises `bytes`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// Members in an archive or files in a folder: 65,536.
    pub members: usize,
    /// Bytes of one member when inflated, stored or loose: 4 GiB, where the format of a .shp ends.
    pub bytes: u64,
    /// How many times its compressed size a member above 64 MiB may inflate to: 100.
    pub ratio: u64,
    /// How deep archives inside archives are followed: 1.
    pub nesting: usize,
    /// Bytes of a member's name: 4,096.
    pub name: usize,
}

/// A small member may have any ratio: a column of blanks is no attack.
const UNCHECKED_RATIO_SIZE: u64 = 64 << 20;

impl Limits {
    /// Refuses a member of more bytes than one may have.
    pub(super) fn check_size(&self, size: u64) -> std::result::Result<(), String> {
        if size > self.bytes {
            let limit = self.bytes;
            return Err(format!(
                "its {size} bytes are more than the limit of {limit}; if you trust it, raise Limits(bytes=...)"
            ));
        }
        Ok(())
    }

    /// Whether `size` bytes are too many to inflate from `packed` bytes.
    pub(super) fn is_beyond_ratio(&self, size: u64, compressed_size: u64) -> bool {
        size > UNCHECKED_RATIO_SIZE && size / compressed_size.max(1) > self.ratio
    }
}

impl Default for Limits {
    fn default() -> Self {
        Self { members: 65_536, bytes: 4 << 30, ratio: 100, nesting: 1, name: 4_096 }
    }
}
