"""Preview campaigns: who gets which text, and its exact cost, before anything is sent."""

import hashlib
import random
from collections import Counter
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field
from decimal import Decimal

import orjson
from sqlalchemy import text

from app.db.engine import Pool
from app.domain.accounts import queries as accounts
from app.domain.campaigns import queries
from app.domain.campaigns.audience import Audience
from app.domain.campaigns.errors import OverMaxCredits, PreviewOutdated
from app.domain.campaigns.models import Campaign
from app.domain.campaigns.planning import Plan, Planned
from app.domain.contacts import sql as contacts
from app.domain.kernel.errors import InvalidInput
from app.domain.kernel.unit_of_work import UnitOfWork
from app.domain.numbers import queries as numbers

SAMPLES = 5
RANDOM_SAMPLES = 2

Pause = Callable[[], Awaitable[None]]


@dataclass(slots=True)
class Tally:
    """The figures of planned texts, summed up chunk by chunk."""

    recipients: int = 0
    excluded: Counter[str] = field(default_factory=Counter[str])
    histogram: Counter[int] = field(default_factory=Counter[int])
    encodings: Counter[str] = field(default_factory=Counter[str])
    credits: int = 0
    shortest: Planned | None = None
    longest: Planned | None = None
    incomplete: Planned | None = None
    chance: list[Planned] = field(default_factory=list[Planned])
    _random: random.Random = field(default_factory=lambda: random.Random(0))

    def add(self, planned: Sequence[Planned]) -> None:
        """Add the texts of a chunk."""
        for each in planned:
            if each.reason:
                self.excluded[each.reason] += 1
            else:
                self._add(each)

    @property
    def audience(self) -> int:
        """Return the number of contacts of the audience, with those that get no text."""
        return self.recipients + self.excluded.total()

    @property
    def samples(self) -> list[Planned]:
        """Return up to five texts: the shortest, the longest, one with a missing value, and two at random."""
        found = [self.shortest, self.longest, self.incomplete, *self.chance]
        return list({each.contact_id: each for each in found if each}.values())[:SAMPLES]

    @property
    def segments(self) -> int:
        """Return the parts of all texts together."""
        return sum(parts * count for parts, count in self.histogram.items())

    def _add(self, each: Planned) -> None:
        self.recipients += 1
        self.histogram[each.segments] += 1
        self.encodings[each.encoding] += 1
        self.credits += each.credits
        if self.shortest is None or len(each.body) < len(self.shortest.body):
            self.shortest = each
        if self.longest is None or len(each.body) > len(self.longest.body):
            self.longest = each
        if each.missing and self.incomplete is None:
            self.incomplete = each
        if len(self.chance) < RANDOM_SAMPLES:
            self.chance.append(each)
        elif (place := self._random.randrange(self.recipients)) < RANDOM_SAMPLES:
            self.chance[place] = each


@dataclass(frozen=True, slots=True)
class Preview:
    """The preview of a campaign. `eta_seconds` is the time that its texts need at the paces of the numbers."""

    preview_id: str
    audience: int
    recipients: int
    excluded: Mapping[str, int]
    histogram: Mapping[int, int]
    encodings: Mapping[str, int]
    segments: int
    credits: int
    cost: Decimal
    currency: str
    balance: int
    samples: Sequence[Planned]
    eta_seconds: int


async def preview(unit: UnitOfWork, pool: Pool, id: int, max_segments: int, pause: Pause) -> Preview:
    """Return the preview of a campaign; raise `NotFound`. It reads each contact of the audience, and writes nothing.

    `pause` lets others go on between two chunks.
    """
    campaign = await queries.get(unit, id)
    account = await accounts.get_own(unit)
    paces = [each.parts_per_second for each in await numbers.list_active(unit)]
    await unit.pause()
    tally = await count(pool, await Plan.of(pool, campaign, max_segments), pause)
    return Preview(
        preview_id=preview_id(campaign, tally.audience, tally.credits),
        audience=tally.audience,
        recipients=tally.recipients,
        excluded=dict(sorted(tally.excluded.items())),
        histogram=dict(sorted(tally.histogram.items())),
        encodings=dict(sorted(tally.encodings.items())),
        segments=tally.segments,
        credits=tally.credits,
        cost=tally.credits * account.rate,
        currency=account.currency,
        balance=account.balance,
        samples=tally.samples,
        eta_seconds=_eta(tally.segments, paces),
    )


async def count(pool: Pool, plan: Plan, pause: Pause) -> Tally:
    """Return the figures of a plan for the contacts that exist now."""
    tally = Tally()
    if plan.audience.is_chosen:
        until = await pool.fetchval(contacts.LAST_ID)
        async for planned in plan.read_all(pool, until):
            tally.add(planned)
            await pause()
    return tally


def preview_id(campaign: Campaign, audience: int, credits: int) -> str:
    """Return the id of what a preview has shown: the content, the audience, its size and the credits."""
    shown = [campaign.body, campaign.audience, campaign.is_smart_encoded, campaign.is_strict, audience, credits]
    digest = hashlib.sha256(orjson.dumps(shown, option=orjson.OPT_SORT_KEYS)).hexdigest()[:32]
    return f"{audience}-{credits}-{digest}"


async def check(unit: UnitOfWork, campaign: Campaign, id: str, max_credits: int | None) -> None:
    """Raise `PreviewOutdated` unless a campaign and the size of its audience are those of a preview.

    Raises `OverMaxCredits` where the credits of the preview are more than allowed.
    """
    try:
        was, credits = (int(part) for part in id.split("-")[:2])
    except ValueError:
        raise InvalidInput(reason="preview_id must be that of a preview.", field="preview_id") from None
    if preview_id(campaign, was, credits) != id:
        raise PreviewOutdated(was=was, change="its text, number or audience is another")
    now = await _count_audience(unit, Audience.from_json(campaign.audience))
    if now != was:
        raise PreviewOutdated(was=was, change=f"it would reach {now}")
    if max_credits is not None and credits > max_credits:
        raise OverMaxCredits(credits=credits, limit=max_credits)


async def _count_audience(unit: UnitOfWork, audience: Audience) -> int:
    wanted = {
        "account_id": unit.actor.account_id,
        "tags": list(audience.tags),
        "stage": str(audience.stage) if audience.stage else None,
        "ids": list(audience.contact_ids),
    }
    return (await unit.execute(text(contacts.COUNT_AUDIENCE), wanted)).scalar_one()


def _eta(segments: int, paces: Sequence[float | None]) -> int:
    """Return the seconds that the paces of the numbers allow at best; 0 where a number has no pace."""
    return 0 if not paces or None in paces else -(-segments // max(1, int(sum(pace or 0 for pace in paces))))
