"""Authorization requests, sealed in the page while the user signs in and decides; nothing is stored before."""

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
    """The application belongs to another account, whose users alone can connect it."""

    code = "application_of_another_account"
    status = 403
    message = "{name} can be connected by the account that it belongs to only."


@dataclass(frozen=True, slots=True)
class Handle:
    """The request of a client. `description` is its metadata document, where that is newer than the stored one."""

    client_id: str
    parameters: dict[str, Any]
    description: Description | None
    id: str
    until: datetime

    @property
    def sealed_at(self) -> datetime:
        """Return when it was made, right after the description was read."""
        return self.until - KEPT


def seal(by: Seal, client_id: str, parameters: dict[str, Any], description: Description | None, now: datetime) -> str:
    """Return the handle that the page carries, for ten minutes: a sealed text that only this service can make."""
    described = asdict(description) | {"kept": description.kept.total_seconds()} if description else None
    until = (now + KEPT).isoformat()
    members = [client_id, parameters, described, secrets.token_urlsafe(ID_BYTES), until]
    return base64.urlsafe_b64encode(by.close(json.dumps(members))).decode()


def unseal(by: Seal, text: str, now: datetime) -> Handle | None:
    """Return what was sealed; None for a text that is not a handle, or whose time is over."""
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
    """Note that a request was granted; return False where it was before: each is granted once."""
    row = {"hash": tokens.fingerprint(handle.id), "expires_at": handle.until}
    added = insert(AnsweredRequest).values(row).on_conflict_do_nothing().returning(AnsweredRequest.hash)
    return (await unit.execute(added)).first() is not None


def check_account(client: Client, account_id: int) -> None:
    """Raise `NotForThisAccount` for a client of another account."""
    if client.account_id not in (None, account_id):
        raise NotForThisAccount(name=client.name)


def narrow(asked: Iterable[str], chosen: Iterable[str], allowed: Iterable[str]) -> frozenset[str]:
    """Return what of the scopes that were asked for is granted: what the user chose, and what has to stay."""
    wanted = frozenset(asked)
    return wanted & (frozenset(chosen) | REQUIRED) & frozenset(allowed)
