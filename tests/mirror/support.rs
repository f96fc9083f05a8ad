//! Builds archives for the tests of the dataset, and reads the dataset row by row.

use std::collections::BTreeMap;
use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use arrow_array::cast::AsArray;
use arrow_array::types::Int64Type;
use arrow_array::{Array, RecordBatch};
use arrow_schema::{DataType, SchemaRef};
use chrono::{TimeZone as _, Utc};
use headland::agronomy::{Job, JobKind, MarketMoisture};
use headland::error::Result;
use headland::layer::{self, Cancel, ReadOptions, Source};
use headland::mirror::dataset::{Publication, Published, RejectedArchive, Sizes, SourceArchive, publish_in, verify};
use headland::mirror::{Disk, Folder, ItemKind};
use parquet::arrow::arrow_reader::ParquetRecordBatchReaderBuilder;
use sha2::{Digest as _, Sha256};

use crate::builder::{Field, UTM_12, WGS_84, dbf, point, shp, zip};
use crate::canonical_text::{hex, text};

/// A mirror with archives but no journal.
pub(crate) struct Farm {
    _place: Option<tempfile::TempDir>,
    pub(crate) folder: Folder,
    /// The wanted archives, by kind and id.
    pub(crate) wanted: BTreeMap<(bool, String), SourceArchive>,
    pub(crate) sizes: Sizes,
}

impl Farm {
    pub(crate) fn new() -> Self {
        let place = tempfile::tempdir().unwrap();
        let folder = Folder::open(&place.path().join("farm"), true).unwrap();
        Self { _place: Some(place), folder, wanted: BTreeMap::new(), sizes: Sizes::default() }
    }

    /// A mirror at a path that is not removed.
    pub(crate) fn at(path: &Path, disk: Disk) -> Self {
        let folder = Folder::open_with_disk(path, true, disk).unwrap();
        Self { _place: None, folder, wanted: BTreeMap::new(), sizes: Sizes::default() }
    }

    /// Stores an archive as that of this job.
    pub(crate) fn put(&mut self, id: &str, bytes: &[u8]) -> &mut SourceArchive {
        self.put_as(ItemKind::Job, id, bytes)
    }

    pub(crate) fn put_as(&mut self, kind: ItemKind, id: &str, bytes: &[u8]) -> &mut SourceArchive {
        let sha256 = hex(&Sha256::digest(bytes));
        let folder = self.folder.path().join("archives").join(&sha256[..2]);
        fs::create_dir_all(&folder).unwrap();
        let archive = folder.join(format!("{sha256}.{}", if bytes.starts_with(b"PK") { "zip" } else { "grc" }));
        if !archive.exists() {
            // In the way of the archive store, since some tests kill the process.
            fs::write(archive.with_extension("part"), bytes).unwrap();
            fs::rename(archive.with_extension("part"), &archive).unwrap();
        }
        let origin = SourceArchive {
            kind,
            job_id: id.to_owned(),
            sha256,
            archive,
            job_type: "Yield".to_owned(),
            start: Some(Utc.with_ymd_and_hms(2026, 9, 15, 8, 0, 0).unwrap()),
            created: None,
            display: None,
            name: format!("Job {id}"),
            field: None,
            job: Job { kind: Some(JobKind::Yield), ..Job::default() },
            market_moisture: MarketMoisture::default(),
        };
        let key = (kind == ItemKind::Cart, id.to_owned());
        self.wanted.insert(key.clone(), origin);
        self.wanted.get_mut(&key).unwrap()
    }

    pub(crate) fn drop_job(&mut self, id: &str) {
        self.wanted.remove(&(false, id.to_owned())).unwrap();
    }

    pub(crate) fn origins(&self) -> Vec<SourceArchive> {
        self.wanted.values().cloned().collect()
    }

    pub(crate) fn publish(&self) -> Published {
        self.try_to_publish().unwrap()
    }

    pub(crate) fn try_to_publish(&self) -> Result<Published> {
        publish_in(&self.folder, &self.origins(), &[], self.sizes, &Cancel::default()).map(done)
    }

    /// The archives that prevent a publication.
    pub(crate) fn lost(&self) -> Vec<RejectedArchive> {
        match publish_in(&self.folder, &self.origins(), &[], self.sizes, &Cancel::default()).unwrap() {
            Publication::Published(published) => panic!("{published:?}"),
            Publication::Lost(lost) => lost,
        }
    }

    pub(crate) fn files(&self) -> Vec<PathBuf> {
        files(&self.folder.path().join("dataset"))
    }

    /// Publishes, and compares every row with the archives.
    pub(crate) fn publish_and_compare(&self) -> Published {
        let published = self.publish();
        assert!(published.rejected.is_empty(), "{:?}", published.rejected);
        let found = rows(&self.files());
        assert_eq!(published.rows, found.values().map(|rows| rows.len() as u64).sum::<u64>());
        let expected = self.expected();
        assert_eq!(verify(&self.folder, true, &Cancel::default()).unwrap(), []);
        assert_eq!(found.keys().collect::<Vec<_>>(), expected.keys().collect::<Vec<_>>());
        for (key, rows) in &expected {
            assert!(found[key] == *rows, "{key:?}: {:?} instead of {:?}", found[key].first(), rows.first());
        }
        published
    }

    /// The rows of every wanted archive, by layer.
    pub(crate) fn expected(&self) -> Rows {
        let mut all = Rows::new();
        for origin in self.wanted.values() {
            let source = Source::Path(origin.archive.clone());
            for name in layer::layers(&source, &ReadOptions::default()).unwrap() {
                let plain = ReadOptions { layer: Some(name.clone()), ..ReadOptions::default() };
                let moved = ReadOptions { to_crs: Some("EPSG:4326".to_owned()), ..plain.clone() };
                let layer = layer::read(&source, &moved).or_else(|_| layer::read(&source, &plain)).unwrap();
                let folder = folder_of(origin);
                let mut rows = Vec::new();
                for batch in layer.batches() {
                    let own: Vec<usize> = (0..batch.num_columns()).collect();
                    rows.extend((0..batch.num_rows()).map(|row| line(batch, &own, row)));
                }
                let name = if origin.kind == ItemKind::Cart { origin.name.replace(".grc", "") } else { name };
                if !rows.is_empty() {
                    all.insert((folder, origin.job_id.clone(), name), rows);
                }
            }
        }
        all
    }
}

/// The publication, which must not miss an archive.
pub(crate) fn done(publication: Publication) -> Published {
    match publication {
        Publication::Published(published) => published,
        Publication::Lost(lost) => panic!("{lost:?}"),
    }
}

fn folder_of(origin: &SourceArchive) -> String {
    let job_type = if origin.kind == ItemKind::Cart { "GrainCart" } else { &origin.job_type };
    let named = origin.name.split('_').find(|word| word.len() == 10 && word.starts_with("20"));
    let named = named.filter(|_| origin.kind == ItemKind::Cart).map(|date| date[..4].to_owned());
    let year = origin.start.or(origin.created).map(|time| time.format("%Y").to_string()).or(named);
    let year = year.unwrap_or_else(|| "__HIVE_DEFAULT_PARTITION__".to_owned());
    format!("job_type={job_type}/year={year}")
}

/// The rows of each layer of each job: by folder, job and layer, in their order.
pub(crate) type Rows = BTreeMap<(String, String, String), Vec<String>>;

/// The values of a row with the names that they have in the archive.
fn line(batch: &RecordBatch, columns: &[usize], row: usize) -> String {
    let schema = batch.schema();
    let value = |at: &usize| {
        let field = schema.field(*at);
        let is_geometry = *field.data_type() == DataType::LargeBinary;
        let name = field.metadata().get("headland.column").unwrap_or(field.name());
        let name = if is_geometry { "its place" } else { name };
        format!("{name}={}", text(batch.column(*at), row))
    };
    columns.iter().map(value).collect::<Vec<_>>().join("|")
}

/// The folder of the published generation.
pub(crate) fn state(mirror: &Path) -> PathBuf {
    let pointer: serde_json::Value = serde_json::from_slice(&fs::read(mirror.join("current.json")).unwrap()).unwrap();
    mirror.join(pointer["state"].as_str().unwrap())
}

/// All Parquet files below a folder.
pub(crate) fn files(folder: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            found.extend(files(&path));
        } else {
            assert!(path.extension().unwrap() == "parquet", "{}", path.display());
            found.push(path);
        }
    }
    found.sort();
    found
}

/// The rows of the files.
pub(crate) fn rows(files: &[PathBuf]) -> Rows {
    let mut all = Rows::new();
    for path in files {
        let folders: Vec<&str> = path.iter().map(|part| part.to_str().unwrap()).collect();
        let folder = folders[folders.len() - 4..folders.len() - 2].join("/");
        for batch in batches(path) {
            let name = |at: usize| batch.schema().field(at).name().clone();
            assert_eq!([name(0), name(1), name(2)], ["job_id", "layer", "job_row"]);
            // Boxes follow the geometry; layers have none.
            let has_boxes = matches!(batch.schema().fields().last().unwrap().data_type(), DataType::Struct(_));
            let last = batch.num_columns() - usize::from(has_boxes);
            let columns: Vec<usize> = (3..last).collect();
            for row in 0..batch.num_rows() {
                let own = |at: usize| batch.column(at).as_string::<i64>().value(row).to_owned();
                let rows = all.entry((folder.clone(), own(0), own(1))).or_default();
                let number = batch.column(2).as_primitive::<Int64Type>().value(row);
                assert_eq!(number, i64::try_from(rows.len()).unwrap(), "rows of a job stand together in their order");
                assert!(batch.column(0).is_valid(row));
                rows.push(line(&batch, &columns, row));
            }
        }
    }
    all
}

/// The Arrow schema of a file.
pub(crate) fn schema(path: &Path) -> SchemaRef {
    Arc::clone(ParquetRecordBatchReaderBuilder::try_new(File::open(path).unwrap()).unwrap().schema())
}

/// The batches of a file.
pub(crate) fn batches(path: &Path) -> Vec<RecordBatch> {
    let reader = ParquetRecordBatchReaderBuilder::try_new(File::open(path).unwrap()).unwrap();
    reader.build().unwrap().map(|batch| batch.unwrap()).collect()
}

/// A shapefile of `count` points that start at a corner, with a text, an integer and a decimal.
pub(crate) fn points(count: u32, corner: (f64, f64), salt: u32) -> Vec<u8> {
    let fields: [Field<'_>; 3] = [("Product", b'C', 8, 0), ("Track", b'N', 6, 0), ("Yield", b'N', 9, 2)];
    let records: Vec<Vec<u8>> = (0..count)
        .map(|row| {
            let crop = if (row + salt).is_multiple_of(3) { "Corn" } else { "Soy" };
            format!(" {crop:<8}{:>6}{:>6}.{:02}", row + salt, row % 900, salt % 100).into_bytes()
        })
        .collect();
    let places: Vec<Vec<u8>> = (0..count)
        .map(|row| point(corner.0 + f64::from(row % 100) * 1e-5, corner.1 + f64::from(row / 100) * 1e-5))
        .collect();
    shapefile(&fields, &records, &places, Some(WGS_84))
}

/// A zipped shapefile of points.
pub(crate) fn shapefile(fields: &[Field<'_>], records: &[Vec<u8>], places: &[Vec<u8>], prj: Option<&str>) -> Vec<u8> {
    let records: Vec<&[u8]> = records.iter().map(Vec::as_slice).collect();
    let (shp, shx) = shp(1, places);
    let table = dbf(fields, &records, 0);
    let mut members = vec![("field.shp", shp.as_slice()), ("field.shx", &shx), ("field.dbf", &table)];
    members.extend(prj.map(|prj| ("field.prj", prj.as_bytes())));
    zip(&members)
}

/// The same few points in UTM zone 12.
pub(crate) fn utm_points(count: u32) -> Vec<u8> {
    let records: Vec<Vec<u8>> = (0..count).map(|row| format!(" {row:>6}").into_bytes()).collect();
    let places: Vec<Vec<u8>> = (0..count).map(|row| point(500_000.0 + f64::from(row), 5_000_000.0)).collect();
    shapefile(&[("Track", b'N', 6, 0)], &records, &places, Some(UTM_12))
}
