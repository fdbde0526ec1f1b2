"""Plan the texts of an audience: read contacts in the order of phones, render, count parts, decide on each recipient.

The preview and the snapshot plan by the same functions, so that both give the same result for the same contacts.
"""

import asyncio
from collections.abc import AsyncIterator, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, NamedTuple, Self

from app.db.engine import Connection, Pool
from app.domain.accounts import sql as accounts
from app.domain.accounts.models import AccountStatus
from app.domain.billing import prices
from app.domain.campaigns import restraints
from app.domain.campaigns.audience import Audience
from app.domain.campaigns.content import Content
from app.domain.campaigns.models import Campaign
from app.domain.campaigns.reasons import reason_of
from app.domain.campaigns.rows import FrozenCampaign
from app.domain.campaigns.texts import Texts
from app.domain.contacts import sql as contacts
from app.domain.contacts.custom_fields import Value
from app.domain.contacts.models import ContactStatus
from app.domain.kernel import phone as phones
from app.domain.kernel.sms_parts import Encoding
from app.domain.kernel.turns import in_turns
from app.domain.messages.eligibility import facts, gates
from app.domain.messages.eligibility.facts import HandoffFacts
from app.domain.messages.models import Purpose
from app.domain.quiet_hours.zones import find_place
from app.domain.segments.compiling import compile_numbered
from app.domain.templates import sql as templates

ACTIVE = ContactStatus.active.value

CHUNK = 2000
"""The number of contacts that are read at once."""

AT_ONCE = 50
"""The number of contacts that are planned before other tasks may go on."""

GATES = (gates.OPT_OUT, gates.DND, gates.HOLD)
"""The gates that decide about a recipient before its text exists; acceptance and hand-off check them again."""

READ = f"""
SELECT c.id AS contact_id, {{placeholders}}, {facts.recipient("$1::bigint", "c.phone")}, {contacts.ZONE},
  ((cardinality($5::text[]) = 0 OR c.tags && $5) AND ($6::text IS NULL OR c.pipeline_stage = $6) AND ({{which}}))
    IS TRUE AS is_wanted,
  {{exclusion}}, {{restraint}}
FROM {{walked}} ORDER BY c.phone
"""
WALKED = "$1::bigint", "$2::text", "$3::bigint", "$4::bigint"
IS_NAMED = "id = ANY($9::bigint[])"
FIND_ACCOUNT = f"""
SELECT a.company_name, a.region, a.time_zone, a.fold_accents, {templates.fallbacks_of("own.id")} AS fallbacks
FROM (SELECT $1::bigint AS id) own {accounts.join("own.id")}
"""


class Candidate(NamedTuple):
    """A contact that was read; `is_wanted` if it belongs to the audience, which the walk over all contacts decides.

    Of the values of placeholders, it has those that the text needs.

    `exclusion` is the reason for which the sender excludes it, `restraint` that for which it is left alone though no
    gate refuses it.
    """

    contact_id: int
    first_name: str | None
    last_name: str | None
    email: str | None
    phone: str
    created_at: datetime | None
    custom_fields: dict[str, Value] | None
    contact_status: str
    dnd_sms: bool
    held_until: datetime | None
    suppressed: bool
    contact_zone: str | None
    is_wanted: bool
    exclusion: str | None
    restraint: str | None

    @property
    def is_marked(self) -> bool:
        """Return whether anything is stored about the contact that a gate could refuse it for."""
        return bool(self.dnd_sms or self.suppressed or self.held_until) or self.contact_status != ACTIVE


class Planned(NamedTuple):
    """The text for one contact; with a `reason` it is not sent, and costs nothing.

    `missing` are the placeholders without a value for this contact, `original_body` is the text before smart encoding
    where that changed it. `due_at` is the time from which the text may be accepted; None for at once.
    """

    contact_id: int
    phone: str
    reason: str
    body: str
    encoding: Encoding
    segments: int
    credits: int
    missing: tuple[str, ...] = ()
    original_body: str | None = None
    contact_zone: str | None = None
    due_at: datetime | None = None


@dataclass(frozen=True, slots=True)
class Plan:
    """The content and audience of a campaign, with the facts of its account that its texts depend on.

    `local_at` is the time on the clocks of the recipients at which their texts are due, without a zone.
    """

    account_id: int
    audience: Audience
    content: Content
    is_strict: bool
    region: str
    max_segments: int
    at: datetime
    time_zone: str | None = None
    local_at: datetime | None = None
    texts: Texts = field(init=False)

    def __post_init__(self) -> None:
        """Prepare the texts."""
        texts = Texts.shared(
            self.content, is_strict=self.is_strict, max_segments=self.max_segments, columns=Candidate._fields
        )
        object.__setattr__(self, "texts", texts)

    @classmethod
    async def of(
        cls,
        source: Pool | Connection,
        campaign: Campaign | FrozenCampaign,
        audience: Audience,
        max_segments: int,
        at: datetime,
    ) -> Self:
        """Return the plan of a campaign; relative times of its segment end at `at`."""
        account = await source.fetchrow(FIND_ACCOUNT, campaign.account_id)
        return cls(
            campaign.account_id,
            audience,
            Content(
                campaign.body,
                account["company_name"],
                account["fallbacks"],
                is_smart_encoded=campaign.is_smart_encoded,
                fold_accents=account["fold_accents"],
            ),
            campaign.is_strict,
            account["region"],
            max_segments,
            at,
            account["time_zone"],
            campaign.local_at,
        )

    async def read_all(self, pool: Pool, until: int) -> AsyncIterator[Sequence[Planned]]:
        """Return the plans for all contacts of the audience, chunk by chunk; each is read while one is planned."""
        after: str | None = ""
        reading = asyncio.create_task(self.find(pool, after, until))
        try:
            while after is not None:
                found = await reading
                after = find_last(found)
                if after is not None:
                    reading = asyncio.create_task(self.find(pool, after, until))
                yield await self.plan_all(found)
        finally:
            reading.cancel()
            await asyncio.gather(reading, return_exceptions=True)

    async def find(self, source: Pool | Connection, after: str, until: int) -> Sequence[Candidate]:
        """Return the next contacts after a phone, with ids up to one."""
        named = [list(self.audience.contact_ids)] if self.audience.contact_ids else []
        given = [*self._arguments(after, until), *named]
        filter = self.audience.find_filter()
        which, values = compile_numbered(filter, self.at, len(given) + 1) if filter else ("true", [])
        given, excluded = [*given, *values], self.audience.find_excluded()
        without, values = compile_numbered(excluded, self.at, len(given) + 1) if excluded else ("false", [])
        statement = READ.format(
            placeholders=contacts.placeholders({*self.texts.needed, "phone"}),
            walked=contacts.walk(*WALKED, IS_NAMED if named else "true"),
            which=which,
            exclusion=restraints.exclusion(without),
            restraint=restraints.restraint(self.audience),
        )
        rows = await source.fetch(statement, *given, *values)
        return list(map(Candidate._make, rows))

    async def plan_all(self, found: Sequence[Candidate]) -> list[Planned]:
        """Return the plans for the contacts of the audience among some."""
        wanted = [each for each in found if each.is_wanted]
        some = (wanted[start : start + AT_ONCE] for start in range(0, len(wanted), AT_ONCE))
        return [each async for people in in_turns(some) for each in map(self.plan, people)]

    def plan(self, candidate: Candidate) -> Planned:
        """Return the text for a contact, or the reason for which it gets none."""
        text = self.texts.find(candidate, candidate.custom_fields)
        contact_id, phone = candidate.contact_id, candidate.phone
        if reason := self._refuse(candidate) or text.reason:
            return Planned(contact_id, phone, reason, "", text.encoding, 0, 0, text.missing)
        credits = text.segments * prices.credits_per_segment(phone, self.region)
        return Planned(
            contact_id,
            phone,
            "",
            text.body,
            text.encoding,
            text.segments,
            credits,
            text.missing,
            text.original_body,
            candidate.contact_zone,
            self._find_due(candidate),
        )

    def _find_due(self, candidate: Candidate) -> datetime | None:
        if self.local_at is None:
            return None
        due_at = find_place(candidate.phone, candidate.contact_zone, self.time_zone).instant_of(self.local_at)
        return due_at if due_at > self.at else None

    def _refuse(self, candidate: Candidate) -> str:
        return candidate.exclusion or self._refuse_contact(candidate) or candidate.restraint or ""

    def _refuse_contact(self, candidate: Candidate) -> str:
        if not candidate.is_marked:
            return phones.find_fault(candidate.phone)
        known = HandoffFacts(
            Purpose.promotional,
            AccountStatus.active,
            candidate.phone,
            candidate.contact_status,
            candidate.dnd_sms,
            candidate.held_until,
            candidate.suppressed,
        )
        if refused := gates.find_refusal(GATES, known):
            return reason_of(refused[1].code)
        return reason_of(fault) if (fault := phones.find_fault(candidate.phone)) else ""

    def _arguments(self, after: str, until: int) -> tuple[Any, ...]:
        audience = self.audience
        stage = str(audience.stage) if audience.stage else None
        tags, excluded = list(audience.tags), list(audience.excluded_tags)
        return self.account_id, after, until, CHUNK, tags, stage, excluded, self.at


def find_last(found: Sequence[Candidate]) -> str | None:
    """Return the phone after which contacts may follow those that were found; None if they are the last."""
    return found[-1].phone if len(found) == CHUNK else None
