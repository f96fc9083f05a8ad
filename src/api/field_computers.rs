//! Field computers: rows of table 4.2 and the shapes of 2.1 and 2.2.

use super::job_data::JOB_DATA_ITEM;
use super::locations::{CURRENT_LOCATIONS, LOCATIONS};
use super::prescription_maps::PRESCRIPTION_MAPS;
use super::row::{Body, Endpoint, Index, Method, Parameter, Returns, Takes};
use super::shape::{Field, Shape};

const ID: Parameter = Parameter::id("id", "Id of the field computer, from the list.");

/// The states of maps that a list can select (specification 3).
pub const STATES: &[&str] = &["queued", "validated"];

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
        parameters: &[ID],
        paged: false,
        body: Body::None,
        returns: Returns::Detail(&FIELD_COMPUTER_DETAIL),
        repeatable: true,
        doc: "Describes one field computer. Some legacy device types are not supported by the service.",
        section: "4.2, 2.2",
        example: "computer = client.field_computers.get(computer_id)",
    },
    Endpoint {
        full_name: "field_computers.prescription_maps",
        method: Method::Get,
        path: "/fieldcomputers/{id}/prescriptionmaps",
        parameters: &[
            ID,
            Parameter::query(
                "state",
                "state",
                Takes::OneOf(STATES),
                Some("validated"),
                "`queued` for maps that wait for the computer to come online, `validated` for those delivered.",
            ),
        ],
        paged: true,
        body: Body::None,
        returns: Returns::Index(&PRESCRIPTION_MAPS),
        repeatable: true,
        doc: "Lists the prescription maps that were sent to a field computer. Maps that are queued and not delivered \
              yet are listed with `state=\"queued\"` alone.",
        section: "4.2, 2.1, 3",
        example: "waiting = [sent[\"name\"] for sent in client.field_computers.prescription_maps(computer_id)]",
    },
    Endpoint {
        full_name: "field_computers.job_data",
        method: Method::Get,
        path: "/fieldcomputers/{id}/jobdata",
        parameters: &[
            ID,
            Parameter::query("min_id", "minid", Takes::Number, None, "Only jobs whose id is at least this number."),
        ],
        paged: true,
        body: Body::None,
        returns: Returns::Index(&JOBS_OF_COMPUTER),
        repeatable: true,
        doc: "Lists the job data that a field computer made. Unlike `job_data.list`, the items carry no dates.",
        section: "4.2, 2.1",
        example: "names = [job[\"name\"] for job in client.field_computers.job_data(computer_id)]",
    },
    Endpoint {
        full_name: "field_computers.current_locations",
        method: Method::Get,
        path: "/fieldcomputers/all/currentlocation",
        parameters: &[],
        paged: true,
        body: Body::None,
        returns: Returns::Index(&CURRENT_LOCATIONS),
        repeatable: true,
        doc: "Gives the most recent location of every visible field computer. A computer registers its location every \
              five minutes; where the service knows its field hub, the records are the hub's.",
        section: "4.2, 2.3",
        example: "places = [(place[\"lat\"], place[\"lon\"]) for place in client.field_computers.current_locations()]",
    },
    Endpoint {
        full_name: "field_computers.current_location",
        method: Method::Get,
        path: "/fieldcomputers/{id}/currentlocation",
        parameters: &[ID],
        paged: false,
        body: Body::None,
        returns: Returns::OneOf(&CURRENT_LOCATIONS),
        repeatable: true,
        doc: "Gives the most recent location of a field computer. Where the service knows its field hub, the record is \
              the hub's (`sub_type` is `Field Hub`).",
        section: "4.2, 2.3",
        example: "place = client.field_computers.current_location(computer_id)",
    },
    Endpoint {
        full_name: "field_computers.locations",
        method: Method::Get,
        path: "/fieldcomputers/{id}/locations",
        parameters: &[ID],
        paged: true,
        body: Body::None,
        returns: Returns::Index(&LOCATIONS),
        repeatable: true,
        doc: "Lists all locations of a field computer. Where the service knows its field hub, the records are the hub's \
              (`sub_type` is `Field Hub`).",
        section: "4.2, 2.3",
        example: "latest = client.field_computers.locations(computer_id, page_size=10, page=0)",
    },
    Endpoint {
        full_name: "field_computers.all_locations",
        method: Method::Get,
        path: "/fieldcomputers/all/locations",
        parameters: &[],
        paged: false,
        body: Body::None,
        returns: Returns::NotImplemented,
        repeatable: true,
        doc: "The specification lists this address as not implemented; ask `field_computers.locations` for each computer.",
        section: "4.2",
        example: "",
    },
];

static FIELD_COMPUTERS: Index = Index { kind: "FieldComputer", item: &FIELD_COMPUTER_ITEM, newest_first: false };

/// The specification does not state the order, unlike for the list of all job data.
static JOBS_OF_COMPUTER: Index = Index { kind: "JobData", item: &JOB_DATA_ITEM, newest_first: false };

/// An item of the list.
pub static FIELD_COMPUTER_ITEM: Shape = Shape {
    name: "FieldComputerItem",
    doc: "A field computer in a list.",
    section: "2.1",
    fields: &[
        Field::integer_id("ID", "id", "Id of the field computer."),
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
        Field::integer_id("ID", "id", "Id of the field computer."),
        Field::text("Name", "name", "Name given by a user."),
        Field::text("DeviceType", "device_type", "Model of the device; the units of its files depend on it."),
        Field::text("Status", "status", "Current status, for example whether it is in a job."),
        Field::boolean("RemoteAccess", "remote_access", "Whether remote access is on."),
        Field::boolean("WebAccess", "web_access", "Whether web access is on."),
        Field::id(
            "FieldHubID",
            "field_hub_id",
            "Id of the last field hub that was connected to this computer; None where the service sends an empty text.",
        ),
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
