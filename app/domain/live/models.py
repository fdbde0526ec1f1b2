"""Table of live updates."""

from datetime import datetime

from sqlalchemy import BigInteger, Index
from sqlalchemy.orm import Mapped, mapped_column

from app.db.base import Base, Created


class LiveUpdate(Base):
    """A live update about an event; `name` is the name of the event, the ids those of its records.

    `actor` is the label of the actor that caused it, where the event names the actor.

    `position` numbers the updates of an account without gaps, in the order in which they became visible; `happened_at`
    is the time of the event. The newest update of an account is never deleted, so that the numbers continue.
    """

    __tablename__ = "live_updates"
    __table_args__ = (Index("ix_live_updates_age", "created_at", postgresql_using="brin"),)

    account_id: Mapped[int] = mapped_column(BigInteger, primary_key=True, autoincrement=False)
    position: Mapped[int] = mapped_column(BigInteger, primary_key=True, autoincrement=False)
    name: Mapped[str]
    contact_id: Mapped[int | None]
    message_id: Mapped[int | None]
    job_id: Mapped[int | None]
    campaign_id: Mapped[int | None]
    conversation_id: Mapped[int | None]
    actor: Mapped[str | None]
    note_id: Mapped[int | None]
    agent_id: Mapped[int | None]
    run_id: Mapped[int | None]
    happened_at: Mapped[datetime]
    created_at: Mapped[Created]
