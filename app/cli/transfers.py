"""Uploads files for imports, follows jobs, and writes their files and those of evidence."""

import asyncio
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import Any, BinaryIO

from rich.console import Console
from rich.progress import Progress

from app.cli import setup
from app.cli.tables import Named
from app.domain.bulk import exports, imports
from app.domain.bulk.exports import ExportFormat
from app.domain.bulk.import_rules import Import
from app.domain.bulk.selection import Selection, freeze
from app.domain.consent import evidence
from app.domain.contacts import service as contacts
from app.domain.contacts.queries import ContactFilter
from app.domain.jobs import downloads, parts, queries, uploads
from app.domain.jobs.models import UNFINISHED, AccountJob, JobStatus
from app.domain.kernel.errors import NotFound
from app.domain.kernel.unit_of_work import open_unit
from app.services import Services
from app.settings import Settings
from app.web import consent_files

POLL_SECONDS = 0.2
FORMATS = {".json": ExportFormat.json, ".vcf": ExportFormat.vcard}
SHOWN = ("id", "kind", "status", "total", "done", "changed", "failed", "counts", "problems")


def format_of(file: Path, chosen: str | None) -> ExportFormat:
    """Return the chosen format of an export, or else that of the name of its file."""
    return ExportFormat(chosen) if chosen else FORMATS.get(file.suffix.lower(), ExportFormat.csv)


async def import_file(
    settings: Settings, account_id: int, file: Path, wanted: Import, report: Path | None
) -> dict[str, Any]:
    """Upload a file, import it, and write the report; return the facts of the job.

    The uploaded copy is deleted when the job has ended, or if it does not begin.
    """
    async with setup.operate(settings, account_id) as unit:
        upload = await uploads.create(unit, file.name)
    try:
        with file.open("rb") as opened:
            await _upload(settings, account_id, upload.id, opened)
        async with setup.operate(settings, account_id) as unit:
            job = await imports.begin(unit, replace(wanted, upload_id=upload.id))
    except BaseException:  # also Ctrl+C
        await _discard(settings, account_id, upload.id)
        raise
    done = await _follow(settings, account_id, job.id, report)
    await _discard(settings, account_id, upload.id)
    return done


async def export_file(
    settings: Settings, account_id: int, file: Path, wanted: ContactFilter | int, format: ExportFormat
) -> dict[str, Any]:
    """Export the contacts of a filter, or of the segment with an id, to a file; return the facts of the job."""
    async with setup.operate(settings, account_id) as unit:
        is_segment = isinstance(wanted, int)
        which = Selection(segment=await freeze(unit, wanted)) if is_segment else Selection(filter=wanted)
        job = await exports.begin(unit, which, format)
    return await _follow(settings, account_id, job.id, file)


async def _upload(settings: Settings, account_id: int, upload_id: int, file: BinaryIO) -> None:
    number = 0
    async with setup.connect(settings) as services:
        while content := file.read(uploads.PART_BYTES):
            actor = setup.operator_of(account_id)
            async with open_unit(services.database.sessions, actor, services.clock, services.notify) as unit:
                await uploads.add_part(unit, upload_id, number, content)
            number += 1


async def _discard(settings: Settings, account_id: int, upload_id: int) -> None:
    """Delete an uploaded file, unless the job has."""
    with suppress(NotFound):
        async with setup.operate(settings, account_id) as unit:
            await uploads.delete(unit, upload_id)


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
            downloads.check_has_file(job)
            await _write(services, job_id, file)
    return _shown(job)


def _shown(job: AccountJob) -> dict[str, Any]:
    """Return the facts of a job; a dry run has changed nothing."""
    facts = {name: getattr(job, name) for name in SHOWN} | {"counts": Named(job.counts)}
    if not job.arguments.get("dry_run"):
        return facts
    return {("would_change" if name == "changed" else name): value for name, value in facts.items()}


async def _find(services: Services, account_id: int, job_id: int) -> AccountJob:
    actor = setup.operator_of(account_id)
    async with open_unit(services.database.sessions, actor, services.clock, services.notify) as unit:
        return await queries.get(unit, job_id)


async def _write(services: Services, job_id: int, file: Path) -> None:
    with file.open("xb") as opened:
        async for part in parts.read(services.database.pool, job_id):
            opened.write(part)


async def write_evidence(settings: Settings, account_id: int, phone: str, file: Path) -> dict[str, Any]:
    """Write the evidence of a phone's consent to a new file: JSON if its name ends so, otherwise a page."""
    write = consent_files.document if file.suffix.lower() == ".json" else consent_files.page
    async with setup.connect(settings) as services:
        async with open_unit(
            services.database.sessions, setup.operator_of(account_id), services.clock, services.notify
        ) as unit:
            await setup.check_account(unit)
            head = await evidence.head(unit, await contacts.normalize(unit, phone))
        with file.open("xb") as opened:
            async for part in write(services.database.pool, head):
                opened.write(part)
    return {"phone": head.consent.phone, "is_opted_out": head.consent.suppression is not None, "file": str(file)}
