"""Reading archives batch by batch, in bounded memory."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal, NoReturn, Unpack

from headland import _core, arguments
from headland.archives import ReadOptions, to_core_source, with_options
from headland.layer import Diagnostic, Layer

if TYPE_CHECKING:
    from collections.abc import Mapping
    from types import TracebackType
    from typing import Self

    import pyarrow as pa

    from headland.archives import Source

TypeName = Literal["int32", "int64", "float64", "string", "date", "bool"]
"""A type that a column can be held to."""

MAX_ROWS = 2**31 - 1
"""The most records of one batch."""


class Batch(Layer):
    """Some rows of a layer that is read in batches: a layer of its own, and an Arrow record batch.

    ``pyarrow.record_batch(batch)`` takes it as it is and shares the memory. What was repaired or left out is told by
    the ``diagnostics`` of the reader, for all batches together: those of a batch are empty.
    """

    __slots__ = ()

    @property
    def diagnostics(self) -> list[Diagnostic]:
        """Nothing: what was repaired or left out is counted over all rows, by ``LayerReader.diagnostics``."""
        return super().diagnostics

    @property
    def num_rows(self) -> int:
        """How many records it has, as ``len()`` says too."""
        return len(self)

    def __repr__(self) -> str:
        """Show name, size and coordinate system in one line."""
        return super().__repr__().replace("<Layer", "<Batch", 1)

    def __arrow_c_array__(self, requested_schema: object = None) -> tuple[object, object]:
        """Export the records by the Arrow C array interface; the geometry is ``geoarrow.wkb``."""
        return self._core.__arrow_c_array__(requested_schema)


class LayerReader:
    """A layer that is read batch by batch: a context manager, an iterator of ``Batch``, and an Arrow C stream.

    It is read once, from its beginning to its end; open the archive again to read it anew. ``close()``, the end of the
    ``with`` block and an error end it, and whoever asks for a batch after that gets a ``ValueError``. After its last
    batch an iteration stays at its end, as of any iterator, and an Arrow C stream that is asked for too late is a
    ``ValueError`` rather than a table without rows. Threads may share it: each batch goes to one of them. It does not
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
        """What it is read from: a path or ``bytes``."""
        return self._head.source

    @property
    def columns(self) -> list[str]:
        """The names of the columns in their order, the geometry column among them."""
        return self._head.columns

    @property
    def schema(self) -> pa.Schema:
        """The schema of every batch, as pyarrow has it; ``__arrow_c_schema__`` gives it to other packages."""
        import pyarrow as pa

        return pa.schema(self)

    @property
    def crs(self) -> str | None:
        """The coordinate system: ``EPSG:n`` where it is certain, else the text of the .prj, else ``None``."""
        return self._head.crs

    @property
    def units(self) -> dict[str, str]:
        """The unit of each column of numbers, ``"unknown"`` where nobody says it; also of others that have one."""
        return self._head.units

    @property
    def metadata(self) -> dict[str, str]:
        """What the source says of the layer as a whole, as texts: the header of a grain cart file."""
        return self._head.metadata

    @property
    def diagnostics(self) -> list[Diagnostic]:
        """What was repaired or left out so far; all of it after the last batch."""
        return [Diagnostic(**diagnostic) for diagnostic in self._core.diagnostics]

    def close(self) -> None:
        """End the reading and let go of the archive; more than once is no error."""
        self._core.close()

    def __enter__(self) -> Self:
        """Give the reader, which the end of the block closes; one that is closed already is a ``ValueError``."""
        self._core.check_open()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Close the reader."""
        self.close()

    def __iter__(self) -> Self:
        """Give the reader itself: it is read once."""
        return self

    def __next__(self) -> Batch:
        """Read the next batch."""
        batch = self._core.next_batch()
        if batch is None:
            raise StopIteration
        return Batch(batch)

    def __arrow_c_stream__(self, requested_schema: object = None) -> object:
        """Export the batches that are left by the Arrow C stream interface; each is read when it is asked for.

        After the last batch this is a ``ValueError``; a stream that was exported before, and whose first batch is asked
        for after that, gives an error in place of it.

        A consumer may ask for other types; the protocol lets a producer keep its own, and the consumer then casts.
        """
        return self._core.stream()

    def __arrow_c_schema__(self) -> object:
        """Export the schema by the Arrow C schema interface."""
        return self._core.__arrow_c_schema__()

    def __reduce__(self) -> NoReturn:
        """Refuse to be pickled: what is half read cannot be read on elsewhere."""
        raise TypeError("a reader cannot be pickled: open the archive where it is read")

    def __repr__(self) -> str:
        """Show name and columns in one line."""
        return repr(self._head).replace("<Layer", "<LayerReader", 1).replace(" 0 records,", "", 1)


@with_options
def open(  # noqa: A001 -- it is `hl.open`, as `read` is `hl.read`
    source: Source,
    *,
    batch_size: int = 65536,
    types: Mapping[str, TypeName] | Literal["scan"] | None = None,
    **options: Unpack[ReadOptions],
) -> LayerReader:
    """Open an archive of field data to read it batch by batch, in bounded memory.

    A .shp whose records stand in another order than their index is held in memory as a whole, and so is what is no
    shapefile: FMIS tables and grain cart files. The batches are the same.

    The schema stands before the first row: it is that of the headers. A number that it has no room for, such as 1.5 in
    a column that is declared without decimals, is an ``ArchiveError`` that names record and field. ``read`` makes such
    a column one of floats; so does ``types="scan"``, at the price of a first pass over all cells, and so does
    ``strict=False`` in the same way, where no ``types`` are given.

    A type by choice is a demand: a cell of a text that is no date, no number or no truth value is an ``ArchiveError``
    too, and null with ``strict=False``, counted in a diagnostic. What stands for no value in a field of that kind is
    null in a text as well: blanks, ``***`` for numbers, ``?`` for truth values, ``00000000`` for dates. A number that
    does not fit, such as 1.5 for ``"int64"``, 3000000000 for ``"int32"`` or 12 for ``"bool"``, is an error with
    ``strict=False``, too. A column that has the kind of its field, such as ``"float64"`` for one of numbers, is read as
    without a choice: what is no number is null.

    Args:
        source: A path of a file or a folder, bytes, or a binary file object.
        batch_size: How many records are read at a time, from 1 up. Deleted ones leave a batch shorter, never empty.
        types: The types of some columns, by their names: ``"int32"``, ``"int64"``, ``"float64"``, ``"string"``,
            ``"date"`` or ``"bool"`` (one of T, Y, 1, F, N, 0 in either case of letters); or ``"scan"``.
        options: How to read, as in ``headland.read``, which documents each option: with ``strict=False`` what can be
            saved is read, and ``diagnostics`` say what was lost.

    Returns:
        A reader that gives batches. It is an Arrow C stream, which duckdb, polars and
        ``pyarrow.RecordBatchReader.from_stream(reader)`` take.

    Raises:
        ArchiveError: Where the archive cannot be read, when it is opened or in the middle. The batches before it were
            given, the reader is closed then. Checksums are checked at the end of each member: of a damaged one, batches
            may have been given before that.
        ValueError: For a name or a type of a column that there is none of, and as in ``read``.
        TypeError: A source or an argument of another type than stated.

    >>> with headland.open("job.zip", batch_size=1000) as reader:
    ...     for batch in reader:
    ...         frame = batch.to_geopandas()
    """
    size = arguments.whole_number("batch_size", batch_size, 1, MAX_ROWS)
    return LayerReader(_core.open_reader(to_core_source(source), options, types, size))
