"""Plan the texts of an audience: read contacts in the order of phones, render, count parts, decide on each recipient.

The preview and the snapshot plan by the same functions, so that both give the same result for the same contacts.
"""

import asyncio
from collections.abc import AsyncIterator, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from itertools import compress
from operator import attrgetter
from typing import Any, NamedTuple, Self

from app.db import rows
from app.db.engine import Connection, Pool
from app.domain.accounts.models import AccountStatus
from app.domain.billing import prices
from app.domain.campaigns import account_settings, restraints
from app.domain.campaigns.account_settings import AccountSettings
from app.domain.campaigns.audience import Audience
from app.domain.campaigns.content import Content
from app.domain.campaigns.models import Campaign
from app.domain.campaigns.reasons import reason_of
from app.domain.campaigns.rows import FrozenCampaign
from app.domain.campaigns.samples import Sample
from app.domain.campaigns.texts import UNSENT, Text, Texts
from app.domain.contacts import sql as contacts
from app.domain.contacts.custom_fields import Value
from app.domain.contacts.models import ContactStatus, Reach
from app.domain.kernel import phone as phones
from app.domain.kernel.turns import in_turns
from app.domain.messages.eligibility import facts, gates
from app.domain.messages.eligibility.facts import HandoffFacts
from app.domain.messages.models import Purpose
from app.domain.quiet_hours.zones import PREFIX, find_place
from app.domain.segments.compiling import compile_numbered

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
    reach: str | None
    suppressed: bool
    contact_zone: str | None
    is_wanted: bool
    exclusion: str | None
    restraint: str | None


_marks = attrgetter("contact_status", "dnd_sms", "held_until", "reach", "suppressed", "exclusion", "restraint")
UNMARKED = ContactStatus.active.value, False, None, None, False, None, None
"""The marks of a contact about which nothing is stored that it could be refused for."""


@dataclass(frozen=True, slots=True)
class Planned:
    """The texts for some contacts, as columns with a row for each contact.

    A contact with one of the `reasons` gets no text, `UNSENT`; the others have an empty reason. `prefixes` are the
    first characters of the phones, which their places follow from, `prices` the credits of one part. `due` are the
    times from which the texts may be accepted, None for at once; no rows if none has a time.
    """

    contacts: list[Candidate] = field(default_factory=list)
    prefixes: list[str] = field(default_factory=list)
    texts: list[Text] = field(default_factory=list)
    reasons: list[str] = field(default_factory=list)
    prices: list[int] = field(default_factory=list)
    due: list[datetime | None] = field(default_factory=list)

    @property
    def sent(self) -> "Planned":
        """Return the texts without those that are not sent."""
        if not any(self.reasons):
            return self
        is_sent = [not reason for reason in self.reasons]
        return Planned(
            [*compress(self.contacts, is_sent)],
            [*compress(self.prefixes, is_sent)],
            [*compress(self.texts, is_sent)],
            [*compress(self.reasons, is_sent)],
            [*compress(self.prices, is_sent)],
            [*compress(self.due, is_sent)],
        )

    def sample(self, place: int) -> Sample:
        """Return the text of a row, as it is shown."""
        contact, text = self.contacts[place], self.texts[place]
        credits = text.segments * self.prices[place]
        shown = text.body, text.encoding, text.segments, credits, text.missing
        return Sample(contact.contact_id, contact.phone, *shown)

    @property
    def credits(self) -> list[int]:
        """Return the credits of each text."""
        return [text.segments * price for text, price in zip(self.texts, self.prices, strict=True)]


@dataclass(frozen=True, slots=True)
class Plan:
    """The content and audience of a campaign, with the facts of its account that its texts depend on.

    `local_at` is the time on the clocks of the recipients at which their texts are due, without a zone.
    """

    account_id: int
    audience: Audience
    content: Content
    is_strict: bool
    settings: AccountSettings
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
        """Return the plan of a campaign; relative times of its segment end at `at`.

        A campaign that was sent keeps the settings of that time.
        """
        account = await source.fetchrow(account_settings.FIND, campaign.account_id)
        settings = AccountSettings.of(campaign.account_settings or account)
        return cls(
            campaign.account_id,
            audience,
            Content.with_settings(campaign, settings),
            campaign.is_strict,
            settings,
            max_segments,
            at,
            account["time_zone"],
            campaign.local_at,
        )

    async def read_all(self, pool: Pool, until: int) -> AsyncIterator[Planned]:
        """Return the plans for all contacts of the audience, chunk by chunk; each is read while one is planned."""
        after: str | None = ""
        reading = asyncio.create_task(self.find(pool, "", until))
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
        return await rows.fetch(source, Candidate, statement, *given, *values)

    async def plan_all(self, found: Sequence[Candidate]) -> Planned:
        """Return the texts for the contacts of the audience among some."""
        planned = Planned([each for each in found if each.is_wanted])
        async for start in in_turns(range(0, len(planned.contacts), AT_ONCE)):
            self._plan(planned, planned.contacts[start : start + AT_ONCE])
        return planned

    def _plan(self, planned: Planned, contacts: Sequence[Candidate]) -> None:
        texts = [self.texts.find(each, each.custom_fields) for each in contacts]
        reasons = [_refuse(each) or text.reason for each, text in zip(contacts, texts, strict=True)]
        if any(reasons):
            texts = [UNSENT if reason else text for text, reason in zip(texts, reasons, strict=True)]
        prefixes = [each.phone[:PREFIX] for each in contacts]
        price_of = {prefix: prices.credits_per_segment(prefix, self.settings.region) for prefix in set(prefixes)}
        planned.prefixes.extend(prefixes)
        planned.texts.extend(texts)
        planned.reasons.extend(reasons)
        planned.prices.extend(map(price_of.__getitem__, prefixes))
        if self.local_at:
            planned.due.extend(map(self._find_due, contacts, reasons))

    def _find_due(self, candidate: Candidate, reason: str) -> datetime | None:
        if reason or self.local_at is None:
            return None
        due_at = find_place(candidate.phone, candidate.contact_zone, self.time_zone).instant_of(self.local_at)
        return due_at if due_at > self.at else None

    def _arguments(self, after: str, until: int) -> tuple[Any, ...]:
        audience = self.audience
        stage = str(audience.stage) if audience.stage else None
        tags, excluded = list(audience.tags), list(audience.excluded_tags)
        return self.account_id, after, until, CHUNK, tags, stage, excluded, self.at


def _refuse(candidate: Candidate) -> str:
    """Return the reason for which a contact gets no text, whatever the text is; empty for none."""
    if _marks(candidate) == UNMARKED:
        return phones.find_fault(candidate.phone)
    return candidate.exclusion or _refuse_by_gates(candidate) or candidate.restraint or ""


def _refuse_by_gates(candidate: Candidate) -> str:
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
    if candidate.reach == Reach.proven:
        return ""
    verdict = gates.find_verdict(candidate.reach)
    return verdict.code if verdict else phones.find_fault(candidate.phone)


def find_last(found: Sequence[Candidate]) -> str | None:
    """Return the phone after which contacts may follow those that were found; None if they are the last."""
    return found[-1].phone if len(found) == CHUNK else None
