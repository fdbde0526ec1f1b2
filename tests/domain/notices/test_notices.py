"""Notices: who gets them, how they are read, and which are mailed."""

from collections.abc import Callable, Sequence
from datetime import timedelta
from typing import Any

import pytest

from app.domain.agents.models import AgentMode
from app.domain.billing import alerts
from app.domain.billing import service as billing
from app.domain.carriers.carrier import InboundMessage
from app.domain.conversations import service as conversations
from app.domain.conversations.service import Reading
from app.domain.erasure import merging
from app.domain.erasure import service as erasure
from app.domain.erasure.merging import Merge
from app.domain.events import outbox
from app.domain.events.dispatcher import Dispatcher
from app.domain.kernel.errors import DomainError
from app.domain.kernel.paging import Window
from app.domain.kernel.unit_of_work import Actor, UnitOfWork
from app.domain.notices import queries, settings
from app.domain.notices.events import OwnersNotified
from app.domain.notices.mails import NoticeMails
from app.domain.notices.models import NoticeKind
from app.domain.notices.reactions import MAIL_AFTER, REACTIONS
from app.domain.notices.settings import NoticeSetting
from app.domain.onboarding.service import Opened
from app.services import Services
from tests.conftest import unit_of
from tests.domain.conftest import Recorded, SetClock, UnitFor
from tests.factories.accounts import WAITING_MAILS, add_user, id_of_user
from tests.factories.agents import AGENTS, add_agent
from tests.factories.contacts import CONTACTS
from tests.factories.conversations import CONVERSATIONS
from tests.factories.notices import NOTICES
from tests.factories.numbers import PHONE_NUMBERS, add_number

PHONE = "+12025550143"


@pytest.fixture
async def people(services: Services, account: Opened) -> dict[str, int]:
    """Provide an owner, a member and a service account, by their names."""
    added = {
        name: await add_user(services, account.account_id, f"{name}@example.com", role)
        for name, role in (("bob", "member"), ("robot", "service"))
    }
    return {"owner": await id_of_user(services, email=account.email), **added}


async def text_in(services: Services, account: Opened, body: str = "Hello") -> int:
    """Have a contact text in; return the id of the conversation."""
    number = await CONVERSATIONS.count(services)
    await services.inbox.receive("sandbox", InboundMessage(f"in-{body}-{number}", PHONE, account.phone_number, body))
    await dispatch(services)
    return await CONVERSATIONS.only(services, "id")


async def dispatch(services: Services) -> None:
    dispatcher = Dispatcher(services.database, services.clock, services.notify, REACTIONS)
    while await dispatcher.run():
        pass


async def tell_owners(services: Services, account: Opened, title: str, subject_id: int) -> None:
    """Notify the owners of a campaign."""
    async with unit_of(services, Actor(account.account_id, frozenset(), "test")) as unit:
        outbox.record(unit, OwnersNotified(kind=NoticeKind.campaign, title=title, body="", subject_id=subject_id))
    await dispatch(services)


async def act(services: Services, account: Opened, user: int, verb: Callable[..., Any], *given: Any) -> Any:
    """Act as a user who is signed in, and dispatch the events."""
    actor = Actor(account.account_id, frozenset(), f"user:{user}", user_id=user)
    async with unit_of(services, actor) as unit:
        result = await verb(unit, *given)
    await dispatch(services)
    return result


async def unread(services: Services, user: int) -> Sequence[Any]:
    return await NOTICES.where(user_id=user, read_at=None).read(services, "kind", "title", "count")


async def mail(services: Services, after: timedelta) -> list[tuple[int, str, str]]:
    """Mail the notices that are due after a time; return the users, subjects and pages of waiting mails."""
    clock = SetClock(services.clock.now() + after)
    await NoticeMails(services.database, clock, services.notify).run()
    mails = await WAITING_MAILS.read(services, "user_id", "words")
    return [(user, words["subject"], words["path"]) for user, words in mails]


async def test_a_text_is_noticed_by_all_users_of_a_conversation_without_an_assignee(
    services: Services, account: Opened, people: dict[str, int], new_account: Callable[..., Any]
) -> None:
    other = await new_account(company_name="Others")

    await text_in(services, account)

    notice = [("new_message", "New text from a contact", 1)]
    assert [await unread(services, people[name]) for name in ("owner", "bob", "robot")] == [notice, notice, []]
    assert await NOTICES.where(account_id=other.account_id).count(services) == 0


async def test_a_text_to_an_assigned_conversation_is_noticed_by_the_assignee(
    services: Services, account: Opened, people: dict[str, int]
) -> None:
    id = await text_in(services, account)
    await act(services, account, people["owner"], conversations.assign, id, people["bob"])
    await NOTICES.delete(services)

    await text_in(services, account, "Are you there?")

    assert [len(await unread(services, people[name])) for name in ("owner", "bob")] == [0, 1]


async def test_texts_of_a_contact_share_a_notice_until_it_is_read(
    services: Services, account: Opened, people: dict[str, int], unit_for: UnitFor
) -> None:
    await CONTACTS.insert(services, account_id=account.account_id, phone=PHONE, first_name="Ann", last_name="Lee")
    for body in ("One", "Two", "Three"):
        await text_in(services, account, body)
    together = await unread(services, people["bob"])
    id = await NOTICES.where(user_id=people["bob"]).only(services, "id")

    left = await act(services, account, people["bob"], queries.read, id)
    await text_in(services, account, "Four")

    assert (together, left) == ([("new_message", "New text from Ann Lee", 3)], 0)
    assert await unread(services, people["bob"]) == [("new_message", "New text from Ann Lee", 1)]


async def test_reading_a_conversation_reads_the_notices_of_its_texts_for_all_users(
    services: Services, account: Opened, people: dict[str, int]
) -> None:
    id = await text_in(services, account)
    await act(services, account, people["owner"], conversations.assign, id, people["bob"])

    await act(services, account, people["owner"], conversations.update, id, {}, Reading(1, 0))

    assert await unread(services, people["owner"]) == []
    assert await unread(services, people["bob"]) == [("assigned", "A conversation was assigned to you", 1)]


async def test_a_text_that_an_agent_answers_and_an_opt_out_are_not_noticed(
    services: Services, account: Opened, people: dict[str, int]
) -> None:
    async with unit_of(services, Actor(account.account_id, frozenset(), "test")) as unit:
        await add_agent(unit)
    id = await text_in(services, account, "STOP")
    await CONVERSATIONS.where(id=id).change(services, ai_state="active")

    await text_in(services, account, "START")
    await text_in(services, account, "A question")

    assert await NOTICES.count(services) == 0


@pytest.mark.parametrize("change", [{"status": "paused"}, {"mode": "approve"}, {"mode": "shadow"}, None])
async def test_a_text_is_noticed_once_no_agent_answers_it_any_more(
    services: Services, account: Opened, people: dict[str, int], change: dict[str, Any] | None
) -> None:
    async with unit_of(services, Actor(account.account_id, frozenset(), "test")) as unit:
        await add_agent(unit)
    id = await text_in(services, account)
    await CONVERSATIONS.where(id=id).change(services, ai_state="active")
    await NOTICES.delete(services)

    await (AGENTS.change(services, **change) if change else AGENTS.delete(services))
    await text_in(services, account, "A question")

    assert [len(await unread(services, people[name])) for name in ("owner", "bob")] == [1, 1]


@pytest.mark.parametrize(
    ("answering", "narrower", "count"),
    [("own", None, 0), ("other", None, 1), ("all", "approve", 1), ("all", "auto", 0), ("own", "auto", 0)],
)
async def test_a_text_is_noticed_if_the_agent_of_its_number_does_not_answer(
    services: Services, account: Opened, people: dict[str, int], answering: str, narrower: str | None, count: int
) -> None:
    other = await add_number(services, account.account_id, "+15002000009")
    own = await PHONE_NUMBERS.where(phone_number=account.phone_number).only(services, "id")
    async with unit_of(services, Actor(account.account_id, frozenset(), "test")) as unit:
        await add_agent(unit, {"number_ids": {"own": [own], "other": [other], "all": []}[answering]})
        if narrower:
            await add_agent(unit, {"name": "Ellis", "number_ids": [own], "mode": AgentMode(narrower)})
    id = await text_in(services, account)
    await CONVERSATIONS.where(id=id).change(services, ai_state="active")
    await NOTICES.delete(services)

    await text_in(services, account, "A question")

    assert len(await unread(services, people["bob"])) == count


async def test_a_user_who_assigns_a_conversation_to_himself_gets_no_notice(
    services: Services, account: Opened, people: dict[str, int]
) -> None:
    id = await text_in(services, account)
    await NOTICES.delete(services)

    await act(services, account, people["bob"], conversations.assign, id, people["bob"])
    await act(services, account, people["bob"], conversations.assign, id, people["owner"])

    assert [len(await unread(services, people[name])) for name in ("owner", "bob")] == [1, 0]


@pytest.mark.parametrize(("assigned", "expected"), [(None, [1, 1]), ("bob", [0, 1])])
async def test_a_conversation_that_an_agent_hands_over_is_noticed(
    services: Services, account: Opened, people: dict[str, int], assigned: str | None, expected: list[int]
) -> None:
    id = await text_in(services, account)
    if assigned:
        await CONVERSATIONS.where(id=id).change(services, assignee_id=people[assigned])
    await NOTICES.delete(services)

    async with unit_of(services, Actor(account.account_id, frozenset(), "agent:1")) as unit:
        await conversations.hand_over(unit, id)
    await dispatch(services)

    assert [len(await unread(services, people[name])) for name in ("owner", "bob")] == expected


async def test_a_low_balance_is_noticed_and_mailed_to_owners(
    services: Services, account: Opened, people: dict[str, int], unit_for: UnitFor
) -> None:
    async with unit_for(account) as unit:
        await alerts.set_threshold(unit, 5000)
        await billing.debit(unit, 1, "")
        await alerts.warn(unit)
    await dispatch(services)

    title = "Your credits are running low"
    assert [await unread(services, people[name]) for name in ("owner", "bob")] == [[("low_balance", title, 1)], []]
    assert await mail(services, timedelta(seconds=1)) == [(people["owner"], title, "app/")]


async def test_a_notice_of_a_conversation_is_mailed_after_five_minutes_unless_it_was_read(
    services: Services, account: Opened, people: dict[str, int]
) -> None:
    choice = NoticeSetting(NoticeKind.new_message, in_browser=False, by_mail=True)
    for name in ("owner", "bob"):
        await act(services, account, people[name], settings.update_setting, choice)
    id = await text_in(services, account)
    await text_in(services, account, "Another")
    early = await mail(services, MAIL_AFTER - timedelta(minutes=1))
    await NOTICES.where(user_id=people["owner"]).change(services, read_at=services.clock.now())

    late = await mail(services, MAIL_AFTER + timedelta(minutes=1))
    again = await mail(services, MAIL_AFTER + timedelta(hours=1))

    assert early == []
    assert late == again == [(people["bob"], "New text from a contact", f"app/inbox/{id}")]


async def test_a_user_chooses_notices_in_the_browser_and_by_mail(
    services: Services, account: Opened, people: dict[str, int]
) -> None:
    before = await act(services, account, people["bob"], settings.list_settings)
    nothing = NoticeSetting(NoticeKind.new_message, in_browser=False, by_mail=False)

    await act(services, account, people["bob"], settings.update_setting, nothing)
    await text_in(services, account)

    assert [(each.kind.value, each.in_browser, each.by_mail) for each in before] == [
        ("new_message", True, False),
        ("assigned", True, False),
        ("handed_over", True, False),
    ]
    assert (await act(services, account, people["bob"], settings.list_settings))[0] == nothing
    assert [each.kind for each in await act(services, account, people["owner"], settings.list_settings)] == [
        *NoticeKind
    ]
    assert [len(await unread(services, people[name])) for name in ("owner", "bob")] == [1, 0]


async def test_a_notice_by_mail_alone_is_not_listed(
    services: Services, account: Opened, people: dict[str, int]
) -> None:
    by_mail = NoticeSetting(NoticeKind.new_message, in_browser=False, by_mail=True)
    await act(services, account, people["bob"], settings.update_setting, by_mail)
    await text_in(services, account)

    async def look(unit: UnitOfWork) -> tuple[int, int]:
        page = await queries.find_page(unit, Window(), is_unread=True)
        return len(page.nodes), await queries.count_unread(unit)

    assert [await act(services, account, people[name], look) for name in ("owner", "bob")] == [(1, 1), (0, 0)]


async def test_a_user_reads_the_own_notices_up_to_an_id(
    services: Services, account: Opened, people: dict[str, int]
) -> None:
    await text_in(services, account)
    last = max(await NOTICES.read(services, "id"))

    assert await act(services, account, people["bob"], queries.read, last) == 0

    assert [len(await unread(services, people[name])) for name in ("owner", "bob")] == [1, 0]


async def test_a_user_reads_one_notice_alone(services: Services, account: Opened, people: dict[str, int]) -> None:
    await tell_owners(services, account, "Spring", 7)
    await tell_owners(services, account, "Summer", 8)
    last = max(await NOTICES.read(services, "id"))

    assert await act(services, account, people["owner"], queries.read, last, last) == 1

    assert await NOTICES.where(read_at=None).read(services, "title", "subject_id") == [("Spring", 7)]


async def test_a_key_has_no_notices(services: Services, account: Opened, unit_for: UnitFor) -> None:
    await text_in(services, account)
    async with unit_of(services, Actor(account.account_id, frozenset(), "key:1", key_id=1)) as unit:
        with pytest.raises(DomainError) as refused:
            await queries.find_page(unit, Window())
        assert (refused.value.code, await queries.count_unread(unit)) == ("person_required", 0)


async def test_new_notices_are_a_live_update_once_for_each_batch(
    services: Services, account: Opened, people: dict[str, int], recorded: Recorded
) -> None:
    for body in ("One", "Two"):
        await text_in(services, account, body)

    assert [payload for name, payload in await recorded() if name == "notices_added"] == [{"kinds": ["new_message"]}]


async def test_read_notices_are_a_live_update_and_those_read_before_are_none(
    services: Services, account: Opened, people: dict[str, int], recorded: Recorded
) -> None:
    id = await text_in(services, account)
    last = max(await NOTICES.read(services, "id"))

    await act(services, account, people["bob"], queries.read, last)
    await act(services, account, people["bob"], queries.read, last)
    by_hand = [name for name, _ in await recorded() if name == "notices_read"]
    await act(services, account, people["owner"], conversations.update, id, {}, Reading(1, 0))

    assert len(by_hand) == 1
    assert [name for name, _ in await recorded()].count("notices_read") == 2


async def test_notices_of_a_contact_are_deleted_with_it(
    services: Services, account: Opened, people: dict[str, int], unit_for: UnitFor
) -> None:
    await text_in(services, account)
    contact = await CONTACTS.only(services, "id")

    async with unit_for(account) as unit:
        await erasure.erase(unit, contact)

    assert await NOTICES.count(services) == 0


async def test_notices_of_a_merged_contact_are_those_of_the_one_that_remains(
    services: Services, account: Opened, people: dict[str, int]
) -> None:
    other = "+12025550144"
    for phone, body in ((PHONE, "One"), (other, "Two"), (other, "Three")):
        await services.inbox.receive("sandbox", InboundMessage(f"in-{body}", phone, account.phone_number, body))
    await dispatch(services)
    read_at = services.clock.now()
    await NOTICES.where(user_id=people["bob"], count=1).change(services, read_at=read_at)
    into, merged = [await CONTACTS.where(phone=phone).only(services, "id") for phone in (PHONE, other)]

    await act(services, account, people["owner"], _merge, into, merged)

    assert await NOTICES.where(contact_id=into).read(services, "user_id", "count", "read_at") == [
        (people["owner"], 3, None),
        (people["bob"], 1, read_at),
        (people["bob"], 2, None),
    ]
    assert await NOTICES.count(services) == 3


async def _merge(unit: UnitOfWork, into: int, merged: int) -> None:
    wanted = Merge(into, merged)
    await merging.merge(unit, wanted, (await merging.preview(unit, wanted)).preview_id)
