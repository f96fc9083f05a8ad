# Generated from the table in `src/api`; change that and run `make generate`.
"""The records of `job_data` as typed dicts."""

from __future__ import annotations

from typing import TYPE_CHECKING, Required, TypedDict

if TYPE_CHECKING:
    import datetime as dt

    from .prescription_maps import AvailableFile


class Ingredient(TypedDict, total=False):
    """An ingredient of a mixed product (sprayer).

    Specification 2.6.

    Attributes:
        id: Id of the ingredient.
        name: Entered by the operator.
        manufacturer: Entered by the operator.
        epa_number: Registration number, entered by the operator.
        target_pests: Entered by the operator.
        mix_ratio: Entered by the operator.

    """

    id: Required[str]
    name: str | None
    manufacturer: str | None
    epa_number: str | None
    target_pests: str | None
    mix_ratio: str | None


class AppliedProduct(TypedDict, total=False):
    """A planted product and the rows it went into (planter).

    Specification 2.6.

    Attributes:
        id: Sequential number.
        type: Type.
        brand: Brand.
        variety: Variety.
        row: Positions on the implement, separated by commas.

    """

    id: Required[str]
    type: str | None
    brand: str | None
    variety: str | None
    row: str | None


class Product(TypedDict, total=False):
    """A product of a job: sprayed, planted or harvested.

    Specification 2.6.

    Attributes:
        id: Internal id of the product.
        product_number: Sequential number within the job, from 0 (sprayer).
        product_name: Name entered by the operator.
        applied_volume: Applied volume (sprayer). Unit: as configured on the field computer.
        applied_area: Applied area. Unit: m².
        target_rate: Target rate (sprayer and planter). Unit: as configured on the field computer.
        target_rate_min: Lowest target rate (sprayer). Unit: as configured on the field computer.
        target_rate_max: Highest target rate (sprayer). Unit: as configured on the field computer.
        target_minimum: Lowest target rate (planter). Unit: as configured on the field computer.
        target_maximum: Highest target rate (planter). Unit: as configured on the field computer.
        geospatial_min_value: Meaning not shown (sprayer). Unit: unknown.
        geospatial_max_value: Meaning not shown (sprayer). Unit: unknown.
        geospatial_avg_value: Meaning not shown (sprayer). Unit: unknown.
        geospatial_acres: Meaning not shown (sprayer). Unit: unknown.
        total_weight: Harvested weight (yield). Unit: kg.
        total_bushels: Harvested bushels (yield). Unit: bushels.
        average_weight_per_area: Average weight per area (planter and yield). Unit: kg/ha.
        is_mixed: Whether the product is a mix with ingredients (sprayer).
        ingredients: What a mix is made of (sprayer).
        applied_products: What was planted where (planter).

    """

    id: Required[str]
    product_number: int | None
    product_name: str | None
    applied_volume: float | None
    applied_area: float | None
    target_rate: float | None
    target_rate_min: float | None
    target_rate_max: float | None
    target_minimum: float | None
    target_maximum: float | None
    geospatial_min_value: float | None
    geospatial_max_value: float | None
    geospatial_avg_value: float | None
    geospatial_acres: float | None
    total_weight: float | None
    total_bushels: float | None
    average_weight_per_area: float | None
    is_mixed: bool | None
    ingredients: list[Ingredient]
    applied_products: list[AppliedProduct]


class JobDataDetail(TypedDict, total=False):
    """A job: the fields common to all, those that only a sprayer's job has, and the products.

    Specification 2.6.

    Attributes:
        device_file_name: Job file name as saved on the field computer.
        create_date: When the file was uploaded.
        update_date: Latest update by the service to the file.
        status: Conversion status, such as `CONVERSION_STATUS_SUCCESS` (section 3).
        job_type: `Yield`, `AsApplied` or `Planter`.
        available_files: Files that can be downloaded.
        id: Id of the job.
        field_computer_id: Id of the field computer that made it.
        file_name: Base file name (planter and yield jobs).
        job_name: Base file name (sprayer jobs).
        start_date: Job start, by the clock of the field computer.
        end_date: Job end, by the clock of the field computer.
        software_version: Software of the field computer; often empty.
        customer_name: Entered on the field computer (sprayer).
        customer_address: Entered on the field computer (sprayer).
        customer_number: Entered on the field computer (sprayer).
        operator_name: Entered on the field computer (sprayer).
        operator_address: Entered on the field computer (sprayer).
        operator_license: Entered on the field computer (sprayer).
        field_name: Entered on the field computer (sprayer).
        field_section: Entered on the field computer (sprayer).
        field_county: Entered on the field computer (sprayer).
        field_township: Entered on the field computer (sprayer).
        field_crop: Entered on the field computer (sprayer).
        field_area: Entered on the field computer as free text (sprayer).
        application_type: Entered on the field computer (sprayer).
        soil_condition: Entered on the field computer (sprayer).
        moisture: Entered on the field computer as free text (sprayer).
        tip_size: Entered on the field computer (sprayer).
        weather_observation_time: Entered on the field computer (sprayer).
        weather_temperature: Entered on the field computer (sprayer).
        weather_wind_speed: Entered on the field computer (sprayer).
        weather_humidity: Entered on the field computer (sprayer).
        weather_wind_direction: Entered on the field computer (sprayer).
        average_speed: Average speed in meters per second, as text (sprayer).
        products: What was sprayed, planted or harvested.

    """

    device_file_name: str | None
    create_date: dt.datetime | None
    update_date: dt.datetime | None
    status: str | None
    job_type: str | None
    available_files: list[AvailableFile]
    id: Required[str]
    field_computer_id: str | None
    file_name: str | None
    job_name: str | None
    start_date: dt.datetime | None
    end_date: dt.datetime | None
    software_version: str | None
    customer_name: str | None
    customer_address: str | None
    customer_number: str | None
    operator_name: str | None
    operator_address: str | None
    operator_license: str | None
    field_name: str | None
    field_section: str | None
    field_county: str | None
    field_township: str | None
    field_crop: str | None
    field_area: str | None
    application_type: str | None
    soil_condition: str | None
    moisture: str | None
    tip_size: str | None
    weather_observation_time: str | None
    weather_temperature: str | None
    weather_wind_speed: str | None
    weather_humidity: str | None
    weather_wind_direction: str | None
    average_speed: str | None
    products: list[Product]


class ProductRow(TypedDict, total=False):
    """A product of a job with one of its ingredients, or with one of its applied products, or alone.

    Specification 2.6.

    Attributes:
        job_id: Id of the job.
        job_type: `Yield`, `AsApplied` or `Planter`.
        product_id: Internal id of the product.
        product_number: Sequential number within the job, from 0 (sprayer).
        product_name: Name entered by the operator.
        applied_volume: Applied volume (sprayer). Unit: as configured on the field computer.
        applied_area: Applied area. Unit: m².
        target_rate: Target rate (sprayer and planter). Unit: as configured on the field computer.
        target_rate_min: Lowest target rate (sprayer). Unit: as configured on the field computer.
        target_rate_max: Highest target rate (sprayer). Unit: as configured on the field computer.
        target_minimum: Lowest target rate (planter). Unit: as configured on the field computer.
        target_maximum: Highest target rate (planter). Unit: as configured on the field computer.
        geospatial_min_value: Meaning not shown (sprayer). Unit: unknown.
        geospatial_max_value: Meaning not shown (sprayer). Unit: unknown.
        geospatial_avg_value: Meaning not shown (sprayer). Unit: unknown.
        geospatial_acres: Meaning not shown (sprayer). Unit: unknown.
        total_weight: Harvested weight (yield). Unit: kg.
        total_bushels: Harvested bushels (yield). Unit: bushels.
        average_weight_per_area: Average weight per area (planter and yield). Unit: kg/ha.
        is_mixed: Whether the product is a mix with ingredients (sprayer).
        ingredient_id: Id of the ingredient of a mix (sprayer).
        ingredient_name: Of the ingredient; entered by the operator (sprayer).
        ingredient_manufacturer: Of the ingredient; entered by the operator (sprayer).
        ingredient_epa_number: Registration number of the ingredient, entered by the operator (sprayer).
        ingredient_target_pests: Of the ingredient; entered by the operator (sprayer).
        ingredient_mix_ratio: Of the ingredient; entered by the operator (sprayer).
        applied_product_id: Sequential number of the applied product (planter).
        applied_product_type: Type (planter).
        applied_product_brand: Brand (planter).
        applied_product_variety: Variety (planter).
        applied_product_row: Positions on the implement, separated by commas (planter).
        applied_product_rows: The numbers of `applied_product_row`; None where it holds anything else.

    """

    job_id: str | None
    job_type: str | None
    product_id: str | None
    product_number: int | None
    product_name: str | None
    applied_volume: float | None
    applied_area: float | None
    target_rate: float | None
    target_rate_min: float | None
    target_rate_max: float | None
    target_minimum: float | None
    target_maximum: float | None
    geospatial_min_value: float | None
    geospatial_max_value: float | None
    geospatial_avg_value: float | None
    geospatial_acres: float | None
    total_weight: float | None
    total_bushels: float | None
    average_weight_per_area: float | None
    is_mixed: bool | None
    ingredient_id: str | None
    ingredient_name: str | None
    ingredient_manufacturer: str | None
    ingredient_epa_number: str | None
    ingredient_target_pests: str | None
    ingredient_mix_ratio: str | None
    applied_product_id: str | None
    applied_product_type: str | None
    applied_product_brand: str | None
    applied_product_variety: str | None
    applied_product_row: str | None
    applied_product_rows: list[int] | None
