"""How Arrow columns become pandas columns."""

from __future__ import annotations

from typing import Any


def options(dtype_backend: str) -> dict[str, Any]:
    """Give the arguments of ``to_pandas`` for a backend."""
    import pandas as pd

    if dtype_backend == "numpy":
        return {}
    if dtype_backend == "pyarrow":
        return {"types_mapper": pd.ArrowDtype}
    if dtype_backend == "numpy_nullable":
        return {"types_mapper": _nullable().get}
    raise ValueError(f"`dtype_backend` takes 'numpy_nullable', 'pyarrow' or 'numpy', not {dtype_backend!r}")


def _nullable() -> dict[Any, Any]:
    import pandas as pd
    import pyarrow as pa

    return {
        pa.int8(): pd.Int8Dtype(),
        pa.int16(): pd.Int16Dtype(),
        pa.int32(): pd.Int32Dtype(),
        pa.int64(): pd.Int64Dtype(),
        pa.uint8(): pd.UInt8Dtype(),
        pa.uint16(): pd.UInt16Dtype(),
        pa.uint32(): pd.UInt32Dtype(),
        pa.uint64(): pd.UInt64Dtype(),
        pa.float32(): pd.Float32Dtype(),
        pa.float64(): pd.Float64Dtype(),
        pa.bool_(): pd.BooleanDtype(),
        pa.string(): pd.StringDtype(),
        pa.large_string(): pd.StringDtype(),
    }
