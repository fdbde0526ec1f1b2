"""The archive of an export: a zip of one NDJSON file for each table, and a manifest."""

import zipfile
from collections import Counter
from collections.abc import Sequence
from typing import IO, Self

import orjson

from app.domain.erasure.export import Record
from app.domain.erasure.tables import EXPORTED


class Archive:
    """Writes an export to a binary file object; a context manager."""

    def __init__(self, file: IO[bytes]) -> None:
        self._zip = zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED)
        self._table = ""
        self._file: IO[bytes] | None = None
        self.counts = Counter({table.name: 0 for table in EXPORTED})

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        """Detach the file of an unfinished archive, because `ZipFile` would fail to close it when it is freed."""
        try:
            self._end_file()
        finally:
            self._zip.fp = None

    def add(self, table: str, records: Sequence[Record]) -> None:
        """Write records of a table; those of one table come one after another."""
        if table != self._table or self._file is None:
            self._end_file()
            self._table, self._file = table, self._zip.open(f"{table}.ndjson", "w", force_zip64=True)
        lines = (orjson.dumps(record, default=_plain, option=orjson.OPT_APPEND_NEWLINE) for record in records)
        self._file.write(b"".join(lines))
        self.counts[table] += len(records)

    def finish(self, account_id: int, exported_at: str) -> None:
        """Write the manifest and the end of the archive; without it the archive cannot be opened."""
        self._end_file()
        manifest = {"account_id": account_id, "exported_at": exported_at, "records": self.counts}
        self._zip.writestr("manifest.json", orjson.dumps(manifest, option=orjson.OPT_INDENT_2))
        self._zip.close()

    def _end_file(self) -> None:
        if self._file:
            self._file.close()
            self._file = None


class Outlet:
    """A write-only, unseekable file object whose content is taken piece by piece."""

    def __init__(self) -> None:
        self._written: list[bytes] = []

    def write(self, data: bytes) -> int:
        """Buffer bytes until they are taken."""
        self._written.append(bytes(data))
        return len(data)

    def flush(self) -> None:
        """Do nothing; `ZipFile` requires the method."""

    def take(self) -> bytes:
        """Return the bytes written since the last call."""
        taken = b"".join(self._written)
        self._written.clear()
        return taken


def _plain(value: object) -> str:
    return value.decode() if isinstance(value, bytes) else str(value)
