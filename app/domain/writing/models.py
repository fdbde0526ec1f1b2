"""Table of the calls of writers."""

import enum
from datetime import datetime

from sqlalchemy import CheckConstraint, ForeignKey, Index, text
from sqlalchemy.orm import Mapped, mapped_column

from app.db.base import Base, Created, Key


class CallKind(enum.StrEnum):
    """The reason for a call of a writer."""

    copy = enum.auto()
    campaign = enum.auto()
    suggestion = enum.auto()
    agent = enum.auto()
    test = enum.auto()


class CallStatus(enum.StrEnum):
    """The status of a call. A `running` one is paid; it ends `done`, or `refunded` when nothing usable came."""

    running = enum.auto()
    done = enum.auto()
    refunded = enum.auto()


class WriterCall(Base):
    """One paid call of a writer, without its texts.

    A call whose process died stays `running`; it is refunded after `expires_at`. `failure` is the cause of a failed
    call. `provider` is that of the texts: the template writer's where it answered in place of the AI.
    """

    __tablename__ = "writer_calls"
    __table_args__ = (
        CheckConstraint("status IN ('running','done','refunded')", "status"),
        Index("ix_writer_calls_account_id", "account_id", "id"),
        Index("ix_writer_calls_running", "account_id", "expires_at", postgresql_where=text("status = 'running'")),
        Index("ix_writer_calls_created_at", "created_at"),
    )

    id: Mapped[Key]
    account_id: Mapped[int] = mapped_column(ForeignKey("accounts.id"))
    kind: Mapped[str]
    status: Mapped[str] = mapped_column(server_default=CallStatus.running)
    provider: Mapped[str]
    model: Mapped[str | None]
    credits: Mapped[int]
    input_tokens: Mapped[int] = mapped_column(server_default="0")
    output_tokens: Mapped[int] = mapped_column(server_default="0")
    failure: Mapped[str | None]
    actor: Mapped[str]
    created_at: Mapped[Created]
    expires_at: Mapped[datetime]
    ended_at: Mapped[datetime | None]
