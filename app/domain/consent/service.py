"""Record consent and its withdrawal, and suppress and hold phones."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

from sqlalchemy import delete, text
from sqlalchemy.dialects.postgresql import insert

from app.domain.consent.models import Consent, ConsentKind, Hold, Suppression
from app.domain.kernel.unit_of_work import UnitOfWork

HOLD = timedelta(hours=24)
"""The time for a user to decide whether an unclear reply is an opt-out; afterwards it is one (domain rule)."""

RECORD_MANY = """
INSERT INTO consents (account_id, phone, kind, method, text, actor)
SELECT :account_id, phone, :kind, :method, :text, :actor FROM unnest(CAST(:phones AS text[])) AS phone
"""


@dataclass(frozen=True, slots=True)
class Evidence:
    """The evidence of a consent or its withdrawal: the method, the exact text, and its message."""

    method: str
    text: str = ""
    message_id: int | None = None


async def suppress(unit: UnitOfWork, phone: str, keyword: str, reason: str, evidence: Evidence) -> None:
    """Suppress a phone for the whole account, and record the opt-out; an existing suppression is unchanged.

    A suppression applies to the phone, and remains when the contact is deleted (47 CFR 64.1200(a)(10)).
    """
    suppression = {"account_id": unit.actor.account_id, "phone": phone, "reason": reason, "keyword": keyword}
    await unit.execute(insert(Suppression).values(suppression).on_conflict_do_nothing())
    kind = ConsentKind.opt_out if evidence.method == "keyword" else ConsentKind.revoked_other
    await record(unit, phone, kind, evidence)


async def lift(unit: UnitOfWork, phone: str, kind: ConsentKind, evidence: Evidence) -> None:
    """Delete the suppressions of a phone, and record the consent that allows it."""
    await unit.execute(
        delete(Suppression).where(Suppression.account_id == unit.actor.account_id, Suppression.phone == phone)
    )
    await record(unit, phone, kind, evidence)


async def record(unit: UnitOfWork, phone: str, kind: ConsentKind, evidence: Evidence) -> None:
    """Add a consent record."""
    await unit.save(
        Consent(
            account_id=unit.actor.account_id,
            phone=phone,
            kind=kind,
            method=evidence.method,
            text=evidence.text,
            message_id=evidence.message_id,
            actor=unit.actor.label,
        )
    )


async def record_many(unit: UnitOfWork, phones: Sequence[str], kind: ConsentKind, evidence: Evidence) -> None:
    """Add a consent record for each phone, all with the same evidence."""
    values = {"phones": phones, "account_id": unit.actor.account_id, "actor": unit.actor.label, "kind": kind}
    await unit.execute(text(RECORD_MANY), {**values, "method": evidence.method, "text": evidence.text})


async def hold(unit: UnitOfWork, phone: str, text: str, message_id: int | None) -> datetime:
    """Hold a phone because of an unclear reply; return when the hold becomes an opt-out."""
    until = unit.clock.now() + HOLD
    reply = {"text": text, "message_id": message_id, "held_until": until}
    row = insert(Hold).values(account_id=unit.actor.account_id, phone=phone, **reply)
    await unit.execute(row.on_conflict_do_update(index_elements=["account_id", "phone"], set_=reply))
    return until


async def release(unit: UnitOfWork, phone: str, method: str) -> Evidence:
    """Delete the hold of a phone; return its reply as evidence for an opt-out by this method."""
    held = Hold.account_id == unit.actor.account_id, Hold.phone == phone
    found = (await unit.execute(delete(Hold).where(*held).returning(Hold.text, Hold.message_id))).one_or_none()
    return Evidence(method, *found) if found else Evidence(method)
