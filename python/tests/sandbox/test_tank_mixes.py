"""Spraying jobs with several products: what the service sends, and what harmonizing makes of it."""

from __future__ import annotations

import io
import zipfile
import zlib
from typing import TYPE_CHECKING, NamedTuple

import pytest

import headland as hl

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    import pandas as pd

    from headland.records.job_data import JobDataDetail
    from headland.sandbox.job_truth import Truth

LITRES = {"gal": 3.785411784, "L": 1.0}
"""Litres of a display's unit of volume."""

FIRST = "Burndown mix"
"""The product of a spraying job without added ones."""


class Mix(NamedTuple):
    """A spraying job with several products, its archive and its truth."""

    job: JobDataDetail
    layer: hl.Layer
    truth: Truth

    @property
    def litres(self) -> dict[str, float]:
        """Return the true amount of each product."""
        return {product["name"]: product["value"] * LITRES[product["unit"]] for product in self.truth["products"]}

    def rows(self) -> pd.DataFrame:
        """Return the logged rows."""
        return self.layer.to_pandas()


def mixes_of(service: hl.Sandbox) -> list[Mix]:
    """Return the tank mixes of a service."""
    with hl.Client(**service.credentials, rate_limits=()) as client:
        return [
            Mix(
                client.job_data.get(truth["job_id"]), client.job_data.read(truth["job_id"], layer=truth["layer"]), truth
            )
            for truth in service.truth
            if len(truth["products"]) > 1
        ]


@pytest.fixture(scope="module")
def farm() -> Iterator[hl.Sandbox]:
    with hl.Sandbox(variants=["tank-mixes"], rate_limits=(), conversion_time=0.0) as running:
        yield running


@pytest.fixture(scope="module")
def mixes(farm: hl.Sandbox) -> list[Mix]:
    return mixes_of(farm)


def checksum(service: hl.Sandbox) -> str:
    """Return the checksum of the list, all details, and the archives of the spraying jobs."""
    total = 0
    sprayed = {job["job_id"] for job in service.truth if job["sub_type"] in ("Sprayer", "As Applied")}
    with hl.Client(**service.credentials, rate_limits=()) as client:
        for job in client.job_data.list():
            for record in (job, client.job_data.get(job["id"])):
                known = {key: value for key, value in record.items() if key not in ("uri", "available_files", "status")}
                total = zlib.crc32(repr(known).encode(), total)
            if job["id"] in sprayed:
                with zipfile.ZipFile(io.BytesIO(client.job_data.download(job["id"]))) as archive:
                    for name in archive.namelist():
                        total = zlib.crc32(name.encode() + archive.read(name), total)
    return f"{total:08x}"


def test_ideal_account_has_the_bytes_from_before_tank_mixes(service: hl.Sandbox) -> None:
    assert checksum(service) == "ee35ce66"
    assert all(len(job["products"]) == 1 for job in service.truth)


def test_variant_adds_products_to_six_jobs_and_changes_no_list(mixes: list[Mix], farm: hl.Sandbox) -> None:
    assert sorted(len(mix.truth["products"]) for mix in mixes) == [2, 2, 2, 3, 3, 3]
    assert all(job["harvest"] is None for job in farm.truth)
    with hl.Sandbox(variants=["wild"], rate_limits=()) as wild, hl.Client(**wild.credentials, rate_limits=()) as client:
        assert all(len(job["products"]) == 1 for job in wild.truth)
        names = [job["name"] for job in client.job_data.list()]
    with hl.Client(**farm.credentials, rate_limits=()) as client:
        assert [job["name"] for job in client.job_data.list()] == names


def test_logged_harvests_come_with_the_same_mixes(
    mixes: list[Mix], logged_service: Callable[[int], hl.Sandbox]
) -> None:
    service = logged_service(0)
    with hl.Client(**service.credentials, rate_limits=()) as client:
        assert [truth for truth in service.truth if len(truth["products"]) > 1] == [mix.truth for mix in mixes]
        for mix in mixes:
            assert client.job_data.get(mix.truth["job_id"])["products"] == mix.job["products"]


def test_detail_lists_every_product_with_its_totals(mixes: list[Mix]) -> None:
    for mix in mixes:
        products = mix.job["products"]
        assert [product["product_number"] for product in products] == list(range(len(products)))
        assert products[0]["product_name"] == FIRST
        assert len({product["id"] for product in products}) == len(products)
        for product, true in zip(products, mix.truth["products"], strict=True):
            assert product["product_name"] == true["name"]
            assert product["applied_volume"] == pytest.approx(true["value"], rel=1e-6)
            assert product["applied_area"] == pytest.approx(mix.truth["area"], rel=1e-6)
            targets = [product["target_rate_min"], product["target_rate"], product["target_rate_max"]]
            assert targets == sorted(target for target in targets if target is not None)


def test_archive_has_a_row_for_each_product_at_each_place_and_time(mixes: list[Mix]) -> None:
    for mix in mixes:
        rows = mix.rows()
        names = [product["name"] for product in mix.truth["products"]]
        assert len(rows) == mix.truth["rows"]
        assert list(rows["PRODUCT"]) == names * (len(rows) // len(names))
        ground = [name for name in rows.columns if name not in ("PRODUCT", "TARGETRATE", "APPLDRATE")]
        first = rows[rows["PRODUCT"] == names[0]].reset_index(drop=True)
        factor = mix.truth["total"]["factor"]
        for true in mix.truth["products"]:
            own = rows[rows["PRODUCT"] == true["name"]].reset_index(drop=True)
            assert own[ground].equals(first[ground])
            assert (own["TARGETRATE"].isna() == first["TARGETRATE"].isna()).all()
            amount = (own["APPLDRATE"] * own["SWATHWIDTH"] * own["DISTANCE"]).sum() * factor
            assert amount == pytest.approx(true["value"], rel=1e-9)
        assert mix.truth["total"]["value"] == pytest.approx(sum(true["value"] for true in mix.truth["products"]))


def test_fmis_folder_has_a_table_for_each_product(mixes: list[Mix], farm: hl.Sandbox) -> None:
    mix = mixes[0]
    with hl.Client(**farm.credentials, rate_limits=()) as client:
        archive = client.job_data.request(mix.truth["job_id"], format="FMIS").result()
    layers = hl.layers(archive)
    assert len(layers) == len(mix.truth["products"])
    rows = [len(hl.read(archive, layer=name)) for name in layers]
    assert rows == [mix.truth["rows"] // len(layers)] * len(layers)


def test_harmonized_amounts_by_product_are_true(mixes: list[Mix]) -> None:
    for mix in mixes:
        # The oldest display states no units.
        known = {column: unit for column, unit, _ in mix.truth["totals"]}
        units = {column: known[column] for column in ("SWATHWIDTH", "DISTANCE", "TARGETRATE", "APPLDRATE")}
        rows = hl.harmonize(mix.layer, job=mix.job, units=units).to_pandas()
        found = rows.groupby("product")["amount"].sum().to_dict()
        assert found == pytest.approx(mix.litres, rel=0.005), mix.truth["job_name"]
