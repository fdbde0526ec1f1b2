"""The parts of the file that a job writes, and the keys that it has seen."""

from collections.abc import AsyncGenerator, Sequence
from itertools import count

from sqlalchemy import select, text

from app.db.engine import Pool
from app.domain.jobs.models import AccountJob, JobKey, JobPart
from app.domain.kernel.unit_of_work import UnitOfWork

HEAD_BYTES = 100_000

ADD_KEYS = """
INSERT INTO job_keys (job_id, key, row)
SELECT :job_id, key, min(row) FROM unnest(CAST(:keys AS bigint[]), CAST(:rows AS bigint[])) AS seen(key, row)
GROUP BY key ORDER BY key ON CONFLICT DO NOTHING RETURNING key, row
"""

FIND_PART = "SELECT number, content FROM job_parts WHERE job_id = $1 AND number > $2 ORDER BY number LIMIT 1"


async def add(unit: UnitOfWork, job: AccountJob, number: int, content: bytes) -> None:
    """Add a part of the job's file; parts are read in the order of their numbers."""
    if content:
        await unit.save(JobPart(job_id=job.id, number=number, content=content))


async def add_keys(unit: UnitOfWork, job: AccountJob, seen: Sequence[tuple[int, int]]) -> dict[int, int]:
    """Record the rows of keys; return the first row of the job's file that has each key."""
    if not seen:
        return {}
    values = {"job_id": job.id, "keys": [key for key, _ in seen], "rows": [row for _, row in seen]}
    added: dict[int, int] = {row.key: row.row for row in (await unit.execute(text(ADD_KEYS), values)).all()}
    missing = [key for key, _ in seen if key not in added]
    if missing:
        known = select(JobKey).where(JobKey.job_id == job.id, JobKey.key.in_(missing))
        added |= {each.key: each.row for each in await unit.all(known)}
    return added


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
