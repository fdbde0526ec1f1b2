"""The parts of the file that a job writes, and the keys that it has seen."""

from collections.abc import AsyncGenerator, Mapping
from itertools import count
from typing import Any, cast

from sqlalchemy import CursorResult, select, text

from app.db.engine import Pool
from app.domain.jobs.models import AccountJob, JobKey, JobPart
from app.domain.kernel import records
from app.domain.kernel.unit_of_work import UnitOfWork

HEAD_BYTES = 100_000

ADD_KEYS = """
INSERT INTO job_keys (job_id, key, row)
SELECT :job_id, key, row FROM unnest(CAST(:keys AS bigint[]), CAST(:rows AS bigint[])) AS seen(key, row)
ORDER BY key ON CONFLICT DO NOTHING
"""

FIND_PART = "SELECT number, content FROM job_parts WHERE job_id = $1 AND number > $2 ORDER BY number LIMIT 1"


async def add(unit: UnitOfWork, job: AccountJob, number: int, content: bytes) -> None:
    """Add a part of the job's file; parts are read in the order of their numbers."""
    if content:
        await unit.save(JobPart(job_id=job.id, number=number, content=content))


async def add_keys(unit: UnitOfWork, job: AccountJob, rows: Mapping[int, int]) -> dict[int, int]:
    """Record the rows of keys; return the earlier rows of the job's file that have some of the keys, by key."""
    if not rows:
        return {}
    values = {"job_id": job.id, "keys": list(rows), "rows": list(rows.values())}
    added = cast("CursorResult[Any]", await unit.execute(text(ADD_KEYS), values))
    if added.rowcount == len(rows):
        return {}
    known = select(JobKey).where(JobKey.job_id == job.id, records.among(JobKey.key, list(rows)))
    return {each.key: each.row for each in await unit.all(known) if each.row != rows[each.key]}


async def read_head(unit: UnitOfWork, job: AccountJob) -> tuple[bytes, bool]:
    """Return the lines of the job's file that begin within its first `HEAD_BYTES`, and whether they are all of it."""
    content = b""
    own = select(JobPart).where(JobPart.job_id == job.id).order_by(JobPart.number)
    for place in count():
        part = await unit.one(own.offset(place).limit(1))
        if part is None:
            return content, True
        content += part.content
        if len(content) > HEAD_BYTES:
            break
    return content[: content.rfind(b"\n", 0, HEAD_BYTES) + 1], False


async def read(pool: Pool, job_id: int) -> AsyncGenerator[bytes]:
    """Yield the parts of a job's file, each read by a statement of its own."""
    number = -1
    while part := await pool.fetchrow(FIND_PART, job_id, number):
        yield part["content"]
        number = part["number"]
