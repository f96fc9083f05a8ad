//! The products of a job (specification 2.6), as in its detail and as rows of one table.

use super::shape::{Derived, Field, Shape};

const UNIT_OF_DEVICE: &str = "as configured on the field computer";

// Fields of both a product's record and a row of the table.
const PRODUCT_NUMBER: Field =
    Field::integer("ProductNumber", "product_number", "1", "Sequential number within the job, from 0 (sprayer).");
const PRODUCT_NAME: Field = Field::text("ProductName", "product_name", "Name entered by the operator.");
const APPLIED_VOLUME: Field =
    Field::decimal("AppliedVolume", "applied_volume", UNIT_OF_DEVICE, "Applied volume (sprayer).");
const APPLIED_AREA: Field = Field::decimal("AppliedArea", "applied_area", "m²", "Applied area.");
const TARGET_RATE: Field =
    Field::decimal("TargetRate", "target_rate", UNIT_OF_DEVICE, "Target rate (sprayer and planter).")
        .also(&["TargetRat"]);
const TARGET_RATE_MIN: Field =
    Field::decimal("TargetRateMin", "target_rate_min", UNIT_OF_DEVICE, "Lowest target rate (sprayer).");
const TARGET_RATE_MAX: Field =
    Field::decimal("TargetRateMax", "target_rate_max", UNIT_OF_DEVICE, "Highest target rate (sprayer).");
const TARGET_MINIMUM: Field =
    Field::decimal("TargetMinimum", "target_minimum", UNIT_OF_DEVICE, "Lowest target rate (planter).");
const TARGET_MAXIMUM: Field =
    Field::decimal("TargetMaximum", "target_maximum", UNIT_OF_DEVICE, "Highest target rate (planter).");
const GEOSPATIAL_MIN_VALUE: Field =
    Field::decimal("GeospatialMinValue", "geospatial_min_value", "unknown", "Meaning not shown (sprayer).");
const GEOSPATIAL_MAX_VALUE: Field =
    Field::decimal("GeospatialMaxValue", "geospatial_max_value", "unknown", "Meaning not shown (sprayer).");
const GEOSPATIAL_AVG_VALUE: Field =
    Field::decimal("GeospatialAvgValue", "geospatial_avg_value", "unknown", "Meaning not shown (sprayer).");
const GEOSPATIAL_ACRES: Field =
    Field::decimal("GeospatialAcres", "geospatial_acres", "unknown", "Meaning not shown (sprayer).");
const TOTAL_WEIGHT: Field = Field::decimal("TotalWeight", "total_weight", "kg", "Harvested weight (yield).");
const TOTAL_BUSHELS: Field = Field::decimal("TotalBushels", "total_bushels", "bushels", "Harvested bushels (yield).");
const AVERAGE_WEIGHT_PER_AREA: Field = Field::decimal(
    "AverageWeightPerArea",
    "average_weight_per_area",
    "kg/ha",
    "Average weight per area (planter and yield).",
);
const IS_MIXED: Field =
    Field::boolean("IsMixed", "is_mixed", "Whether the product is a mix with ingredients (sprayer).");

/// A product of a job: the fields of all three kinds. A product has only those of its job's kind.
pub static PRODUCT: Shape = Shape {
    name: "Product",
    doc: "A product of a job: sprayed, planted or harvested.",
    section: "2.6",
    fields: &[
        Field::integer_id("ID", "id", "Internal id of the product."),
        PRODUCT_NUMBER,
        PRODUCT_NAME,
        APPLIED_VOLUME,
        APPLIED_AREA,
        TARGET_RATE,
        TARGET_RATE_MIN,
        TARGET_RATE_MAX,
        TARGET_MINIMUM,
        TARGET_MAXIMUM,
        GEOSPATIAL_MIN_VALUE,
        GEOSPATIAL_MAX_VALUE,
        GEOSPATIAL_AVG_VALUE,
        GEOSPATIAL_ACRES,
        TOTAL_WEIGHT,
        TOTAL_BUSHELS,
        AVERAGE_WEIGHT_PER_AREA,
        IS_MIXED,
        Field::records("Ingredients", "ingredients", &INGREDIENT, "Ingredient", "What a mix is made of (sprayer).")
            .also(&["IngredientList"]),
        Field::records(
            "AppliedProducts",
            "applied_products",
            &APPLIED_PRODUCT,
            "AppliedProduct",
            "What was planted where (planter).",
        )
        .also(&["AppliedProductList"]),
    ],
    hoists: &[],
};

/// An ingredient of a mix.
pub static INGREDIENT: Shape = Shape {
    name: "Ingredient",
    doc: "An ingredient of a mixed product (sprayer).",
    section: "2.6",
    fields: &[
        Field::integer_id("ID", "id", "Id of the ingredient."),
        Field::text("Name", "name", "Entered by the operator."),
        Field::text("Manufacturer", "manufacturer", "Entered by the operator."),
        Field::text("EPANumber", "epa_number", "Registration number, entered by the operator."),
        Field::text("TargetPests", "target_pests", "Entered by the operator."),
        Field::text("MixRatio", "mix_ratio", "Entered by the operator."),
    ],
    hoists: &[],
};

/// A planted product and the rows it was planted in.
pub static APPLIED_PRODUCT: Shape = Shape {
    name: "AppliedProduct",
    doc: "A planted product and the rows it went into (planter).",
    section: "2.6",
    fields: &[
        Field::integer_id("ID", "id", "Sequential number."),
        Field::text("Type", "type", "Type."),
        Field::text("Brand", "brand", "Brand."),
        Field::text("Variety", "variety", "Variety."),
        Field::text("Row", "row", "Positions on the implement, separated by commas."),
    ],
    hoists: &[],
};

/// A row of the table of `job_data.products`, which `client/products.rs` builds from the three shapes above.
pub static PRODUCT_ROW: Shape = Shape {
    name: "ProductRow",
    doc: "A product of a job with one of its ingredients, or with one of its applied products, or alone.",
    section: "2.6",
    fields: &[
        Field::id("JobID", "job_id", "Id of the job."),
        Field::text("JobType", "job_type", "`Yield`, `AsApplied` or `Planter`."),
        Field::id("ProductID", "product_id", "Internal id of the product."),
        PRODUCT_NUMBER,
        PRODUCT_NAME,
        APPLIED_VOLUME,
        APPLIED_AREA,
        TARGET_RATE,
        TARGET_RATE_MIN,
        TARGET_RATE_MAX,
        TARGET_MINIMUM,
        TARGET_MAXIMUM,
        GEOSPATIAL_MIN_VALUE,
        GEOSPATIAL_MAX_VALUE,
        GEOSPATIAL_AVG_VALUE,
        GEOSPATIAL_ACRES,
        TOTAL_WEIGHT,
        TOTAL_BUSHELS,
        AVERAGE_WEIGHT_PER_AREA,
        IS_MIXED,
        Field::id("IngredientID", "ingredient_id", "Id of the ingredient of a mix (sprayer)."),
        Field::text("IngredientName", "ingredient_name", "Of the ingredient; entered by the operator (sprayer)."),
        Field::text(
            "IngredientManufacturer",
            "ingredient_manufacturer",
            "Of the ingredient; entered by the operator (sprayer).",
        ),
        Field::text(
            "IngredientEPANumber",
            "ingredient_epa_number",
            "Registration number of the ingredient, entered by the operator (sprayer).",
        ),
        Field::text(
            "IngredientTargetPests",
            "ingredient_target_pests",
            "Of the ingredient; entered by the operator (sprayer).",
        ),
        Field::text(
            "IngredientMixRatio",
            "ingredient_mix_ratio",
            "Of the ingredient; entered by the operator (sprayer).",
        ),
        Field::id("AppliedProductID", "applied_product_id", "Sequential number of the applied product (planter)."),
        Field::text("AppliedProductType", "applied_product_type", "Type (planter)."),
        Field::text("AppliedProductBrand", "applied_product_brand", "Brand (planter)."),
        Field::text("AppliedProductVariety", "applied_product_variety", "Variety (planter)."),
        Field::text(
            "AppliedProductRow",
            "applied_product_row",
            "Positions on the implement, separated by commas (planter).",
        ),
        Field::integers(
            "AppliedProductRows",
            "applied_product_rows",
            "The numbers of `applied_product_row`; None where it holds anything else.",
        )
        .derived(Derived::Positions { of: "applied_product_row" }),
    ],
    hoists: &[],
};
