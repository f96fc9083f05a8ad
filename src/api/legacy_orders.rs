//! The legacy order service: the rows that 4.6 lists in a sentence, and the replacement of each.

use super::row::{Body, Endpoint, Listing, Method, Parameter, Returns};

const BODY: Parameter = Parameter::mapping("body", "The payload, a mapping that is sent as it is.");

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

/// Each legacy row and the row of the dispatch service that replaces it.
///
/// The legacy service is centred on users, the dispatch service on equipment (specification 1). So a replacement does
/// the same work with different ids.
pub static REPLACED_BY: &[(&str, &str)] = &[
    ("legacy_orders.work_orders", "dispatch.equipment.operations"),
    ("legacy_orders.create_order", "dispatch.field_operations.create"),
    ("legacy_orders.update_order", "dispatch.field_operations.set_target"),
    ("legacy_orders.delete_order", "dispatch.field_operations.delete"),
    ("legacy_orders.reassign", "dispatch.equipment.assign"),
    ("legacy_orders.completion_requirements", "dispatch.field_operations.requirements"),
    ("legacy_orders.create_completion", "dispatch.field_operations.complete"),
    ("legacy_orders.update_completion", "dispatch.field_operations.modify_completion"),
    ("legacy_orders.delete_completion", "dispatch.field_operations.delete_completion"),
    ("legacy_orders.products", "dispatch.products.list"),
    ("legacy_orders.blends", "dispatch.batches.active"),
];

/// The rows of this group, in the order of the sentence.
pub static ROWS: &[Endpoint] = &[
    Endpoint {
        full_name: "legacy_orders.work_orders",
        method: Method::Get,
        path: "/api/workorders/operator",
        paged: true,
        body: Body::None,
        returns: Returns::Listing(&Listing { name: "work orders" }),
        repeatable: true,
        doc: "Lists the work orders of the operator whose token is sent.",
        section: "4.6, 4.7",
        example: "ids = [order[\"id\"] for order in client.legacy_orders.work_orders()]",
        ..PREPARED
    },
    Endpoint {
        full_name: "legacy_orders.create_order",
        path: "/api/order",
        parameters: &[BODY],
        doc: "Creates a work order.",
        example: "order = client.legacy_orders.create_order({\"name\": \"North 40\"})",
        ..PREPARED
    },
    Endpoint {
        full_name: "legacy_orders.update_order",
        method: Method::Put,
        path: "/api/order",
        parameters: &[BODY],
        repeatable: true,
        doc: "Changes a work order; its id stands in the payload.",
        example: "client.legacy_orders.update_order({\"id\": order_id, \"name\": \"South 40\"})",
        ..PREPARED
    },
    Endpoint {
        full_name: "legacy_orders.delete_order",
        method: Method::Delete,
        path: "/api/order/{id}",
        parameters: &[Parameter::id("id", "Id of the work order.")],
        body: Body::None,
        repeatable: true,
        doc: "Deletes a work order.",
        example: "client.legacy_orders.delete_order(order_id)",
        ..PREPARED
    },
    Endpoint {
        full_name: "legacy_orders.reassign",
        path: "/api/workorders/reassign",
        parameters: &[BODY],
        doc: "Gives work orders to another user or operator.",
        example: "client.legacy_orders.reassign({\"orderId\": order_id, \"operator\": \"operator-2\"})",
        ..PREPARED
    },
    Endpoint {
        full_name: "legacy_orders.completion_requirements",
        method: Method::Get,
        path: "/api/completion/requirements",
        body: Body::None,
        repeatable: true,
        doc: "Gives what a completion must hold.",
        example: "requirements = client.legacy_orders.completion_requirements()",
        ..PREPARED
    },
    Endpoint {
        full_name: "legacy_orders.create_completion",
        path: "/api/completion",
        parameters: &[BODY],
        doc: "Sends a completion of a work order; the order's id stands in the payload.",
        example: "completion = client.legacy_orders.create_completion({\"orderId\": order_id, **completion_body})",
        ..PREPARED
    },
    Endpoint {
        full_name: "legacy_orders.update_completion",
        method: Method::Put,
        path: "/api/completion",
        parameters: &[BODY],
        repeatable: true,
        doc: "Changes the completion of a work order; the order's id stands in the payload.",
        example: "client.legacy_orders.update_completion({\"orderId\": order_id, **completion_body})",
        ..PREPARED
    },
    Endpoint {
        full_name: "legacy_orders.delete_completion",
        method: Method::Delete,
        path: "/api/workorder/{orderId}/completion",
        parameters: &[Parameter { wire: "orderId", ..Parameter::id("order_id", "Id of the work order.") }],
        body: Body::None,
        repeatable: true,
        doc: "Deletes the completion of a work order.",
        example: "client.legacy_orders.delete_completion(order_id)",
        ..PREPARED
    },
    Endpoint {
        full_name: "legacy_orders.products",
        method: Method::Get,
        path: "/api/accounts/{accountId}/products",
        parameters: &[Parameter {
            wire: "accountId",
            ..Parameter::id("account_id", "Id of the account; it is required.")
        }],
        paged: true,
        body: Body::None,
        returns: Returns::Listing(&Listing { name: "products" }),
        repeatable: true,
        doc: "Lists the products of an account.",
        section: "4.6, 4.7",
        example: "ids = [product[\"id\"] for product in client.legacy_orders.products(account_id)]",
    },
    Endpoint {
        full_name: "legacy_orders.blends",
        method: Method::Get,
        path: "/api/blends",
        paged: true,
        body: Body::None,
        returns: Returns::Listing(&Listing { name: "blends" }),
        repeatable: true,
        doc: "Lists blends.",
        section: "4.6, 4.7",
        example: "ids = [blend[\"id\"] for blend in client.legacy_orders.blends()]",
        ..PREPARED
    },
];
