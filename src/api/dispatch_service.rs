//! The dispatch service: rows of table 4.6. The table shows no payloads, so bodies are sent unchanged.

use super::row::{Body, Endpoint, Listing, Method, Parameter, Returns};

const OPERATION_ID: Parameter = Parameter::id("id", "Id of the field operation, a GUID.");

const COMPLETION_ID: Parameter =
    Parameter { wire: "completionId", ..Parameter::id("completion_id", "Id of the completion, a GUID.") };

const OPERATION_TYPE: Parameter = Parameter::id("operation", "The operation type, such as `Planting`.");

/// The payload of a call.
const BODY: Parameter = Parameter::mapping("body", "The payload, a mapping that is sent as it is.");

/// The payload of the only call whose object is a list.
const MIXES: Parameter = Parameter::mapping_or_list(
    "body",
    "The payload, a mapping or a list of mixes, sent as it is: which of the two a service expects is not shown.",
);

const PREPARED: Endpoint = Endpoint {
    full_name: "",
    method: Method::Post,
    path: "",
    parameters: &[],
    paged: false,
    body: Body::Json,
    returns: Returns::Payload,
    repeatable: false,
    doc: "",
    section: "4.6",
    example: "",
};

/// The rows of `dispatch.field_operations`, in the order of the specification.
pub static FIELD_OPERATIONS: &[Endpoint] = &[
    Endpoint {
        full_name: "dispatch.field_operations.create",
        path: "/api/fieldoperations",
        parameters: &[BODY],
        doc: "Creates a field operation, a work order that starts as Pre-Released.",
        section: "4.6, 3",
        example: "operation = client.dispatch.field_operations.create({\"name\": \"North 40\", \"operation\": \"Planting\"})",
        ..PREPARED
    },
    Endpoint {
        full_name: "dispatch.field_operations.release",
        path: "/api/fieldoperations/{fieldOperationId}/release",
        parameters: &[Parameter { wire: "fieldOperationId", ..OPERATION_ID }],
        body: Body::None,
        doc: "Releases a field operation: from Pre-Released to Released.",
        section: "4.6, 3",
        example: "client.dispatch.field_operations.release(operation_id)",
        ..PREPARED
    },
    Endpoint {
        full_name: "dispatch.field_operations.set_mix",
        method: Method::Put,
        path: "/api/fieldoperations/{id}/mix",
        parameters: &[OPERATION_ID, BODY],
        repeatable: true,
        doc: "Sets the mix of products of a field operation.",
        example: "client.dispatch.field_operations.set_mix(operation_id, {\"products\": [{\"name\": \"Water\", \"rate\": 90}]})",
        ..PREPARED
    },
    Endpoint {
        full_name: "dispatch.field_operations.set_mixes",
        method: Method::Put,
        path: "/api/fieldoperations/{id}/mixes",
        parameters: &[OPERATION_ID, MIXES],
        repeatable: true,
        doc: "Sets all mixes of a field operation at once.",
        example: "client.dispatch.field_operations.set_mixes(operation_id, {\"mixes\": []})",
        ..PREPARED
    },
    Endpoint {
        full_name: "dispatch.field_operations.set_target",
        method: Method::Put,
        path: "/api/fieldoperations/{id}/target",
        parameters: &[OPERATION_ID, BODY],
        repeatable: true,
        doc: "Sets the target of a field operation, such as the field and the rate.",
        example: "client.dispatch.field_operations.set_target(operation_id, {\"field\": \"North 40\"})",
        ..PREPARED
    },
    Endpoint {
        full_name: "dispatch.field_operations.delete",
        method: Method::Delete,
        path: "/api/fieldoperations/{id}",
        parameters: &[OPERATION_ID],
        body: Body::None,
        repeatable: true,
        doc: "Deletes a field operation.",
        example: "client.dispatch.field_operations.delete(operation_id)",
        ..PREPARED
    },
    Endpoint {
        full_name: "dispatch.field_operations.requirements",
        method: Method::Get,
        path: "/api/fieldoperations/completions/requirements/{operation}",
        parameters: &[OPERATION_TYPE],
        body: Body::None,
        repeatable: true,
        doc: "Gives what a completion of an operation type must hold: what was set for that type, else the default \
              requirements.",
        example: "requirements = client.dispatch.field_operations.requirements(\"Planting\")",
        ..PREPARED
    },
    Endpoint {
        full_name: "dispatch.field_operations.set_requirements",
        method: Method::Put,
        path: "/api/fieldoperations/completions/requirements/{operation}",
        parameters: &[OPERATION_TYPE, BODY],
        repeatable: true,
        doc: "Sets what a completion of an operation type must hold, custom requirement fields included.",
        example: "client.dispatch.field_operations.set_requirements(\"Planting\", {\"requirements\": [{\"name\": \"Seed lot\", \"required\": True}]})",
        ..PREPARED
    },
    Endpoint {
        full_name: "dispatch.field_operations.complete",
        path: "/api/fieldoperations/{id}/completions",
        parameters: &[OPERATION_ID, BODY],
        doc: "Sends a completion of a field operation. The service checks it against the requirements of the \
              operation type.",
        example: "completion = client.dispatch.field_operations.complete(operation_id, completion_body)",
        ..PREPARED
    },
    Endpoint {
        full_name: "dispatch.field_operations.modify_completion",
        method: Method::Put,
        path: "/api/fieldoperations/{id}/completions/{completionId}",
        parameters: &[OPERATION_ID, COMPLETION_ID, BODY],
        repeatable: true,
        doc: "Changes a completion.",
        example: "client.dispatch.field_operations.modify_completion(operation_id, completion_id, completion_body)",
        ..PREPARED
    },
    Endpoint {
        full_name: "dispatch.field_operations.delete_completion",
        method: Method::Delete,
        path: "/api/fieldoperations/{id}/completions/{completionId}",
        parameters: &[OPERATION_ID, COMPLETION_ID],
        body: Body::None,
        repeatable: true,
        doc: "Deletes a completion.",
        example: "client.dispatch.field_operations.delete_completion(operation_id, completion_id)",
        ..PREPARED
    },
];

/// The rows of `dispatch.equipment`.
pub static EQUIPMENT: &[Endpoint] = &[
    Endpoint {
        full_name: "dispatch.equipment.operations",
        method: Method::Get,
        path: "/api/equipment/{equipmentId}/operations",
        parameters: &[Parameter { wire: "equipmentId", ..EQUIPMENT_ID }],
        paged: true,
        body: Body::None,
        returns: Returns::Listing(&Listing { name: "field operations" }),
        repeatable: true,
        doc: "Lists the field operations that are assigned to a piece of equipment.",
        section: "4.6, 4.7",
        example: "ids = [operation[\"id\"] for operation in client.dispatch.equipment.operations(equipment_id)]",
    },
    Endpoint {
        full_name: "dispatch.equipment.assign",
        path: "/api/equipment/{id}/assignments",
        parameters: &[EQUIPMENT_ID, BODY],
        doc: "Assigns work to a piece of equipment.",
        example: "assignment = client.dispatch.equipment.assign(equipment_id, {\"fieldOperationId\": operation_id})",
        ..PREPARED
    },
];

const EQUIPMENT_ID: Parameter = Parameter::id("id", "Id of the equipment, a GUID.");

/// The rows of `dispatch.products`.
pub static PRODUCTS: &[Endpoint] = &[Endpoint {
    full_name: "dispatch.products.list",
    method: Method::Get,
    path: "/api/products",
    paged: true,
    body: Body::None,
    returns: Returns::Listing(&Listing { name: "products" }),
    repeatable: true,
    doc: "Lists products.",
    section: "4.6, 4.7",
    example: "ids = [product[\"id\"] for product in client.dispatch.products.list()]",
    ..PREPARED
}];

/// The rows of `dispatch.batches`.
pub static BATCHES: &[Endpoint] = &[Endpoint {
    full_name: "dispatch.batches.active",
    method: Method::Get,
    path: "/api/batches/active",
    paged: true,
    body: Body::None,
    returns: Returns::Listing(&Listing { name: "batches" }),
    repeatable: true,
    doc: "Lists the active batches.",
    section: "4.6, 4.7",
    example: "ids = [batch[\"id\"] for batch in client.dispatch.batches.active()]",
    ..PREPARED
}];
