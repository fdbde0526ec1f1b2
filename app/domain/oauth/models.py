"""Tables of answered authorization requests, codes, refresh tokens and signing keys."""

from datetime import datetime
from typing import Any

from sqlalchemy import ForeignKey, LargeBinary
from sqlalchemy.orm import Mapped, mapped_column

from app.db.base import Base, Created


class AnsweredRequest(Base):
    """A granted authorization request, stored until its handle expires."""

    __tablename__ = "oauth_requests"

    hash: Mapped[bytes] = mapped_column(LargeBinary, primary_key=True)
    expires_at: Mapped[datetime] = mapped_column(index=True)


class AuthorizationCode(Base):
    """A code that a client exchanges for tokens, once. Only its HMAC is stored."""

    __tablename__ = "oauth_codes"

    hash: Mapped[bytes] = mapped_column(LargeBinary, primary_key=True)
    grant_id: Mapped[int] = mapped_column(ForeignKey("oauth_grants.id", ondelete="CASCADE"), index=True)
    redirect_uri: Mapped[str]
    code_challenge: Mapped[str | None]
    created_at: Mapped[Created]
    expires_at: Mapped[datetime] = mapped_column(index=True)
    used_at: Mapped[datetime | None]


class RefreshToken(Base):
    """A refresh token. Only its HMAC is stored; `rotated_at` is the time of its first use."""

    __tablename__ = "oauth_refresh_tokens"

    hash: Mapped[bytes] = mapped_column(LargeBinary, primary_key=True)
    grant_id: Mapped[int] = mapped_column(ForeignKey("oauth_grants.id", ondelete="CASCADE"), index=True)
    scopes: Mapped[list[str]]
    created_at: Mapped[Created]
    expires_at: Mapped[datetime] = mapped_column(index=True)
    rotated_at: Mapped[datetime | None]


class SigningKey(Base):
    """A key, stored encrypted, that signs access tokens until `retires_at` and verifies them until `expires_at`."""

    __tablename__ = "oauth_signing_keys"

    id: Mapped[str] = mapped_column(primary_key=True)
    private_key: Mapped[bytes] = mapped_column(LargeBinary)
    public_jwk: Mapped[dict[str, Any]]
    created_at: Mapped[Created]
    retires_at: Mapped[datetime]
    expires_at: Mapped[datetime]
