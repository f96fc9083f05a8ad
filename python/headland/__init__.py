"""From an access key to tidy, mapped field data.

- The service: `Client` and `AsyncClient` have its calls, `Sandbox` is a local service, `Mirror` a copy of an account.
- Files: `read` makes a `Layer` of an archive, `read_many` of several, and `open` streams one.
- Harvests: `harmonize`, `clean`, `grid`, `field_means` and `concat` make tables and maps with known units.
- Prescriptions: `Prescription`, `check_prescription` and `compare_rates`.
- Errors derive from `HeadlandError`, and `doctor` finds out why calls fail.

`help(headland.clean)` describes one of them.

>>> import headland as hl
>>> with hl.Sandbox.demo() as service, service.client() as client:
...     job = client.job_data.list().first()
...     layer = client.job_data.read(job["id"])
"""

from typing import TYPE_CHECKING as _TYPE_CHECKING

from headland import import_core as _import_core  # noqa: F401 -- it has to come before the core
from headland import start_up as _start_up  # noqa: F401 -- it has to come before everything that takes time
from headland._core import __version__
from headland.agronomy.check_prescription import check_prescription
from headland.agronomy.clean import clean
from headland.agronomy.cleaned import Cleaned
from headland.agronomy.concat import concat
from headland.agronomy.field_means import field_means
from headland.agronomy.grid import grid
from headland.agronomy.harmonize import harmonize
from headland.agronomy.job_layers import FailedJob, JobLayer, JobLayers
from headland.agronomy.prescription import Prescription
from headland.agronomy.rates import RateComparison, compare_rates
from headland.agronomy.read_many import read_many
from headland.agronomy.sensor_delay import Delay, MachineDelay
from headland.archives import Limits, layers, read
from headland.client.budget import Budget
from headland.client.client import AsyncClient, Client
from headland.client.conversion import AsyncConversion, Conversion
from headland.client.delivery import AsyncDelivery, Delivery
from headland.client.doctor import doctor
from headland.client.doctor_report import Checkup, Finding
from headland.client.locations import AsyncLocationPages, LocationPages
from headland.client.newest_uploads import newest
from headland.client.pages import AsyncPages, Pages
from headland.client.send_plan import SendPlan
from headland.client.settings import Timeout
from headland.display.map import Map
from headland.errors import (
    ArchiveError,
    AuthenticationError,
    ConfigurationError,
    Conflict,
    ConversionFailed,
    DecodeError,
    HeadlandError,
    HeadlandWarning,
    InvalidRequest,
    MethodNotAllowed,
    NoCoverage,
    NotFound,
    NotReady,
    PermissionDenied,
    RateLimited,
    ServiceUnavailable,
    TransportError,
    UploadOutcomeUnknown,
)
from headland.layer.diagnostic_codes import DiagnosticCode
from headland.layer.layer import Diagnostic, Layer
from headland.layer.parquet import write_parquet
from headland.layer.reader import Batch, LayerReader, open  # noqa: A004 -- it is `hl.open`, as `read` is `hl.read`
from headland.layer.table import Table
from headland.layer.xml_tree import read_tree
from headland.mirror import Mirror
from headland.sandbox.sandbox import Sandbox

_MODULES = ("groups", "mirror", "records")
"""Modules with public names of their own."""

_OPTIONAL_MODULES = ("dask",)
"""Modules that are imported by name, because they need other packages."""

__all__ = [
    "ArchiveError",
    "AsyncClient",
    "AsyncConversion",
    "AsyncDelivery",
    "AsyncLocationPages",
    "AsyncPages",
    "AuthenticationError",
    "Batch",
    "Budget",
    "Checkup",
    "Cleaned",
    "Client",
    "ConfigurationError",
    "Conflict",
    "Conversion",
    "ConversionFailed",
    "DecodeError",
    "Delay",
    "Delivery",
    "Diagnostic",
    "DiagnosticCode",
    "FailedJob",
    "Finding",
    "HeadlandError",
    "HeadlandWarning",
    "InvalidRequest",
    "JobLayer",
    "JobLayers",
    "Layer",
    "LayerReader",
    "Limits",
    "LocationPages",
    "MachineDelay",
    "Map",
    "MethodNotAllowed",
    "Mirror",
    "NoCoverage",
    "NotFound",
    "NotReady",
    "Pages",
    "PermissionDenied",
    "Prescription",
    "RateComparison",
    "RateLimited",
    "Sandbox",
    "SendPlan",
    "ServiceUnavailable",
    "Table",
    "Timeout",
    "TransportError",
    "UploadOutcomeUnknown",
    "__version__",
    "check_prescription",
    "clean",
    "compare_rates",
    "concat",
    "doctor",
    "field_means",
    "grid",
    "harmonize",
    "layers",
    "newest",
    "open",
    "read",
    "read_many",
    "read_tree",
    "write_parquet",
]


def __dir__() -> list[str]:
    """Return the public names, for completion: without modules, which are imported by name."""
    return [*__all__]


if not _TYPE_CHECKING:

    def __getattr__(name: str) -> object:
        """Raise an error that suggests a public name similar to a wrong one."""
        from headland.suggestions import did_you_mean

        hint = "" if name.startswith("_") else did_you_mean(name, [*__all__, *_MODULES])
        if name in {"read_all", "jobs"}:
            hint = ": `client.job_data.read_all` reads jobs of an account, and `headland.read_many` reads archives"
        if name in _OPTIONAL_MODULES:
            hint = f" yet: run `import headland.{name}` first"
        raise AttributeError(f"`headland` has no attribute `{name}`{hint}")
