"""The double opt-in: a keyword, the question, and YES in time."""

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import replace
from itertools import count

import pytest

from app.bootstrap import open_dispatcher
from app.domain.accounts.scopes import ALL
from app.domain.automations import watching
from app.domain.automations.runner import AutomationRunner
from app.domain.carriers.carrier import InboundMessage
from app.domain.consent import evidence
from app.domain.consent.service import Evidence
from app.domain.contacts import service as contacts
from app.domain.conversations import review
from app.domain.erasure import merging
from app.domain.erasure import service as erasure
from app.domain.erasure.merging import Merge
from app.domain.onboarding.service import Opened
from app.services import Services
from tests.domain.conftest import UnitFor
from tests.factories.contacts import CONSENTS, CONTACTS
from tests.factories.messages import OUTBOUND
from tests.factories.tables import Rows

PHONE = "+12025550143"
EVENTS, REQUESTS = Rows("events"), Rows("opt_in_requests")
QUESTION = (
    "reply YES within 24 hours to get our texts. Msg&data rates may apply. Reply HELP for help, STOP to get none."
)
RULES = {"double_opt_in": True, "opt_in_tag": "news", "reply": "Welcome!"}

Say = Callable[..., Awaitable[None]]
_ids = count()


@pytest.fixture
async def say(services: Services, account: Opened, unit_for: UnitFor) -> Say:
    """Watch JOIN, and give a function that receives texts, one after another, and does all work after each."""
    async with unit_for(account) as unit:
        unit.actor = replace(unit.actor, scopes=ALL)
        await watching.watch(unit, "join", RULES)

    async def receive(*bodies: str) -> None:
        for body in bodies:
            await services.inbox.receive("sandbox", _text(account, body))
            await _work(services)

    return receive


def _text(account: Opened, body: str) -> InboundMessage:
    return InboundMessage(f"double-{next(_ids)}", PHONE, account.phone_number, body)


async def _work(services: Services) -> None:
    dispatcher = open_dispatcher(services)
    runner = AutomationRunner(services.database, services.acceptor, services.clock, services.notify)
    while await dispatcher.due() or await runner.due():
        await dispatcher.run()
        await runner.run()


async def _bodies(services: Services) -> list[tuple[str, str, int]]:
    return [
        (
            body[body.find("you are") :] if "you are" in body else body[max(body.find("reply YES"), 0) :],
            purpose,
            credits,
        )
        for body, purpose, credits in await OUTBOUND.read(services, "body", "purpose", "credits")
    ]


async def _consents(services: Services) -> list[tuple[str, str, str]]:
    return await CONSENTS.read(services, "kind", "method", "text")


async def _confirmed(services: Services) -> int:
    return (await EVENTS.read(services, "name")).count("opt_in_confirmed")


async def test_yes_after_the_question_is_consent_with_both_texts_a_tag_and_one_welcome(
    say: Say, services: Services, account: Opened, unit_for: UnitFor
) -> None:
    await say("Join!")

    assert await _bodies(services) == [(QUESTION, "compliance", 0)]
    assert await _consents(services) == [("opt_in_requested", "keyword", "Join!")]
    assert await CONTACTS.read(services, "tags") == [[]]
    async with unit_for(account) as unit:
        asked = (await evidence.find(unit, PHONE)).opt_in_request
        assert asked is not None
        assert asked.question.endswith(QUESTION)

    await say("Yes please", "YES")

    note = await CONSENTS.read(services, "note")
    assert note[1].startswith("Asked: ")
    assert note[1].endswith(f"{QUESTION} After the text: Join!")
    assert await _consents(services) == [
        ("opt_in_requested", "keyword", "Join!"),
        ("opt_in", "double_opt_in", "Yes please"),
    ]
    assert await CONTACTS.read(services, "tags") == [["news"]]
    assert await _confirmed(services) == 1
    assert await _bodies(services) == [
        (QUESTION, "compliance", 0),
        ("you are subscribed. Reply HELP for help, STOP to unsubscribe.", "compliance", 0),
        ("Welcome!", "conversational", 1),
    ]


@pytest.mark.parametrize(
    ("between", "outcome"),
    [
        ("Who is this?", "unconfirmed"),
        ("no", "unconfirmed"),
        ("STOP", "opted_out"),
        ("STOP what time is the showing", "unconfirmed"),
    ],
)
async def test_any_other_answer_ends_the_request_and_leaves_no_consent(
    say: Say, services: Services, between: str, outcome: str
) -> None:
    await say("JOIN", between)

    assert await REQUESTS.read(services, "outcome") == [outcome]
    assert await _confirmed(services) == 0
    assert ("opt_in", "double_opt_in") not in {row[:2] for row in await _consents(services)}
    assert await CONTACTS.read(services, "tags") == [[]]


@pytest.mark.parametrize("between", ["HELP", "join", "Liked “reply YES within 24 hours to get our texts”"])
async def test_help_a_reaction_and_the_keyword_again_leave_one_request_open(
    say: Say, services: Services, between: str
) -> None:
    await say("JOIN", between, "y")

    assert await REQUESTS.read(services, "outcome") == ["confirmed"]
    assert [body for body, _, _ in await _bodies(services)].count(QUESTION) == 1
    assert await _confirmed(services) == 1


async def test_yes_after_24_hours_is_no_consent_and_the_keyword_asks_anew(say: Say, services: Services) -> None:
    await say("JOIN")
    await REQUESTS.change(services, expires_at=services.clock.now())

    await say("YES")
    assert await _consents(services) == [("opt_in_requested", "keyword", "JOIN")]

    await say("JOIN", "YES")
    assert await REQUESTS.read(services, "outcome") == ["expired", "confirmed"]


async def test_an_opt_out_by_other_means_ends_the_request_and_yes_then_asks_for_none(
    say: Say, services: Services, account: Opened, unit_for: UnitFor
) -> None:
    await say("JOIN")
    async with unit_for(account) as unit:
        await review.revoke(unit, PHONE, Evidence("letter", "No texts."))

    assert await REQUESTS.read(services, "outcome") == ["opted_out"]
    assert await CONTACTS.read(services, "status") == ["opted_out"]


async def test_an_opt_out_before_the_question_leaves_it_unasked(say: Say, services: Services, account: Opened) -> None:
    for body in ("JOIN", "STOP"):
        await services.inbox.receive("sandbox", _text(account, body))
    await _work(services)

    assert await REQUESTS.read(services, "outcome") == []
    assert [purpose for _, purpose, _ in await _bodies(services)] == ["compliance"]


async def test_two_answers_at_once_confirm_once(say: Say, services: Services, account: Opened) -> None:
    await say("JOIN")

    both = [services.inbox.receive("sandbox", _text(account, "YES")) for _ in range(2)]
    await asyncio.gather(*both)
    await _work(services)

    assert [row[0] for row in await _consents(services)] == ["opt_in_requested", "opt_in"]
    assert await _confirmed(services) == 1
    assert [body for body, _, _ in await _bodies(services)].count("Welcome!") == 1


async def test_a_phone_is_asked_five_times_a_day_at_most(say: Say, services: Services) -> None:
    for _ in range(7):
        await say("JOIN", "no")

    assert len(await REQUESTS.read(services, "id")) == 5


async def test_a_person_who_opted_out_comes_back_by_a_double_opt_in(say: Say, services: Services) -> None:
    await say("STOP", "JOIN", "YES")

    assert (await _consents(services))[1:] == [
        ("opt_in_requested", "keyword", "JOIN"),
        ("re_opt_in", "double_opt_in", "YES"),
    ]
    assert await CONTACTS.read(services, "status") == ["active"]


@pytest.mark.parametrize(
    ("said", "kept"),
    [
        (["join"], []),
        (["join", "Later, maybe"], []),
        (["join", "Later, maybe", "join", "STOP"], []),
        (["join", "Later, maybe", "join", "YES"], ["confirmed"]),
    ],
)
async def test_of_the_requests_of_an_erased_contact_only_confirmed_ones_are_kept_as_evidence(
    say: Say, services: Services, account: Opened, unit_for: UnitFor, said: list[str], kept: list[str]
) -> None:
    await say(*said)

    async with unit_for(account) as unit:
        await erasure.erase(unit, await CONTACTS.only(services, "id"))

    assert await REQUESTS.read(services, "outcome") == kept


@pytest.mark.parametrize("confirmed", [False, True])
async def test_the_erasure_of_a_contact_with_a_new_phone_keeps_only_confirmed_requests_of_the_former_one(
    say: Say, services: Services, unit_for: UnitFor, account: Opened, confirmed: bool
) -> None:
    await say("join", *["YES"] * confirmed)
    id = await CONTACTS.only(services, "id")
    async with unit_for(account) as unit:
        await contacts.update(unit, id, {"phone": "+12025550199"})

    async with unit_for(account) as unit:
        await erasure.erase(unit, id)

    assert await REQUESTS.read(services, "phone", "outcome") == [(PHONE, "confirmed")] * confirmed


async def test_the_erasure_of_a_contact_forgets_the_request_of_one_that_was_merged_into_it(
    say: Say, services: Services, unit_for: UnitFor, account: Opened, work: Callable[[], Awaitable[None]]
) -> None:
    await say("join")
    await work()
    other = await CONTACTS.only(services, "id")
    async with unit_for(account) as unit:
        into = (await contacts.create(unit, {"phone": "+12025550199"})).id
        shown = await merging.preview(unit, Merge(into, other))
    async with unit_for(account) as unit:
        await merging.merge(unit, Merge(into, other), shown.preview_id)
    assert await REQUESTS.read(services, "phone") == [PHONE]

    async with unit_for(account) as unit:
        await erasure.erase(unit, into)

    assert await REQUESTS.count(services) == 0


async def test_the_erasure_of_a_contact_keeps_the_request_of_the_person_who_has_its_former_phone_now(
    say: Say, services: Services, unit_for: UnitFor, account: Opened
) -> None:
    await say("Hi")
    former = await CONTACTS.only(services, "id")
    async with unit_for(account) as unit:
        await contacts.update(unit, former, {"phone": "+12025550199"})
    await say("join")

    async with unit_for(account) as unit:
        await erasure.erase(unit, former)

    assert await REQUESTS.read(services, "phone", "outcome") == [(PHONE, None)]
