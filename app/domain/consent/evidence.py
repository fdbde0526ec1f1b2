"""The evidence of consent that is kept about one phone, for a file that a lawyer can read."""

from collections.abc import AsyncGenerator
from dataclasses import dataclass
from datetime import datetime
from typing import NamedTuple

from app.db.engine import Connection, Pool
from app.db.rows import fetch
from app.domain.accounts import audit, credentials
from app.domain.accounts import queries as accounts
from app.domain.accounts.audit import AuditAction
from app.domain.accounts.file_links import FileLinks
from app.domain.accounts.models import AccountStatus
from app.domain.accounts.scopes import Scope
from app.domain.consent import opt_in_requests, queries
from app.domain.consent.models import Hold, OptInRequest, Suppression
from app.domain.kernel.errors import DomainError
from app.domain.kernel.sealing import Seal
from app.domain.kernel.unit_of_work import Actor, UnitOfWork

BATCH = 1000
READ = f"""
SELECT id, kind, method, text, source, note, ip_address, user_agent, message_id, actor,
  occurred_at, recorded_at
FROM consents WHERE account_id = $1 AND phone = $2 AND id > $3 ORDER BY id LIMIT {BATCH}
"""


class ConsentLinkEnded(DomainError):
    """The link to the evidence of a phone is older than ten minutes, or its creator may no longer read it."""

    code = "consent_link_ended"
    status = 410
    message = (
        "This link to the evidence of consent is older than ten minutes, or its creator may no longer read it. "
        "Create a new one."
    )


class Statement(NamedTuple):
    """A consent record, as a file of evidence shows it."""

    id: int
    kind: str
    method: str
    text: str
    source: str
    note: str
    ip_address: str
    user_agent: str
    message_id: int | None
    actor: str
    occurred_at: datetime | None
    recorded_at: datetime


@dataclass(frozen=True, slots=True)
class PhoneConsent:
    """The consent of a phone now: the suppression, the hold and the open request for an opt-in, if there is one."""

    phone: str
    suppression: Suppression | None
    hold: Hold | None
    opt_in_request: OptInRequest | None


@dataclass(frozen=True, slots=True)
class EvidenceFile:
    """The head of a file of evidence."""

    account_id: int
    company_name: str
    exported_at: datetime
    consent: PhoneConsent


LINKS = FileLinks("consent", ConsentLinkEnded)


async def find(unit: UnitOfWork, phone: str) -> PhoneConsent:
    """Return the state of consent of an E.164 phone, whether or not a contact has it."""
    suppression, hold = await queries.find_suppression(unit, phone), await queries.find_hold(unit, phone)
    return PhoneConsent(phone, suppression, hold, await opt_in_requests.find_open(unit, phone))


async def make_link(unit: UnitOfWork, seal: Seal, phone: str, contact_id: int | None = None) -> tuple[str, datetime]:
    """Return a token that downloads the evidence of an E.164 phone, and the time at which it ends.

    Audit entries are never deleted, so that they name the contact, if one has the phone, and the newest consent record,
    but not the phone.
    """
    newest = [record.id for record in await queries.list_latest(unit, phone, None, 1)]
    subject = f"contact {contact_id}" if contact_id else ""
    await audit.record(unit, AuditAction.consent_link_made, subject, consent_ids=newest)
    return LINKS.close(seal, unit.actor, phone, unit.clock.now())


def open_link(seal: Seal, token: str, now: datetime, request_id: str | None = None) -> tuple[Actor, str]:
    """Return the actor who created a link, without scopes, and the phone; raise `NotFound` and `ConsentLinkEnded`."""
    actor, phone = LINKS.open(seal, token, now, request_id)
    return actor, str(phone)


async def begin(unit: UnitOfWork, phone: str) -> EvidenceFile:
    """Return the head of a file that a link names; raise `ConsentLinkEnded` where its creator may not read it now."""
    account = await accounts.get_own(unit)
    for scope in (Scope.contacts_read, Scope.messages_read):
        if account.status != AccountStatus.active or not await credentials.may_still(unit, unit.actor, scope):
            raise ConsentLinkEnded()
    return await head(unit, phone)


async def head(unit: UnitOfWork, phone: str) -> EvidenceFile:
    """Return the head of the file about an E.164 phone."""
    account = await accounts.get_own(unit)
    return EvidenceFile(account.id, account.company_name, unit.clock.now(), await find(unit, phone))


async def read(source: Pool | Connection, account_id: int, phone: str) -> AsyncGenerator[list[Statement]]:
    """Yield all consent records of a phone in the order of their recording, in batches."""
    after = 0
    while statements := await fetch(source, Statement, READ, account_id, phone, after):
        yield statements
        after = statements[-1].id
