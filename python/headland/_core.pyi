"""The native module: what the package stands on. `stubtest` holds this file to it."""

import datetime as dt
from asyncio import Future
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Final, NoReturn, TypedDict, final, type_check_only

__all__ = [
    "LIMITS",
    "Client",
    "Conversion",
    "Layer",
    "Pages",
    "Sandbox",
    "Secret",
    "__version__",
    "error_kinds",
    "layers",
    "openapi",
    "parameters",
    "read",
    "rows",
]

__version__: Final[str]

LIMITS: Final[tuple[int, int, int, int, int]]

@type_check_only
class _Reading(TypedDict):
    layer: str | None
    columns: list[str] | None
    encoding: str | None
    strict: bool
    threads: int | None
    limits: tuple[int, int, int, int, int]
    to_crs: str | None

@type_check_only
class _Budget(TypedDict):
    remaining: int | None
    next_call_in: float
    reset_in: float
    windows: list[tuple[int, float, int]]

@type_check_only
class _Created(TypedDict):
    id: str
    uri: str

@type_check_only
class _Diagnostic(TypedDict):
    code: str
    message: str
    member: str | None
    record: int | None

@type_check_only
class _Request(TypedDict):
    at: dt.datetime
    method: str
    path: str
    query: str
    status: int

@type_check_only
class _CartTruth(TypedDict):
    id: str
    name: str
    field: str
    loads: int
    total_pounds: float
    total_dry_bushels: float
    is_newest: bool

@type_check_only
class _Total(TypedDict):
    label: str
    unit: str
    value: float
    factor: float
    columns: list[str]

@type_check_only
class _Truth(TypedDict):
    job_id: str
    job_name: str
    sub_type: str
    field: str
    layer: str
    rows: int
    area: float
    field_area: float
    totals: list[tuple[str, str, float]]
    total: _Total

def error_kinds() -> list[str]: ...
def rows() -> list[str]: ...
def openapi() -> str: ...
def parameters(name: str) -> list[tuple[str, str, bool]]: ...
def read(source: bytes | Path, reading: _Reading) -> Layer: ...
def layers(source: bytes | Path, limits: tuple[int, int, int, int, int]) -> list[str]: ...

@final
class Secret:
    def __new__(cls, text: object) -> Secret: ...
    def __reduce__(self) -> NoReturn: ...
    def is_none(self) -> bool: ...

@final
class Client:
    def __new__(
        cls,
        *,
        base_url: str,
        api_key: Secret,
        shared_secret: Secret,
        access_key: Secret,
        rate_limits: Sequence[tuple[int, float]],
        limiter_state: Path | None,
        accept: str,
        page_size: int,
        connect: float,
        read: float,
        call: float,
        ca_file: Path | None,
    ) -> Client: ...
    def __reduce__(self) -> NoReturn: ...
    def take_warnings(self) -> list[str]: ...
    def detail(self, name: str, arguments: dict[str, str]) -> dict[str, Any] | None: ...
    def detail_async(self, name: str, arguments: dict[str, str]) -> Future[dict[str, Any] | None]: ...
    def act(self, name: str, arguments: dict[str, str]) -> None: ...
    def act_async(self, name: str, arguments: dict[str, str]) -> Future[None]: ...
    def pages(self, name: str, arguments: dict[str, str], page_size: int | None, page: int | None) -> Pages: ...
    def download(self, name: str, arguments: dict[str, str], to: str | None, overwrite: bool) -> bytes | Path: ...
    def download_async(
        self, name: str, arguments: dict[str, str], to: str | None, overwrite: bool
    ) -> Future[bytes | Path]: ...
    def upload(self, name: str, arguments: dict[str, str], file_name: str, content: bytes) -> _Created: ...
    def upload_async(
        self, name: str, arguments: dict[str, str], file_name: str, content: bytes
    ) -> Future[_Created]: ...
    def conversion(self, name: str, arguments: dict[str, str]) -> Conversion: ...
    def resume(self, id: str) -> Conversion: ...
    def layer(self, name: str, arguments: dict[str, str], timeout: float | None, reading: _Reading) -> Layer: ...
    def layer_async(
        self, name: str, arguments: dict[str, str], timeout: float | None, reading: _Reading
    ) -> Future[Layer]: ...
    def budget(self) -> _Budget: ...
    def budget_async(self) -> Future[_Budget]: ...

@final
class Pages:
    def next_page(self) -> list[dict[str, Any]] | None: ...
    def next_page_async(self) -> Future[list[dict[str, Any]] | None]: ...
    def total(self) -> int | None: ...
    def total_async(self) -> Future[int | None]: ...

@final
class Conversion:
    @property
    def id(self) -> str: ...
    def ready(self) -> bool: ...
    def ready_async(self) -> Future[bool]: ...
    def wait(self, timeout: float | None) -> None: ...
    def wait_async(self, timeout: float | None) -> Future[None]: ...
    def result(self, to: str | None, overwrite: bool) -> bytes | Path: ...
    def result_async(self, to: str | None, overwrite: bool) -> Future[bytes | Path]: ...

@final
class Layer:
    @property
    def name(self) -> str: ...
    @property
    def source(self) -> str: ...
    @property
    def columns(self) -> list[str]: ...
    @property
    def geometry_column(self) -> str | None: ...
    @property
    def crs_epsg(self) -> int | None: ...
    @property
    def crs_wkt(self) -> str | None: ...
    @property
    def units(self) -> list[tuple[str, str]]: ...
    @property
    def metadata(self) -> list[tuple[str, str]]: ...
    @property
    def diagnostics(self) -> list[_Diagnostic]: ...
    def __len__(self) -> int: ...
    def __arrow_c_stream__(self, requested_schema: object = None) -> object: ...
    def __arrow_c_schema__(self) -> object: ...
    def describe(self) -> list[tuple[str, str, int]]: ...
    def values(self, column: str) -> list[Any]: ...
    def geojson(self, as_is: bool) -> str: ...
    def write_geojson(self, path: Path, as_is: bool) -> None: ...
    def write_parquet(self, path: Path) -> None: ...
    def area(self) -> float | None: ...
    def picture(
        self, *, column: str | None, title: str | None, unit: str | None, width: int | None, as_is: bool
    ) -> str: ...

@final
class Sandbox:
    def __new__(
        cls,
        *,
        data: Path | None,
        port: int,
        seed: int,
        rate_limits: Sequence[tuple[int, float]],
        sliding: bool,
        conversion_time: float,
        variants: list[str],
        moved_clock: bool,
    ) -> Sandbox: ...
    @property
    def base_url(self) -> str: ...
    def keys(self) -> dict[str, str]: ...
    def advance(self, by: float) -> None: ...
    def add_fault(self, endpoint: str, kind: str, times: int) -> None: ...
    def clear_faults(self) -> None: ...
    def requests(self) -> list[_Request]: ...
    def truth(self) -> list[_Truth]: ...
    def cart_truth(self) -> list[_CartTruth]: ...
    def close(self) -> None: ...
