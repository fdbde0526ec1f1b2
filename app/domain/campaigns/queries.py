"""Queries for campaigns, their recipients and counts."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import cast

from sqlalchemy import Select, func, select

from app.domain.campaigns.models import Answer, Campaign, CampaignStatus, Recipient, RecipientCount, RecipientState
from app.domain.kernel import records
from app.domain.kernel.errors import NotFound
from app.domain.kernel.naming import named
from app.domain.kernel.paging import Order, Page, Total, Window, fetch
from app.domain.kernel.unit_of_work import UnitOfWork

LEFT = (RecipientState.sent, RecipientState.delivered, RecipientState.failed)
"""The states of recipients whose text a carrier took or refused."""

ANSWERED = {Answer.replied: Recipient.replied_at, Answer.opted_out: Recipient.opted_out_at}
"""The columns of the times of answers."""


@dataclass(frozen=True, slots=True)
class StateCount:
    """The number of recipients of a campaign in a state, with a reason, and the segments and credits of their texts."""

    campaign_id: int
    state: RecipientState
    reason: str
    recipients: int
    segments: int
    credits: int


async def find_page(
    unit: UnitOfWork, status: CampaignStatus | None, search: str | None, window: Window
) -> Page[Campaign]:
    """Return one page of the account's campaigns, newest first; `search` matches anywhere in the name."""
    statement = _own(unit).where(Campaign.status == status) if status else _own(unit)
    if wanted := (search or "").strip():
        statement = statement.where(func.strpos(func.lower(Campaign.name), func.lower(wanted)) > 0)
    return await fetch(unit, statement, Order((Campaign.id,)), window)


async def get(unit: UnitOfWork, id: int, *, lock: bool = False) -> Campaign:
    """Return a campaign; with `lock`, locked for a change. Raise `NotFound`."""
    statement = _own(unit).where(Campaign.id == id)
    if lock:
        statement = statement.with_for_update().execution_options(populate_existing=True)
    campaign = await unit.one(statement)
    if campaign is None:
        raise NotFound(kind="campaign", id=id)
    return campaign


async def find_many(unit: UnitOfWork, ids: Sequence[int]) -> dict[int, Campaign]:
    """Return campaigns by their ids."""
    return {campaign.id: campaign for campaign in await unit.all(_own(unit).where(records.among(Campaign.id, ids)))}


async def find_named(unit: UnitOfWork, text: str, limit: int) -> Sequence[Campaign]:
    """Return the first campaigns whose name contains a text."""
    return await unit.all(named(_own(unit), Campaign.name, text, limit))


def select_message_ids(unit: UnitOfWork, campaign_id: int, state: RecipientState | None = None) -> Select[int]:
    """Return the query of the ids of a campaign's messages, of recipients in one state if it is given.

    It finds none for a campaign of another account.
    """
    own = Recipient.campaign_id == campaign_id, Recipient.account_id == unit.actor.account_id
    found = select(Recipient.message_id).where(*own, Recipient.message_id.is_not(None))
    return cast("Select[int]", found.where(Recipient.state == state) if state else found)


@dataclass(frozen=True, slots=True)
class RecipientFilter:
    """The recipients that a list shows: all those that satisfy each condition that is given."""

    state: RecipientState | None = None
    reason: str | None = None
    answer: Answer | None = None

    def narrow(self, statement: Select[Recipient]) -> Select[Recipient]:
        """Return the statement with the conditions."""
        if self.state:
            statement = statement.where(Recipient.state == self.state)
        if self.reason is not None:
            statement = statement.where(Recipient.reason == self.reason)
        if self.answer:
            statement = statement.where(ANSWERED[self.answer].is_not(None))
        return statement

    def counts(self, group: StateCount) -> bool:
        """Tell whether the recipients of a group satisfy the conditions, apart from the answer."""
        return self.state in (None, group.state) and self.reason in (None, group.reason)


async def find_recipients(
    unit: UnitOfWork, campaign_id: int, filter: RecipientFilter, window: Window
) -> Page[Recipient]:
    """Return one page of a campaign's recipients, the last of the audience first; raise `NotFound`."""
    await get(unit, campaign_id)
    statement = filter.narrow(select(Recipient).where(Recipient.campaign_id == campaign_id))

    async def count() -> Total:
        counts = await find_counts(unit, [campaign_id])
        return Total(sum(each.recipients for each in counts if filter.counts(each)))

    return await fetch(unit, statement, Order((Recipient.id,)), window, None if filter.answer else count)


async def find_counts(unit: UnitOfWork, campaign_ids: Sequence[int]) -> list[StateCount]:
    """Return the recipients of campaigns by state and reason; their sum is the audience."""
    kind = RecipientCount.campaign_id, RecipientCount.state, RecipientCount.reason
    total = func.sum(RecipientCount.recipients)
    statement = (
        select(*kind, total, func.sum(RecipientCount.segments), func.sum(RecipientCount.credits))
        .where(
            RecipientCount.account_id == unit.actor.account_id, records.among(RecipientCount.campaign_id, campaign_ids)
        )
        .group_by(*kind)
        .having(total != 0)
        .order_by(*kind)
    )
    return [
        StateCount(id, RecipientState(state), reason, int(recipients), int(segments), int(credits))
        for id, state, reason, recipients, segments, credits in await unit.rows(statement)
    ]


def _own(unit: UnitOfWork) -> Select[Campaign]:
    return select(Campaign).where(Campaign.account_id == unit.actor.account_id, Campaign.deleted_at.is_(None))
