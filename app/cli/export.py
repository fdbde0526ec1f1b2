"""Writes the export of an account to a zip archive."""

import asyncio
import os
from pathlib import Path
from typing import Any

from app.cli import new_files, setup
from app.domain.accounts import audit
from app.domain.accounts.audit import AuditAction
from app.domain.erasure.archive import Archive
from app.domain.erasure.export import read_snapshot
from app.domain.kernel.events import timestamp
from app.settings import Settings

MAX_SECONDS = 3600.0
"""The time limit of the export's snapshot, during which PostgreSQL cannot remove old row versions."""


class ExportTooLong(Exception):
    """The account could not be read within `MAX_SECONDS`."""


def export_account(settings: Settings, account_id: int, path: Path) -> dict[str, Any]:
    """Write all records of an account without secrets to a new zip archive; return a summary.

    Until it is complete the file has the suffix `.part`. Raises `FileExists`, `NotWritable`, `NotFound` and
    `ExportTooLong`.
    """
    new_files.check(path)
    part = path.with_name(f"{path.name}.part")
    exported_at = asyncio.run(_begin(settings, account_id))
    with open(os.open(part, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), "wb") as file, Archive(file) as archive:
        try:
            asyncio.run(asyncio.wait_for(_write(settings, account_id, archive), MAX_SECONDS))
        except TimeoutError:
            raise ExportTooLong(f"The export took longer than {MAX_SECONDS:.0f} seconds, and was given up.") from None
        archive.finish(account_id, exported_at)
    part.rename(path)
    records = sum(archive.counts.values())
    return {"account_id": account_id, "file": str(path), "exported_at": exported_at, "records": records}


async def _begin(settings: Settings, account_id: int) -> str:
    async with setup.operate(settings, account_id) as unit:
        await audit.record(unit, AuditAction.account_exported)
        return timestamp(unit.clock.now())


async def _write(settings: Settings, account_id: int, archive: Archive) -> None:
    async with (
        setup.connect(settings) as services,
        services.database.pool.acquire() as connection,
        connection.transaction(),
    ):
        async for area, records in read_snapshot(connection, account_id):
            archive.add(area, records)
