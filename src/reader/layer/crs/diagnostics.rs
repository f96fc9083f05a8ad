//! Diagnostics of a coordinate system: a contradicted code, no PROJJSON, or a datum that is offset from WGS 84.

use super::{Crs, OwnPlane, epsg, transform};
use crate::archive::{Code, Diagnostic};

impl Crs {
    /// What a reader of a .prj must know about its system.
    #[must_use]
    pub fn diagnostics(&self) -> Vec<Diagnostic> {
        let mut found = Vec::new();
        if let Some(code) = self.code.contradicted {
            let message = format!(
                "the .prj states the code {}:{code}, which its own text contradicts; the text was used",
                epsg::authority(code)
            );
            found.push(Diagnostic::new(Code::CrsCodeContradicts, message));
        }
        if let Some(code) = self.code.unverified {
            let message = format!(
                "the .prj states the code {}:{code}, which cannot be compared with its text; the text was used",
                epsg::authority(code)
            );
            found.push(Diagnostic::new(Code::CrsCodeUnverified, message));
        }
        if self.projjson.is_none() {
            let message =
                format!("PROJJSON cannot express `{}`: GeoParquet files will have no coordinate system", self.name);
            found.push(Diagnostic::new(Code::CrsWithoutProjjson, message));
        }
        if let Some(message) = transform::caution(&self.definition) {
            found.push(Diagnostic::new(Code::DatumOffset, message));
        }
        found.extend(OwnPlane::new(self).map(|plane| plane.diagnostic()));
        found
    }
}
