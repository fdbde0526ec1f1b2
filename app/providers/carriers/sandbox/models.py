"""Tables of the sandbox network: accepted messages and pending reports."""

from datetime import datetime
from typing import Any

from sqlalchemy import Index
from sqlalchemy.orm import Mapped, mapped_column

from app.db.base import Base, Created, Key
from app.domain.carriers.models import SANDBOX


class SandboxMessage(Base):
    """A message that reached the network. `calls` counts its hand-offs: more than one is a bug.

    Only a number that refuses its first calls is called again correctly. `outcome` is `accepted` or the failure code
    of the refusal; a refused message has no `accepted_at`. `carrier` is the key of the connection.
    """

    __tablename__ = "sandbox_messages"

    id: Mapped[Key]
    reference: Mapped[int] = mapped_column(unique=True)
    provider_message_id: Mapped[str]
    from_number: Mapped[str]
    to_number: Mapped[str]
    body: Mapped[str]
    outcome: Mapped[str]
    carrier: Mapped[str] = mapped_column(server_default=SANDBOX)
    calls: Mapped[int] = mapped_column(server_default="1")
    accepted_at: Mapped[datetime | None]
    received_at: Mapped[Created]


class SandboxCallback(Base):
    """A pending report of the network to the connection with the key `carrier`, `status` or `inbound`.

    `due_at` is when it happened, so it never moves; an undelivered report waits for `claimed_until`,
    whether a process has it in hand or it is to be tried again. A delivered one is deleted.
    """

    __tablename__ = "sandbox_callbacks"
    __table_args__ = (
        Index("ix_sandbox_callbacks_due", "due_at", "id"),
        Index("ix_sandbox_callbacks_reference", "reference"),
    )

    id: Mapped[Key]
    reference: Mapped[int]
    carrier: Mapped[str] = mapped_column(server_default=SANDBOX)
    kind: Mapped[str]
    payload: Mapped[dict[str, Any]]
    due_at: Mapped[datetime]
    claimed_until: Mapped[datetime | None]
    attempts: Mapped[int] = mapped_column(server_default="0")
