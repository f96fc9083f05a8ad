//! Verifies the published generation: files against their digests and, with `deep`, rows against their archives.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

use super::file_checksums::Checksums;
use super::manifest::{self, Manifest};
use super::row_origin::RowOrigin;
use super::source_archive::SourceArchive;
use super::{boundaries, convert, row_digest};
use crate::archive_store::{self, Finding, Problem};
use crate::layout::FOLDERS;
use crate::replace_folder::is_copy;
use crate::{Folder, ItemKind};
use headland_agronomy::{Job, MarketMoisture};
use headland_base::error::Result;
use headland_reader::layer::{Cancel, run_ordered, threads};

/// Advice for a file of the dataset that differs from the published one.
const REWRITE_ADVICE: &str = "sync again to rewrite it from the archives";

/// Compares the files of the published generation with its manifest: each exists byte for byte, and there are no
/// others.
///
/// With `deep`, every archive is read again and compared with its rows. Folders with the same files are checked too. If
/// nothing names a generation, the newest is checked, since the next writer publishes it.
pub fn verify(folder: &Folder, deep: bool, cancel: &Cancel) -> Result<Vec<Finding>> {
    let current = folder.current()?.map_or_else(|| folder.newest(), |current| Ok(Some(current)))?;
    let Some(current) = current else { return Ok(Vec::new()) };
    let mut findings = Vec::new();
    let manifest = match Manifest::read(&current.path) {
        Ok(manifest) => manifest,
        Err(finding) => {
            findings.push(Finding { detail: format!("{}; {REWRITE_ADVICE}", finding.detail), ..finding });
            return Ok(findings);
        }
    };
    let mut expected = BTreeSet::from([current.path.join(manifest::NAME)]);
    let parts = manifest.parts.iter().map(|part| (&part.path, &part.sha256, &part.crc32));
    let tables = manifest.tables().map(|table| (&table.path, &table.sha256, &table.crc32));
    for (path, sha256, crc32) in parts.chain(tables) {
        // The file at the top of the mirror is a copy if the file system has no links. One of another state is reported
        // with its folder.
        let (top, path) = (folder.path().join(path), current.path.join(path));
        findings.extend(verify_file(&path, sha256, crc32, cancel)?);
        if is_copy(&path, &top) {
            let damaged = verify_file(&top, sha256, crc32, cancel)?;
            findings.extend(damaged.filter(|_| !folder.is_written_elsewhere()));
        }
        expected.insert(path);
    }
    for part in &manifest.parts {
        let rows = part
            .origins
            .iter()
            .try_fold(0_u64, |next, origin| (origin.first_row == next).then(|| next.saturating_add(origin.rows)));
        if rows != Some(part.rows) {
            let detail = format!(
                "the numbers of rows of its archives do not add up to its {} rows; {REWRITE_ADVICE}",
                part.rows
            );
            findings.push(Finding { problem: Problem::Damaged, path: current.path.join(&part.path), detail });
        }
    }
    let mut found = Vec::new();
    list_files(&current.path, &mut found);
    for path in found.into_iter().filter(|path| !expected.contains(path)) {
        let detail = if path.is_symlink() {
            "it is a link that headland did not create, and readers of the folder follow it: remove the link"
        } else {
            "it is not in the manifest, but readers of the folder treat it as a part: delete it"
        };
        findings.push(Finding { problem: Problem::Extra, path, detail: detail.to_owned() });
    }
    if findings.is_empty() {
        findings = folder.outdated_folders()?;
    }
    if deep {
        findings.extend(verify_archives(folder, &current.path, &manifest, cancel)?);
    }
    Ok(findings)
}

fn verify_file(path: &Path, sha256: &str, crc32: &str, cancel: &Cancel) -> Result<Option<Finding>> {
    let finding = |problem, detail: String| Some(Finding { problem, path: path.to_owned(), detail });
    if !path.is_file() {
        return Ok(finding(Problem::Missing, REWRITE_ADVICE.to_owned()));
    }
    let mut checksums = Checksums::default();
    Ok(
        match archive_store::read_file(path, cancel, &mut |bytes| checksums.update(bytes)).map(|()| checksums.finish())
        {
            Ok(found) if found.sha256 != sha256 => finding(
                Problem::Damaged,
                format!("expected the digest {sha256}, got {}; {REWRITE_ADVICE}", found.sha256),
            ),
            Ok(found) if found.crc32 != crc32 && !crc32.is_empty() => finding(
                Problem::Damaged,
                format!("its checksums in the manifest do not match its bytes; {REWRITE_ADVICE}"),
            ),
            Ok(_) => None,
            Err(error) => {
                cancel.check()?;
                finding(Problem::Damaged, format!("{error}; {REWRITE_ADVICE}"))
            }
        },
    )
}

/// Collects all files and links below a folder. Links are not followed, since they lead to files of the user. A folder
/// that cannot be listed shows as missing files.
fn list_files(folder: &Path, found: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
        let path = entry.path();
        if path.is_dir() && !path.is_symlink() { list_files(&path, found) } else { found.push(path) }
    }
}

/// Rows of a published file with the archive that proves them.
struct ArchivedRows<'a> {
    /// Path in the manifest.
    path: &'a str,
    kind: &'a str,
    job_id: &'a str,
    /// Name of the job.
    name: &'a str,
    layer: &'a str,
    /// SHA-256 of the archive, and digest of the rows.
    archive: &'a str,
    digest: &'a str,
    /// Row range in words.
    rows: String,
}

/// All rows of a generation.
fn archived_rows(manifest: &Manifest) -> Vec<ArchivedRows<'_>> {
    let rows =
        |origin: &RowOrigin| format!("rows {} to {}", origin.first_row, origin.first_row.saturating_add(origin.rows));
    let part_origins = manifest.parts.iter().flat_map(|part| part.origins.iter().map(move |origin| (part, origin)));
    let mut claimed: Vec<ArchivedRows<'_>> = part_origins
        .map(|(part, origin)| ArchivedRows {
            path: &part.path,
            kind: &origin.kind,
            job_id: &origin.job_id,
            name: &origin.name,
            layer: &origin.layer,
            archive: &origin.archive,
            digest: &origin.digest,
            rows: rows(origin),
        })
        .collect();
    claimed.extend(manifest.boundaries.iter().map(|boundary| ArchivedRows {
        path: boundaries::PATH,
        kind: &boundary.kind,
        job_id: &boundary.job_id,
        name: "",
        layer: &boundary.layer,
        archive: &boundary.archive,
        digest: &boundary.digest,
        rows: "rows".to_owned(),
    }));
    claimed
}

/// Reads every archive again and compares its rows.
fn verify_archives(folder: &Folder, generation: &Path, manifest: &Manifest, cancel: &Cancel) -> Result<Vec<Finding>> {
    let store = folder.store();
    let claimed = archived_rows(manifest);
    let compare = |step: usize, finding: &mut Option<Finding>| {
        cancel.check()?;
        *finding = claimed.get(step).and_then(|expected| {
            let wrong = |problem, path: PathBuf, detail: String| Some(Finding { problem, path, detail });
            let ArchivedRows { kind, job_id, layer, .. } = expected;
            let Some(archive) = store.path_of(expected.archive) else {
                let detail = format!("it is the source of rows of {kind} {job_id}; sync again to download it");
                return wrong(Problem::Missing, store.path_for(expected.archive), detail);
            };
            match convert::read_layer(&expected.source_archive(archive.clone()), layer, Some(1))
                .map(|layer| row_digest::digest_rows(&layer))
            {
                Ok(found) if found == expected.digest => None,
                Ok(_) => {
                    let rows = &expected.rows;
                    let detail = format!(
                        "its {rows} (layer `{layer}` of {kind} {job_id}) differ from those of `{}`; {REWRITE_ADVICE}",
                        archive.display()
                    );
                    wrong(Problem::Damaged, generation.join(expected.path), detail)
                }
                Err(error) => wrong(Problem::Damaged, archive, format!("{error}; sync again to download it")),
            }
        });
        Ok(())
    };
    let mut findings = Vec::new();
    run_ordered(threads(), claimed.len(), compare, &mut |finding: &mut Option<Finding>| {
        findings.extend(finding.take());
        Ok(())
    })?;
    Ok(findings)
}

impl ArchivedRows<'_> {
    /// Archive fields that the manifest has; the rest is empty.
    fn source_archive(&self, archive: PathBuf) -> SourceArchive {
        let is_cart = self.kind == ItemKind::Cart.as_str();
        SourceArchive {
            kind: if is_cart { ItemKind::Cart } else { ItemKind::Job },
            job_id: self.job_id.to_owned(),
            sha256: self.archive.to_owned(),
            archive,
            job_type: String::new(),
            start: None,
            created: None,
            display: None,
            name: self.name.to_owned(),
            field: None,
            job: Job::default(),
            market_moisture: MarketMoisture::default(),
        }
    }
}

/// Removes published files that [`verify`] found damaged or extra, so that the next publication rewrites them. Returns
/// their number; archives are not touched.
pub fn repair(folder: &Folder, findings: &[Finding]) -> Result<u64> {
    let Some(current) = folder.current()? else { return Ok(0) };
    let is_ours = |path: &Path| {
        path.starts_with(&current.path)
            || FOLDERS.iter().any(|name| path.starts_with(folder.path().join(name)) && path.is_file())
    };
    let ours = findings.iter().filter(|finding| finding.problem != Problem::Missing && is_ours(&finding.path));
    let mut removed = 0;
    for finding in ours {
        folder.disk().remove_file(&finding.path)?;
        removed += 1;
    }
    Ok(removed)
}
