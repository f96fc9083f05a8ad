//! Prescription maps: rows of table 4.2 and the shapes of 2.1 and 2.5.

use super::row::{Body, Endpoint, Index, Method, Parameter, Place, Returns, Takes};
use super::shape::{Field, Shape};

const ID: Parameter = Parameter::id("id", "Id of the prescription map, from the list.");

/// The file types for uploads (specification 4.2, 4.3).
pub const FILE_TYPES: &[&str] = &["RX", "AGX"];

/// The rows of this group.
pub static ROWS: &[Endpoint] = &[
    Endpoint {
        full_name: "prescription_maps.list",
        method: Method::Get,
        path: "/prescriptionmaps",
        parameters: &[],
        paged: true,
        body: Body::None,
        returns: Returns::Index(&PRESCRIPTION_MAPS),
        repeatable: true,
        doc: "Lists the prescription maps.",
        section: "4.2, 2.1",
        example: "names = [map[\"name\"] for map in client.prescription_maps.list()]",
    },
    Endpoint {
        full_name: "prescription_maps.get",
        method: Method::Get,
        path: "/prescriptionmaps/{id}",
        parameters: &[ID],
        paged: false,
        body: Body::None,
        returns: Returns::Detail(&PRESCRIPTION_MAP_DETAIL),
        repeatable: true,
        doc: "Describes one prescription map: its times, its delivery, the files that can be downloaded.",
        section: "4.2, 2.5",
        example: "map = client.prescription_maps.get(map_id)",
    },
    Endpoint {
        full_name: "prescription_maps.download",
        method: Method::Get,
        path: "/prescriptionmaps/{id}",
        parameters: &[
            ID,
            Parameter::query(
                "format",
                "format",
                Takes::Word,
                Some("bin"),
                "One of the file types of the map's available files, for example `bin`. The service has no `AGX` and does \
                 not give `RAD` away.",
            ),
        ],
        paged: false,
        body: Body::None,
        returns: Returns::File,
        repeatable: true,
        doc: "Downloads a prescription map as a zip in a format.",
        section: "4.2, 2.5",
        example: "path = client.prescription_maps.download(map_id, to=folder)",
    },
    Endpoint {
        full_name: "prescription_maps.read",
        method: Method::Get,
        path: "/prescriptionmaps/{id}",
        parameters: &[
            ID,
            Parameter::query(
                "format",
                "format",
                Takes::Word,
                Some("shp"),
                "A file type of the map's available files that is a zip with a shapefile. Where the service has no `shp`, \
                 `bin` is read, which is the file as it was uploaded.",
            ),
        ],
        paged: false,
        body: Body::None,
        returns: Returns::Layer,
        repeatable: true,
        doc: "Reads a prescription map into a layer: its zones with their rates. A map in a format of a display is no \
              layer.",
        section: "4.2, 2.5",
        example: "zones = client.prescription_maps.read(map_id)",
    },
    Endpoint {
        full_name: "prescription_maps.upload",
        method: Method::Post,
        path: "/prescriptionmaps",
        parameters: &[
            Parameter {
                name: "file",
                wire: "FileName",
                place: Place::Part,
                takes: Takes::File,
                default: None,
                doc: "The map: a `headland.Prescription`, a path, bytes or a binary file object. `RX` is a zip with one \
                      shapefile (.shp, .shx, .dbf), not several; a path of a loose .shp is zipped with the files of its \
                      name. The name of an `AGX` file ends in `.rdp.zip`.",
            },
            Parameter {
                name: "file_type",
                wire: "FileType",
                place: Place::Part,
                takes: Takes::OneOf(FILE_TYPES),
                default: Some("RX"),
                doc: "`RX` for a zip with a shapefile, `AGX` for a simple or complex file of that kind.",
            },
        ],
        paged: false,
        body: Body::Multipart,
        returns: Returns::Created,
        repeatable: false,
        doc: "Uploads a prescription map and gives the id and the address of the new record. A file that breaks the rules \
              of the service, and a `Prescription` whose diagnostics have errors, is an `InvalidRequest` before anything \
              is sent. Errors in the content of other files, which a display may refuse, are a `HeadlandWarning`.",
        section: "4.2, 4.3",
        example: "created = client.prescription_maps.upload(shapefile)",
    },
    Endpoint {
        full_name: "prescription_maps.send",
        method: Method::Put,
        path: "/prescriptionmaps/{rxid}/fieldcomputers/{fcid}",
        parameters: &[
            Parameter {
                name: "rx_id",
                wire: "rxid",
                place: Place::Path,
                takes: Takes::Id,
                default: None,
                doc: "Id of the prescription map, from the upload or the list; or a `headland.Prescription`, a path or \
                      bytes, which is uploaded first.",
            },
            Parameter {
                name: "field_computer_id",
                wire: "fcid",
                place: Place::Path,
                takes: Takes::Id,
                default: None,
                doc: "Id of the field computer.",
            },
        ],
        paged: false,
        body: Body::None,
        returns: Returns::Nothing,
        repeatable: true,
        doc: "Queues a prescription map for a field computer, which fetches it when it is online next. It is listed by \
              `field_computers.prescription_maps` with `state=\"queued\"` until then. An empty reply is success; after any \
              other reply with a 2XX status that list tells, and then the one of delivered maps. On legacy devices a file that is \
              there under the same name is overwritten. A file is sent in steps that may be interrupted: the same call \
              again uploads and queues nothing a second time, if the map is uploaded, queued or delivered already.",
        section: "4.2, 4.3, 3",
        example: "client.prescription_maps.send(map_id, computer_id)",
    },
];

/// Prescription maps in a list.
pub static PRESCRIPTION_MAPS: Index =
    Index { kind: "PrescriptionMap", item: &PRESCRIPTION_MAP_ITEM, newest_first: false };

/// An item of the list.
pub static PRESCRIPTION_MAP_ITEM: Shape = Shape {
    name: "PrescriptionMapItem",
    doc: "A prescription map in a list.",
    section: "2.1",
    fields: &[
        Field::integer_id("ID", "id", "Id of the prescription map."),
        Field::text("Name", "name", "Name given by a user, or the file name."),
        Field::text("Uri", "uri", "Absolute address of the detail."),
        Field::text("SubType", "sub_type", "`Prescription Map`."),
    ],
    hoists: &[],
};

/// A file that can be downloaded.
pub static AVAILABLE_FILE: Shape = Shape {
    name: "AvailableFile",
    doc: "A file that can be downloaded.",
    section: "2.5, 2.6",
    fields: &[
        Field::text("FileName", "file_name", "File name."),
        Field::text("Uri", "uri", "Address of the detail with a `format` parameter."),
        Field::text("FileType", "file_type", "Format, for example `bin`."),
    ],
    hoists: &[],
};

/// The detail.
pub static PRESCRIPTION_MAP_DETAIL: Shape = Shape {
    name: "PrescriptionMapDetail",
    doc: "A prescription map.",
    section: "2.5",
    fields: &[
        Field::text("DeviceFileName", "device_file_name", "File name."),
        Field::time("CreateDate", "create_date", "When the map was uploaded."),
        Field::time("UpdateDate", "update_date", "Latest update by the service to the map."),
        Field::text("Status", "status", "Status of the delivery, such as `SENT_TO_DEVICE`."),
        Field::text("JobType", "job_type", "`PrescriptionMap`."),
        Field::records("AvailableFiles", "available_files", &AVAILABLE_FILE, "File", "Files that can be downloaded."),
    ],
    hoists: &[],
};
