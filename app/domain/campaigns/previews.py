"""Preview campaigns: the recipients, their texts, and the exact cost, before anything is sent."""

import hashlib
import math
import random
import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from decimal import Decimal
from typing import Any, NamedTuple, cast

import orjson
from sqlalchemy import TextClause, text

from app.db.engine import Pool
from app.domain.accounts import queries as accounts
from app.domain.campaigns import account_settings, audience, queries
from app.domain.campaigns.account_settings import AccountSettings
from app.domain.campaigns.audience import Audience
from app.domain.campaigns.errors import OverMaxCredits, PreviewOutdated
from app.domain.campaigns.models import Campaign
from app.domain.campaigns.planning import CHUNK, Plan, Planned
from app.domain.campaigns.samples import Sample
from app.domain.campaigns.texts import Text
from app.domain.contacts import sql as contacts
from app.domain.kernel import smart_encoding, sms_parts
from app.domain.kernel.errors import InvalidInput
from app.domain.kernel.sms_parts import Encoding
from app.domain.kernel.turns import one_at_a_time
from app.domain.kernel.unit_of_work import UnitOfWork
from app.domain.numbers import queries as numbers
from app.domain.quiet_hours import queries as quiet_hours
from app.domain.quiet_hours import windows
from app.domain.quiet_hours.rules import Rulebook
from app.domain.quiet_hours.zones import find_place
from app.domain.segments.compiling import Compiler

SAMPLES = 5
RANDOM_SAMPLES = 2
MOST_CHARACTERS = 20
"""The number of characters outside GSM-7 that a preview lists at most."""

Origin = tuple[str, str | None]
"""The facts that the time zones of a recipient follow from: the first digits of the phone, the zone of the contact."""


@dataclass(slots=True)
class Tally:
    """The figures of planned texts, summed up chunk by chunk."""

    recipients: int = 0
    excluded: Counter[str] = field(default_factory=Counter)
    histogram: Counter[int] = field(default_factory=Counter)
    encodings: Counter[str] = field(default_factory=Counter)
    credits: int = 0
    shortest: Sample | None = None
    longest: Sample | None = None
    incomplete: Sample | None = None
    chance: list[Sample] = field(default_factory=list)
    origins: Counter[Origin] = field(default_factory=Counter)
    characters: Counter[str] = field(default_factory=Counter)
    character_credits: Counter[str] = field(default_factory=Counter)
    _random: random.Random = field(default_factory=lambda: random.Random(0))

    def add(self, planned: Planned) -> None:
        """Add the texts of a chunk."""
        self.excluded.update(filter(None, planned.reasons))
        sent = planned.sent
        if sent.contacts:
            self._sum_up(sent)
            self._choose(sent)

    @property
    def audience(self) -> int:
        """Return the number of contacts of the audience, with those that get no text."""
        return self.recipients + self.excluded.total()

    @property
    def samples(self) -> list[Sample]:
        """Return up to five texts: the shortest, the longest, one with a missing value, and two at random."""
        found = [self.shortest, self.longest, self.incomplete, *self.chance]
        return list({each.contact_id: each for each in found if each}.values())[:SAMPLES]

    @property
    def segments(self) -> int:
        """Return the parts of all texts together."""
        return sum(parts * count for parts, count in self.histogram.items())

    def _sum_up(self, sent: Planned) -> None:
        self.recipients += len(sent.contacts)
        self.origins.update(zip(sent.prefixes, [each.contact_zone for each in sent.contacts], strict=True))
        for (each, price), count in Counter(zip(sent.texts, sent.prices, strict=True)).items():
            self.credits += each.segments * price * count
            self.histogram[each.segments] += count
            self.encodings[each.encoding] += count
            if each.encoding is Encoding.ucs_2:
                self._add_characters(each, price, count)

    def _choose(self, sent: Planned) -> None:
        """Choose the samples: of the random ones, each is any of all texts until now with the same chance."""
        lengths = [len(each.body) for each in sent.texts]
        shortest, longest = (sent.sample(lengths.index(length)) for length in (min(lengths), max(lengths)))
        self.shortest = min(self.shortest or shortest, shortest, key=_length)
        self.longest = max(self.longest or longest, longest, key=_length)
        if not self.incomplete:
            self.incomplete = next((sent.sample(place) for place, each in enumerate(sent.texts) if each.missing), None)
        earlier = self.recipients - len(lengths)
        places = self._random.sample(range(self.recipients), min(RANDOM_SAMPLES, self.recipients))
        for slot, place in enumerate(places):
            if place >= earlier:
                self.chance[slot : slot + 1] = [sent.sample(place - earlier)]

    def _add_characters(self, ucs_2: Text, price: int, count: int) -> None:
        extra = price * (ucs_2.segments - sms_parts.count_gsm_7(len(ucs_2.body)))
        for character in sms_parts.find_outside(ucs_2.body):
            self.characters[character] += count
            self.character_credits[character] += extra * count


def _length(sample: Sample) -> int:
    return len(sample.body)


class CostlyCharacter(NamedTuple):
    """A character outside GSM-7, the number of texts with it, and the credits that these cost more than in GSM-7.

    `replacement` is the text that smart encoding writes instead; None where there is nothing.
    """

    character: str
    replacement: str | None
    texts: int
    credits: int


class Start(NamedTuple):
    """The time for which a campaign is previewed: `at`, or `local_at` on the clocks of its recipients."""

    at: datetime | None = None
    local_at: datetime | None = None

    def times(self, campaign: Campaign, now: datetime) -> tuple[datetime, datetime | None]:
        """Return both for a campaign: without a time it starts as scheduled, or now; none starts in the past."""
        return max(self.at or campaign.scheduled_at or now, now), self.local_at or campaign.local_at


AS_PLANNED = Start()


class ZoneCount(NamedTuple):
    """The number of recipients who may be in the same time zones.

    Their texts may leave from `opens_at`: the time for which they are sent, or the next one that is daytime in all of
    the zones. It is None where there is no such time within two weeks.
    """

    zones: tuple[str, ...]
    opens_at: datetime | None
    recipients: int


_PREVIEW_ID = re.compile(r"([0-9]{1,18})-([0-9]{1,18})(?:-.*)?")


class Shown(NamedTuple):
    """The size of the audience that a preview showed, and the credits."""

    size: int
    credits: int


class LookedAt(NamedTuple):
    """A chunk of contacts: those of an audience, all of them, and the last phone."""

    wanted: int
    contacts: int
    last: str | None


class Counted(NamedTuple):
    """The size that the audience of a preview has now, among the contacts with ids up to one."""

    preview_id: str
    size: int
    until: int


@dataclass(frozen=True, slots=True)
class Preview:
    """The preview of a campaign. `eta_seconds` is the time that its texts need at the paces of the numbers."""

    preview_id: str
    campaign: Campaign
    audience: int
    recipients: int
    excluded: Mapping[str, int]
    histogram: Mapping[int, int]
    encodings: Mapping[str, int]
    characters: Sequence[CostlyCharacter]
    segments: int
    credits: int
    cost: Decimal
    currency: str
    samples: Sequence[Sample]
    eta_seconds: int
    zones: Sequence[ZoneCount]

    @property
    def max_credits(self) -> int:
        """Return the most credits of a campaign sent with this preview: the price, or its limit if lower."""
        limit = self.campaign.max_credits
        return self.credits if limit is None else min(self.credits, limit)


async def preview(unit: UnitOfWork, pool: Pool, id: int, max_segments: int, start: Start = AS_PLANNED) -> Preview:
    """Return the preview of a campaign; raise `NotFound`. It reads each contact of the audience, and writes nothing.

    The previews of an account wait for one another, so that many of them do not hold up others.
    """
    campaign = await queries.get(unit, id)
    chosen = await audience.read(unit, campaign.audience)
    account = await accounts.get_own(unit)
    paces = await _find_paces(unit, campaign)
    book = await quiet_hours.get_book(unit)
    await unit.pause()
    plan = await Plan.of(pool, campaign, chosen, max_segments, unit.clock.now())
    async with one_at_a_time(unit, "previews"):
        tally = await count(pool, plan)
    return Preview(
        preview_id=preview_id(campaign, plan.settings, chosen, Shown(tally.audience, tally.credits)),
        campaign=campaign,
        audience=tally.audience,
        recipients=tally.recipients,
        excluded=dict(sorted(tally.excluded.items())),
        histogram=dict(sorted(tally.histogram.items())),
        encodings=dict(sorted(tally.encodings.items())),
        characters=_characters(tally, fold_accents=plan.settings.fold_accents),
        segments=tally.segments,
        credits=tally.credits,
        cost=tally.credits * account.rate,
        currency=account.currency,
        samples=tally.samples,
        eta_seconds=_eta(tally.segments, paces),
        zones=_zones(tally.origins, account.time_zone, book, *start.times(campaign, plan.at)),
    )


async def count(pool: Pool, plan: Plan) -> Tally:
    """Return the figures of a plan for the contacts that exist now."""
    tally = Tally()
    if plan.audience.is_chosen:
        until = await pool.fetchval(contacts.LAST_ID)
        async for planned in plan.read_all(pool, until):
            tally.add(planned)
    return tally


def preview_id(campaign: Campaign, settings: AccountSettings, chosen: Audience, shown: Shown) -> str:
    """Return the id of a preview: a digest of the content, settings, number and audience, and what it showed."""
    content = campaign.body, campaign.is_smart_encoded, campaign.is_strict, campaign.phone_number_id
    previewed = *content, settings.to_json(), chosen.to_json(), *shown
    digest = hashlib.sha256(orjson.dumps(previewed, option=orjson.OPT_SORT_KEYS)).hexdigest()[:32]
    return f"{shown.size}-{shown.credits}-{digest}"


async def count_again(unit: UnitOfWork, campaign: Campaign, id: str) -> Counted:
    """Count the audience of a preview again, a chunk of contacts at a time, before the campaign is locked.

    Raises `PreviewOutdated` where the campaign is no longer that of the preview.
    """
    chosen, _ = await _read_unchanged(unit, campaign, id)
    async with one_at_a_time(unit, "previews"):
        until = (await unit.execute(text(contacts.LAST_ID))).scalar_one()
        size, after = 0, cast("str | None", "")
        statement, values = _compile(unit, chosen, contacts.COUNT_AUDIENCE)
        while after is not None:
            place = {"after": after, "until": until, "limit": CHUNK}
            looked = LookedAt._make((await unit.execute(statement, values | place)).one())
            size, after = size + looked.wanted, looked.last if looked.contacts == CHUNK else None
    return Counted(id, size, until)


async def check(unit: UnitOfWork, campaign: Campaign, counted: Counted, max_credits: int | None) -> int:
    """Return the credits that a locked campaign may cost: those allowed, or else those of its preview.

    Raises `PreviewOutdated` unless the campaign and the size of its audience are those of the preview, where contacts
    that were added since the audience was counted belong to it, and `OverMaxCredits` where the credits of the preview
    are more than is allowed, by the draft if nothing else is.
    """
    chosen, shown = await _read_unchanged(unit, campaign, counted.preview_id)
    statement, values = _compile(unit, chosen, contacts.COUNT_NEW_AUDIENCE)
    newer = (await unit.execute(statement, values | {"until": counted.until})).scalar_one()
    if counted.size + newer != shown.size:
        raise PreviewOutdated(was=shown.size, change=f"it would reach {counted.size + newer}")
    limit = campaign.max_credits if max_credits is None else max_credits
    if limit is not None and shown.credits > limit:
        raise OverMaxCredits(credits=shown.credits, limit=limit)
    return shown.credits if max_credits is None else max_credits


async def _read_unchanged(unit: UnitOfWork, campaign: Campaign, id: str) -> tuple[Audience, Shown]:
    """Return the audience of a campaign, and what its preview showed; raise `PreviewOutdated` if they do not match."""
    parts = _PREVIEW_ID.fullmatch(id)
    if parts is None:
        raise InvalidInput(reason="preview_id must be that of a preview.", field="preview_id")
    shown = Shown(int(parts[1]), int(parts[2]))
    chosen = await audience.read(unit, campaign.audience)
    if preview_id(campaign, await account_settings.find(unit, campaign), chosen, shown) != id:
        change = "its text, number or audience is another, or a setting of the account that they depend on"
        raise PreviewOutdated(was=shown.size, change=change)
    return chosen, shown


def _compile(unit: UnitOfWork, chosen: Audience, counting: str) -> tuple[TextClause, dict[str, Any]]:
    """Return a statement that counts contacts of an audience, and the values of it."""
    compiler, filter = Compiler(unit.clock.now()), chosen.find_filter()
    which = compiler.compile(filter) if filter else "true"
    wanted = {
        "account_id": unit.actor.account_id,
        "tags": list(chosen.tags),
        "stage": str(chosen.stage) if chosen.stage else None,
        "ids": list(chosen.contact_ids),
    }
    return text(counting.format(which=which)), wanted | compiler.parameters


async def find_eta(unit: UnitOfWork, campaign: Campaign, segments: int) -> int:
    """Return the seconds that parts of a campaign need at best; 0 where one of its numbers has no pace."""
    return _eta(segments, await _find_paces(unit, campaign))


async def _find_paces(unit: UnitOfWork, campaign: Campaign) -> list[float | None]:
    """Return the paces of the numbers that the campaign sends from."""
    if campaign.phone_number_id is None:
        return [each.parts_per_second for each in await numbers.list_usual(unit)]
    forced = await numbers.find(unit, campaign.phone_number_id)
    return [forced.parts_per_second] if forced else []


def _eta(segments: int, paces: Sequence[float | None]) -> int:
    """Return the seconds that the paces of the numbers allow at best; 0 where a number has no pace."""
    pace = 0.0 if None in paces else sum(each or 0 for each in paces)
    return math.ceil(segments / pace) if pace else 0


def _characters(tally: Tally, *, fold_accents: bool) -> list[CostlyCharacter]:
    """Return the characters outside GSM-7 of the texts, those that cost most first."""
    dearest = sorted(tally.characters, key=lambda each: (-tally.character_credits[each], each))[:MOST_CHARACTERS]
    return [
        CostlyCharacter(each, found.replacement, tally.characters[each], tally.character_credits[each])
        for each in dearest
        for found in smart_encoding.find_costly(each, fold_accents=fold_accents)
    ]


def _zones(
    origins: Counter[Origin], account_zone: str | None, book: Rulebook, at: datetime, local_at: datetime | None
) -> list[ZoneCount]:
    """Return the recipients by their zones and the time at which their texts may leave, the largest group first."""
    found = Counter[tuple[tuple[str, ...], datetime | None]]()
    for (prefix, contact_zone), count in origins.items():
        place = find_place(prefix, contact_zone, account_zone)
        due_at = max(place.instant_of(local_at), at) if local_at else at
        found[place.zones, windows.find_open(due_at, place.zones, book.week(place.jurisdiction))] += count
    counts = [ZoneCount(*group, count) for group, count in found.items()]
    return sorted(counts, key=lambda each: (-each.recipients, each.zones))
