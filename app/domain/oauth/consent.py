"""Authorization requests, kept encrypted in the page until the user decides; nothing is stored before."""

import base64
import json
import secrets
from collections.abc import Iterable
from dataclasses import asdict, dataclass
from datetime import datetime, timedelta
from typing import Any

from cryptography.exceptions import InvalidTag
from sqlalchemy.dialects.postgresql import insert

from app.domain.accounts.tokens import Tokens
from app.domain.grants.models import Client
from app.domain.kernel.errors import DomainError
from app.domain.kernel.sealing import Seal
from app.domain.kernel.unit_of_work import UnitOfWork
from app.domain.oauth.documents import Description
from app.domain.oauth.models import AnsweredRequest
from app.domain.oauth.resources import REQUIRED

KEPT = timedelta(minutes=10)
ID_BYTES = 16


class NotForThisAccount(DomainError):
    """The application belongs to another account; only that account's users can connect it."""

    code = "application_of_another_account"
    status = 403
    message = "{name} belongs to another account. Only users of that account can connect it."


@dataclass(frozen=True, slots=True)
class Handle:
    """The request of a client. `description` is its metadata document, if newer than the stored one."""

    client_id: str
    parameters: dict[str, Any]
    description: Description | None
    id: str
    until: datetime

    @property
    def sealed_at(self) -> datetime:
        """Return the time of the request, directly after the description was fetched."""
        return self.until - KEPT


def seal(by: Seal, client_id: str, parameters: dict[str, Any], description: Description | None, now: datetime) -> str:
    """Return the encrypted handle for the page, valid for ten minutes."""
    described = asdict(description) | {"kept": description.kept.total_seconds()} if description else None
    until = (now + KEPT).isoformat()
    members = [client_id, parameters, described, secrets.token_urlsafe(ID_BYTES), until]
    return base64.urlsafe_b64encode(by.close(json.dumps(members))).decode()


def unseal(by: Seal, text: str, now: datetime) -> Handle | None:
    """Return the request of a handle; None for an invalid or expired one."""
    try:
        client_id, parameters, described, id, until = json.loads(
            by.open(base64.b64decode(text.encode("ascii"), b"-_", validate=True))
        )
    except (InvalidTag, ValueError):
        return None
    description = Description(**described | {"kept": timedelta(seconds=described["kept"])}) if described else None
    handle = Handle(client_id, parameters, description, id, datetime.fromisoformat(until))
    return handle if handle.until > now else None


async def answer(unit: UnitOfWork, tokens: Tokens, handle: Handle) -> bool:
    """Store that a request was granted; return False when it was granted before."""
    row = {"hash": tokens.fingerprint(handle.id), "expires_at": handle.until}
    added = insert(AnsweredRequest).values(row).on_conflict_do_nothing().returning(AnsweredRequest.hash)
    return (await unit.execute(added)).first() is not None


def check_account(client: Client, account_id: int) -> None:
    """Raise `NotForThisAccount` for a client of another account."""
    if client.account_id not in (None, account_id):
        raise NotForThisAccount(name=client.name)


def narrow(asked: Iterable[str], chosen: Iterable[str], allowed: Iterable[str]) -> frozenset[str]:
    """Return the granted scopes: the requested ones that the user chose or that are required."""
    wanted = frozenset(asked)
    return wanted & (frozenset(chosen) | REQUIRED) & frozenset(allowed)
