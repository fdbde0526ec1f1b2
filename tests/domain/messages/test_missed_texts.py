"""Texts of people that no callback has brought: they are fetched from the carrier."""

import asyncio
from collections.abc import Callable
from dataclasses import replace
from datetime import timedelta
from typing import Any

import pytest

from app.db.engine import Pool
from app.domain.carriers.carrier import CarrierBusy, InboundMessage
from app.domain.consent.service import Evidence
from app.domain.contacts import opt_outs
from app.domain.erasure import service as erasure
from app.domain.messages.handoff import Handoff
from app.domain.onboarding.service import Opened
from app.services import Services
from tests.domain.messages.lateness import work
from tests.domain.messages.missing import PICTURE, Lists, Missed
from tests.domain.messages.replies import OTHER, TO
from tests.factories.accounts import ACCOUNTS
from tests.factories.carriers import add_connection
from tests.factories.contacts import CONSENTS, SUPPRESSIONS, id_of_contact, locked_contacts
from tests.factories.events import event_names
from tests.factories.messages import INBOUND, INBOUND_LISTINGS, MESSAGES, OPT_IN_REQUESTS
from tests.factories.numbers import PHONE_NUMBERS, add_number
from tests.factories.tables import ago
from tests.factories.traps import until_blocked, writes_refused


@pytest.fixture
async def missed(services: Services, handoff: Handoff, account: Opened, text: Callable[..., Any], pool: Pool) -> Missed:
    await text("The first", OTHER, "first")
    await MESSAGES.age(pool, "created_at", days=4)
    await PHONE_NUMBERS.age(pool, "created_at", days=5)
    return Missed(services, handoff, Lists(pool), account.phone_number)


async def bodies(pool: Pool) -> list[str]:
    """Return the texts that were received, without the first one."""
    return (await INBOUND.read(pool, "body"))[1:]


async def test_a_missed_text_is_received_once_with_its_time(missed: Missed, services: Services, pool: Pool) -> None:
    sent = missed.add("a", "Are you open?")

    await work(missed.after())
    await work(missed.after(hours=2))
    await services.inbox.receive("sandbox", sent)

    assert await bodies(pool) == ["Are you open?"]
    assert await INBOUND.where(provider_message_id="a").only(pool, "sent_at") == sent.at
    assert await event_names(pool, "new_message") == ["new_message"] * 2


async def test_texts_are_received_in_the_order_in_which_they_were_sent(missed: Missed, pool: Pool) -> None:
    missed.add("late", "second", hours=1)
    missed.add("early", "first", hours=2)

    await work(missed.after())

    assert await bodies(pool) == ["first", "second"]


async def test_a_text_that_a_callback_has_brought_is_not_received_again(
    missed: Missed, services: Services, pool: Pool
) -> None:
    await services.inbox.receive("sandbox", missed.add("a"))

    await work(missed.after())

    assert await bodies(pool) == ["Hello"]


async def test_a_number_is_listed_each_hour_from_an_hour_before_the_last_listing(missed: Missed, pool: Pool) -> None:
    first, second = missed.after(), missed.after(minutes=61)

    await work(first)
    await work(missed.after(minutes=59))
    await work(second)

    settled = first.clock.now() - timedelta(minutes=10)
    assert missed.carrier.asked == [
        (missed.number, first.clock.now() - timedelta(hours=72)),
        (missed.number, settled - timedelta(hours=1)),
    ]


async def test_a_text_whose_callback_may_be_on_its_way_is_received_by_a_later_listing(
    missed: Missed, pool: Pool
) -> None:
    missed.add("a", minutes=5)

    await work(missed.after())
    assert await bodies(pool) == []
    await work(missed.after(minutes=61))

    assert await bodies(pool) == ["Hello"]


async def test_a_text_that_is_older_than_three_days_is_not_received(missed: Missed, pool: Pool) -> None:
    missed.add("old", hours=73)
    missed.add("young", "Hi", hours=71)

    await work(missed.after())

    assert await bodies(pool) == ["Hi"]


async def test_a_number_without_a_callback_is_not_asked_for(
    missed: Missed, services: Services, account: Opened, pool: Pool
) -> None:
    await add_number(pool, account.account_id, "+12025550190")

    await work(missed.after())

    assert [number for number, _ in missed.carrier.asked] == [missed.number]


async def test_texts_from_before_the_first_callback_are_not_received(missed: Missed, pool: Pool) -> None:
    await MESSAGES.age(pool, "created_at", days=-3)
    first = await MESSAGES.only(pool, "created_at")
    missed.add("before", days=1, minutes=1)
    missed.add("after", "Hi", hours=23)

    await work(missed.after())

    assert missed.carrier.asked == [(missed.number, first)]
    assert await bodies(pool) == ["Hi"]


async def test_the_texts_to_an_earlier_owner_of_a_number_are_not_received(
    missed: Missed, services: Services, account: Opened, pool: Pool
) -> None:
    missed.add("of the earlier", "Secret", hours=5)
    missed.add("of the present", "Hi", hours=1)
    await PHONE_NUMBERS.change(pool, status="released", is_primary=False)
    heir = await ACCOUNTS.insert(pool, company_name="Heir", rate=0.01)
    await add_number(pool, heir, missed.number)
    await PHONE_NUMBERS.where(account_id=heir).age(pool, "created_at", hours=2)

    await work(missed.after())

    assert await INBOUND.where(account_id=heir).read(pool, "body") == ["Hi"]
    assert await INBOUND.where(account_id=account.account_id).read(pool, "body") == ["The first"]


async def test_a_number_that_gets_another_owner_during_its_listing_brings_that_one_no_text(
    missed: Missed, pool: Pool
) -> None:
    missed.add("a", "Secret")
    heir = await ACCOUNTS.insert(pool, company_name="Heir", rate=0.01)

    async def hand_number_on() -> None:
        await PHONE_NUMBERS.change(pool, account_id=heir, is_primary=False)

    missed.carrier.meanwhile = hand_number_on
    await work(missed.after())

    assert await bodies(pool) == []
    assert len(missed.carrier.asked) == 1


@pytest.mark.parametrize("change", [{"status": "released", "is_primary": False}, {"carrier": "other"}])
async def test_a_number_that_has_left_its_connection_is_not_asked_for_any_more(
    missed: Missed, pool: Pool, change: dict[str, Any]
) -> None:
    await add_connection(pool, "other")
    await work(missed.after())
    missed.add("a", minutes=1)
    await PHONE_NUMBERS.change(pool, **change)

    await work(missed.after(hours=2))

    assert len(missed.carrier.asked) == 1
    assert await INBOUND_LISTINGS.count(pool) == 0
    assert await bodies(pool) == []


async def test_a_text_to_another_number_in_an_answer_is_passed_over(
    missed: Missed, account: Opened, pool: Pool
) -> None:
    await add_number(pool, account.account_id, "+12025550190")
    missed.add("a", to="+12025550190")

    await work(missed.after())

    assert await bodies(pool) == []


async def test_the_text_of_a_deleted_contact_does_not_come_back(
    missed: Missed, act: Callable[..., Any], pool: Pool
) -> None:
    missed.add("a")
    await work(missed.after())
    async with act() as unit:
        await erasure.erase(unit, await id_of_contact(pool, TO))

    await INBOUND_LISTINGS.change(pool, listed_until=ago(days=4))
    await work(missed.after(hours=2))

    assert len(missed.carrier.asked) == 2
    assert await bodies(pool) == []


@pytest.mark.parametrize("error", [CarrierBusy(5), ConnectionError("HTTP 401"), TimeoutError()])
async def test_a_number_whose_carrier_does_not_answer_is_listed_from_the_same_time(
    missed: Missed, account: Opened, pool: Pool, error: Exception
) -> None:
    missed.add("a")
    other = Lists(pool, "other")
    missed.others.append(other)
    await add_connection(pool, "other")
    await INBOUND_LISTINGS.insert(
        pool, carrier="other", number="+12025550190", listed_until=ago(days=1), due_at=ago(hours=1)
    )
    other.error = error
    await add_number(pool, account.account_id, "+12025550190", carrier="other")
    before = await INBOUND_LISTINGS.where(carrier="other").only(pool, "listed_until")

    await work(missed.after())

    assert await bodies(pool) == ["Hello"]
    assert len(other.asked) == 1
    assert await INBOUND_LISTINGS.where(carrier="other").only(pool, "listed_until") == before
    other.error = None
    await work(missed.after(minutes=11))
    assert len(other.asked) == 2


async def test_a_text_that_is_not_received_delays_no_other_one_and_is_fetched_again(missed: Missed, pool: Pool) -> None:
    missed.add("a", "refused", hours=6)
    missed.add("b", "received", hours=5)
    faults: list[str] = []
    asyncio.get_running_loop().set_exception_handler(lambda _, context: faults.append(context["message"]))

    async with writes_refused(pool, "messages", "body <> 'refused'"):
        await work(missed.after())
        assert await bodies(pool) == ["received"]
    await work(missed.after(minutes=11))

    assert sorted(await bodies(pool)) == ["received", "refused"]
    assert faults == ["a missed text of the connection sandbox was not received"]


async def test_the_files_of_a_missed_mms_are_received_with_it(missed: Missed, pool: Pool) -> None:
    missed.carrier.texts.append(replace(missed.add("a"), provider_message_id="b", lacks_media=True))

    await work(missed.after())

    files = [{"url": PICTURE.url, "content_type": PICTURE.content_type}]
    assert (await INBOUND.read(pool, "media"))[1:] == [None, files]


async def test_an_mms_whose_files_the_carrier_does_not_give_is_fetched_again(missed: Missed, pool: Pool) -> None:
    missed.carrier.texts = [replace(missed.add("a"), lacks_media=True)]
    missed.carrier.media_error = ConnectionError("HTTP 500")

    await work(missed.after())
    assert await bodies(pool) == []
    missed.carrier.media_error = None
    await work(missed.after(minutes=11))

    assert await bodies(pool) == ["Hello"]


@pytest.mark.parametrize(("seconds", "pause"), [(0, 0), (0.2, 0.3)])
async def test_no_text_is_received_once_the_time_of_a_run_is_over(
    missed: Missed, pool: Pool, seconds: float, pause: float
) -> None:
    missed.add("a")
    texts, missed.carrier.pause = missed.after(), pause

    await replace(texts, calls=replace(texts.calls, run_seconds=seconds)).run()

    assert await bodies(pool) == []
    missed.carrier.pause = 0
    await work(missed.after(minutes=11))
    assert await bodies(pool) == ["Hello"]


async def test_two_workers_receive_a_text_once(missed: Missed, pool: Pool) -> None:
    for digit in range(4):
        missed.add(f"id-{digit}")

    await asyncio.gather(work(missed.after()), work(missed.after()))

    assert await bodies(pool) == ["Hello"] * 4
    assert len(missed.carrier.asked) == 1


async def test_the_texts_of_a_worker_that_was_killed_are_fetched_once_its_claim_ends(
    missed: Missed, pool: Pool
) -> None:
    missed.add("a", hours=6)
    missed.add("b", "Hi", hours=5)
    async with locked_contacts(pool):
        running = asyncio.create_task(missed.after().run())
        await until_blocked(pool)
        running.cancel()
        await asyncio.gather(running, return_exceptions=True)

    await work(missed.after(minutes=1))
    assert len(missed.carrier.asked) == 1
    await work(missed.after(minutes=6))

    assert await bodies(pool) == ["Hello", "Hi"]


async def test_a_missed_stop_opts_out_at_its_own_time(missed: Missed, pool: Pool) -> None:
    sent = missed.add("a", "STOP")

    await work(missed.after())

    assert await SUPPRESSIONS.only(pool, "phone", "reason") == (TO, "keyword")
    assert await CONSENTS.where(phone=TO).only(pool, "kind", "occurred_at") == ("opt_out", sent.at)


@pytest.mark.parametrize(("hours", "is_suppressed"), [(4, False), (6, True)])
async def test_a_missed_stop_does_not_end_a_consent_that_was_given_later(
    missed: Missed, text: Callable[..., Any], act: Callable[..., Any], pool: Pool, hours: int, is_suppressed: bool
) -> None:
    await text("Hello", id="known")
    async with act() as unit:
        agreed = Evidence("paper", "I agree", occurred_at=ago(hours=hours))
        await opt_outs.record_opt_in(unit, await id_of_contact(pool, TO), agreed)
    missed.add("a", "STOP", hours=5)

    await work(missed.after())

    assert await bodies(pool) == ["Hello", "STOP"]
    assert await SUPPRESSIONS.count(pool) == is_suppressed
    assert await event_names(pool, "new_opt_out") == ["new_opt_out"] * is_suppressed


async def test_a_stop_whose_time_is_impossible_counts_as_one_of_now(
    missed: Missed, text: Callable[..., Any], act: Callable[..., Any], services: Services, pool: Pool
) -> None:
    await text("Hello", id="known")
    async with act() as unit:
        await opt_outs.record_opt_in(unit, await id_of_contact(pool, TO), Evidence("paper", "I agree"))

    await services.inbox.receive("sandbox", InboundMessage("a", TO, missed.number, "STOP", at=ago(days=8)))

    assert await SUPPRESSIONS.only(pool, "phone") == TO
    assert await CONSENTS.where(kind="opt_out").only(pool, "occurred_at") is None


@pytest.mark.parametrize(
    ("start", "is_suppressed"), [({"hours": 6}, True), ({"hours": 5, "seconds": -30}, True), ({"hours": 4}, False)]
)
async def test_of_a_missed_stop_and_start_the_later_one_counts_and_stop_where_that_is_uncertain(
    missed: Missed, pool: Pool, start: dict[str, float], is_suppressed: bool
) -> None:
    missed.add("start", "START", **start)
    missed.add("stop", "STOP", hours=5)

    await work(missed.after())

    assert len(await bodies(pool)) == 2
    assert await SUPPRESSIONS.count(pool) == is_suppressed


async def test_a_missed_text_does_not_answer_a_question_that_was_asked_after_it(
    missed: Missed, text: Callable[..., Any], account: Opened, pool: Pool
) -> None:
    await text("Hello", id="known")
    asked = {"phone": TO, "keyword": "join", "text": "JOIN", "question": "Sure?", "message_id": 1, "question_id": 2}
    times = {"created_at": ago(hours=4), "expires_at": ago(hours=-20)}
    await OPT_IN_REQUESTS.insert(pool, account_id=account.account_id, **asked, **times)
    missed.add("a", "YES", hours=5)

    await work(missed.after())

    assert await OPT_IN_REQUESTS.only(pool, "outcome") is None
    assert await CONSENTS.where(phone=TO, method="double_opt_in").count(pool) == 0
