//! Field hubs: rows of table 4.2 and the shapes of 2.1 and 2.4.

use super::locations::{CURRENT_LOCATIONS, LOCATIONS};
use super::row::{Body, Endpoint, Index, Method, Parameter, Returns, Takes};
use super::shape::{Derived, Field, Shape};

const ID: Parameter = Parameter::id("id", "Id of the field hub, from the list.");

/// The rows of this group.
pub static ROWS: &[Endpoint] = &[
    Endpoint {
        full_name: "field_hubs.list",
        method: Method::Get,
        path: "/fieldhubs",
        parameters: &[],
        paged: true,
        body: Body::None,
        returns: Returns::Index(&FIELD_HUBS),
        repeatable: true,
        doc: "Lists the field hubs that the access key can see.",
        section: "4.2, 2.1",
        example: "names = [hub[\"name\"] for hub in client.field_hubs.list()]",
    },
    Endpoint {
        full_name: "field_hubs.get",
        method: Method::Get,
        path: "/fieldhubs/{id}",
        parameters: &[ID],
        paged: false,
        body: Body::None,
        returns: Returns::OneOf(&REPORTS),
        repeatable: true,
        doc: "Describes one field hub, with its latest report.",
        section: "4.2, 2.4",
        example: "hub = client.field_hubs.get(hub_id)",
    },
    Endpoint {
        full_name: "field_hubs.reports",
        method: Method::Get,
        path: "/fieldhubs/all",
        parameters: &[],
        paged: true,
        body: Body::None,
        returns: Returns::Index(&REPORTS),
        repeatable: true,
        doc: "Gives the last report of every visible field hub.",
        section: "4.2, 2.4",
        example: "bars = [hub[\"report\"][\"rssi_bars\"] for hub in client.field_hubs.reports()]",
    },
    Endpoint {
        full_name: "field_hubs.current_locations",
        method: Method::Get,
        path: "/fieldhubs/all/currentlocation",
        parameters: &[],
        paged: true,
        body: Body::None,
        returns: Returns::Index(&CURRENT_LOCATIONS),
        repeatable: true,
        doc: "Gives the most recent location of every visible field hub. A hub reports every 30 seconds.",
        section: "4.2, 2.3",
        example: "places = [(place[\"lat\"], place[\"lon\"]) for place in client.field_hubs.current_locations()]",
    },
    Endpoint {
        full_name: "field_hubs.current_location",
        method: Method::Get,
        path: "/fieldhubs/{id}/currentlocation",
        parameters: &[ID],
        paged: false,
        body: Body::None,
        returns: Returns::OneOf(&CURRENT_LOCATIONS),
        repeatable: true,
        doc: "Gives the most recent location of a field hub.",
        section: "4.2, 2.3",
        example: "place = client.field_hubs.current_location(hub_id)",
    },
    Endpoint {
        full_name: "field_hubs.locations",
        method: Method::Get,
        path: "/fieldhubs/{id}/locations",
        parameters: &[
            ID,
            Parameter::query(
                "date",
                "date",
                Takes::Time,
                None,
                "Only locations from this time to the end of its calendar month, UTC; a date alone means its midnight.",
            ),
        ],
        paged: true,
        body: Body::None,
        returns: Returns::Index(&LOCATIONS),
        repeatable: true,
        doc: "Lists the locations of a field hub, newest first.",
        section: "4.2, 2.3",
        example: "latest = client.field_hubs.locations(hub_id, page_size=10, page=0)",
    },
];

static FIELD_HUBS: Index = Index { kind: "FieldHub", item: &FIELD_HUB_ITEM, newest_first: false };

static REPORTS: Index = Index { kind: "FieldHubDetail", item: &FIELD_HUB_DETAIL, newest_first: false };

/// An item of the list.
pub static FIELD_HUB_ITEM: Shape = Shape {
    name: "FieldHubItem",
    doc: "A field hub in a list.",
    section: "2.1",
    fields: &[
        Field::id("ID", "id", "Id of the field hub."),
        Field::text("Name", "name", "Name given by a user."),
        Field::text("Uri", "uri", "Absolute address of the detail."),
    ],
    hoists: &[],
};

/// The detail.
pub static FIELD_HUB_DETAIL: Shape = Shape {
    name: "FieldHubDetail",
    doc: "A field hub with its latest report.",
    section: "2.4",
    fields: &[
        Field::id("ID", "id", "Id of the field hub."),
        Field::text("Name", "name", "Name given by a user."),
        Field::text("Make", "make", "Manufacturer; the detail alone gives it."),
        Field::text("Model", "model", "Model."),
        Field::id("FieldComputer", "field_computer", "Id of the associated field computer; may be absent."),
        Field::record("Report", "report", &FIELD_HUB_REPORT, "The latest report."),
    ],
    hoists: &[],
};

/// The latest report of a hub.
pub static FIELD_HUB_REPORT: Shape = Shape {
    name: "FieldHubReport",
    doc: "What a field hub reported; the last three fields say what coded ones mean and are not sent.",
    section: "2.4, 6",
    fields: &[
        Field::integer_id("ID", "id", "Id of the record, unique and rising: it tells which records are known already."),
        Field::id("DeviceId", "device_id", "Id of the actual device."),
        Field::text("SubType", "sub_type", "`Field Hub`."),
        Field::decimal("Lat", "lat", "degrees", "Latitude, -90 to 90."),
        Field::decimal("Lon", "lon", "degrees", "Longitude, -180 to 180."),
        Field::integer("Alt", "alt", "m", "Altitude relative to sea level."),
        Field::integer("Speed", "speed", "km/h", "Speed, 0 to 255."),
        Field::integer("Direction", "direction", "degrees", "Track angle, 0 to 360."),
        Field::boolean("Valid", "valid", "Whether a valid position is reported."),
        Field::time("GPSDateTime", "gps_date_time", "Time stamp of the GPS; None where there was no fix."),
        Field::boolean("Active", "active", "Whether the hub is currently reporting."),
        Field::integer("GPSSat", "gps_sat", "satellites", "Satellites tracked, 0 to 255."),
        Field::text("Event", "event", "What triggered the report, as a code (section 6); see `event_meaning`."),
        Field::boolean("GPSFix", "gps_fix", "Whether the antenna is fixed on satellites."),
        Field::decimal("RSSI", "rssi", "dBm", "Signal strength, -103 to -85, with decimals; see `rssi_bars`."),
        Field::boolean("Ignition", "ignition", "State of the ignition."),
        Field::boolean(
            "DigitalInput1",
            "digital_input_1",
            "State of the input; its meaning depends on the application.",
        ),
        Field::boolean(
            "DigitalInput2",
            "digital_input_2",
            "State of the input; its meaning depends on the application.",
        ),
        Field::boolean(
            "DigitalInput3",
            "digital_input_3",
            "State of the input; its meaning depends on the application.",
        ),
        Field::boolean(
            "DigitalInput4",
            "digital_input_4",
            "State of the input; its meaning depends on the application.",
        ),
        Field::decimal(
            "AnalogInput1",
            "analog_input_1",
            "unknown",
            "State of the input, 0 to 15; its meaning depends on the application.",
        ),
        Field::decimal(
            "AnalogInput2",
            "analog_input_2",
            "unknown",
            "State of the input, 0 to 15; its meaning depends on the application.",
        ),
        Field::decimal(
            "AnalogInput3",
            "analog_input_3",
            "unknown",
            "State of the input, 0 to 15; its meaning depends on the application.",
        ),
        Field::decimal(
            "AnalogInput4",
            "analog_input_4",
            "unknown",
            "State of the input, 0 to 15; its meaning depends on the application.",
        ),
        Field::decimal("BatteryVoltage", "battery_voltage", "V", "Voltage of the battery, 0 to 30."),
        Field::boolean(
            "DigitalOutput1",
            "digital_output_1",
            "State of the output; its meaning depends on the application.",
        ),
        Field::boolean(
            "DigitalOutput2",
            "digital_output_2",
            "State of the output; its meaning depends on the application.",
        ),
        Field::boolean(
            "DigitalOutput3",
            "digital_output_3",
            "State of the output; its meaning depends on the application.",
        ),
        Field::time("ServerDateTime", "server_date_time", "When the service wrote the record; may be None."),
        Field::integer("Odometer", "odometer", "hm", "Distance between fixed locations, 0 to 4294967295."),
        Field::text("Service", "service", "Network service as the hub reports it; may be empty or a technology."),
        Field::text("Carrier", "carrier", "Wireless carrier as the hub reports it."),
        Field::text("Roam", "roam", "Empty if unknown, `00` for not roaming, else roaming; see `roaming`."),
        Field::integer(
            "RssiBars",
            "rssi_bars",
            "bars",
            "Bars of `rssi`: 5 from -85 dBm up, then 4 from -90, 3 from -95, 2 from -100, 1 from -103, else 0.",
        )
        .derived(Derived::Bars { of: "rssi" }),
        Field::text("EventMeaning", "event_meaning", "What `event` means; None for a code that is not documented.")
            .derived(Derived::EventMeaning { of: "event" }),
        Field::boolean("Roaming", "roaming", "Whether `roam` says that the hub is roaming; None if unknown.")
            .derived(Derived::Roaming { of: "roam" }),
    ],
    hoists: &[],
};
