"""Writing message copy for one credit."""

from collections.abc import Callable
from datetime import timedelta
from typing import Any

import anyio
import pytest

from app.domain.billing.service import InsufficientCredits
from app.domain.kernel.errors import InvalidInput
from app.domain.kernel.idempotency import IdempotencyKeyReused
from app.domain.kernel.unit_of_work import Actor
from app.domain.messages.requests import Send
from app.domain.onboarding.service import Opened
from app.domain.writing import calls, service
from app.domain.writing.calls import GRACE
from app.domain.writing.drafting import NO_AI, Draft, Writers
from app.domain.writing.errors import BriefNotUnderstood, TooManyCalls, WriterUnavailable
from app.domain.writing.models import CallKind
from app.domain.writing.service import Composition, Copy
from app.domain.writing.writer import Brief, Failure, Kind
from app.services import Services
from tests.domain.conftest import UnitFor
from tests.domain.writing.writers import BRIEF, GOOD, Typist, template, writers
from tests.factories.billing import LEDGER_ENTRIES, audit, balance_of
from tests.factories.traps import open_transactions
from tests.factories.writing import WRITER_CALLS

BAD = "30% off! Reply STOP to opt out."


async def generate(
    unit_for: UnitFor, account: Opened, by: Writers, key: str | None = None, description: str = BRIEF
) -> Copy:
    async with unit_for(account) as unit:
        return await service.generate(unit, by, description, key)


async def amounts(services: Services) -> list[int]:
    """Return the amounts of all debits and refunds, once every credit is accounted for."""
    await audit(services.database.pool)
    return await LEDGER_ENTRIES.where_not(type="adjustment").read(services, "amount")


async def test_copy_costs_one_credit_and_names_its_writer(
    services: Services, account: Opened, unit_for: UnitFor
) -> None:
    typist = Typist()
    copy = await generate(unit_for, account, writers(typist), description=f" {BRIEF}\n")

    assert copy == Copy([GOOD], 999, "openai", "gpt", None)
    assert typist.briefs == [Brief(BRIEF, "Blue Door", 3)]
    entry = await LEDGER_ENTRIES.last(services, "type", "amount", "description", "actor")
    assert entry == ("debit", -1, "Message copy", "test")
    call = await WRITER_CALLS.only(services, "kind", "status", "provider", "model", "input_tokens", "output_tokens")
    assert call == ("copy", "done", "openai", "gpt", 10, 2)


async def test_without_an_ai_the_template_writer_writes_and_says_so(
    services: Services, account: Opened, unit_for: UnitFor
) -> None:
    copy = await generate(unit_for, account, services.writers)

    assert (len(copy.bodies), copy.provider, copy.model, copy.notice) == (3, "template", None, NO_AI)
    assert await amounts(services) == [-1]


async def test_a_brief_that_no_writer_understands_is_refused_for_free(
    services: Services, account: Opened, unit_for: UnitFor
) -> None:
    with pytest.raises(BriefNotUnderstood, match=r"MESSAGING_AI_MODEL"):
        await generate(unit_for, account, services.writers, description="make it funny: dentist cleaning reminder")

    assert (await amounts(services), await WRITER_CALLS.count(services)) == ([], 0)


@pytest.mark.parametrize("description", ["", " \n", "a" * 1001])
async def test_a_description_without_words_or_too_long_is_refused_and_costs_nothing(
    services: Services, account: Opened, unit_for: UnitFor, description: str
) -> None:
    typist = Typist()
    with pytest.raises(InvalidInput, match=r"^description must have 1 to 1000 characters.$"):
        await generate(unit_for, account, writers(typist), "key 1", description)

    assert (typist.briefs, await amounts(services)) == ([], [])


async def test_an_account_without_credits_gets_no_copy(
    services: Services, new_account: Callable[..., Any], unit_for: UnitFor
) -> None:
    typist = Typist()
    with pytest.raises(InsufficientCredits, match=r"^Not enough credits: 1 needed, 0 left."):
        await generate(unit_for, await new_account(credits=0), writers(typist))

    assert (typist.briefs, await WRITER_CALLS.count(services)) == ([], 0)


async def test_texts_with_faults_are_not_offered(account: Opened, unit_for: UnitFor) -> None:
    typist = Typist([["Hi {name}! Reply STOP to opt out.", GOOD, "20% off!", BAD, f" {GOOD}"]])

    assert (await generate(unit_for, account, writers(typist))).bodies == [GOOD]


async def test_faulty_texts_are_written_again_with_their_faults_named(
    services: Services, account: Opened, unit_for: UnitFor
) -> None:
    typist = Typist([[BAD], ["20% off!"], [GOOD]])
    copy = await generate(unit_for, account, writers(typist))

    assert copy.bodies == [GOOD]
    assert [brief.faults for brief in typist.briefs[1:]] == [
        ("It states '30%', which the brief does not.", "It states '30', which the brief does not."),
        ("It does not say how to opt out.",),
    ]
    assert await WRITER_CALLS.only(services, "input_tokens", "output_tokens") == (30, 6)


@pytest.mark.parametrize(
    ("answers", "failure"),
    [([[BAD]], Failure.faulty), *(([failure], failure) for failure in Failure if failure is not Failure.faulty)],
)
async def test_after_a_failure_templates_write_and_the_credit_is_refunded(
    services: Services, account: Opened, unit_for: UnitFor, answers: Any, failure: Failure
) -> None:
    typist = Typist(answers)
    copy = await generate(unit_for, account, writers(typist))

    assert (copy.bodies, copy.provider, copy.model, copy.credits_remaining) == ([GOOD], "template", None, 1000)
    assert "The credit was refunded." in (copy.notice or "")
    assert len(typist.briefs) == (3 if failure is Failure.faulty else 1)
    assert await amounts(services) == [-1, 1]
    assert await WRITER_CALLS.only(services, "status", "failure") == ("refunded", failure)


async def test_where_templates_do_not_understand_either_the_failure_is_answered_and_the_credit_refunded(
    services: Services, account: Opened, unit_for: UnitFor
) -> None:
    by = writers(Typist([Failure.unavailable]), template(refuses=True))
    with pytest.raises(WriterUnavailable, match=r"\(it is not available\). The credit was refunded."):
        await generate(unit_for, account, by, "key 1")

    assert await amounts(services) == [-1, 1]
    assert (await generate(unit_for, account, writers(Typist()), "key 1")).bodies == [GOOD]


async def test_a_writer_that_does_not_answer_in_time_is_left(
    services: Services, account: Opened, unit_for: UnitFor
) -> None:
    typist = Typist(before=anyio.sleep_forever)
    copy = await generate(unit_for, account, writers(typist, seconds=0.01))

    assert (copy.provider, await amounts(services)) == ("template", [-1, 1])
    assert await WRITER_CALLS.only(services, "failure") == "timeout"


async def test_a_call_whose_process_died_is_refunded_once(
    services: Services, account: Opened, unit_for: UnitFor
) -> None:
    by = writers(Typist())
    async with unit_for(account) as unit:
        dead = await calls.begin(unit, by, CallKind.copy)
    async with unit_for(account) as unit:
        assert await calls.refund_lapsed(unit) == 0
    await WRITER_CALLS.age(services, "expires_at", seconds=by.seconds + GRACE / timedelta(seconds=1))

    for refunded in (1, 0):
        async with unit_for(account) as unit:
            assert await calls.refund_lapsed(unit) == refunded
    async with unit_for(account) as unit:
        late = await calls.end(unit, dead, Draft([GOOD], "openai", "gpt"), is_paid=True)

    assert late == calls.Ended(1000, 0)
    assert await amounts(services) == [-1, 1]


async def test_a_request_that_is_repeated_gets_the_same_copy_without_a_debit(
    services: Services, account: Opened, unit_for: UnitFor
) -> None:
    typist = Typist([[GOOD], ["20% off, {first_name}! Reply STOP to opt out."]])
    first = await generate(unit_for, account, writers(typist), "key 1")
    again = await generate(unit_for, account, writers(typist), "key 1")

    assert (first.replayed, again.replayed, again.bodies) == (False, True, [GOOD])
    assert (len(typist.briefs), await amounts(services)) == (1, [-1])
    with pytest.raises(IdempotencyKeyReused):
        await generate(unit_for, account, writers(typist), "key 1", "Another brief")


async def test_two_requests_with_one_key_at_once_get_one_copy_for_one_credit(
    services: Services, account: Opened, unit_for: UnitFor
) -> None:
    firsts: list[Copy] = []

    async def be_first() -> None:
        firsts.append(await generate(unit_for, account, writers(Typist()), "key 1"))

    second = Typist([["20% off, {first_name}! Reply STOP to opt out."]], before=be_first)
    copy = await generate(unit_for, account, writers(second), "key 1")

    assert (firsts[0].bodies, copy.bodies, copy.replayed) == ([GOOD], [GOOD], True)
    assert await amounts(services) == [-1, -1, 1]
    assert await balance_of(services) == 999


async def test_a_request_whose_key_another_one_takes_meanwhile_is_refused_and_refunded(
    services: Services, account: Opened, unit_for: UnitFor
) -> None:
    async def be_first() -> None:
        await generate(unit_for, account, writers(Typist()), "key 1")

    with pytest.raises(IdempotencyKeyReused):
        await generate(unit_for, account, writers(Typist(before=be_first)), "key 1", "20% off all shaves this Friday")

    assert await amounts(services) == [-1, -1, 1]
    assert await WRITER_CALLS.read(services, "status") == ["refunded", "done"]


async def test_no_transaction_is_open_while_the_writer_writes(
    services: Services, account: Opened, unit_for: UnitFor
) -> None:
    found: list[Any] = []

    async def look() -> None:
        sent = await services.acceptor.accept(
            Actor(account.account_id, frozenset()), Send("+12025550143", "Hello", consent_attested=True)
        )
        found.extend([sent.credits_remaining, await open_transactions(services.database.pool)])

    copy = await generate(unit_for, account, writers(Typist(before=look)), "key 1")

    assert (found, copy.credits_remaining) == ([998, 0], 998)


async def test_an_account_has_a_limited_number_of_calls_at_once(
    services: Services, account: Opened, unit_for: UnitFor
) -> None:
    refused: list[str] = []

    async def ask() -> None:
        with pytest.raises(TooManyCalls) as refusal:
            await generate(unit_for, account, writers(Typist(), at_once=1))
        refused.append(str(refusal.value))

    await generate(unit_for, account, writers(Typist(before=ask), at_once=1))

    assert refused == ["The account has 1 AI calls under way, which is the maximum. Wait until one of them ends."]
    assert await amounts(services) == [-1]


async def test_campaign_texts_may_have_the_placeholders_of_the_account(
    services: Services, account: Opened, unit_for: UnitFor
) -> None:
    text = "Hi {first_name|there}, 20% off at {company_name}. Reply STOP to opt out."
    typist = Typist([[text, "Hi {nick}. Reply STOP to opt out."]])
    async with unit_for(account) as unit:
        copy = await service.compose(unit, writers(typist), Composition("20% off", "regulars", "warm", 2))

    [brief] = typist.briefs
    assert copy.bodies == [text]
    assert (brief.kind, brief.audience, brief.tone, brief.count) == (Kind.campaign, "regulars", "warm", 2)
    assert await WRITER_CALLS.only(services, "kind") == "campaign"


@pytest.mark.parametrize(
    ("wanted", "field"),
    [(Composition(""), "goal"), (Composition("x", "a" * 201), "audience"), (Composition("x", count=6), "count")],
)
async def test_a_composition_outside_its_limits_is_refused(
    services: Services, account: Opened, unit_for: UnitFor, wanted: Composition, field: str
) -> None:
    async with unit_for(account) as unit:
        with pytest.raises(InvalidInput) as refusal:
            await service.compose(unit, writers(Typist()), wanted)

    assert (refusal.value.field, await amounts(services)) == (field, [])
