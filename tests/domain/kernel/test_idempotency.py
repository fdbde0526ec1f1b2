"""Requests that are sent again."""

import asyncio
from collections.abc import Callable
from typing import Any

import pytest
from sqlalchemy import text

from app.domain.kernel.errors import Conflict, InvalidInput
from app.domain.kernel.idempotency import IdempotencyKeyReused, Once, OwnKey, fingerprint, once
from app.domain.kernel.unit_of_work import UnitOfWork
from app.domain.onboarding.service import Opened
from app.services import Services
from tests.domain.conftest import UnitFor
from tests.factories.events import IDEMPOTENCY_KEYS
from tests.waiting import within

DIGEST = fingerprint("paint", colour="red")


class Act:
    """Something to be done, that counts how often it was."""

    def __init__(self) -> None:
        self.times = 0

    async def __call__(self) -> dict[str, Any]:
        self.times += 1
        return {"painted": self.times, "é": [None, 1.5]}


async def test_a_request_without_a_key_is_done_each_time(unit: UnitOfWork) -> None:
    act = Act()

    answers = [await once(unit, None, DIGEST, act) for _ in range(2)]

    assert [(each.answer["painted"], each.replayed) for each in answers] == [(1, False), (2, False)]


async def test_a_request_that_is_sent_again_gets_the_same_answer_and_is_not_done_again(
    account: Opened, unit_for: UnitFor
) -> None:
    act, answers = Act(), list[Once]()

    for _ in range(3):
        async with unit_for(account) as unit:
            answers.append(await once(unit, "key 1", DIGEST, act))

    answer = {"painted": 1, "é": [None, 1.5]}
    assert answers == [Once(answer, replayed=False), Once(answer, replayed=True), Once(answer, replayed=True)]
    assert act.times == 1


async def test_a_key_that_was_used_for_another_request_is_refused(account: Opened, unit_for: UnitFor) -> None:
    act = Act()
    async with unit_for(account) as unit:
        await once(unit, "key 1", DIGEST, act)

        with pytest.raises(IdempotencyKeyReused) as refused:
            await once(unit, "key 1", fingerprint("paint", colour="blue"), act)

    sentence = "The idempotency key 'key 1' was used for another request. Use a new key for a new request."
    assert (str(refused.value), act.times) == (sentence, 1)


async def test_an_act_that_fails_leaves_its_key_free(services: Services, account: Opened, unit_for: UnitFor) -> None:
    async def refuse() -> dict[str, Any]:
        raise Conflict(reason="Not now.")

    async def ask(act: Callable[..., Any]) -> Once:
        async with unit_for(account) as unit:
            return await once(unit, "key 1", DIGEST, act)

    with pytest.raises(Conflict):
        await ask(refuse)

    assert await IDEMPOTENCY_KEYS.count(services) == 0
    assert (await ask(Act())).replayed is False


async def test_of_two_requests_with_one_key_at_once_one_is_done_and_both_are_answered(
    account: Opened, unit_for: UnitFor
) -> None:
    act, begun = Act(), asyncio.Barrier(2)

    async def ask() -> Once:
        async with unit_for(account) as unit:
            await unit.execute(text("SELECT 1"))
            await within("both to begin", begun.wait())
            return await once(unit, "key 1", DIGEST, act)

    answers = await asyncio.gather(ask(), ask())

    assert act.times == 1
    assert sorted(each.replayed for each in answers) == [False, True]
    assert answers[0].answer == answers[1].answer


async def test_a_request_that_waited_for_one_that_failed_is_done_itself(account: Opened, unit_for: UnitFor) -> None:
    claimed, fail = asyncio.Event(), asyncio.Event()

    async def refuse() -> dict[str, Any]:
        claimed.set()
        await within("the test to let the first one fail", fail.wait())
        raise Conflict(reason="Not now.")

    async def ask(act: Callable[..., Any]) -> Once:
        async with unit_for(account) as unit:
            return await once(unit, "key 1", DIGEST, act)

    first = asyncio.create_task(ask(refuse))
    await within("the first request to claim the key", claimed.wait())
    second = asyncio.create_task(ask(Act()))
    fail.set()
    await within("first to end", asyncio.wait([first, second]))

    assert isinstance(first.exception(), Conflict)
    assert second.result().replayed is False


async def test_keys_of_two_accounts_are_two_keys(
    account: Opened, new_account: Callable[..., Any], unit_for: UnitFor
) -> None:
    act = Act()

    for each in (account, await new_account()):
        async with unit_for(each) as unit:
            assert (await once(unit, "key 1", DIGEST, act)).replayed is False

    assert act.times == 2


@pytest.mark.parametrize("key", ["", "k" * 256])
async def test_a_key_has_1_to_255_characters(unit: UnitOfWork, key: str) -> None:
    act = Act()

    with pytest.raises(InvalidInput, match=r"^The idempotency key must have 1 to 255 characters.$"):
        await once(unit, key, DIGEST, act)

    assert act.times == 0
    assert (await once(unit, "é" * 255, DIGEST, act)).replayed is False


async def test_a_key_of_the_services_own_is_one_that_no_caller_can_send(unit: UnitOfWork) -> None:
    own = OwnKey("step", 4, 1)

    assert (await once(unit, own, DIGEST, Act())).replayed is False
    assert (await once(unit, OwnKey("step", 4, 1), DIGEST, Act())).replayed is True
    assert (await once(unit, OwnKey("step", 41), DIGEST, Act())).replayed is False
    with pytest.raises(InvalidInput, match=r"^The idempotency key must not begin with the character U\+001F.$"):
        await once(unit, str(own), DIGEST, Act())


def test_a_fingerprint_depends_on_the_arguments_and_not_on_their_order() -> None:
    assert fingerprint("paint", colour="red", size=1) == fingerprint("paint", size=1, colour="red")
    different = [
        fingerprint("paint", colour="red"),
        fingerprint("paint", colour="RED"),
        fingerprint("paint", colour=None),
        fingerprint("paint"),
        fingerprint("wash", colour="red"),
        fingerprint("paint", colour=["red"]),
    ]
    assert len(set(different)) == 6
