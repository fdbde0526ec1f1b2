"""Tables of OAuth clients and of grants."""

import enum
from datetime import datetime

from sqlalchemy import ForeignKey, Index, LargeBinary, text
from sqlalchemy.orm import Mapped, mapped_column

from app.db.base import Base, Created, Key


class ClientKind(enum.StrEnum):
    """The origin of a client: created in an account, registered (RFC 7591), or a metadata document."""

    managed = enum.auto()
    registered = enum.auto()
    document = enum.auto()


class Client(Base):
    """An application. A client without an account may be used by every account. Only the HMAC of its secret is stored.

    It ends with the credential of `creator_id`, and its secret with that of `secret_creator_id`
    (`app.domain.accounts.credentials`).
    """

    __tablename__ = "oauth_clients"
    __table_args__ = (
        Index(
            "ix_oauth_clients_unused", "created_at", postgresql_where=text("kind <> 'managed' AND last_used_at IS NULL")
        ),
    )

    id: Mapped[Key]
    account_id: Mapped[int | None] = mapped_column(ForeignKey("accounts.id"), index=True)
    client_id: Mapped[str] = mapped_column(unique=True)
    kind: Mapped[str]
    name: Mapped[str]
    client_uri: Mapped[str] = mapped_column(server_default="")
    redirect_uris: Mapped[list[str]]
    scopes: Mapped[list[str]]
    auth_method: Mapped[str]
    secret_hash: Mapped[bytes | None] = mapped_column(LargeBinary)
    creator_id: Mapped[int | None] = mapped_column(ForeignKey("creators.id"), index=True)
    secret_creator_id: Mapped[int | None] = mapped_column(ForeignKey("creators.id"), index=True)
    created_by: Mapped[str]
    created_at: Mapped[Created]
    fetched_at: Mapped[datetime | None]
    fetched_until: Mapped[datetime | None]
    last_used_at: Mapped[datetime | None]
    revoked_at: Mapped[datetime | None]


class Grant(Base):
    """The consent of a user to a client. Its tokens are for `resource` and end at `expires_at` at the latest."""

    __tablename__ = "oauth_grants"
    __table_args__ = (Index("ix_oauth_grants_account_id", "account_id", "id"),)

    id: Mapped[Key]
    account_id: Mapped[int] = mapped_column(ForeignKey("accounts.id"))
    user_id: Mapped[int] = mapped_column(ForeignKey("users.id"), index=True)
    client_id: Mapped[int] = mapped_column(ForeignKey("oauth_clients.id", ondelete="CASCADE"), index=True)
    scopes: Mapped[list[str]]
    resource: Mapped[str]
    created_at: Mapped[Created]
    last_used_at: Mapped[datetime | None]
    expires_at: Mapped[datetime]
    revoked_at: Mapped[datetime | None]
    revoked_because: Mapped[str] = mapped_column(server_default="")
