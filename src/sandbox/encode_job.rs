//! Names and elements of a job's detail that variants change.

use headland_api::Shape;
use headland_api::job_data::JOB_DATA_DETAIL;
use headland_base::names;

/// Whether the shape is a job's detail.
pub(super) fn is_job(shape: &'static Shape) -> bool {
    std::ptr::eq(shape, &raw const JOB_DATA_DETAIL)
}

/// Fields of a job outside the nested element.
pub(super) const COMMON: &[&str] =
    &["DeviceFileName", "CreateDate", "UpdateDate", "Status", "JobType", "AvailableFiles", "ID", "FieldComputerID"];

/// Returns the element that nests the fields of a job type.
pub(super) fn nested_element(job_type: &str) -> Option<&'static str> {
    match job_type {
        "Yield" => Some("YieldJob"),
        "AsApplied" => Some("SprayerJob"),
        "Planter" => Some("PlanterJob"),
        _ => None,
    }
}

/// Converts `DeviceFileName` to `Device File Name`, and `TargetRate` to the `Target Rat` of specification 2.6.
pub(super) fn display_name(wire: &str) -> String {
    if wire == "TargetRate" {
        return "Target Rat".to_owned();
    }
    if wire.ends_with("Job") {
        return wire.to_owned();
    }
    let mut letters = wire.chars();
    names::snake(wire).chars().map(|c| if c == '_' { ' ' } else { letters.next().unwrap_or(c) }).collect()
}
