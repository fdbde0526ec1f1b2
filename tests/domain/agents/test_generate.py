"""Writing message copy for one credit."""

from collections.abc import Callable, Sequence
from typing import Any

import pytest

from app.domain.agents import service
from app.domain.agents.service import Copy
from app.domain.agents.writer import Brief, Writer
from app.domain.billing.service import InsufficientCredits
from app.domain.kernel.errors import InvalidInput, Unavailable
from app.domain.kernel.idempotency import IdempotencyKeyReused
from app.domain.kernel.unit_of_work import Actor
from app.domain.messages.requests import Send
from app.domain.onboarding.service import Opened
from app.services import Services
from tests.domain.conftest import UnitFor
from tests.factories.billing import LEDGER_ENTRIES, balance_of
from tests.factories.traps import open_transactions

BRIEF = "20% off all haircuts this Friday"
GOOD = "Hi {first_name}, 20% off! Reply STOP to opt out."


class Typist:
    """A writer that types what it was told to, and notes each brief."""

    name = "typist"

    def __init__(self, texts: Sequence[str] = (GOOD,)) -> None:
        self.texts = list(texts)
        self.briefs: list[Brief] = []

    async def write(self, brief: Brief) -> list[str]:
        """Return the texts."""
        self.briefs.append(brief)
        return self.texts


async def test_copy_costs_one_credit(services: Services, account: Opened, unit_for: UnitFor) -> None:
    typist = Typist()
    async with unit_for(account) as unit:
        copy = await service.generate(unit, typist, f" {BRIEF}\n")

    assert copy == Copy([GOOD], credits_remaining=999, replayed=False)
    assert typist.briefs == [Brief(BRIEF, "Blue Door", 3)]
    assert await _debits(services) == [(-1, 999, "Message copy", "test")]


async def test_the_writer_of_the_service_offers_three_texts(
    services: Services, account: Opened, unit_for: UnitFor
) -> None:
    async with unit_for(account) as unit:
        copy = await service.generate(unit, services.writer, BRIEF)

    assert (len(copy.bodies), len(set(copy.bodies))) == (3, 3)


@pytest.mark.parametrize("description", ["", " \n", "a" * 1001])
async def test_a_description_without_words_or_too_long_is_refused_and_costs_nothing(
    services: Services, account: Opened, unit_for: UnitFor, description: str
) -> None:
    typist = Typist()
    async with unit_for(account) as unit:
        with pytest.raises(InvalidInput, match=r"^description must have 1 to 1000 characters.$"):
            await service.generate(unit, typist, description, "key 1")

    assert (typist.briefs, await _debits(services)) == ([], [])


async def test_a_description_may_have_1000_characters(account: Opened, unit_for: UnitFor) -> None:
    typist = Typist(["Reply STOP to opt out."])
    async with unit_for(account) as unit:
        await service.generate(unit, typist, f" {'a' * 1000} ")

    assert typist.briefs[0].description == "a" * 1000


async def test_an_account_without_credits_gets_no_copy(
    services: Services, new_account: Callable[..., Any], unit_for: UnitFor
) -> None:
    poor, typist = await new_account(credits=0), Typist()

    with pytest.raises(InsufficientCredits, match=r"^Not enough credits: 1 needed, 0 left."):
        await _generate(unit_for, poor, typist, "key 1")

    assert (typist.briefs, await _debits(services)) == ([], [])


async def test_the_last_credit_buys_copy(new_account: Callable[..., Any], unit_for: UnitFor) -> None:
    copy = await _generate(unit_for, await new_account(credits=1), Typist())

    assert copy.credits_remaining == 0


async def test_texts_with_faults_are_not_offered(account: Opened, unit_for: UnitFor) -> None:
    typist = Typist(["Hi {name}! Reply STOP to opt out.", GOOD, "20% off!", "30% off! Reply STOP to opt out."])

    assert (await _generate(unit_for, account, typist)).bodies == [GOOD]


@pytest.mark.parametrize("texts", [[], ["20% off!"]])
async def test_copy_that_is_not_fit_to_be_offered_costs_nothing(
    services: Services, account: Opened, unit_for: UnitFor, texts: list[str]
) -> None:
    with pytest.raises(Unavailable):
        await _generate(unit_for, account, Typist(texts), "key 1")

    assert await _debits(services) == []
    assert await balance_of(services) == 1000


async def test_a_request_that_is_sent_again_gets_the_same_copy_for_nothing(
    services: Services, account: Opened, unit_for: UnitFor
) -> None:
    typist = Typist()
    first = await _generate(unit_for, account, typist, "key 1")
    typist.texts = ["20% off, {first_name}! Reply STOP to opt out."]

    again = await _generate(unit_for, account, typist, "key 1")

    assert (first, again) == (Copy([GOOD], 999, replayed=False), Copy([GOOD], 999, replayed=True))
    assert (len(typist.briefs), len(await _debits(services))) == (1, 1)


async def test_a_key_that_was_used_for_another_description_is_refused(
    services: Services, account: Opened, unit_for: UnitFor
) -> None:
    await _generate(unit_for, account, Typist(), "key 1")

    async with unit_for(account) as unit:
        with pytest.raises(IdempotencyKeyReused):
            await service.generate(unit, Typist(), "Another brief", "key 1")

    assert len(await _debits(services)) == 1


async def test_without_a_key_each_request_costs_a_credit(
    services: Services, account: Opened, unit_for: UnitFor
) -> None:
    for _ in range(2):
        await _generate(unit_for, account, Typist())

    assert [left for _, left, *_ in await _debits(services)] == [999, 998]


async def _generate(unit_for: UnitFor, account: Opened, writer: Writer, key: str | None = None) -> Copy:
    async with unit_for(account) as unit:
        return await service.generate(unit, writer, BRIEF, key)


async def _debits(services: Services) -> list[tuple[int, int, str, str]]:
    return await LEDGER_ENTRIES.where(type="debit").read(services, "amount", "balance_after", "description", "actor")


async def test_no_transaction_is_open_while_the_writer_writes(
    services: Services, account: Opened, unit_for: UnitFor
) -> None:
    class Slow(Typist):
        async def write(self, brief: Brief) -> list[str]:
            self.sent = await services.acceptor.accept(actor, Send("+12025550143", "Hello", consent_attested=True))
            self.open = await open_transactions(services.database.pool)
            return await super().write(brief)

    actor, slow = Actor(account.account_id, frozenset()), Slow()
    copy = await _generate(unit_for, account, slow, "key 1")

    assert (slow.open, slow.sent.credits_remaining, copy.credits_remaining) == (0, 999, 998)


async def test_two_requests_with_one_key_at_once_get_one_copy_for_one_credit(
    services: Services, account: Opened, unit_for: UnitFor
) -> None:
    class Second(Typist):
        async def write(self, brief: Brief) -> list[str]:
            self.first = await _generate(unit_for, account, Typist(), "key 1")
            return ["20% off, {first_name}! Reply STOP to opt out."]

    second = Second()
    copy = await _generate(unit_for, account, second, "key 1")

    assert (second.first, copy) == (Copy([GOOD], 999, replayed=False), Copy([GOOD], 999, replayed=True))
    assert len(await _debits(services)) == 1
