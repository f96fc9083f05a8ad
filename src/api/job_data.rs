//! Job data: rows of table 4.2 and the shapes of 2.1 and 2.6.

use super::prescription_maps::{AVAILABLE_FILE, PRESCRIPTION_MAPS};
use super::products::{PRODUCT, PRODUCT_ROW};
use super::row::{Body, Endpoint, Index, Method, Parameter, Place, Returns, Takes};
use super::shape::{Field, Shape};

const ID: Parameter = Parameter::id("id", "Id of the job, from the list.");

/// The formats of specification 4.4.
pub const FORMATS: &[&str] = &["BIN", "SHP", "FMIS", "XML"];

const FORMAT: Parameter = Parameter::query(
    "format",
    "format",
    Takes::OneOf(FORMATS),
    Some("SHP"),
    "`BIN` is the original zip of the field computer, `SHP` a zip of shape files, `FMIS` a zip of extended XML and \
     TAB, `XML` the parsed RAD files.",
);

/// The formats that can become layers: `XML` has no specified rows (specification 4.4).
const READABLE: &[&str] = &["SHP", "FMIS", "BIN"];

const READ_FORMAT: Parameter = Parameter::query(
    "format",
    "format",
    Takes::OneOf(READABLE),
    Some("SHP"),
    "`SHP` is a zip of shape files, `FMIS` a zip with a table of each product, `BIN` the original zip of the field \
     computer, which is read where it holds either: a display's own files are not. `XML` is no table: \
     `headland.read_tree` reads what `job_data.download` fetches.",
);

/// The rows of this group.
pub static ROWS: &[Endpoint] = &[
    Endpoint {
        full_name: "job_data.list",
        method: Method::Get,
        path: "/jobdata",
        parameters: &[Parameter::query(
            "date",
            "date",
            Takes::Time,
            None,
            "Only jobs between this time and now; a date alone means its midnight, UTC.",
        )],
        paged: true,
        body: Body::None,
        returns: Returns::Index(&JOB_DATA),
        repeatable: true,
        doc: "Lists job data, newest first by the time they were created.",
        section: "4.2, 2.1",
        example: "names = [job[\"name\"] for job in client.job_data.list(date=\"2024-01-01\")]",
    },
    Endpoint {
        full_name: "job_data.get",
        method: Method::Get,
        path: "/jobdata/{id}",
        parameters: &[ID],
        paged: false,
        body: Body::None,
        returns: Returns::Detail(&JOB_DATA_DETAIL),
        repeatable: true,
        doc: "Describes one job: its kind, its times, its conversion status, its products.",
        section: "4.2, 2.6",
        example: "job = client.job_data.get(job_id)",
    },
    Endpoint {
        full_name: "job_data.download",
        method: Method::Get,
        path: "/jobdata/{id}",
        parameters: &[ID, FORMAT],
        paged: false,
        body: Body::None,
        returns: Returns::File,
        repeatable: true,
        doc: "Downloads a job's file. While the service converts it, this waits as the service asks, until the \
              deadline of the call.",
        section: "4.2, 4.4",
        example: "path = client.job_data.download(job_id, format=\"SHP\", to=folder)",
    },
    Endpoint {
        full_name: "job_data.request",
        method: Method::Get,
        path: "/jobdata/{id}",
        parameters: &[ID, FORMAT],
        paged: false,
        body: Body::None,
        returns: Returns::Conversion,
        repeatable: true,
        doc: "Asks for a job's file and comes back at once with a handle, so that others can be asked for while the \
              service converts.",
        section: "4.2, 4.4",
        example: "handle = client.job_data.request(job_id, format=\"SHP\")",
    },
    Endpoint {
        full_name: "job_data.read",
        method: Method::Get,
        path: "/jobdata/{id}",
        parameters: &[ID, READ_FORMAT],
        paged: false,
        body: Body::None,
        returns: Returns::Layer,
        repeatable: true,
        doc: "Reads a job into a layer: asks, waits for the conversion, downloads, unzips, parses. `SHP` and `FMIS` of one \
              job have the same rows, totals and units; a `BIN` is read where it holds one of them.",
        section: "4.2, 4.4",
        example: "layer = client.job_data.read(job_id)",
    },
    Endpoint {
        full_name: "job_data.products",
        method: Method::Get,
        path: "/jobdata/{id}",
        parameters: &[ID],
        paged: false,
        body: Body::None,
        returns: Returns::Table { detail: &JOB_DATA_DETAIL, row: &PRODUCT_ROW },
        repeatable: true,
        doc: "Gives the products of a job as one tidy table. A product has a row for each ingredient and for each applied \
              product, or one row where it has neither; the product's own columns repeat.",
        section: "4.2, 2.6",
        example: "products = client.job_data.products(job_id)",
    },
    Endpoint {
        full_name: "job_data.prescription_maps",
        method: Method::Get,
        path: "/jobdata/{id}/prescriptionmaps",
        parameters: &[ID],
        paged: true,
        body: Body::None,
        returns: Returns::Index(&PRESCRIPTION_MAPS),
        repeatable: true,
        doc: "Lists the prescription maps that were used to generate the job.",
        section: "4.2, 2.1",
        example: "names = [used[\"name\"] for used in client.job_data.prescription_maps(job_id)]",
    },
    Endpoint {
        full_name: "job_data.upload",
        method: Method::Post,
        path: "/jobdata",
        parameters: &[Parameter {
            name: "file",
            wire: "FileName",
            place: Place::Part,
            takes: Takes::File,
            default: None,
            doc: "The zip of job data from a field computer: a path, bytes or a binary file object. A zip with \
                  several directories is not supported by the service.",
        }],
        paged: false,
        body: Body::Multipart,
        returns: Returns::Created,
        repeatable: false,
        doc: "Uploads a zip of job data and gives the id and the address of the new record.",
        section: "4.2, 4.3",
        example: "created = client.job_data.upload(archive)",
    },
];

static JOB_DATA: Index = Index { kind: "JobData", item: &JOB_DATA_ITEM, newest_first: true };

/// An item of the list.
pub static JOB_DATA_ITEM: Shape = Shape {
    name: "JobDataItem",
    doc: "A job in a list.",
    section: "2.1",
    fields: &[
        Field::integer_id("ID", "id", "Id of the job. Ids are not in the order of the list."),
        Field::text("Name", "name", "Name given by a user, or the file name."),
        Field::text("Uri", "uri", "Absolute address of the detail."),
        Field::text("SubType", "sub_type", "`Planter`, `Sprayer`, `Yield`, `Planter/Sprayer` or `As Applied`."),
        Field::time("CreateDate", "create_date", "When the file was uploaded."),
        Field::time("UpdateDate", "update_date", "Latest update by the service to the file."),
    ],
    hoists: &[],
};

/// The detail: the fields of all three kinds of job. A job has only those of its kind.
pub static JOB_DATA_DETAIL: Shape = Shape {
    name: "JobDataDetail",
    doc: "A job: the fields common to all, those that only a sprayer's job has, and the products.",
    section: "2.6",
    fields: &[
        Field::text("DeviceFileName", "device_file_name", "Job file name as saved on the field computer."),
        Field::time("CreateDate", "create_date", "When the file was uploaded."),
        Field::time("UpdateDate", "update_date", "Latest update by the service to the file."),
        Field::text("Status", "status", "Conversion status, such as `CONVERSION_STATUS_SUCCESS` (section 3)."),
        Field::text("JobType", "job_type", "`Yield`, `AsApplied` or `Planter`."),
        Field::records("AvailableFiles", "available_files", &AVAILABLE_FILE, "File", "Files that can be downloaded."),
        Field::integer_id("ID", "id", "Id of the job."),
        Field::id("FieldComputerID", "field_computer_id", "Id of the field computer that made it."),
        Field::text("FileName", "file_name", "Base file name (planter and yield jobs)."),
        Field::text("JobName", "job_name", "Base file name (sprayer jobs)."),
        Field::time("StartDate", "start_date", "Job start, by the clock of the field computer."),
        Field::time("EndDate", "end_date", "Job end, by the clock of the field computer."),
        Field::text("SoftwareVersion", "software_version", "Software of the field computer; often empty."),
        Field::text("CustomerName", "customer_name", "Entered on the field computer (sprayer)."),
        Field::text("CustomerAddress", "customer_address", "Entered on the field computer (sprayer)."),
        Field::text("CustomerNumber", "customer_number", "Entered on the field computer (sprayer)."),
        Field::text("OperatorName", "operator_name", "Entered on the field computer (sprayer)."),
        Field::text("OperatorAddress", "operator_address", "Entered on the field computer (sprayer)."),
        Field::text("OperatorLicense", "operator_license", "Entered on the field computer (sprayer)."),
        Field::text("FieldName", "field_name", "Entered on the field computer (sprayer)."),
        Field::text("FieldSection", "field_section", "Entered on the field computer (sprayer)."),
        Field::text("FieldCounty", "field_county", "Entered on the field computer (sprayer)."),
        Field::text("FieldTownship", "field_township", "Entered on the field computer (sprayer)."),
        Field::text("FieldCrop", "field_crop", "Entered on the field computer (sprayer)."),
        Field::text("FieldArea", "field_area", "Entered on the field computer as free text (sprayer)."),
        Field::text("ApplicationType", "application_type", "Entered on the field computer (sprayer)."),
        Field::text("SoilCondition", "soil_condition", "Entered on the field computer (sprayer)."),
        Field::text("Moisture", "moisture", "Entered on the field computer as free text (sprayer)."),
        Field::text("TipSize", "tip_size", "Entered on the field computer (sprayer)."),
        Field::text("WeatherObservationTime", "weather_observation_time", "Entered on the field computer (sprayer)."),
        Field::text("WeatherTemperature", "weather_temperature", "Entered on the field computer (sprayer)."),
        Field::text("WeatherWindSpeed", "weather_wind_speed", "Entered on the field computer (sprayer)."),
        Field::text("WeatherHumidity", "weather_humidity", "Entered on the field computer (sprayer)."),
        Field::text("WeatherWindDirection", "weather_wind_direction", "Entered on the field computer (sprayer)."),
        Field::text("AverageSpeed", "average_speed", "Average speed in meters per second, as text (sprayer)."),
        Field::records("Products", "products", &PRODUCT, "Product", "What was sprayed, planted or harvested.")
            .also(&["ProductList"]),
    ],
    hoists: &["SprayerJob", "PlanterJob", "YieldJob"],
};
