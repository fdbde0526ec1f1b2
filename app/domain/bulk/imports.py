"""Import of contacts from CSV and vCard files, by a job."""

import asyncio
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass, field, replace
from itertools import islice

from sqlalchemy import select

from app.db.engine import Pool
from app.domain.accounts.models import Account
from app.domain.bulk import csv_text, files, merging
from app.domain.bulk.candidates import Candidate, RowReader
from app.domain.bulk.files import Column, Format, Wanted
from app.domain.bulk.import_rules import Import, Line, Outcome, as_arguments, read_arguments
from app.domain.bulk.open_files import OpenFile, Taken
from app.domain.bulk.texts import UnreadableFile
from app.domain.contacts import custom_fields
from app.domain.contacts.service import MAX_NAME, clean_tags, clean_text
from app.domain.jobs import parts, slow_work, uploads
from app.domain.jobs import service as jobs
from app.domain.jobs.models import AccountJob, JobKind
from app.domain.jobs.service import Progress
from app.domain.jobs.uploads import PartReader
from app.domain.kernel.errors import InvalidInput
from app.domain.kernel.phone import check_country
from app.domain.kernel.unit_of_work import UnitOfWork

CHUNK = 2000
"""The rows of a transaction: each takes 20 ms besides its rows, and holds its contacts for 0.2 seconds."""

OPT_OUTS = 500
"""The opted-out rows that end a transaction: each takes a lock, of the 6,400 that PostgreSQL has by default for all."""

MAX_OPEN = 32
"""The number of files that a process keeps open between chunks; it opens others anew."""

MAX_NAMED = 5
"""The number of columns that a sentence names."""

DRY_RUN = "This is a dry run: it counts the changes of an import, and changes nothing."
MAX_CONSENT = 2000
REPORT_HEADER = ("row", "outcome", "reason", "contact_id")


async def preview(unit: UnitOfWork, upload_id: int, wanted: Wanted) -> tuple[Format, list[Column]]:
    """Return the format and the columns of an upload, found from its first part; raise `UnreadableFile`."""
    await uploads.get(unit, upload_id)
    head, is_whole = await uploads.read_head(unit, upload_id), await uploads.count_parts(unit, upload_id) == 1
    known = await custom_fields.list_all(unit)
    return await asyncio.to_thread(files.inspect, lambda: [head], wanted, known, is_whole=is_whole)


async def begin(unit: UnitOfWork, wanted: Import) -> AccountJob:
    """Create the job of an import; raise `InvalidInput` without a column of phones, and `UnreadableFile`."""
    await uploads.get(unit, wanted.upload_id, lock=True)
    format, _ = await preview(unit, wanted.upload_id, wanted.wanted)
    if "phone" not in format.fields:
        raise InvalidInput(reason="No column was found to be the phone. Name it in columns.", field="columns")
    if len(wanted.consent) > MAX_CONSENT:
        raise InvalidInput(reason=f"consent must have at most {MAX_CONSENT} characters.", field="consent")
    checked = replace(
        wanted,
        tags=clean_tags(wanted.tags),
        source=clean_text("source", wanted.source, MAX_NAME),
        country=wanted.country and check_country("country", wanted.country),
    )
    return await jobs.create(unit, JobKind.import_contacts, as_arguments(checked))


@dataclass(slots=True)
class Importer:
    """Advances imports. Files that stay open between chunks only save time: any process can continue any import."""

    pool: Pool
    _open: dict[int, OpenFile] = field(default_factory=dict)

    async def advance(self, unit: UnitOfWork, job: AccountJob) -> Progress:
        """Find the format and count the rows, then import the next chunk of rows."""
        wanted = read_arguments(job.arguments)
        if "format" not in job.arguments:
            return await self._survey(unit, job, wanted)
        first = int(job.position)
        candidates, is_last = await self._next(unit, job, wanted, first)
        keys = await _mark_duplicates(unit, job, candidates)
        outcomes = await merging.apply(unit, keys, wanted)
        lines = sorted([*outcomes, *(_rejected(each) for each in candidates if each.reason)])
        await parts.add(unit, job, first, csv_text.write([REPORT_HEADER, *lines] if not first else lines))
        if is_last and wanted.dry_run:
            await uploads.get(unit, wanted.upload_id)
        elif is_last:
            await uploads.delete(unit, wanted.upload_id)
        return _progress(first + len(candidates), lines, is_last=is_last)

    async def _survey(self, unit: UnitOfWork, job: AccountJob, wanted: Import) -> Progress:
        """Read the whole file once, so that one that cannot be read to its end changes nothing."""
        await uploads.get(unit, wanted.upload_id)
        known, source = await custom_fields.list_all(unit), self._parts(job, wanted).open()

        def survey() -> tuple[Format, list[Column], int]:
            format, columns = files.inspect(source, wanted.wanted, known)
            return format, columns, sum(1 for _ in files.read(source, format))

        format, columns, total = await slow_work.wait_for(unit, self.pool, job, asyncio.to_thread(survey))
        if "phone" not in format.fields:
            raise UnreadableFile(reason="No column was found to be the phone. Name it in columns.")
        job.arguments = {**job.arguments, "format": asdict(format)}
        notes = [format.sentence, *_left_out(columns), *([DRY_RUN] if wanted.dry_run else [])]
        return Progress("0", total=total, problems=notes)

    async def _next(self, unit: UnitOfWork, job: AccountJob, wanted: Import, first: int) -> Taken:
        file = self._open.pop(job.id, None)
        if file is None or file.place != first:
            file = OpenFile(await self._read(unit, job, wanted, first), first, CHUNK, OPT_OUTS)
        taken = await slow_work.wait_for(unit, self.pool, job, file.take())
        if not taken.is_last:
            self._open[job.id] = file
        while len(self._open) > MAX_OPEN:
            del self._open[next(iter(self._open))]
        return taken

    async def _read(self, unit: UnitOfWork, job: AccountJob, wanted: Import, first: int) -> Iterator[Candidate]:
        format, known = Format(**job.arguments["format"]), await custom_fields.list_all(unit)
        own = select(Account.region).where(Account.id == unit.actor.account_id)
        reader = RowReader(format.fields, known, wanted.country or await unit.one(own))
        rows = files.read(self._parts(job, wanted).open(), format)
        return (merging.prepare(reader.read(row), wanted) for row in islice(rows, first, None))

    def _parts(self, job: AccountJob, wanted: Import) -> PartReader:
        return PartReader(self.pool, job.account_id, wanted.upload_id)


async def _mark_duplicates(unit: UnitOfWork, job: AccountJob, candidates: Sequence[Candidate]) -> list[Candidate]:
    """Return the candidates that are the first of their phones in the file; give the others their reason."""
    valid = [each for each in candidates if not each.reason]
    firsts = {int(each.phone): each.number for each in reversed(valid)}
    firsts |= await parts.add_keys(unit, job, firsts)
    for each in valid:
        first = firsts[int(each.phone)]
        if first != each.number:
            each.reason = f"The phone is that of row {first}."
            each.fields = {"outcome": Outcome.duplicate_in_file}
    return [each for each in valid if not each.reason]


def _left_out(columns: Sequence[Column]) -> list[str]:
    """Return a sentence about the columns with a name that no field of contacts has, if there are any."""
    names = [column.name for column in columns if column.name and not column.field]
    if not names:
        return []
    more = f" and {len(names) - MAX_NAMED} more" if len(names) > MAX_NAMED else ""
    return [f"Columns without a field of contacts are left out: {', '.join(names[:MAX_NAMED])}{more}."]


def _rejected(candidate: Candidate) -> Line:
    return candidate.number, candidate.fields.get("outcome", Outcome.invalid), candidate.reason, ""


def _progress(position: int, lines: Sequence[Line], *, is_last: bool) -> Progress:
    counts = Counter(str(outcome) for _, outcome, _, _ in lines)
    invalid = [f"Row {number}: {reason}" for number, outcome, reason, _ in lines if outcome == Outcome.invalid]
    changed = sum(counts[each] for each in (Outcome.created, Outcome.updated))
    failed = counts[Outcome.invalid]
    return Progress(str(position), len(lines), changed, failed, is_last, None, counts, invalid[: jobs.MAX_PROBLEMS])
