"""Synchronizes all contacts, page by page: the CRM's are fetched, then those of the account are offered to it."""

from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any

from sqlalchemy import ColumnElement, select, text

from app.domain.contacts import sql as contacts
from app.domain.crm import comparing, joining
from app.domain.crm.comparing import PhoneTaken
from app.domain.crm.connector import CrmAway, CrmContact, CrmRefused, Fetched
from app.domain.crm.models import CrmConnection, CrmPush, CrmPushKind, CrmPushStatus, CrmSync
from app.domain.crm.pushing import MAX_REASON, Pushing
from app.domain.kernel.errors import DomainError
from app.domain.kernel.unit_of_work import UnitOfWork

EVERY = timedelta(minutes=10)
"""The time between fetches of changed contacts, which find the changes whose notices were lost."""

OVERLAP = timedelta(minutes=5)
"""The age of a change from which every CRM shows it in its lists: younger ones are fetched again."""

PAGE = 100
BEGINNING = datetime(1970, 1, 1, tzinfo=UTC)

OFFER = f"""
WITH page AS (
  SELECT c.id, c.phone FROM {contacts.walk(":account_id", ":after", "9223372036854775807", str(PAGE))}
), added AS (
  INSERT INTO crm_pushes (account_id, integration_id, kind, contact_id, due_at, created_at)
  SELECT :account_id, :integration_id, 'contact', p.id, :now, :now FROM page p
  WHERE NOT EXISTS (SELECT FROM crm_links l WHERE l.integration_id = :integration_id AND l.contact_id = p.id)
  ON CONFLICT DO NOTHING
)
SELECT count(*) AS count, coalesce(max(phone), '') AS last FROM page
"""


@dataclass(frozen=True, slots=True)
class Fetching:
    """Advances the synchronization of one connection: a page and its place are one transaction, which may run twice."""

    pushing: Pushing

    async def step(self) -> bool:
        """Fetch or offer one page if that is due; return whether there was one."""
        session = self.pushing.session
        async with self.pushing.unit() as unit:
            connection = await _get(unit, session.row.id)
            is_due = connection.fetch_at <= unit.clock.now()
            sync, cursor, since = connection.sync, connection.cursor, connection.fetched_until
        if sync == CrmSync.offering:
            await self._offer()
            return True
        if sync == CrmSync.fetching or is_due:
            page = await session.call(lambda access: session.connector.fetch(access, since, cursor))
            if page.cursor and page.cursor == cursor:
                raise CrmAway("The CRM gives the same page of contacts again.")
            await self._take(page)
            return True
        return False

    async def _take(self, page: Fetched) -> None:
        async with self.pushing.unit() as unit:
            for unread in page.unread:
                await self._refuse(unit, unread.external_id, unread.reason)
            for start in range(0, len(page.contacts), PAGE):  # a CRM may give more than it was asked for
                few = page.contacts[start : start + PAGE]
                for record in await joining.join(unit, self.pushing.integration_id, few):
                    await self._compare(unit, record)
            connection = await _get(unit, self.pushing.session.row.id)
            connection.cursor = page.cursor
            if connection.sync == CrmSync.fetching:
                connection.fetched += len(page.contacts)
                known = page.total if connection.total is None else connection.total
                connection.total = max(known, connection.fetched)  # a changed record is fetched once more
            if page.contacts:
                newest = max(each.changed_at for each in page.contacts)
                connection.fetched_until = min(newest, unit.clock.now() - OVERLAP)
            if not page.cursor:
                _end_fetch(connection, unit)
            await unit.save(connection)

    async def _compare(self, unit: UnitOfWork, record: CrmContact) -> None:
        """Merge a fetched record; newer values of here are pushed, and refused ones listed as failed pushes."""
        id = self.pushing.integration_id
        try:
            compared = await comparing.compare(unit, id, record)
        except PhoneTaken:
            await comparing.add_check(unit, id, record.external_id)
            return
        except (CrmRefused, DomainError) as refusal:
            await self._refuse(unit, record.external_id, str(refusal), record.changed_at)
            return
        if compared.refused:
            await self._refuse(unit, record.external_id, compared.refused, record.changed_at)
        of_contact = CrmPush.kind == CrmPushKind.contact, CrmPush.contact_id == compared.contact_id
        if (
            compared.there
            and compared.contact_id
            and not await self._has_failed(unit, *of_contact, CrmPush.done_at >= record.changed_at)
        ):
            await comparing.add_push(unit, id, compared.contact_id)

    async def _refuse(self, unit: UnitOfWork, external_id: str, reason: str, changed_at: datetime = BEGINNING) -> None:
        """Add a failed push, once for each change of a record: the newest ones are fetched again and again."""
        of_record = CrmPush.kind == CrmPushKind.check, CrmPush.external_id == external_id
        same = CrmPush.reason == reason[:MAX_REASON], CrmPush.done_at >= changed_at
        if await self._has_failed(unit, *of_record, *same):
            return
        now = unit.clock.now()
        refused = CrmPush(
            account_id=unit.actor.account_id,
            integration_id=self.pushing.integration_id,
            kind=CrmPushKind.check,
            external_id=external_id,
            status=CrmPushStatus.failed,
            reason=reason[:MAX_REASON],
            due_at=now,
            created_at=now,
            done_at=now,
        )
        await unit.save(refused)

    async def _has_failed(self, unit: UnitOfWork, *which: ColumnElement[bool]) -> bool:
        """Return whether such a push of the connection has failed."""
        own = CrmPush.integration_id == self.pushing.integration_id, CrmPush.status == CrmPushStatus.failed
        failed = select(CrmPush.id).where(*own, *which)
        return bool(await unit.all(failed.limit(1)))

    async def _offer(self) -> None:
        """Add pushes of the next contacts that the CRM does not know."""
        async with self.pushing.unit() as unit:
            connection = await _get(unit, self.pushing.session.row.id)
            values = {
                "account_id": connection.account_id,
                "integration_id": self.pushing.integration_id,
                "after": connection.cursor,
                "now": unit.clock.now(),
            }
            page: Any = (await unit.execute(text(OFFER), values)).one()
            connection.cursor = page.last
            connection.offered += page.count
            if page.count < PAGE:
                connection.sync, connection.cursor = CrmSync.done, ""
            await unit.save(connection)


def _end_fetch(connection: CrmConnection, unit: UnitOfWork) -> None:
    connection.fetch_at = unit.clock.now() + EVERY
    if connection.sync == CrmSync.fetching:
        connection.sync = CrmSync.offering


async def _get(unit: UnitOfWork, id: int) -> CrmConnection:
    found = await unit.one(select(CrmConnection).where(CrmConnection.id == id).with_for_update())
    assert found is not None, "a leased connection is not deleted by others"
    return found
