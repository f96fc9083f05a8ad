//! Field computers: rows of table 4.2 and the shapes of 2.1 and 2.2.

use super::row::{Body, Endpoint, Index, Method, Parameter, Returns};
use super::shape::{Field, Shape};

/// The rows of this group.
pub static ROWS: &[Endpoint] = &[
    Endpoint {
        full_name: "field_computers.list",
        method: Method::Get,
        path: "/fieldcomputers",
        parameters: &[],
        paged: true,
        body: Body::None,
        returns: Returns::Index(&FIELD_COMPUTERS),
        repeatable: true,
        doc: "Lists the field computers that the API key and the access key can see.",
        section: "4.2, 2.1",
        example: "names = [computer[\"name\"] for computer in client.field_computers.list()]",
    },
    Endpoint {
        full_name: "field_computers.get",
        method: Method::Get,
        path: "/fieldcomputers/{id}",
        parameters: &[Parameter::id("id", "Id of the field computer, from the list.")],
        paged: false,
        body: Body::None,
        returns: Returns::Detail(&FIELD_COMPUTER_DETAIL),
        repeatable: true,
        doc: "Describes one field computer. Some legacy device types are not supported by the service.",
        section: "4.2, 2.2",
        example: "computer = client.field_computers.get(computer_id)",
    },
];

static FIELD_COMPUTERS: Index = Index { kind: "FieldComputer", item: &FIELD_COMPUTER_ITEM, newest_first: false };

/// An item of the list.
pub static FIELD_COMPUTER_ITEM: Shape = Shape {
    name: "FieldComputerItem",
    doc: "A field computer in a list.",
    section: "2.1",
    fields: &[
        Field::id("ID", "id", "Id of the field computer."),
        Field::text("Name", "name", "Name given by a user."),
        Field::text("Uri", "uri", "Absolute address of the detail."),
    ],
    hoists: &[],
};

/// The detail.
pub static FIELD_COMPUTER_DETAIL: Shape = Shape {
    name: "FieldComputerDetail",
    doc: "A field computer.",
    section: "2.2",
    fields: &[
        Field::id("ID", "id", "Id of the field computer."),
        Field::text("Name", "name", "Name given by a user."),
        Field::text("DeviceType", "device_type", "Model of the device; the units of its files depend on it."),
        Field::text("Status", "status", "Current status, for example whether it is in a job."),
        Field::boolean("RemoteAccess", "remote_access", "Whether remote access is on."),
        Field::boolean("WebAccess", "web_access", "Whether web access is on."),
        Field::id("FieldHubID", "field_hub_id", "Id of the last field hub that was connected to this computer."),
        Field::time("LastReportDate", "last_report_date", "Time of the last report."),
        Field::boolean(
            "ThirdPartyDispatchCapable",
            "third_party_dispatch_capable",
            "Whether third parties can dispatch work to it.",
        ),
        Field::text("SoftwareVersion", "software_version", "Software of the device, where the service gives it."),
    ],
    hoists: &[],
};
