"""Performs pushes: contacts are compared, texts added to conversations, statuses reported."""

from collections.abc import AsyncGenerator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from typing import Any, NamedTuple

from app.db import rows
from app.domain.contacts import queries as contact_queries
from app.domain.contacts.models import Contact
from app.domain.crm import comparing
from app.domain.crm.comparing import Compared, PhoneTaken
from app.domain.crm.connector import ContactValues, CrmAway, CrmContact, CrmGone, CrmRefused, Entry
from app.domain.crm.models import CrmLink, CrmPushKind
from app.domain.crm.session import Session
from app.domain.integrations import queries as integrations
from app.domain.kernel.errors import DomainError, NotFound
from app.domain.kernel.unit_of_work import Notify, UnitOfWork, open_unit
from app.domain.messages import queries as messages

MAX_REASON = 500
GONE = "It was deleted in the CRM."
LATER, LATEST = timedelta(seconds=5), timedelta(minutes=5)
"""The time between the tries of a report whose text was not recorded yet, and the age at which it is given up."""

WAITS = tuple(timedelta(minutes=minutes) for minutes in (0.25, 1, 5, 15, 60, 180, 360, 720, 1440))
"""The waits of a push after each failure of the CRM to answer it, while others go on; after the last it has failed."""

FIND_EXTERNAL = "SELECT external_id FROM crm_sends WHERE integration_id = $1 AND message_id = $2"
DONE = """
UPDATE crm_pushes SET status = 'done', reason = $3, done_at = $4 WHERE id = $1 AND version = $2 AND status = 'waiting'
"""
FAIL = """
UPDATE crm_pushes SET status = 'failed', reason = $2, done_at = $3, attempts = attempts + 1
WHERE id = $1 AND version = $4 AND status = 'waiting'
"""
"""As `DONE`: a push that was changed meanwhile waits, and is due."""

PUT_OFF = """
UPDATE crm_pushes SET due_at = CASE version WHEN $4 THEN $2 ELSE due_at END, attempts = $3
WHERE id = $1 AND status = 'waiting'
"""


class DuePush(NamedTuple):
    """A due push."""

    id: int
    kind: str
    contact_id: int | None
    message_id: int | None
    external_id: str
    changes: dict[str, Any]
    version: int
    attempts: int
    created_at: datetime


class NotYet(Exception):
    """A push needs a row that is about to be written."""


@dataclass(frozen=True, slots=True)
class Pushing:
    """Performs the pushes of one connection. Calls are made with no transaction open; each push may run twice."""

    session: Session
    integration_id: int
    notify: Notify

    async def perform(self, push: DuePush) -> None:
        """Perform a push; a refusal ends it with its reason. Raises `CrmAway` and `AuthorizationLost`."""
        pool, now = self.session.database.pool, self.session.clock.now()
        try:
            note = await self._act(push)
        except CrmAway as away:
            await self._put_off(push, away)
            raise
        except (CrmRefused, DomainError) as refusal:
            await pool.execute(FAIL, push.id, str(refusal)[:MAX_REASON], now, push.version)
        except CrmGone:
            await pool.execute(FAIL, push.id, "The CRM does not have the record any more.", now, push.version)
        except NotYet:
            await pool.execute(PUT_OFF, push.id, now + LATER, push.attempts, push.version)
        else:
            await pool.execute(DONE, push.id, push.version, note, now)

    async def _put_off(self, push: DuePush, away: CrmAway) -> None:
        """Try a push later that the CRM did not answer, in case it is the push that the CRM cannot answer."""
        pool, now = self.session.database.pool, self.session.clock.now()
        if push.attempts < len(WAITS):
            await pool.execute(PUT_OFF, push.id, now + WAITS[push.attempts], push.attempts + 1, push.version)
        else:
            await pool.execute(FAIL, push.id, str(away)[:MAX_REASON], now, push.version)

    @asynccontextmanager
    async def unit(self) -> AsyncGenerator[UnitOfWork]:
        """Open a transaction of the turn, which keeps its integration; raise `IntegrationRemoved` or `LeaseLost`."""
        session = self.session
        async with open_unit(session.database.sessions, session.actor, session.clock, self.notify) as unit:
            await integrations.keep(unit, self.integration_id)
            await session.lease.hold(unit)
            yield unit

    async def _act(self, push: DuePush) -> str:
        match CrmPushKind(push.kind):
            case CrmPushKind.check:
                return await self._check(push.external_id)
            case CrmPushKind.contact:
                return await self._push_contact(push.contact_id or 0)
            case CrmPushKind.inbound | CrmPushKind.copy:
                return await self._add_text(push)
            case CrmPushKind.delivered | CrmPushKind.failed:
                return await self._report(push)

    async def _check(self, external_id: str) -> str:
        """Compare a record of the CRM with its contact, in its present state."""
        try:
            record = await self.session.call(lambda access: self._connector.get_contact(access, external_id))
        except CrmGone:
            async with self.unit() as unit:
                await comparing.end_link(unit, self.integration_id, external_id)
            return GONE
        await self._settle(record)
        return ""

    async def _push_contact(self, contact_id: int) -> str:
        contact, link = await self._find(contact_id)
        if contact is None:
            return "It was deleted."
        if link is None:
            await self._settle(await self._introduce(contact))
            return ""
        note = GONE if link.is_deleted else await self._check(link.external_id)
        return await self._find_again(contact) if note == GONE else note

    async def _find_again(self, contact: Contact) -> str:
        """Settle a contact whose record was deleted with the record that has its phone by now, if there is one."""
        record = await self._find_record(contact)
        if record is None:
            return GONE
        await self._settle(record)
        return ""

    async def _find_record(self, contact: Contact) -> CrmContact | None:
        return await self.session.call(lambda access: self._connector.find_contact(access, contact.phone))

    async def _introduce(self, contact: Contact) -> CrmContact:
        """Return the record with the phone of a contact; it is added if there is none."""
        record = await self._find_record(contact)
        if record is not None:
            return record
        values = ContactValues(phone=contact.phone, **comparing.values_of(contact))
        return await self.session.call(lambda access: self._connector.create_contact(access, values))

    async def _settle(self, record: CrmContact) -> None:
        """Merge a record with its contact, and write newer values of here to the CRM; raise `CrmRefused` at the end."""
        compared = await self._compare(record)
        await self._write(compared.external_id, compared.there)
        if compared.refused:
            raise CrmRefused(compared.refused)

    async def _compare(self, record: CrmContact, *, adds_push: bool = False) -> Compared:
        """Compare a record; a link of its phone with a record that is gone, or has another phone by now, is ended."""
        try:
            return await self._compare_once(record, adds_push=adds_push)
        except PhoneTaken as taken:
            await self._make_room(taken)
        return await self._compare_once(record, adds_push=adds_push)

    async def _compare_once(self, record: CrmContact, *, adds_push: bool) -> Compared:
        async with self.unit() as unit:
            compared = await comparing.compare(unit, self.integration_id, record)
            if adds_push and compared.there and compared.contact_id:
                await comparing.add_push(unit, self.integration_id, compared.contact_id)
            return compared

    async def _make_room(self, taken: PhoneTaken) -> None:
        try:
            other = await self.session.call(lambda access: self._connector.get_contact(access, taken.external_id))
        except CrmGone:
            async with self.unit() as unit:
                await comparing.end_link(unit, self.integration_id, taken.external_id)
            return
        async with self.unit() as unit:
            await comparing.make_room(unit, self.integration_id, taken, other.phone)

    async def _write(self, external_id: str, values: Mapping[str, Any]) -> None:
        """Write values to the CRM; where it refuses them, each alone, so that a bad one keeps no other back."""
        try:
            if values:
                await self._change(external_id, values)
        except CrmRefused:
            if len(values) == 1 and comparing.PHONE not in values:
                raise
            await self._write_each(external_id, values)

    async def _write_each(self, external_id: str, values: Mapping[str, Any]) -> None:
        """Write each value; raise the first refusal at the end."""
        refusals = list[CrmRefused]()
        for name, value in values.items():
            try:
                await self._change(external_id, {name: value})
            except CrmRefused as refusal:
                if name != comparing.PHONE or not await self._leave_phone(external_id, value):
                    refusals.append(refusal)
        if refusals:
            raise refusals[0]

    async def _leave_phone(self, external_id: str, phone: str) -> bool:
        """Have a contact follow the record that has its new phone, where that one belongs to no contact."""
        other = await self.session.call(lambda access: self._connector.find_contact(access, phone))
        if other is None or other.external_id == external_id:
            return False
        async with self.unit() as unit:
            link = await comparing.find_link(unit, self.integration_id, external_id=other.external_id)
            if link is not None and link.contact_id is not None:
                return False
            await comparing.add_check(unit, self.integration_id, other.external_id)
        return True

    async def _change(self, external_id: str, values: Mapping[str, Any]) -> None:
        written = ContactValues(**values)
        await self.session.call(lambda access: self._connector.change_contact(access, external_id, written))
        async with self.unit() as unit:
            await comparing.agree(unit, self.integration_id, external_id, values)

    async def _add_text(self, push: DuePush) -> str:
        contact, link = await self._find(push.contact_id or 0)
        if contact is None:
            return "Its contact was deleted."
        async with self.unit() as unit:
            try:
                message = await messages.get(unit, push.message_id or 0)
            except NotFound:
                return "It was deleted."
        external_id = link.external_id if link and not link.is_deleted else await self._introduce_again(contact, link)
        at = message.sent_at or message.created_at
        is_inbound, files = push.kind == CrmPushKind.inbound, [each["url"] for each in message.media or ()]
        entry = Entry(external_id, message.body, is_inbound, at, f"message-{message.id}", files)
        return await self._add(contact, link, entry)

    async def _add(self, contact: Contact, link: CrmLink | None, entry: Entry) -> str:
        """Add a text to a conversation; a person who was deleted in the CRM, and texts again, is added there again."""
        try:
            return await self.session.call(lambda access: self._connector.add_message(access, entry))
        except CrmGone:
            again = replace(entry, external_id=await self._introduce_again(contact, link))
            return await self.session.call(lambda access: self._connector.add_message(access, again))

    async def _introduce_again(self, contact: Contact, link: CrmLink | None) -> str:
        """Return the id of the record of a contact without a link; differences are left to a push of its own."""
        if link is not None:
            async with self.unit() as unit:
                await comparing.drop_link(unit, link)
        return (await self._compare(await self._introduce(contact), adds_push=True)).external_id

    async def _report(self, push: DuePush) -> str:
        external_id = push.external_id or await self._find_external(push)
        reason = push.changes.get("reason", "")
        if push.kind == CrmPushKind.failed and not reason and push.message_id:
            async with self.unit() as unit:
                message = await messages.get(unit, push.message_id)
            reason = message.error_code or ""
        await self.session.call(lambda access: self._connector.report(access, external_id, push.kind, reason))
        return ""

    async def _find_external(self, push: DuePush) -> str:
        pool = self.session.database.pool
        found: str | None = await pool.fetchval(FIND_EXTERNAL, self.integration_id, push.message_id)
        if found is None and self.session.clock.now() - push.created_at < LATEST:
            raise NotYet
        if found is None:
            raise CrmRefused("The text was not asked for by the CRM.")
        return found

    async def _find(self, contact_id: int) -> tuple[Contact | None, CrmLink | None]:
        async with self.unit() as unit:
            return await _find(unit, self.integration_id, contact_id)

    @property
    def _connector(self) -> Any:
        return self.session.connector


async def _find(unit: UnitOfWork, integration_id: int, contact_id: int) -> tuple[Contact | None, CrmLink | None]:
    found = await contact_queries.find_many(unit, [contact_id])
    return found.get(contact_id), await comparing.find_link(unit, integration_id, contact_id=contact_id)


_FIND = """
SELECT id, kind, contact_id, message_id, external_id, changes, version, attempts, created_at FROM crm_pushes
WHERE integration_id = $1 AND status = 'waiting' AND due_at <= $2
"""
FIND_TEXT = f"{_FIND} AND kind NOT IN ('contact', 'check') ORDER BY id LIMIT 1"
FIND_CONTACT = f"{_FIND} ORDER BY due_at, id LIMIT 1"


async def find_next(session: Session, integration_id: int) -> DuePush | None:
    """Return the next due push: texts and their statuses before contacts."""
    pool, now = session.database.pool, session.clock.now()
    text = await rows.find(pool, DuePush, FIND_TEXT, integration_id, now)
    return text or await rows.find(pool, DuePush, FIND_CONTACT, integration_id, now)
