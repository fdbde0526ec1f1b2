"""Long work in the event loop lets other tasks go on."""

import asyncio
from contextlib import AsyncExitStack

import pytest

from app.domain.contacts import queries
from app.domain.contacts import service as contacts
from app.domain.kernel import turns
from app.domain.kernel.turns import in_turns, one_at_a_time
from app.domain.kernel.unit_of_work import Actor, UnitOfWork
from app.services import Services
from tests.conftest import unit_of
from tests.waiting import within

pytestmark = pytest.mark.anyio


@pytest.mark.parametrize(("seconds", "order"), [(-1, "a0 b0 a1 b1 a2 b2"), (3600, "a0 a1 a2 b0 b1 b2")])
async def test_work_takes_turns_with_other_work(monkeypatch: pytest.MonkeyPatch, seconds: float, order: str) -> None:
    monkeypatch.setattr(turns, "TURN_SECONDS", seconds)
    done: list[str] = []

    async def work(name: str) -> None:
        async for number in in_turns(range(3)):
            done.append(f"{name}{number}")

    await asyncio.gather(work("a"), work("b"))

    assert " ".join(done) == order


async def read(unit: UnitOfWork, kind: str) -> str:
    async with one_at_a_time(unit, kind):
        return kind


async def test_an_expensive_read_waits_for_another_of_its_kind_and_account(services: Services) -> None:
    async with AsyncExitStack() as stack:
        actors = [Actor(account_id, frozenset()) for account_id in (1, 1, 2)]
        mine, second, other = [await stack.enter_async_context(unit_of(services, actor)) for actor in actors]
        async with one_at_a_time(mine, "counts"):
            waiting = asyncio.create_task(read(second, "counts"))
            others = await within("reads of others", asyncio.gather(read(other, "counts"), read(mine, "searches")))
            has_waited = not waiting.done()

        assert await within("the read that waited", waiting) == "counts"
    assert (others, has_waited) == (["counts", "searches"], True)


async def test_an_expensive_read_after_a_change_of_the_same_transaction_waits_for_none(
    services: Services, unit: UnitOfWork
) -> None:
    await contacts.create(unit, {"phone": "+12025550143"})
    async with unit_of(services, unit.actor) as reading, one_at_a_time(reading, "counts"):
        assert await within("the read of the unit that has written", read(unit, "counts")) == "counts"

    assert [each.phone for each in await queries.find_exact(unit, "+12025550143", None)] == ["+12025550143"]
