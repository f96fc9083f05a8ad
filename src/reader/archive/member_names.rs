//! Names of members: normalises separators, refuses unsafe names and classifies extensions.

/// How the message about a refused member begins; the reason follows.
pub(super) const REFUSED_PREFIX: &str = "a member was left out: ";

/// The name with forward slashes and without `./`, or the reason to refuse it.
pub(super) fn normalize(name: &str) -> Result<String, &'static str> {
    if name.is_empty() {
        return Err("its name is empty");
    }
    if name.contains('\0') {
        return Err("its name contains a NUL byte");
    }
    let name = name.replace('\\', "/");
    let mut letters = name.chars();
    if let (Some(first), Some(':')) = (letters.next(), letters.next())
        && first.is_ascii_alphabetic()
    {
        return Err("its name begins with a drive letter");
    }
    if name.starts_with('/') {
        return Err("its name is an absolute path");
    }
    let parts: Vec<&str> = name.split('/').filter(|part| !part.is_empty() && *part != ".").collect();
    if parts.contains(&"..") {
        return Err("its name points outside the archive with `..`");
    }
    if parts.is_empty() {
        return Err("its name is empty");
    }
    Ok(parts.join("/"))
}

/// Whether files with this extension are parts of a layer.
pub(super) fn is_layer_file(ending: &str) -> bool {
    ["shp", "shx", "dbf", "prj", "cpg", "cst", "grc"].iter().any(|known| ending.eq_ignore_ascii_case(known))
}

/// Whether files with this extension have rows, or contain such files.
pub(super) fn has_rows(ending: &str) -> bool {
    ["shp", "dbf", "grc", "tab", "zip"].iter().any(|known| ending.eq_ignore_ascii_case(known))
}

/// Whether a member is a resource fork of macOS.
pub(super) fn is_resource_fork(name: &str) -> bool {
    let last = name.rsplit('/').next().unwrap_or(name);
    last.starts_with("._") || name.split('/').any(|part| part.eq_ignore_ascii_case("__MACOSX"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn name_that_leads_out_of_the_archive_is_an_error() {
        for name in
            ["../t.shp", "a/../../t.shp", "/t.shp", "C:\\t.shp", "\\\\host\\t.shp", "..\\t.shp", "", "a\0.shp", "./"]
        {
            assert!(normalize(name).is_err(), "{name:?}");
        }
    }

    #[test]
    fn separators_and_dots_are_normalized() {
        assert_eq!(normalize("./a\\b//t.shp").unwrap(), "a/b/t.shp");
    }

    #[test]
    fn resource_fork_is_recognised_by_its_name() {
        assert!(is_resource_fork("__MACOSX/a/._t.shp"));
        assert!(is_resource_fork("a/._t.shp"));
        assert!(!is_resource_fork("a/t.shp"));
    }
}
