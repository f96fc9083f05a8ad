//! Grain carts: rows of table 4.2. The specification shows no shapes (2.8); these are from the field notes.

use super::row::{Body, Endpoint, Index, Method, Parameter, Place, Returns, Takes};
use super::shape::{Field, Shape};

const ID: Parameter = Parameter::id("id", "Id of the grain cart file, from the list.");

/// The only format: it is always sent and is no argument.
const FORMAT: Parameter =
    Parameter::query("format", "format", Takes::OneOf(&["BIN"]), Some("BIN"), "`BIN` is the original GRC file.");

/// The rows of this group.
pub static ROWS: &[Endpoint] = &[
    Endpoint {
        full_name: "grain_carts.list",
        method: Method::Get,
        path: "/graincart",
        parameters: &[],
        paged: true,
        body: Body::None,
        returns: Returns::Index(&GRAIN_CARTS),
        repeatable: true,
        doc: "Lists grain cart files. A device uploads a growing file again and again, each time under a new, higher \
              id: `headland.newest` keeps the newest of each name.",
        section: "4.2, 2.8",
        example: "names = [file[\"name\"] for file in client.grain_carts.list()]",
    },
    Endpoint {
        full_name: "grain_carts.get",
        method: Method::Get,
        path: "/graincart/{id}",
        parameters: &[ID],
        paged: false,
        body: Body::None,
        returns: Returns::OneOf(&GRAIN_CARTS),
        repeatable: true,
        doc: "Describes one grain cart file.",
        section: "4.2, 2.8",
        example: "file = client.grain_carts.get(cart_id)",
    },
    Endpoint {
        full_name: "grain_carts.download",
        method: Method::Get,
        path: "/graincart/{id}",
        parameters: &[ID, FORMAT],
        paged: false,
        body: Body::None,
        returns: Returns::File,
        repeatable: true,
        doc: "Downloads the original GRC file, a text with one row a load.",
        section: "4.2, 2.8",
        example: "path = client.grain_carts.download(cart_id, to=folder)",
    },
    Endpoint {
        full_name: "grain_carts.read",
        method: Method::Get,
        path: "/graincart/{id}",
        parameters: &[ID, FORMAT],
        paged: false,
        body: Body::None,
        returns: Returns::Layer,
        repeatable: true,
        doc: "Reads a grain cart file into a layer: one row a load, points where the cart knew its position, units from \
              the file, its header as `metadata`. Dates and times stay the texts that they are: columns labelled UTC \
              may hold local time, which a diagnostic tells, and no zone is guessed. To get points in time, join \
              `LocalDate` and `LocalTime`, parse them, and name the zone of the farm yourself.",
        section: "4.2, 2.8",
        example: "loads = client.grain_carts.read(cart_id)",
    },
    Endpoint {
        full_name: "grain_carts.upload",
        method: Method::Post,
        path: "/graincart",
        parameters: &[Parameter {
            name: "file",
            wire: "FileName",
            place: Place::Part,
            takes: Takes::File,
            default: None,
            doc: "The GRC file of a grain cart, with a name that ends in `.grc`: a path, bytes or a binary file object.",
        }],
        paged: false,
        body: Body::Multipart,
        returns: Returns::Created,
        repeatable: false,
        doc: "Uploads a GRC file and gives the id and the address of the new record.",
        section: "4.2",
        example: "created = client.grain_carts.upload(cart)",
    },
];

/// The specification does not state the order.
static GRAIN_CARTS: Index = Index { kind: "GrainCart", item: &GRAIN_CART, newest_first: false };

/// An item of the list, and of the detail.
pub static GRAIN_CART: Shape = Shape {
    name: "GrainCart",
    doc: "A grain cart file.",
    section: "2.8",
    fields: &[
        Field::id("ID", "id", "Id of the file; of several uploads of one name, the newest has the highest."),
        Field::text(
            "Name",
            "name",
            "The file name: crop, field, job number, date, time and bridge, between underscores; the field may hold some.",
        ),
    ],
    hoists: &[],
};
