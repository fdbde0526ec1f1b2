"""Reads jobs and what they write, and advances them as a worker does."""

from app.bootstrap import open_job_worker
from app.domain.jobs import parts
from app.services import Services
from tests.factories.tables import Rows

ACCOUNT_JOBS = Rows("account_jobs")
JOB_KEYS = Rows("job_keys")
JOB_PARTS = Rows("job_parts")
UPLOADS = Rows("uploads")


async def advance(services: Services, chunks: int = 1000) -> None:
    """Run chunks of jobs, by default until none is due."""
    job = open_job_worker(services)
    for _ in range(chunks):
        if not await job.run():
            return


async def read_file(services: Services, job_id: int) -> bytes:
    """Return the file of a job."""
    return b"".join([part async for part in parts.read(services.database.pool, job_id)])
