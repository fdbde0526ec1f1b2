"""Record consent and its withdrawal, and suppress and hold phones."""

import contextlib
from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from ipaddress import ip_address

from sqlalchemy import delete, text
from sqlalchemy.dialects.postgresql import insert

from app.domain.consent import opt_in_requests, sql
from app.domain.consent.models import Consent, ConsentKind, Hold, OptInOutcome, Suppression, SuppressionReason
from app.domain.kernel.errors import InvalidInput
from app.domain.kernel.unit_of_work import UnitOfWork

HOLD = timedelta(hours=24)
"""The time for a user to decide whether an unclear reply is an opt-out; afterwards it is one (domain rule)."""

MAX_LENGTHS = {"method": 100, "source": 500, "note": 2000, "text": 5000, "ip_address": 45, "user_agent": 500}
"""The longest texts of evidence that a user gives, in characters."""

SUPPRESS_MANY = """
INSERT INTO suppressions (account_id, phone, reason, keyword)
SELECT :account_id, phone, :reason, :keyword FROM unnest(CAST(:phones AS text[])) AS phone ON CONFLICT DO NOTHING
"""

RECORD_MANY = """
INSERT INTO consents (account_id, phone, kind, method, text, actor)
SELECT :account_id, phone, :kind, :method, :text, :actor FROM unnest(CAST(:phones AS text[])) AS phone
"""


@dataclass(frozen=True, slots=True)
class Evidence:
    """The evidence of a consent or its withdrawal: the method, the exact text, and its message.

    `source` is where it is, such as the address of a form; `occurred_at` is given where it was before the record.
    `ip_address` and `user_agent` are those of the person, as a form has recorded them.
    """

    method: str
    text: str = ""
    message_id: int | None = None
    source: str = ""
    note: str = ""
    occurred_at: datetime | None = None
    ip_address: str = ""
    user_agent: str = ""

    def checked(self, unit: UnitOfWork, *, needs_text: bool = False) -> "Evidence":
        """Return evidence that a user gave, trimmed; raise `InvalidInput`."""
        _required(self.method, "method")
        if needs_text:
            _required(self.text, "text")
        trimmed = {name: getattr(self, name).strip() for name in MAX_LENGTHS if name != "text"}
        for name, value in {**trimmed, "text": self.text}.items():
            if len(value) > MAX_LENGTHS[name]:
                raise InvalidInput(reason=f"{name} must have at most {MAX_LENGTHS[name]} characters.", field=name)
        if trimmed["ip_address"]:
            trimmed["ip_address"] = _address(trimmed["ip_address"])
        if self.occurred_at and self.occurred_at > unit.clock.now():
            raise InvalidInput(reason="occurred_at must not be in the future.", field="occurred_at")
        return replace(self, **trimmed)


async def suppress(unit: UnitOfWork, phone: str, keyword: str, reason: SuppressionReason, evidence: Evidence) -> None:
    """Suppress a phone for the whole account, and record the opt-out; an existing suppression is unchanged.

    A suppression applies to the phone, and remains when the contact is deleted (47 CFR 64.1200(a)(10)). It ends a
    request for an opt-in. No call with a text to the phone begins between now and the end of the transaction.
    """
    await _stop_calls(unit, phone)
    await opt_in_requests.end(unit, [phone], OptInOutcome.opted_out)
    suppression = {"account_id": unit.actor.account_id, "phone": phone, "reason": reason, "keyword": keyword}
    await unit.execute(insert(Suppression).values(suppression).on_conflict_do_nothing())
    await record(unit, phone, _kind_of(evidence), evidence)


async def suppress_many(
    unit: UnitOfWork, phones: Sequence[str], keyword: str, reason: SuppressionReason, evidence: Evidence
) -> None:
    """Suppress phones as `suppress` does, all with the same evidence, which has a method and a text only.

    Each phone takes a lock until the transaction ends, of the few thousand that all transactions together can have.
    """
    values = {"account_id": unit.actor.account_id, "phones": sorted(phones)}
    await unit.execute(text(sql.STOP_MANY_CALLS), values)
    await opt_in_requests.end(unit, phones, OptInOutcome.opted_out)
    await unit.execute(text(SUPPRESS_MANY), {**values, "reason": reason, "keyword": keyword})
    await record_many(unit, phones, _kind_of(evidence), evidence)


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
            source=evidence.source,
            note=evidence.note,
            ip_address=evidence.ip_address,
            user_agent=evidence.user_agent,
            occurred_at=evidence.occurred_at,
            actor=unit.actor.label,
        )
    )


async def record_many(unit: UnitOfWork, phones: Sequence[str], kind: ConsentKind, evidence: Evidence) -> None:
    """Add a consent record for each phone, all with the same evidence."""
    values = {"phones": phones, "account_id": unit.actor.account_id, "actor": unit.actor.label, "kind": kind}
    await unit.execute(text(RECORD_MANY), {**values, "method": evidence.method, "text": evidence.text})


async def hold(unit: UnitOfWork, phone: str, text: str, message_id: int | None) -> datetime:
    """Hold a phone because of an unclear reply; return when the hold becomes an opt-out."""
    await _stop_calls(unit, phone)
    until = unit.clock.now() + HOLD
    reply = {"text": text, "message_id": message_id, "held_until": until}
    row = insert(Hold).values(account_id=unit.actor.account_id, phone=phone, **reply)
    await unit.execute(row.on_conflict_do_update(index_elements=["account_id", "phone"], set_=reply))
    return until


async def drop_holds(unit: UnitOfWork, phones: Sequence[str]) -> None:
    """Delete the holds of phones that have opted out."""
    await unit.execute(delete(Hold).where(Hold.account_id == unit.actor.account_id, Hold.phone.in_(phones)))


async def release(unit: UnitOfWork, phone: str, method: str) -> Evidence:
    """Delete the hold of a phone; return its reply as evidence for an opt-out by this method."""
    held = Hold.account_id == unit.actor.account_id, Hold.phone == phone
    found = (await unit.execute(delete(Hold).where(*held).returning(Hold.text, Hold.message_id))).one_or_none()
    return Evidence(method, *found) if found else Evidence(method)


async def _stop_calls(unit: UnitOfWork, phone: str) -> None:
    await unit.execute(text(sql.STOP_CALLS), {"account_id": unit.actor.account_id, "phone": phone})


def _kind_of(evidence: Evidence) -> ConsentKind:
    return ConsentKind.opt_out if evidence.method == "keyword" else ConsentKind.revoked_other


def _address(text: str) -> str:
    """Return an IP address in its usual form; one with a zone, which may be any text, is refused."""
    with contextlib.suppress(ValueError):
        if "%" not in text:
            return str(ip_address(text))
    reason = "ip_address must be an IP address such as 203.0.113.9 or 2001:db8::9."
    raise InvalidInput(reason=reason, field="ip_address")


def _required(value: str, name: str) -> str:
    if not value.strip():
        raise InvalidInput(reason=f"{name} must not be empty.", field=name)
    return value.strip()
