"""Uploads files for imports, follows jobs, and writes their files."""

import asyncio
from dataclasses import replace
from pathlib import Path
from typing import Any, BinaryIO

from rich.console import Console
from rich.progress import Progress

from app.cli import setup
from app.cli.export import FileExists
from app.domain.bulk import exports, imports
from app.domain.bulk.exports import ExportFormat
from app.domain.bulk.import_rules import Import
from app.domain.contacts.queries import ContactFilter
from app.domain.jobs import parts, queries, uploads
from app.domain.jobs.models import UNFINISHED, AccountJob, JobStatus
from app.domain.kernel.unit_of_work import open_unit
from app.services import Services
from app.settings import Settings

POLL_SECONDS = 0.2
SHOWN = ("id", "kind", "status", "total", "done", "changed", "failed", "counts", "problems")


def check_new(file: Path | None) -> None:
    """Raise `FileExists` for a file that exists."""
    if file and file.exists():
        raise FileExists(f"{file} exists. Choose another file, or remove it first.")


async def import_file(
    settings: Settings, account_id: int, file: Path, wanted: Import, report: Path | None
) -> dict[str, Any]:
    """Upload a file, import it, and write the report; return the facts of the job."""
    async with setup.operate(settings, account_id) as unit:
        upload = await uploads.create(unit, file.name)
    with file.open("rb") as opened:
        await _upload(settings, account_id, upload.id, opened)
    async with setup.operate(settings, account_id) as unit:
        job = await imports.begin(unit, replace(wanted, upload_id=upload.id))
    return await _follow(settings, account_id, job.id, report)


async def export_file(
    settings: Settings, account_id: int, file: Path, wanted: ContactFilter, format: ExportFormat
) -> dict[str, Any]:
    """Export the contacts of a filter to a file; return the facts of the job."""
    async with setup.operate(settings, account_id) as unit:
        job = await exports.begin(unit, wanted, format)
    return await _follow(settings, account_id, job.id, file)


async def _upload(settings: Settings, account_id: int, upload_id: int, file: BinaryIO) -> None:
    number = 0
    async with setup.connect(settings) as services:
        while content := file.read(uploads.PART_BYTES):
            actor = setup.operator_of(account_id)
            async with open_unit(services.database.sessions, actor, services.clock, services.notify) as unit:
                await uploads.add_part(unit, upload_id, number, content)
            number += 1


async def _follow(settings: Settings, account_id: int, job_id: int, file: Path | None) -> dict[str, Any]:
    """Show the progress of a job until its end, then write its file."""
    async with setup.connect(settings) as services:
        console = Console(stderr=True)
        with Progress(console=console, transient=True, disable=not console.is_terminal) as bar:
            task = bar.add_task("waiting for a worker", total=None)
            job = await _find(services, account_id, job_id)
            while job.status in UNFINISHED:
                text = "waiting for a worker" if job.status == JobStatus.waiting else job.status
                bar.update(task, total=job.total, completed=job.done, description=text)
                await asyncio.sleep(POLL_SECONDS)
                job = await _find(services, account_id, job_id)
        if file:
            await _write(services, job_id, file)
    return {name: getattr(job, name) for name in SHOWN}


async def _find(services: Services, account_id: int, job_id: int) -> AccountJob:
    actor = setup.operator_of(account_id)
    async with open_unit(services.database.sessions, actor, services.clock, services.notify) as unit:
        return await queries.get(unit, job_id)


async def _write(services: Services, job_id: int, file: Path) -> None:
    with file.open("xb") as opened:
        async for part in parts.read(services.database.pool, job_id):
            opened.write(part)
