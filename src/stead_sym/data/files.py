"""Read tables of files: CSV, plain or compressed, and Parquet.

One decision: a row of a CSV file is numbered by the line on which it starts, as an editor shows it.
"""

from __future__ import annotations

import csv
import gzip
import zlib
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, TypeAlias

from stead_sym.data.source import Column
from stead_sym.data.tables import BATCH, Batch, Table, positions
from stead_sym.errors import InputError, Span
from stead_sym.support.extras import install

if TYPE_CHECKING:
    from pyarrow.parquet import ParquetFile

_KINDS = {".csv": ",", ".tsv": "\t"}

_Rows: TypeAlias = list[list[str]]


def file_table(path: Path, span: Span | None) -> Table:
    """Return the table in a file; the suffix of the name decides the format. Raise `InputError`."""
    suffixes = [suffix.lower() for suffix in path.suffixes]
    compressed = suffixes[-1:] == [".gz"]
    kind = "".join(suffixes[-2:-1] if compressed else suffixes[-1:])
    if kind in _KINDS:
        return _Csv(path, _KINDS[kind], compressed)
    if kind == ".parquet" and not compressed:
        return _Parquet(path)
    raise InputError(
        f"{path} is no kind of table that is read here; give .csv or .tsv, also with .gz, or .parquet, or for"
        ' a database `table "…"` or `query "…"` after its URL',
        span,
    )


@contextmanager
def _opened(path: Path) -> Iterator[None]:
    """Convert errors of the system and of decompression to `InputError`."""
    try:
        yield
    except (gzip.BadGzipFile, EOFError, zlib.error) as error:
        raise InputError(f"{path}: cannot be unpacked ({error}); make the file again") from None
    except OSError as error:
        why = error.strerror or str(error)
        raise InputError(f"{path}: cannot be read ({why}); give the path of a table") from None
    except (ValueError, OverflowError) as error:  # OverflowError: a date outside Python's calendar
        raise InputError(f"{path}: cannot be read ({error}); mend the file") from None


@dataclass(frozen=True, slots=True)
class _Csv:
    path: Path
    delimiter: str
    compressed: bool

    def batches(self, columns: Sequence[Column]) -> Iterator[Batch]:
        """Yield the rows with these columns; see `Table.batches`."""
        with _opened(self.path), self._open() as binary:
            lines = csv.reader(self._text(binary), delimiter=self.delimiter, strict=True)
            header = next(self._parsed(lines), None)
            if header is None:
                raise InputError(f"{self.path}:1: the table is empty; name the columns in the first line")
            places = positions(columns, header, str(self.path))
            rows = self._parsed(lines)
            while True:
                start = lines.line_num + 1
                listed = list(islice(rows, BATCH))
                if not listed:
                    return
                yield self._batch(listed, places, len(header), start)

    def _open(self) -> AbstractContextManager[Iterable[bytes]]:
        return gzip.open(self.path, "rb") if self.compressed else open(self.path, "rb")

    def _text(self, binary: Iterable[bytes]) -> Iterator[str]:
        """Yield the lines, decoded one by one so that an error has the number of its line."""
        for number, line in enumerate(binary, 1):
            try:
                yield line.decode("utf-8-sig" if number == 1 else "utf-8")
            except UnicodeDecodeError:
                raise InputError(f"{self.path}:{number}: not in UTF-8; save the file in UTF-8") from None

    def _parsed(self, lines: Iterator[list[str]]) -> Iterator[list[str]]:
        try:
            yield from lines
        except csv.Error as error:
            number = getattr(lines, "line_num", 0)
            raise InputError(f"{self.path}:{number}: no row of a table ({error}); mend it") from None

    def _batch(self, listed: _Rows, places: Sequence[int], width: int, start: int) -> Batch:
        rows = listed
        if not set(map(len, listed)) <= {width}:
            for k, row in enumerate(listed):
                if len(row) not in (0, width):
                    cells = f"{len(row)} cell{'s' * (len(row) != 1)}"
                    raise InputError(
                        f"{self.path}:{_line(listed, k, start)}: {cells} under {width} columns; quote what"
                        " holds a separator, or mend the row"
                    )
            rows = [row for row in listed if row]
        whole = list(zip(*rows, strict=True))
        return Batch(
            len(rows),
            [whole[place] for place in places] if rows else [() for _ in places],
            _placing(self.path, listed, start),
        )


def _placing(path: Path, listed: _Rows, start: int) -> Callable[[int], str]:
    """Return a function from a row's number in the batch to its location; empty lines are no rows."""

    def place(number: int) -> str:
        of_row = [k for k, row in enumerate(listed) if row]
        return f"{path}:{_line(listed, of_row[number], start)}"

    return place


def _line(listed: _Rows, number: int, start: int) -> int:
    """Return the line on which a row starts.

    Each earlier row takes one line, and one more for each line break in a cell.
    """
    return start + number + sum(cell.count("\n") for row in listed[:number] for cell in row)


@dataclass(frozen=True, slots=True)
class _Parquet:
    path: Path

    def batches(self, columns: Sequence[Column]) -> Iterator[Batch]:
        """Yield the rows with these columns; see `Table.batches`."""
        try:
            from pyarrow import ArrowException
            from pyarrow.parquet import ParquetFile
        except ImportError:
            raise InputError(
                f"{self.path}: reading Parquet needs the library pyarrow, which is not installed;"
                f" {install('data')}"
            ) from None
        with _opened(self.path):  # some errors of pyarrow derive from Python's, so they are caught first
            try:
                yield from self._read(ParquetFile(self.path), columns)
            except ArrowException as error:
                why = " ".join(str(error).split())
                raise InputError(f"{self.path}: no Parquet file that can be read ({why}); mend it") from None

    def _read(self, file: ParquetFile, columns: Sequence[Column]) -> Iterator[Batch]:
        with file:
            positions(columns, list(file.schema_arrow.names), str(self.path))
            names, read = [column.name for column in columns], 0
            for part in file.iter_batches(batch_size=BATCH, columns=names):
                cells = [part.column(name).to_pylist() for name in names]
                yield Batch(part.num_rows, cells, _numbering(f"{self.path}, row", read + 1))
                read += part.num_rows


def _numbering(table: str, first: int) -> Callable[[int], str]:
    return lambda number: f"{table} {first + number}"
