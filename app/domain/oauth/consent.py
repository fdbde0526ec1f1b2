"""What a client asks for, kept while its user signs in and decides."""

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import timedelta
from typing import Any

from sqlalchemy import delete, select

from app.domain.accounts.tokens import Tokens
from app.domain.kernel.errors import DomainError
from app.domain.kernel.unit import Unit
from app.domain.oauth.models import AuthorizationRequest, Client
from app.domain.oauth.resources import REQUIRED

KEPT = timedelta(minutes=10)


class NotForThisAccount(DomainError):
    """The application belongs to another account, whose users alone can connect it."""

    code = "application_of_another_account"
    status = 403
    message = "{name} can be connected by the account that it belongs to only."


@dataclass(frozen=True, slots=True)
class Asked:
    """A request that was kept, and its client."""

    client: Client
    parameters: dict[str, Any]


async def keep(unit: Unit, tokens: Tokens, client: Client, parameters: dict[str, Any]) -> str:
    """Keep what a client asks for, for ten minutes; return the handle that the page carries."""
    handle, now = tokens.make(), unit.clock.now()
    row = AuthorizationRequest(
        hash=tokens.fingerprint(handle),
        client_id=client.id,
        parameters=parameters,
        created_at=now,
        expires_at=now + KEPT,
    )
    await unit.save(row)
    return handle


async def find(unit: Unit, tokens: Tokens, handle: str) -> Asked | None:
    """Return what was asked under a handle, unless it was answered or its time is over."""
    statement = (
        select(AuthorizationRequest, Client)
        .join(Client, Client.id == AuthorizationRequest.client_id)
        .where(AuthorizationRequest.hash == tokens.fingerprint(handle))
        .where(AuthorizationRequest.expires_at > unit.clock.now(), Client.revoked_at.is_(None))
    )
    for request, client in await unit.rows(statement):
        return Asked(client, request.parameters)
    return None


async def answer(unit: Unit, tokens: Tokens, handle: str) -> bool:
    """Take a request, whatever the answer to it is; return False where somebody has taken it before."""
    taken = delete(AuthorizationRequest).where(AuthorizationRequest.hash == tokens.fingerprint(handle))
    return (await unit.execute(taken.returning(AuthorizationRequest.hash))).first() is not None


def check_account(client: Client, account_id: int) -> None:
    """Raise `NotForThisAccount` for a client of another account."""
    if client.account_id not in (None, account_id):
        raise NotForThisAccount(name=client.name)


def narrow(asked: Iterable[str], chosen: Iterable[str], allowed: Iterable[str]) -> frozenset[str]:
    """Return what of the scopes that were asked for is granted: what the user chose, and what has to stay."""
    wanted = frozenset(asked)
    return wanted & (frozenset(chosen) | REQUIRED) & frozenset(allowed)
