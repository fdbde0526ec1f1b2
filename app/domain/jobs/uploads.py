"""Files that accounts upload in parts, and their reading without holding one whole."""

import asyncio
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from sqlalchemy import func, select
from sqlalchemy.dialects.postgresql import insert

from app.db.engine import Pool
from app.domain.accounts import queries as accounts
from app.domain.jobs.models import UNFINISHED, AccountJob, JobKind, Upload, UploadPart
from app.domain.kernel.errors import Conflict, InvalidInput, NotFound
from app.domain.kernel.unit_of_work import UnitOfWork

PART_BYTES = 512 * 1024
MAX_PARTS = 200
MAX_MEBIBYTES = MAX_PARTS * PART_BYTES // 1024**2
MAX_UPLOADS = 5
MAX_NAME = 255

NOT_CSV = {
    b"PK\x03\x04": "a zip archive or an Excel workbook",
    b"\xd0\xcf\x11\xe0": "an Excel workbook",
    b"\x1f\x8b": "compressed",
    b"%PDF": "a PDF document",
    b'{"': "JSON",
    b'[{"': "JSON",
}
"""The first bytes, without spaces, of files that are often uploaded in place of a CSV file."""

FIND_PART = """
SELECT content FROM upload_parts p JOIN uploads u ON u.id = p.upload_id
WHERE u.account_id = $1 AND u.id = $2 AND p.number = $3
"""


async def create(unit: UnitOfWork, name: str) -> Upload:
    """Begin an upload; raise `InvalidInput` for a long name, and `Conflict` while the account has `MAX_UPLOADS`."""
    if len(name) > MAX_NAME:
        raise InvalidInput(reason=f"name must have at most {MAX_NAME} characters.", field="name")
    await accounts.lock_own(unit)
    own = select(func.count()).select_from(Upload).where(Upload.account_id == unit.actor.account_id)
    if (await unit.one(own) or 0) >= MAX_UPLOADS:
        raise Conflict(reason=f"The account has {MAX_UPLOADS} uploaded files. Delete one, or import it, first.")
    row = Upload(account_id=unit.actor.account_id, name=name.strip(), created_by=unit.actor.label)
    await unit.save(row)
    return row


async def get(unit: UnitOfWork, id: int, *, lock: bool = False) -> Upload:
    """Return an upload of the account; with `lock`, locked for a change. Raise `NotFound`."""
    found = select(Upload).where(Upload.account_id == unit.actor.account_id, Upload.id == id)
    row = await unit.one(found.with_for_update() if lock else found)
    if row is None:
        raise NotFound(kind="upload", id=id)
    return row


async def list_all(unit: UnitOfWork) -> Sequence[Upload]:
    """Return the uploads of the account, the newest first."""
    own = select(Upload).where(Upload.account_id == unit.actor.account_id)
    return await unit.all(own.order_by(Upload.id.desc()))


async def add_part(unit: UnitOfWork, id: int, number: int, content: bytes) -> Upload:
    """Add a part of a file; one that was added before is left as it is, so that a request may be repeated.

    Raises `InvalidInput` for a part that is not the next one, of a wrong size, or of a file that is no CSV file; and
    `Conflict` for a further part of a file that is being imported, which was read to its end before.
    """
    if not 0 < len(content) <= PART_BYTES:
        raise InvalidInput(reason=f"content must have 1 to {PART_BYTES} bytes.", field="content")
    head = b"".join(content[:64].split()) if number == 0 else b""
    kind = next((kind for start, kind in NOT_CSV.items() if head.startswith(start)), None)
    if kind:
        raise InvalidInput(reason=f"This file is {kind}. Save it as CSV, and upload that.", field="content")
    row = await get(unit, id, lock=True)
    count = await count_parts(unit, id)
    if not 0 <= number <= min(count, MAX_PARTS - 1):
        most = f"A file has at most {MAX_PARTS} parts, {MAX_MEBIBYTES} MiB." if count >= MAX_PARTS else ""
        raise InvalidInput(reason=f"number must be {count}, the next part. {most}".strip(), field="number")
    if number == count and await _is_imported(unit, id):
        raise Conflict(reason="The file is being imported. Upload the rest as another file.")
    part = {"upload_id": id, "number": number, "content": content}
    await unit.execute(insert(UploadPart).values(part).on_conflict_do_nothing())
    return row


async def _is_imported(unit: UnitOfWork, id: int) -> bool:
    own = AccountJob.account_id == unit.actor.account_id, AccountJob.status.in_(UNFINISHED)
    of_upload = AccountJob.kind == JobKind.import_contacts, AccountJob.arguments["upload_id"].as_integer() == id
    return await unit.one(select(AccountJob.id).where(*own, *of_upload).limit(1)) is not None


async def count_parts(unit: UnitOfWork, id: int) -> int:
    """Return the number of parts of an upload."""
    return await unit.one(select(func.count()).select_from(UploadPart).where(UploadPart.upload_id == id)) or 0


async def read_head(unit: UnitOfWork, id: int) -> bytes:
    """Return the first part of an upload; raise `Conflict` for one without parts."""
    content = await unit.one(select(UploadPart.content).where(UploadPart.upload_id == id, UploadPart.number == 0))
    if content is None:
        raise Conflict(reason="The upload has no parts: the file is empty, or was not sent yet.")
    return content


async def delete(unit: UnitOfWork, id: int) -> Upload:
    """Delete an upload with its parts."""
    row = await get(unit, id, lock=True)
    await unit.delete(row)
    return row


@dataclass(frozen=True, slots=True)
class PartReader:
    """Reads the parts of an upload one after the other from a thread, while the event loop fetches them."""

    pool: Pool
    account_id: int
    upload_id: int

    def open(self) -> Callable[[], Iterator[bytes]]:
        """Return a function for a thread, which iterates over the parts; call this on the event loop."""
        loop = asyncio.get_running_loop()

        def read() -> Iterator[bytes]:
            number = 0
            while part := asyncio.run_coroutine_threadsafe(self._fetch(number), loop).result():
                yield part
                number += 1

        return read

    async def _fetch(self, number: int) -> bytes | None:
        return await self.pool.fetchval(FIND_PART, self.account_id, self.upload_id, number)
