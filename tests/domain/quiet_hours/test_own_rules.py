"""Rules of an account: adding and removing them, and the choice to override the law."""

import asyncio
from collections.abc import Callable
from contextlib import AbstractAsyncContextManager
from typing import Any

import pytest

from app.db.engine import Pool
from app.domain.kernel.errors import Conflict, InvalidInput, NotFound
from app.domain.kernel.unit_of_work import Actor, UnitOfWork
from app.domain.onboarding.service import Opened
from app.domain.quiet_hours import queries, service
from app.domain.quiet_hours.errors import BelowLegalMinimum
from app.domain.quiet_hours.rules import Weekday
from app.domain.quiet_hours.service import NewRule
from app.domain.quiet_hours.windows import Span
from app.services import Services
from tests.conftest import unit_of
from tests.factories.accounts import AUDIT_ENTRIES
from tests.factories.quiet_hours import QUIET_HOURS_RULES, obey_the_law
from tests.factories.traps import until_blocked
from tests.waiting import within

pytestmark = pytest.mark.anyio

AUDITED = AUDIT_ENTRIES.where(actor="key:7")
Act = Callable[[], AbstractAsyncContextManager[UnitOfWork]]


@pytest.fixture
def pool(services: Services) -> Pool:
    """Provide the database pool."""
    return services.database.pool


@pytest.fixture(autouse=True)
async def law(pool: Pool, account: Opened) -> None:
    """Let the account obey the rules of law only."""
    await obey_the_law(pool)


@pytest.fixture
def act(services: Services, account: Opened) -> Act:
    """Provide a function that opens a unit of work of the account."""
    return lambda: unit_of(services, Actor(account.account_id, frozenset(), "key:7"))


async def test_a_stricter_rule_is_added_to_the_law_and_audited(act: Act, pool: Pool) -> None:
    async with act() as unit:
        rule = await service.add(unit, NewRule("us-fl", "10:00", "18:00", cap=2))
    async with act() as unit:
        book = await queries.get_book(unit)

    assert (rule.jurisdiction, rule.span, rule.cap) == ("US-FL", Span(600, 1080), 2)
    assert book.week("US-FL") == (Span(600, 1080),) * 7
    assert book.cap("US-FL") == (2, rule.id)
    ((action, subject, details),) = await AUDITED.read(pool, "action", "subject", "details")
    assert (action, subject) == ("quiet_hours_added", "US-FL")
    assert details["rule"] == rule.id
    assert (details["start"], details["end"], details["cap"]) == ("10:00", "18:00", 2)


@pytest.mark.parametrize(
    ("new", "says"),
    [
        (NewRule("US-FL", "07:00", "18:00"), "08:00 to 20:00"),
        (NewRule("US-FL", "08:00", "21:00"), "08:00 to 20:00"),
        (NewRule("US-FL", "08:00", "20:00", cap=4), "3 texts"),
        (NewRule("US-TX", "09:00", "21:00"), "sunday is 12:00 to 21:00"),
        (NewRule("*", "08:00", "22:00"), "08:00 to 21:00"),
    ],
)
async def test_a_looser_rule_is_refused_without_the_choice_to_override_the_law(
    act: Act, pool: Pool, new: NewRule, says: str
) -> None:
    with pytest.raises(BelowLegalMinimum, match=says):
        async with act() as unit:
            await service.add(unit, new)

    assert await QUIET_HOURS_RULES.count(pool) == 0
    assert await AUDITED.count(pool) == 0


async def test_a_looser_rule_overrides_the_law_for_a_reason_that_is_audited(act: Act, pool: Pool) -> None:
    async with act() as unit:
        await service.add(
            unit, NewRule("US-FL", "08:00", "21:00", overrides_law=True, reason="Our counsel's advice of 2026-11-02")
        )
    async with act() as unit:
        book = await queries.get_book(unit)

    assert book.week("US-FL") == (Span(480, 1260),) * 7
    (details,) = await AUDITED.read(pool, "details")
    assert (details["overrides_law"], details["reason"]) == (True, "Our counsel's advice of 2026-11-02")


async def test_a_day_can_be_closed(act: Act) -> None:
    async with act() as unit:
        await service.add(unit, NewRule("*", "00:00", "00:00", weekdays=[Weekday.sunday]))
    async with act() as unit:
        book = await queries.get_book(unit)

    assert book.week("US-NY")[5:] == (Span(480, 1260), Span(0, 0))


@pytest.mark.parametrize(
    ("changed", "field"),
    [
        ({"jurisdiction": "US-XX"}, "jurisdiction"),
        ({"jurisdiction": ""}, "jurisdiction"),
        ({"cap": 1, "weekdays": [Weekday.sunday]}, "cap"),
        ({"start": "8"}, "start"),
        ({"end": "24:30"}, "end"),
        ({"start": "20:00", "end": "10:00"}, "end"),
        ({"cap": 0}, "cap"),
        ({"cap": 1001}, "cap"),
        ({"overrides_law": True}, "reason"),
        ({"overrides_law": True, "reason": " "}, "reason"),
        ({"reason": "A" * 501}, "reason"),
    ],
)
async def test_a_rule_that_makes_no_sense_is_refused(act: Act, pool: Pool, changed: dict[str, Any], field: str) -> None:
    with pytest.raises(InvalidInput) as caught:
        async with act() as unit:
            await service.add(unit, NewRule(**{"jurisdiction": "US", "start": "10:00", "end": "18:00"} | changed))

    assert caught.value.field == field
    assert await QUIET_HOURS_RULES.count(pool) == 0


async def test_a_rule_is_removed_and_that_is_audited(act: Act, pool: Pool) -> None:
    async with act() as unit:
        rule = await service.add(unit, NewRule("US", "10:00", "18:00"))
    async with act() as unit:
        await service.remove(unit, rule.id)

    assert await QUIET_HOURS_RULES.count(pool) == 0
    assert await AUDITED.read(pool, "action") == ["quiet_hours_added", "quiet_hours_removed"]


async def test_a_rule_of_law_stays(act: Act) -> None:
    with pytest.raises(Conflict, match=r"US-AL\.sunday is a rule of law, which cannot be removed"):
        async with act() as unit:
            await service.remove(unit, "US-AL.sunday")


@pytest.mark.parametrize("id", ["{id}", "own.", "own.0", "own.{id}0", "own.-{id}", "own.99999999999999999999", "US-XX"])
async def test_a_rule_is_removed_by_its_own_id_alone(act: Act, pool: Pool, id: str) -> None:
    async with act() as unit:
        rule = await service.add(unit, NewRule("US", "10:00", "18:00"))
    with pytest.raises(NotFound):
        async with act() as unit:
            await service.remove(unit, id.format(id=rule.own_id))

    assert await QUIET_HOURS_RULES.count(pool) == 1


async def test_another_accounts_rule_is_not_found(act: Act, services: Services, new_account: Any, pool: Pool) -> None:
    async with act() as unit:
        rule = await service.add(unit, NewRule("US", "10:00", "18:00"))
    stranger = Actor((await new_account()).account_id, frozenset(), "key:8")
    await QUIET_HOURS_RULES.where(account_id=stranger.account_id).delete(pool)

    with pytest.raises(NotFound):
        async with unit_of(services, stranger) as unit:
            await service.remove(unit, rule.id)
    async with unit_of(services, stranger) as unit:
        assert await queries.get_book(unit) == queries.OF_LAW
    assert await QUIET_HOURS_RULES.count(pool) == 1


async def test_an_account_has_at_most_a_hundred_rules(act: Act, pool: Pool) -> None:
    async with act() as unit:
        for _ in range(service.MAX_RULES):
            await service.add(unit, NewRule("US", "10:00", "18:00"))

    with pytest.raises(Conflict, match="at most 100"):
        async with act() as unit:
            await service.add(unit, NewRule("US", "10:00", "18:00"))


async def test_of_two_rules_that_are_added_at_once_the_one_too_many_is_refused(
    act: Act, pool: Pool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(service, "MAX_RULES", 1)

    async def add() -> None:
        async with act() as unit:
            await service.add(unit, NewRule("US", "10:00", "18:00"))

    async with act() as unit:
        await service.add(unit, NewRule("US", "10:00", "18:00"))
        other = asyncio.create_task(add())
        await until_blocked(pool)

    with pytest.raises(Conflict, match="at most 1 rules"):
        await within("the other rule", other)
    assert await QUIET_HOURS_RULES.count(pool) == 1
