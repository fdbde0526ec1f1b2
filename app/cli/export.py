"""Write the export of an account to a zip archive."""

import asyncio
import os
import zipfile
from collections import Counter
from pathlib import Path
from typing import Any

import orjson

from app.cli import setup
from app.domain.accounts import audit
from app.domain.erasure.export import AREAS, read_records
from app.domain.kernel.events import timestamp
from app.settings import Settings


class FileExists(Exception):
    """The file to write to exists."""


def export_account(settings: Settings, account_id: int, path: Path) -> dict[str, Any]:
    """Write all records of an account that are no secrets to a new zip archive; return what it holds.

    Until it is complete it stands beside its place with the ending `.part`. Raises `FileExists` and `NotFound`.
    """
    if path.exists():
        raise FileExists(f"{path} exists. Choose another file, or remove it first.")
    part = path.with_name(f"{path.name}.part")
    exported_at = asyncio.run(_begin(settings, account_id))
    with (
        open(os.open(part, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), "wb") as file,
        zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as archive,
    ):
        counts = asyncio.run(_write(settings, account_id, archive))
        manifest = {"account_id": account_id, "exported_at": exported_at, "records": counts}
        archive.writestr("manifest.json", orjson.dumps(manifest, option=orjson.OPT_INDENT_2))
    part.rename(path)
    return {"account_id": account_id, "file": str(path), "exported_at": exported_at, "records": sum(counts.values())}


async def _begin(settings: Settings, account_id: int) -> str:
    async with setup.operate(settings, account_id) as unit:
        await audit.record(unit, "account_exported")
        return timestamp(unit.clock.now())


async def _write(settings: Settings, account_id: int, archive: zipfile.ZipFile) -> Counter[str]:
    counts = Counter({area.table: 0 for area in AREAS})
    async with (
        setup.connect(settings) as services,
        services.database.pool.acquire() as connection,
        connection.transaction(),
    ):
        await _write_areas(archive, read_records(connection, account_id), counts)
    return counts


async def _write_areas(archive: zipfile.ZipFile, batches: Any, counts: Counter[str]) -> None:
    """Write one file for each area; only one can be open at a time."""
    name, file = "", None
    async for area, records in batches:
        if area != name:
            if file:
                file.close()
            name, file = area, archive.open(f"{area}.ndjson", "w", force_zip64=True)
        assert file
        file.write(
            b"".join(orjson.dumps(record, default=_plain, option=orjson.OPT_APPEND_NEWLINE) for record in records)
        )
        counts[area] += len(records)
    if file:
        file.close()


def _plain(value: Any) -> str:
    return bytes(value).decode() if isinstance(value, bytes | memoryview) else str(value)
