"""Tables of the long jobs of accounts, of uploaded files, and of the files of jobs."""

import enum
from datetime import datetime
from typing import Any

from sqlalchemy import BigInteger, ForeignKey, Index, LargeBinary, text
from sqlalchemy.orm import Mapped, mapped_column

from app.db.base import Base, Created, Key


class JobKind(enum.StrEnum):
    """The work of a job."""

    tag_contacts = enum.auto()
    rename_tag = enum.auto()
    stage_contacts = enum.auto()
    assign_contacts = enum.auto()
    enroll_contacts = enum.auto()
    delete_contacts = enum.auto()
    import_contacts = enum.auto()
    export_contacts = enum.auto()
    delete_custom_field = enum.auto()


class JobStatus(enum.StrEnum):
    """The state of a job; the last three are final."""

    waiting = enum.auto()
    running = enum.auto()
    done = enum.auto()
    failed = enum.auto()
    canceled = enum.auto()


UNFINISHED = (JobStatus.waiting, JobStatus.running)


class AccountJob(Base):
    """A long job of an account, advanced chunk by chunk.

    `position` is the place after the last chunk, in the words of the kind. `done` counts processed items, `changed`
    those of them that changed, and `failed` those that could not be processed; `counts` counts items by outcome. All of
    it is written in the transaction of the chunk, so that a crash repeats nothing. `total` is null while it is unknown.
    """

    __tablename__ = "account_jobs"
    __table_args__ = (
        Index("ix_account_jobs_account_id", "account_id", text("id DESC")),
        Index(
            "ix_account_jobs_unfinished",
            "account_id",
            "id",
            postgresql_where=text("status IN ('waiting','running')"),
        ),
    )

    id: Mapped[Key]
    account_id: Mapped[int] = mapped_column(ForeignKey("accounts.id"))
    kind: Mapped[str]
    status: Mapped[str] = mapped_column(server_default=JobStatus.waiting)
    arguments: Mapped[dict[str, Any]] = mapped_column(server_default=text("'{}'"))
    position: Mapped[str] = mapped_column(server_default="")
    total: Mapped[int | None]
    done: Mapped[int] = mapped_column(server_default="0")
    changed: Mapped[int] = mapped_column(server_default="0")
    failed: Mapped[int] = mapped_column(server_default="0")
    counts: Mapped[dict[str, Any]] = mapped_column(server_default=text("'{}'"))
    problems: Mapped[list[str]] = mapped_column(server_default=text("'{}'"))
    created_by: Mapped[str]
    attempts: Mapped[int] = mapped_column(server_default="0")
    retry_at: Mapped[datetime | None]
    shown_at: Mapped[datetime | None]
    advanced_at: Mapped[datetime | None]
    started_at: Mapped[datetime | None]
    finished_at: Mapped[datetime | None]
    created_at: Mapped[Created]


class Upload(Base):
    """A file that an account uploads in parts."""

    __tablename__ = "uploads"
    __table_args__ = (
        Index("ix_uploads_account_id", "account_id", "id"),
        Index("ix_uploads_created_at", "created_at"),
    )

    id: Mapped[Key]
    account_id: Mapped[int] = mapped_column(ForeignKey("accounts.id"))
    name: Mapped[str]
    created_by: Mapped[str]
    created_at: Mapped[Created]


class UploadPart(Base):
    """A part of an uploaded file; the parts are numbered from 0."""

    __tablename__ = "upload_parts"

    upload_id: Mapped[int] = mapped_column(ForeignKey("uploads.id", ondelete="CASCADE"), primary_key=True)
    number: Mapped[int] = mapped_column(BigInteger, primary_key=True, autoincrement=False)
    content: Mapped[bytes] = mapped_column(LargeBinary)


class JobPart(Base):
    """A part of the file that a job writes: the report of an import, or an export."""

    __tablename__ = "job_parts"

    job_id: Mapped[int] = mapped_column(ForeignKey("account_jobs.id", ondelete="CASCADE"), primary_key=True)
    number: Mapped[int] = mapped_column(BigInteger, primary_key=True, autoincrement=False)
    content: Mapped[bytes] = mapped_column(LargeBinary)


class JobKey(Base):
    """A key that a job has seen in its file, such as the digits of a phone, and the first row that has it."""

    __tablename__ = "job_keys"

    job_id: Mapped[int] = mapped_column(BigInteger, primary_key=True, autoincrement=False)
    key: Mapped[int] = mapped_column(BigInteger, primary_key=True, autoincrement=False)
    row: Mapped[int]
