"""Export of contacts as CSV, JSON or vCard, by a job."""

import enum
import re
from collections.abc import Sequence
from typing import Any

import orjson

from app.domain.bulk import csv_text, selection, tag_lists
from app.domain.bulk.selection import Selection
from app.domain.contacts import custom_fields
from app.domain.contacts.models import Contact
from app.domain.jobs import parts
from app.domain.jobs import service as jobs
from app.domain.jobs.models import AccountJob, JobKind
from app.domain.jobs.service import Progress
from app.domain.kernel.events import timestamp
from app.domain.kernel.unit_of_work import UnitOfWork

COLUMNS = (
    "id",
    "phone",
    "first_name",
    "last_name",
    "email",
    "tags",
    "pipeline_stage",
    "source",
    "status",
    "dnd_sms",
    "assignee_id",
    "score",
    "created_at",
)
PAGES = 5
"""The number of pages of contacts that one chunk writes."""


class ExportFormat(enum.StrEnum):
    """The format of an exported file."""

    csv = enum.auto()
    json = enum.auto()
    vcard = enum.auto()


async def begin(unit: UnitOfWork, which: Selection, format: ExportFormat) -> AccountJob:
    """Create the job of an export of contacts; its file has the custom fields of now, whatever changes meanwhile."""
    fields = [each.key for each in await custom_fields.list_all(unit)]
    arguments = {**which.as_arguments(), "format": format, "fields": fields}
    return await jobs.create(unit, JobKind.export_contacts, arguments)


async def advance(unit: UnitOfWork, job: AccountJob) -> Progress:
    """Write the next contacts to the file of the job; a field that was deleted meanwhile has no values any more."""
    known, first, total = [each.key for each in await custom_fields.list_all(unit)], not job.position, None
    contacts, is_last = list[Contact](), False
    for _ in range(PAGES):
        chunk = await selection.find_next(unit, job)
        contacts += await selection.find_contacts(unit, chunk)
        job.position, total, is_last = chunk.position, total or chunk.total, chunk.is_last
        if is_last:
            break
    if contacts or first:
        fields: list[str] = job.arguments.get("fields", known)
        kept = [key for key in fields if key in known]
        records = [_record(contact, kept) for contact in contacts]
        written = _write(job.arguments["format"], records, fields, is_first=first)
        await parts.add(unit, job, job.done + (not first), written)
    return Progress(job.position, done=len(contacts), is_last=is_last, total=total)


def _write(format: str, records: Sequence[dict[str, Any]], fields: Sequence[str], *, is_first: bool) -> bytes:
    match format:
        case ExportFormat.json:
            return b"".join(orjson.dumps(record, option=orjson.OPT_APPEND_NEWLINE) for record in records)
        case ExportFormat.vcard:
            return "".join(_card(record) for record in records).encode(errors="replace")
        case _:
            header = [[*COLUMNS, *(f"custom.{key}" for key in fields)]] if is_first else []
            return csv_text.write([*header, *(_flat(record, fields) for record in records)])


def _record(contact: Contact, fields: Sequence[str]) -> dict[str, Any]:
    record = {name: getattr(contact, name) for name in COLUMNS} | {"created_at": timestamp(contact.created_at)}
    values = {key: contact.custom_fields[key] for key in fields if key in contact.custom_fields}
    return {**record, "custom_fields": values}


def _flat(record: dict[str, Any], fields: Sequence[str]) -> Sequence[object]:
    """Return the cells of a record: tags separated by commas, values as the texts that an import reads."""
    cells = {**record, "tags": tag_lists.write(record["tags"]), "dnd_sms": custom_fields.show(record["dnd_sms"])}
    values = record["custom_fields"]
    return [cells[name] for name in COLUMNS] + [
        custom_fields.show(values[key]) if key in values else "" for key in fields
    ]


def _card(record: dict[str, Any]) -> str:
    """Return a vCard 4.0 (RFC 6350)."""
    first, last = _escaped(record["first_name"]), _escaped(record["last_name"])
    lines = [
        "BEGIN:VCARD",
        "VERSION:4.0",
        f"UID:contact-{record['id']}",
        f"FN:{f'{first} {last}'.strip() or record['phone']}",
        f"N:{last};{first};;;",
        f"TEL;VALUE=uri;TYPE=cell:tel:{record['phone']}",
        *([f"EMAIL:{_escaped(record['email'])}"] if record["email"] else []),
        *([f"CATEGORIES:{','.join(map(_escaped, record['tags']))}"] if record["tags"] else []),
        "END:VCARD",
    ]
    return "".join(f"{line}\r\n" for line in lines)


def _escaped(text: str) -> str:
    return re.sub(r"([\\,;])", r"\\\1", text).replace("\r", "").replace("\n", "\\n")
