"""Reads archives in batches, in bounded memory."""

from __future__ import annotations

from collections.abc import Mapping  # noqa: TC003 -- for `typing.get_type_hints`
from typing import TYPE_CHECKING, Literal, NoReturn, Unpack

from headland import _core, arguments, extras
from headland.archives import ReadOptions, Source, naming_folders, to_core_source, with_options
from headland.layer.layer import Diagnostic, Layer
from headland.layer.listings import Diagnostics

if TYPE_CHECKING:
    from types import TracebackType
    from typing import Self

    import pyarrow as pa

TypeName = Literal["int32", "int64", "float64", "string", "date", "bool"]
"""A type to which a column can be converted."""

MAX_ROWS = 2**31 - 1
"""Maximum number of records in a batch."""


class Batch(Layer):
    """Some rows of a layer that is read in batches: a layer of its own, and an Arrow record batch.

    ``pyarrow.record_batch(batch)`` accepts it and shares the memory. The ``diagnostics`` of a batch are empty, because
    those of the reader cover all batches.
    """

    __slots__ = ()

    @property
    def num_rows(self) -> int:
        """Number of records, the same as ``len()``."""
        return len(self)

    def __repr__(self) -> str:
        """Return name, size and coordinate system in one line."""
        return super().__repr__().replace("<Layer", "<Batch", 1)

    def __arrow_c_array__(self, requested_schema: object = None) -> tuple[object, object]:
        """Export the records by the Arrow C array interface; the geometry is ``geoarrow.wkb``."""
        return self._core.__arrow_c_array__(requested_schema)


class LayerReader:
    """A layer that is read in batches: a context manager, an iterator of ``Batch``, and an Arrow C stream.

    It is read once, from beginning to end; to read again, open the archive again. ``close()``, the end of the ``with``
    block and an error close it; requests for a batch after that raise ``ValueError``. After its last batch, an
    iteration stays at its end, like any iterator. Exporting an Arrow C stream after the end raises ``ValueError``,
    instead of returning a table without rows. Threads may share it: each batch is returned to one of them. It does not
    survive a fork.

    >>> with headland.open("job.zip") as reader:
    ...     print(reader.columns, sum(len(batch) for batch in reader))
    """

    __slots__ = ("_core", "_head")

    def __init__(self, core: _core.Reader) -> None:
        self._core = core
        self._head = Layer(core.head())

    @property
    def name(self) -> str:
        """The name of the layer in its archive."""
        return self._head.name

    @property
    def source(self) -> str:
        """The source: a path or ``bytes``."""
        return self._head.source

    @property
    def columns(self) -> list[str]:
        """Names of the columns in order, including the geometry column."""
        return self._head.columns

    @property
    def schema(self) -> pa.Schema:
        """The schema of every batch, for pyarrow; ``__arrow_c_schema__`` exports it to other packages."""
        extras.require("geo", "pyarrow")
        import pyarrow as pa

        return pa.schema(self)

    @property
    def crs(self) -> str | None:
        """The coordinate system: ``EPSG:n`` if it is certain, else the text of the .prj, else ``None``."""
        return self._head.crs

    @property
    def units(self) -> dict[str, str]:
        """The unit of each column of numbers, ``"unknown"`` if not stated; also of other columns with a unit."""
        return self._head.units

    @property
    def metadata(self) -> dict[str, str]:
        """Texts that the source states about the whole layer, such as the header of a grain cart file."""
        return self._head.metadata

    @property
    def diagnostics(self) -> list[Diagnostic]:
        """Diagnostics so far; complete after the last batch."""
        return Diagnostics(Diagnostic(**diagnostic) for diagnostic in self._core.diagnostics)

    def close(self) -> None:
        """Close the archive; closing again is no error."""
        self._core.close()

    def __enter__(self) -> Self:
        """Return the reader; raises ``ValueError`` if it is closed already."""
        self._core.check_open()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Close the reader."""
        self.close()

    def __iter__(self) -> Self:
        """Return the reader, which is read once."""
        return self

    def __next__(self) -> Batch:
        """Read the next batch."""
        batch = self._core.next_batch()
        if batch is None:
            raise StopIteration
        return Batch(batch)

    def __arrow_c_stream__(self, requested_schema: object = None) -> object:
        """Export the remaining batches by the Arrow C stream interface; each is read on request.

        After the last batch this raises ``ValueError``. A stream exported before, whose first batch is requested after
        that, returns an error instead of the batch.

        `requested_schema` is ignored: the protocol lets the producer keep its types, and the consumer casts.
        """
        return self._core.stream()

    def __arrow_c_schema__(self) -> object:
        """Export the schema by the Arrow C schema interface."""
        return self._core.__arrow_c_schema__()

    def __reduce__(self) -> NoReturn:
        """Refuse to be pickled: a half-read archive cannot be resumed elsewhere."""
        raise TypeError("a reader cannot be pickled: open the archive in the process that reads it")

    def __repr__(self) -> str:
        """Return name and columns in one line."""
        return repr(self._head).replace("<Layer", "<LayerReader", 1).replace(" 0 records,", "", 1)


@with_options
def open(  # noqa: A001 -- it is `hl.open`, as `read` is `hl.read`
    source: Source,
    *,
    batch_size: int = 65536,
    types: Mapping[str, TypeName] | Literal["scan"] | None = None,
    **options: Unpack[ReadOptions],
) -> LayerReader:
    """Open an archive of field data to read it in batches, in bounded memory.

    Some sources are loaded completely, with the same batches: a .shp whose record order differs from its index, FMIS
    tables and grain cart files.

    The schema is known before the first row, from the headers. A number that does not fit, such as 1.5 in a column
    declared without decimals, is an ``ArchiveError`` that states record and field. Three options convert such a column
    to floats: ``read``; ``types="scan"``, which needs a first pass over all cells; and ``strict=False`` without
    ``types``, in the same way.

    A requested type is mandatory. A cell that is no date, number or boolean is an ``ArchiveError``; with
    ``strict=False`` it is null and counted in a diagnostic. Placeholders for no value are null in texts too: blanks,
    ``***`` for numbers, ``?`` for booleans, ``00000000`` for dates. A number that does not fit is an error even with
    ``strict=False``, such as 1.5 for ``"int64"``, 3000000000 for ``"int32"`` or 12 for ``"bool"``. A column of the
    requested kind, such as a number column with ``"float64"``, is read as without a request: cells that are no number
    are null.

    Args:
        source: A path of a file or a folder, bytes, or a binary file object.
        batch_size: Number of records read at a time, at least 1. Deleted records make a batch shorter, never empty.
        types: Types of some columns by name: ``"int32"``, ``"int64"``, ``"float64"``, ``"string"``, ``"date"`` or
            ``"bool"`` (T, Y, 1, F, N or 0, in either case); or ``"scan"``.
        options: The options of ``headland.read``, which documents them. With ``strict=False``, everything readable is
            read, and ``diagnostics`` list the losses.

    Returns:
        A reader of batches. It is an Arrow C stream, which duckdb, polars and
        ``pyarrow.RecordBatchReader.from_stream(reader)`` accept.

    Raises:
        ArchiveError: The archive cannot be read, on opening or later. Batches before the error were returned; the
            reader is then closed. Checksums are verified at the end of each member, so batches of a damaged one may be
            returned before the error.
        ValueError: An unknown column name or type, and as in ``read``.
        TypeError: A source or an argument of another type.

    >>> with headland.open("job.zip", batch_size=1000) as reader:
    ...     for batch in reader:
    ...         frame = batch.to_geopandas()
    """
    size = arguments.whole_number("batch_size", batch_size, 1, MAX_ROWS)
    found = to_core_source(source)
    with naming_folders(found):
        return LayerReader(_core.open_reader(found, options, types, size))
