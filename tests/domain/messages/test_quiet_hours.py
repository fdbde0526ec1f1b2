"""Quiet hours and frequency caps of messages: accept puts a text off, and hand-off checks again."""

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from app.db.engine import Pool
from app.domain.contacts import service as contacts
from app.domain.erasure import service as erasure
from app.domain.kernel.unit_of_work import Actor
from app.domain.messages.acceptor import SendAcceptor
from app.domain.messages.eligibility.gates import GateName
from app.domain.messages.handoff import Handoff
from app.domain.messages.models import Purpose
from app.domain.messages.sending.acceptance import Acceptance
from app.domain.messages.sending.explanation import Explanation, Verdict
from app.domain.onboarding.service import Opened
from app.domain.quiet_hours import service as quiet_hours
from app.domain.quiet_hours.errors import FrequencyCap, QuietHours
from app.domain.quiet_hours.service import NewRule
from app.domain.quiet_hours.windows import JITTER
from app.services import Services
from tests.domain.messages.handing import hand_over
from tests.domain.messages.sends import TO, hello, nothing_was_kept
from tests.factories.accounts import ACCOUNTS
from tests.factories.billing import audit, balance_of, entries
from tests.factories.clocks import At
from tests.factories.contacts import CONTACTS, suppress
from tests.factories.events import EVENTS
from tests.factories.messages import MESSAGES, OUTGOING, calls, states
from tests.factories.quiet_hours import CAPPED_TEXTS, obey_the_law

FLORIDA, EASTERN = "+13052345678", "America/New_York"
NOON = datetime(2030, 1, 15, 17, tzinfo=UTC)
NIGHT = datetime(2030, 1, 16, 2, tzinfo=UTC)
MORNING = datetime(2030, 1, 16, 13, tzinfo=UTC)
"""A Tuesday noon in the east of the USA, the evening after it at 21:00, and the next morning at 08:00."""

Promote = Callable[..., Awaitable[Acceptance]]


@pytest.fixture(autouse=True)
async def law(pool: Pool, account: Opened) -> None:
    """Let the account obey the rules of law only."""
    await obey_the_law(pool)


@pytest.fixture
def clock() -> At:
    """Provide a clock that stands at noon."""
    return At(NOON)


@pytest.fixture
def acceptor(services: Services, clock: At) -> SendAcceptor:
    """Provide an acceptor with that clock."""
    return SendAcceptor(services.database.pool, clock, services.notify, services.connections)


@pytest.fixture
def promote(acceptor: SendAcceptor, actor: Actor) -> Promote:
    """Provide a function that sends a promotional text."""

    async def promote(to: str = TO, **wishes: Any) -> Acceptance:
        return await acceptor.accept(actor, hello(to, **{"purpose": Purpose.promotional} | wishes))

    return promote


@pytest.fixture
def explain(acceptor: SendAcceptor, actor: Actor) -> Callable[..., Awaitable[Explanation]]:
    """Provide a function that explains a promotional text."""

    async def explain(to: str = TO) -> Explanation:
        return await acceptor.explain(actor, hello(to, purpose=Purpose.promotional))

    return explain


def of(handoff: Handoff, clock: At) -> Handoff:
    return replace(handoff, clock=clock)


def is_spread_from(instant: datetime, opening: datetime) -> bool:
    return opening <= instant <= opening + JITTER


async def test_a_promotional_text_leaves_at_once_in_the_window(
    promote: Promote, handoff: Handoff, clock: At, pool: Pool
) -> None:
    await promote()
    await hand_over(of(handoff, clock))

    assert await MESSAGES.read(pool, "status", "deferred_until", "deferral_rule") == [("sent", None, None)]


async def test_a_promotional_text_at_night_is_debited_and_waits_for_the_morning(
    promote: Promote, handoff: Handoff, clock: At, pool: Pool
) -> None:
    clock.instant = NIGHT
    await promote()
    await hand_over(of(handoff, clock))

    until = await MESSAGES.only(pool, "deferred_until")
    assert is_spread_from(until, MORNING)
    assert await MESSAGES.read(pool, "status", "deferral_rule", "deferral_zones") == [("pending", "US", [EASTERN])]
    assert await OUTGOING.read(pool, "due_at", "expires_at") == [(until, NIGHT + timedelta(hours=72))]
    assert await calls(pool) == []
    assert [amount for _, amount, _ in await entries(pool)] == [-1]


async def test_a_text_whose_gates_cannot_be_checked_holds_up_no_other(
    promote: Promote, handoff: Handoff, clock: At, pool: Pool
) -> None:
    reported: list[Exception] = []
    asyncio.get_running_loop().set_exception_handler(lambda _, context: reported.append(context["exception"]))
    for phone in ("+12025550141", TO, "+12025550144"):
        await promote(phone)
    await CONTACTS.where(phone=TO).change(pool, time_zone="Gone/Zone")

    await hand_over(of(handoff, clock))

    assert await states(pool) == [("sent", None), ("pending", None), ("sent", None)]
    assert [count for _, count in await calls(pool)] == [1, 1]
    assert [str(error) for error in reported] == ["'No time zone found with key Gone/Zone'"]


async def test_a_deferred_text_leaves_at_its_time(promote: Promote, handoff: Handoff, clock: At, pool: Pool) -> None:
    clock.instant = NIGHT
    await promote()
    clock.instant = MORNING + JITTER
    await hand_over(of(handoff, clock))

    assert await states(pool) == [("sent", None)]
    assert await CAPPED_TEXTS.read(pool, "phone", "at") == [(TO, clock.instant)]
    await audit(pool)


async def test_hand_off_defers_a_text_whose_window_has_closed_meanwhile(
    promote: Promote, handoff: Handoff, clock: At, pool: Pool
) -> None:
    clock.instant = NIGHT - timedelta(minutes=1)
    await promote()
    clock.instant = NIGHT
    await hand_over(of(handoff, clock))

    until = await MESSAGES.only(pool, "deferred_until")
    assert is_spread_from(until, MORNING)
    assert await OUTGOING.read(pool, "due_at", "claimed_until", "attempts") == [(until, None, 0)]
    assert await CAPPED_TEXTS.only(pool, "at") == until
    assert await calls(pool) == []


async def test_a_text_that_cannot_leave_within_three_days_fails_and_is_refunded(
    promote: Promote, handoff: Handoff, clock: At, account: Opened, pool: Pool
) -> None:
    clock.instant = NIGHT
    await promote()
    clock.instant = NIGHT + timedelta(hours=72)
    await hand_over(of(handoff, clock))

    assert await states(pool) == [("failed", "expired")]
    assert await balance_of(pool, account.account_id) == 1000
    assert await CAPPED_TEXTS.count(pool) == 0
    assert await calls(pool) == []
    await audit(pool)


async def test_a_phone_that_opts_out_before_its_deferred_text_leaves_gets_none(
    promote: Promote, handoff: Handoff, clock: At, account: Opened, pool: Pool
) -> None:
    clock.instant = NIGHT
    await promote()
    await suppress(pool, account.account_id, TO)
    clock.instant = MORNING + JITTER
    await hand_over(of(handoff, clock))

    assert await states(pool) == [("failed", "contact_opted_out")]
    assert await CAPPED_TEXTS.count(pool) == 0
    assert await calls(pool) == []


async def test_a_send_that_cannot_wait_is_refused_and_says_until_when(
    promote: Promote, clock: At, pool: Pool, account: Opened
) -> None:
    clock.instant = NIGHT
    for wishes in ({"can_wait": False}, {"claim": timedelta(seconds=30)}):
        with pytest.raises(QuietHours) as caught:
            await promote(**wishes)
        assert caught.value.not_before is not None
        assert is_spread_from(caught.value.not_before, MORNING)

    assert await nothing_was_kept(pool)
    assert await EVENTS.where(name="send_blocked").count(pool) == 2


async def test_other_texts_leave_at_any_hour(
    acceptor: SendAcceptor, actor: Actor, handoff: Handoff, clock: At, pool: Pool
) -> None:
    clock.instant = NIGHT
    for purpose in (Purpose.transactional, Purpose.conversational):
        await acceptor.accept(actor, hello(purpose=purpose))
    await hand_over(of(handoff, clock))

    assert await states(pool) == [("sent", None)] * 2
    assert await CAPPED_TEXTS.count(pool) == 0


async def test_transactional_texts_wait_where_the_account_asks_for_it(
    acceptor: SendAcceptor, actor: Actor, clock: At, pool: Pool
) -> None:
    await ACCOUNTS.change(pool, limits_transactional=True)
    clock.instant = NIGHT
    await acceptor.accept(actor, hello())
    await acceptor.accept(actor, hello(purpose=Purpose.conversational))

    assert await MESSAGES.read(pool, "purpose", "deferral_rule") == [("transactional", "US"), ("conversational", None)]


async def test_the_fourth_text_of_a_day_to_florida_waits_until_the_first_is_a_day_old(
    promote: Promote, handoff: Handoff, clock: At, pool: Pool
) -> None:
    for minutes in range(4):
        clock.instant = NOON + timedelta(minutes=minutes)
        await promote(FLORIDA)
        await hand_over(of(handoff, clock))

    rules = await MESSAGES.read(pool, "deferral_rule")
    until = (await MESSAGES.read(pool, "deferred_until"))[3]
    assert rules == [None, None, None, "US-FL"]
    assert is_spread_from(until, NOON + timedelta(hours=24))


async def test_texts_of_one_batch_to_a_phone_count_for_one_another(
    acceptor: SendAcceptor, actor: Actor, pool: Pool
) -> None:
    wish = hello(FLORIDA, purpose=Purpose.promotional)
    await asyncio.gather(*(acceptor.accept(actor, wish) for _ in range(5)))

    assert sorted(rule or "" for rule in await MESSAGES.read(pool, "deferral_rule")) == ["", "", "", "US-FL", "US-FL"]


async def test_the_seventh_text_of_a_week_is_refused_where_it_would_wait_for_more_than_three_days(
    promote: Promote, clock: At, pool: Pool
) -> None:
    for _ in range(6):
        await promote()

    with pytest.raises(FrequencyCap, match=r"account\.week"):
        await promote()

    assert await MESSAGES.count(pool) == 6


async def test_hand_off_counts_the_texts_that_left_before(
    promote: Promote, handoff: Handoff, clock: At, pool: Pool
) -> None:
    clock.instant = NIGHT
    for _ in range(4):
        await promote(FLORIDA)
    clock.instant = MORNING + timedelta(hours=30)
    await hand_over(of(handoff, clock))

    assert sorted(await MESSAGES.read(pool, "status")) == ["pending", "sent", "sent", "sent"]


async def test_the_time_zone_of_the_contact_decides(
    promote: Promote, act: Callable[[], Any], clock: At, pool: Pool
) -> None:
    async with act() as unit:
        await contacts.create(unit, {"phone": TO, "time_zone": "pacific/honolulu"})
    clock.instant = NIGHT
    await promote()

    assert await MESSAGES.read(pool, "deferred_until", "deferral_zones") == [(None, None)]


async def test_a_rule_of_the_account_that_overrides_the_law_decides(
    promote: Promote, act: Callable[[], Any], clock: At, pool: Pool
) -> None:
    async with act() as unit:
        await quiet_hours.add(unit, NewRule("US", "00:00", "24:00", overrides_law=True, reason="Our counsel says so."))
    clock.instant = NIGHT
    await promote()

    assert await MESSAGES.only(pool, "deferred_until") is None


async def test_each_account_of_a_batch_has_its_own_rules(
    acceptor: SendAcceptor,
    actor: Actor,
    new_account: Callable[..., Any],
    act: Callable[[], Any],
    clock: At,
    pool: Pool,
) -> None:
    other = replace(actor, account_id=(await new_account()).account_id)
    await obey_the_law(pool)
    async with act() as unit:
        await quiet_hours.add(unit, NewRule("US", "00:00", "24:00", overrides_law=True, reason="Our counsel says so."))
    clock.instant = NIGHT
    phones = [TO, "+12025550144", "+12025550145"]
    texts = [(sender, hello(to, purpose=Purpose.promotional)) for to in phones for sender in (other, actor)]
    await asyncio.gather(*(acceptor.accept(*text) for text in texts))

    waiting = await MESSAGES.read(pool, "account_id", "deferral_rule")
    expected = [(actor.account_id, None)] * 3 + [(other.account_id, "US")] * 3
    assert sorted(waiting, key=tuple) == sorted(expected)


async def test_an_explanation_says_until_when_a_text_waits_and_why(
    explain: Callable[..., Awaitable[Explanation]], clock: At, pool: Pool
) -> None:
    clock.instant = NIGHT
    explained = await explain()

    assert explained.blocked_by is None
    assert [each.gate.name for each in explained.verdicts if each.verdict is Verdict.deferred] == [GateName.quiet_hours]
    timing = explained.facts.timing
    assert timing is not None
    assert timing.place.zones == (EASTERN,)
    assert timing.deferral is not None
    assert timing.deferral.rule == "US"
    assert is_spread_from(timing.deferral.until or NOON, MORNING)
    assert await nothing_was_kept(pool)


async def test_the_deletion_of_a_contact_forgets_the_texts_that_counted(
    promote: Promote, services: Services, account: Opened, pool: Pool, act: Callable[[], Any]
) -> None:
    await promote()
    async with act() as unit:
        await erasure.erase(unit, await MESSAGES.only(pool, "contact_id"))

    assert await CAPPED_TEXTS.count(pool) == 0
