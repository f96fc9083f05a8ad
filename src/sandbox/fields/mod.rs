//! Stand-in for the generator of synthetic accounts, with the same signatures.
#![allow(missing_docs, clippy::unnecessary_wraps, clippy::missing_panics_doc, clippy::must_use_candidate)]
use crate::error::Result;
use crate::wire::{Name, Value};
use chrono::{DateTime, TimeDelta, Utc};
use std::io::Write as _;

pub fn account(seed: u64) -> Account {
    let base = DateTime::<Utc>::from_timestamp(1_756_000_000, 0).unwrap_or_default();
    let jobs = (0..25)
        .map(|n| {
            let id = ((n * 7919 + seed as i64 * 13) % 1000 + 10 + seed as i64 % 1000 * 1000).to_string();
            let created = base + TimeDelta::hours(n);
            Job {
                id: id.clone(),
                name: format!("Job {n}"),
                sub_type: "Yield".into(),
                created,
                updated: created,
                field: "Home".into(),
                season: 2025,
                detail: Value::Record(vec![
                    (Name::Borrowed("device_file_name"), Value::Text(format!("Job {n}.jdp"))),
                    (Name::Borrowed("id"), Value::Text(id)),
                    (Name::Borrowed("job_type"), Value::Text("Yield".into())),
                    (Name::Borrowed("create_date"), Value::Time(created)),
                ]),
                coverage: match n {
                    3 => Coverage::None,
                    4 => Coverage::Unconvertible,
                    _ => Coverage::Recorded,
                },
            }
        })
        .collect();
    let computers = (0..3)
        .map(|n| {
            let id = (460 + n + seed % 1000 * 1000).to_string();
            Computer {
                id: id.clone(),
                detail: Value::Record(vec![
                    (Name::Borrowed("id"), Value::Text(id)),
                    (Name::Borrowed("name"), Value::Text(format!("Display {n}"))),
                ]),
            }
        })
        .collect();
    Account { computers, jobs }
}

#[derive(Clone, Debug)]
pub struct Account {
    pub computers: Vec<Computer>,
    pub jobs: Vec<Job>,
}
#[derive(Clone, Debug)]
pub struct Computer {
    pub id: String,
    pub detail: Value,
}
#[derive(Clone, Debug)]
pub struct Job {
    pub id: String,
    pub name: String,
    pub sub_type: String,
    pub created: DateTime<Utc>,
    pub updated: DateTime<Utc>,
    pub field: String,
    pub season: i32,
    pub detail: Value,
    pub coverage: Coverage,
}
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Coverage {
    Recorded,
    None,
    Unconvertible,
}
impl Job {
    pub fn shapefile_zip(&self) -> Result<Vec<u8>> {
        self.zip("a.shp")
    }
    pub fn display_zip(&self) -> Result<Vec<u8>> {
        self.zip("a.bin")
    }
    fn zip(&self, name: &str) -> Result<Vec<u8>> {
        let fail = |e: String| crate::error::Error::new(crate::error::Kind::Archive, e);
        let mut zip = zip::ZipWriter::new(std::io::Cursor::new(Vec::new()));
        zip.start_file(name, zip::write::SimpleFileOptions::default()).map_err(|e| fail(e.to_string()))?;
        zip.write_all(self.name.repeat(500).as_bytes()).map_err(|e| fail(e.to_string()))?;
        Ok(zip.finish().map_err(|e| fail(e.to_string()))?.into_inner())
    }
    pub fn truth(&self) -> Result<Truth> {
        Ok(Truth {
            job_id: self.id.clone(),
            job_name: self.name.clone(),
            field: self.field.clone(),
            rows: 0,
            area: 0.0,
            field_area: 0.0,
            totals: vec![],
        })
    }
}
#[derive(Clone, Debug)]
pub struct Truth {
    pub job_id: String,
    pub job_name: String,
    pub field: String,
    pub rows: u64,
    pub area: f64,
    pub field_area: f64,
    pub totals: Vec<(String, String, f64)>,
}
