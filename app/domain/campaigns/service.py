"""Change campaigns: draft, send or schedule, pause, resume, cancel, delete."""

from collections import Counter
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any, TypedDict

from sqlalchemy import Select, func, text

from app.domain.accounts import credentials
from app.domain.accounts.scopes import Scope
from app.domain.billing import service as billing
from app.domain.campaigns import account_settings, audience, content, notices, previews, queries, results
from app.domain.campaigns.audience import Audience
from app.domain.campaigns.errors import OverMaxCredits
from app.domain.campaigns.events import CampaignProgress
from app.domain.campaigns.models import Campaign, CampaignStatus, PauseReason, RecipientState
from app.domain.campaigns.previews import Counted
from app.domain.contacts import sql as contacts
from app.domain.events import outbox
from app.domain.kernel import versions
from app.domain.kernel.errors import Conflict, InvalidInput, NotFound
from app.domain.kernel.unit_of_work import UnitOfWork
from app.domain.messages.errors import ConsentNotAttested
from app.domain.messages.sending import cancellation
from app.domain.numbers import queries as numbers
from app.domain.segments import queries as segments

MAX_NAME = 100
LONGEST_WAIT = timedelta(days=365)
EAST, WEST = timedelta(hours=14), timedelta(hours=12)
"""The most by which a clock on Earth is ahead of UTC, and behind it."""

EDITABLE = frozenset({CampaignStatus.draft, CampaignStatus.scheduled})
RUNNING = frozenset({CampaignStatus.sending, CampaignStatus.paused})
ENDED = frozenset({CampaignStatus.completed, CampaignStatus.canceled, CampaignStatus.failed})
UNCLAIMED = (RecipientState.queued, RecipientState.deferred)

TOPIC = "campaigns"
RETRY = timedelta(seconds=5)
"""The time after which a campaign without credits looks whether the account has credits again."""


class CampaignFields(TypedDict, total=False):
    """The fields of a draft that a caller may set; omitted fields keep their values."""

    name: str
    body: str
    audience: Audience
    phone_number_id: int | None
    is_smart_encoded: bool
    is_strict: bool
    max_credits: int | None


@dataclass(frozen=True, slots=True)
class Order:
    """The terms of a send. `preview_id` is that of the preview that the caller saw.

    The campaign may cost `max_credits`, or else no more than that preview shows, or else what the draft allows.
    It starts at the time `at`, or texts each recipient when the clock there shows `local_at`, a time without a zone.
    """

    consent_attested: bool
    preview_id: str | None = None
    max_credits: int | None = None
    at: datetime | None = None
    local_at: datetime | None = None

    @property
    def starts_at(self) -> datetime | None:
        """Return the time of the start: that at which the first clock on Earth shows `local_at`; None for at once."""
        return self.at if self.local_at is None else self.local_at.replace(tzinfo=UTC) - EAST


@dataclass(frozen=True, slots=True)
class Canceled:
    """A canceled campaign: the recipients that get no text, those whose text had left, and those in flight."""

    campaign: Campaign
    canceled: int
    left: int
    in_flight: int


async def create(unit: UnitOfWork, fields: CampaignFields) -> Campaign:
    """Add a draft; raise `InvalidInput`, `MessageTooLong` or `NotFound`."""
    values = await _checked(unit, {"name": "", "body": "", "audience": Audience(), **fields})
    campaign = Campaign(account_id=unit.actor.account_id, created_by=unit.actor.label, **values)
    await unit.save(campaign)
    return campaign


async def update(unit: UnitOfWork, id: int, fields: CampaignFields, expected_version: int | None = None) -> Campaign:
    """Change a draft; its version grows with each change.

    Raises `Conflict` for a campaign that is no draft, whose sender has attested the consent for its content, and for a
    version that is no longer expected.
    """
    values = await _checked(unit, fields)
    campaign = await queries.get(unit, id, lock=True)
    _require_draft(campaign, "changed")
    versions.require("campaign", campaign.version, expected_version)
    if not versions.change(campaign, values):
        return campaign
    return await _save(unit, campaign)


async def send(unit: UnitOfWork, id: int, order: Order) -> Campaign:
    """Send a campaign, now or at a later time; its content is frozen now, with the settings of the account that its
    texts depend on, and its audience when it starts.

    The sender attests the consent of the recipients, which is recorded with each text. Raises `ConsentNotAttested`,
    `Conflict`, `PreviewOutdated` and `OverMaxCredits`; a campaign that turns out to cost more is paused before its
    first text.
    """
    if not order.consent_attested:
        raise ConsentNotAttested()
    _check_limit(order.max_credits, least=0)
    counted: Counted | None = None
    if order.preview_id is not None:
        counted = await previews.count_again(unit, await _get_complete(unit, id), order.preview_id)
    campaign = await _get_complete(unit, id, lock=True)
    campaign.account_settings = (await account_settings.find(unit, campaign)).to_json()
    limit = campaign.max_credits if order.max_credits is None else order.max_credits
    if counted is not None:
        limit = await previews.check(unit, campaign, counted, order.max_credits)
    campaign.max_credits, campaign.local_at = limit, order.local_at
    _attest(unit, campaign)
    now = unit.clock.now()
    _check_times(order, now)
    if order.starts_at is None or order.starts_at <= now:
        await start(unit, campaign)
    else:
        campaign.status, campaign.scheduled_at = CampaignStatus.scheduled, order.starts_at
        campaign.due_at = order.starts_at
    return await _save(unit, campaign)


async def _get_complete(unit: UnitOfWork, id: int, *, lock: bool = False) -> Campaign:
    """Return a draft with an audience; raise `Conflict` for another campaign."""
    campaign = await queries.get(unit, id, lock=lock)
    _require_draft(campaign, "sent")
    if not Audience.from_json(campaign.audience).is_chosen:
        raise Conflict(
            reason=f"The campaign {campaign.name} has no audience. Choose tags, a stage, contacts, a segment or all."
        )
    return campaign


async def start(unit: UnitOfWork, campaign: Campaign) -> None:
    """Freeze the audience of a locked campaign, and let workers send it."""
    newest = (await unit.execute(text(contacts.LAST_ID))).scalar_one()
    campaign.audience = (await audience.read(unit, campaign.audience)).to_json()
    campaign.status, campaign.reason, campaign.read_until = CampaignStatus.sending, "", newest
    campaign.sent_at = campaign.due_at = unit.clock.now()
    unit.notify(TOPIC)


async def unschedule(unit: UnitOfWork, id: int) -> Campaign:
    """Make a scheduled campaign a draft again; raise `Conflict` when it has started."""
    campaign = await queries.get(unit, id, lock=True)
    _require(campaign, {CampaignStatus.scheduled}, "unscheduled")
    campaign.status, campaign.scheduled_at, campaign.due_at = CampaignStatus.draft, None, None
    campaign.local_at = campaign.account_settings = None
    return await _save(unit, campaign)


async def pause(unit: UnitOfWork, id: int) -> Campaign:
    """Stop a campaign until it is resumed; texts that no worker has claimed yet wait. Idempotent.

    One without credits then no longer goes on after a top-up.
    """
    campaign = await queries.get(unit, id, lock=True)
    _require(campaign, RUNNING, "paused")
    if campaign.status == CampaignStatus.sending or campaign.reason == PauseReason.insufficient_credits:
        await stop(unit, campaign, PauseReason.requested)
    return campaign


async def stop(unit: UnitOfWork, campaign: Campaign, reason: PauseReason) -> None:
    """Pause a locked campaign for a reason; one without credits goes on by itself after a top-up."""
    campaign.status, campaign.reason, campaign.due_at = CampaignStatus.paused, reason, None
    if reason is PauseReason.insufficient_credits:
        campaign.due_at = unit.clock.now() + RETRY
    else:
        await cancellation.hold(unit, _claimed(unit, campaign.id))
    await notices.record_pause(unit, campaign, reason)
    await _save(unit, campaign)


async def resume(
    unit: UnitOfWork, id: int, max_credits: int | None = None, *, consent_attested: bool | None = None
) -> Campaign:
    """Go on with a paused campaign; `max_credits` allows it to cost more. Idempotent.

    Once the credential of the sender has ended, the actor becomes the sender, and must attest the consent of the
    recipients. Raises `ConsentNotAttested`, and `OverMaxCredits` while the texts of a campaign whose audience is known
    cost more than is allowed.
    """
    campaign = await queries.get(unit, id, lock=True)
    _require(campaign, RUNNING, "resumed")
    _check_limit(max_credits)
    if max_credits is not None:
        campaign.max_credits = max_credits
    await _check_cost(unit, campaign)
    if campaign.status == CampaignStatus.paused:
        if await _has_sender_ended(unit, campaign):
            if not consent_attested:
                raise ConsentNotAttested()
            _attest(unit, campaign)
        campaign.status, campaign.reason = CampaignStatus.sending, ""
        campaign.due_at = campaign.resumed_at = unit.clock.now()
        await cancellation.release(unit, _claimed(unit, campaign.id))
        unit.notify(TOPIC)
    return await _save(unit, campaign)


def _attest(unit: UnitOfWork, campaign: Campaign) -> None:
    """Make the actor the sender, at the time of the database, with which the rotations of keys are compared."""
    campaign.actor, campaign.attested_at = unit.actor.label, func.now()


async def _has_sender_ended(unit: UnitOfWork, campaign: Campaign) -> bool:
    """Return whether a paused campaign needs another sender, also where it was paused before its sender ended."""
    sender = credentials.credential_of(campaign.account_id, campaign.actor)
    has_ended = campaign.reason == PauseReason.credential_ended
    return has_ended or not await credentials.may_still(unit, sender, Scope.campaigns_send, campaign.attested_at)


async def cancel(unit: UnitOfWork, id: int) -> Canceled:
    """End a campaign: recipients whose text no worker has claimed get none. Idempotent.

    In the background they become canceled, and the texts that were debited and have not left are refunded.
    """
    await billing.lock(unit)
    campaign = await queries.get(unit, id, lock=True)
    if campaign.status != CampaignStatus.canceled:
        _require(campaign, {*EDITABLE, *RUNNING}, "canceled")
        campaign.status, campaign.reason = CampaignStatus.canceled, ""
        campaign.ended_at = campaign.due_at = unit.clock.now()
        await _save(unit, campaign)
        unit.notify(TOPIC)
    counts = await _count_states(unit, id)
    held = await cancellation.hold(unit, _claimed(unit, id))
    if counts[RecipientState.claimed] > held:
        counts = await results.count_states(unit, id)
    canceled = sum(counts[state] for state in (RecipientState.canceled, *UNCLAIMED))
    left = sum(counts[state] for state in queries.LEFT)
    return Canceled(campaign, canceled + held, left, counts[RecipientState.claimed] - held)


async def delete(unit: UnitOfWork, id: int) -> int:
    """Delete a campaign that is not running; its messages remain. Return its id.

    In the background its recipients are deleted, a chunk at a time, and then the campaign.
    """
    campaign = await queries.get(unit, id, lock=True)
    if campaign.status in RUNNING:
        raise Conflict(reason=f"The campaign {campaign.name} is {campaign.status}. Cancel it before it is deleted.")
    if (await _count_states(unit, id))[RecipientState.claimed]:
        raise Conflict(reason=f"Texts of the campaign {campaign.name} are in flight. Delete it in a minute.")
    campaign.deleted_at = campaign.due_at = unit.clock.now()
    await _save(unit, campaign)
    unit.notify(TOPIC)
    return id


async def _count_states(unit: UnitOfWork, campaign_id: int) -> Counter[RecipientState]:
    counts = Counter[RecipientState]()
    for each in await queries.find_counts(unit, [campaign_id]):
        counts[each.state] += each.recipients
    return counts


def _claimed(unit: UnitOfWork, campaign_id: int) -> Select[int]:
    """Return the query of the messages of a campaign that wait for their carrier: up to all, with those deferred."""
    return queries.select_message_ids(unit, campaign_id, RecipientState.claimed)


async def _checked(unit: UnitOfWork, fields: CampaignFields) -> dict[str, Any]:
    values: dict[str, Any] = dict(fields)
    if "name" in fields:
        values["name"] = fields["name"].strip()
        if not 1 <= len(values["name"]) <= MAX_NAME:
            raise InvalidInput(reason=f"name must have 1 to {MAX_NAME} characters.", field="name")
    if "body" in fields:
        await content.check(unit, fields["body"])
    if "audience" in fields:
        fields["audience"].check()
        for segment_id in (fields["audience"].segment_id, fields["audience"].excluded_segment_id):
            if segment_id is not None:
                await segments.get(unit, segment_id, keep=True)
        values["audience"] = fields["audience"].to_json()
    number_id = fields.get("phone_number_id")
    if number_id is not None and await numbers.find(unit, number_id) is None:
        raise NotFound(kind="active phone number", id=number_id)
    _check_limit(fields.get("max_credits"))
    return values


async def _check_cost(unit: UnitOfWork, campaign: Campaign) -> None:
    if campaign.is_read and campaign.max_credits is not None:
        cost = sum(each.credits for each in await queries.find_counts(unit, [campaign.id]))
        if cost > campaign.max_credits:
            raise OverMaxCredits(credits=cost, limit=campaign.max_credits)


def _check_times(order: Order, now: datetime) -> None:
    """Raise `InvalidInput` for a time that is past, everywhere if it is a local one, or too far in the future."""
    if order.at and order.local_at:
        raise InvalidInput(reason="at cannot be combined with local_at.", field="at")
    if order.at and not now < order.at <= now + LONGEST_WAIT:
        raise InvalidInput(reason="at must be a time within the next 365 days.", field="at")
    if order.local_at:
        utc = now.replace(tzinfo=None)
        if not utc - WEST < order.local_at <= utc + LONGEST_WAIT:
            reason = "local_at must be a time within the next 365 days that is not past everywhere."
            raise InvalidInput(reason=reason, field="local_at")


def _check_limit(max_credits: int | None, least: int = 1) -> None:
    if max_credits is not None and max_credits < least:
        raise InvalidInput(reason=f"max_credits must be {least} or more.", field="max_credits")


def _require_draft(campaign: Campaign, change: str) -> None:
    if campaign.status == CampaignStatus.scheduled:
        raise Conflict(reason=f"The campaign {campaign.name} is scheduled. Unschedule it before it is {change}.")
    _require(campaign, {CampaignStatus.draft}, change)


def _require(campaign: Campaign, statuses: frozenset[CampaignStatus] | set[CampaignStatus], change: str) -> None:
    if campaign.status not in statuses:
        raise Conflict(reason=f"The campaign {campaign.name} is {campaign.status} and cannot be {change}.")


async def _save(unit: UnitOfWork, campaign: Campaign) -> Campaign:
    campaign.updated_at = unit.clock.now()
    await unit.save(campaign)
    outbox.record(unit, CampaignProgress(campaign_id=campaign.id))
    return campaign
