"""The TypeScript sample: typed by the contract, with urql and its normalized cache, against the running service."""

import re
from collections.abc import AsyncGenerator
from pathlib import Path
from typing import Any

import pytest

from app.domain.carriers.carrier import InboundMessage
from app.domain.conversations import service as conversations
from app.domain.conversations.models import ConversationStatus
from app.domain.live.feed import MAX_MISSED
from tests.domain.messages.handing import hand_over
from tests.factories.accounts import USERS
from tests.factories.contacts import CONTACTS
from tests.factories.conversations import CONVERSATIONS
from tests.factories.events import record_many
from tests.factories.messages import MESSAGES
from tests.graphql.live import PHONE, Scene, Served
from tests.graphql.screen import ROOT, SOURCES, Screen, build, looking_at, run

pytestmark = pytest.mark.anyio

PAGE = (ROOT / "docs" / "front-ends.md").read_text()
COUNT = 25
"""Three pages of the sample, the last of them not full."""

LOOSE = re.compile(r"\bany\b|\bas\b|[\w)\]]!(?!=)")
"""Syntax that loosens a type; the compiler's options refuse casts of the form `<Type>value`."""

NOT_CODE = re.compile(r"`[^`]*`|'[^'\n]*'|//[^\n]*|/\*.*?\*/", re.S)


@pytest.fixture(scope="session")
def sample(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Give the sample with its packages and types."""
    return build(tmp_path_factory.mktemp("front-end"))


@pytest.fixture
async def screen(sample: Path, served: Served, scene: Scene) -> AsyncGenerator[Screen]:
    """Open the sample's screen as the owner of the account."""
    async with looking_at(sample, f"http://{served.address}", scene.account.svc_key) as screen:
        yield screen


def phone_of(number: int) -> str:
    return f"+1202555{1000 + number}"


async def receive(scene: Scene, *texts: tuple[str, str]) -> None:
    """Have people text in, each from a phone, and announce it."""
    for phone, body in texts:
        scene.texts += 1
        inbound = InboundMessage(f"in-{scene.texts}", phone, scene.account.phone_number, body)
        await scene.services.inbox.receive("sandbox", inbound)
    await scene.dispatch()


async def thread_of(scene: Scene, phone: str = PHONE) -> int:
    """Return the id of the conversation with a phone."""
    contact = await CONTACTS.where(phone=phone).only(scene.services, "id")
    return await CONVERSATIONS.where(contact_id=contact).only(scene.services, "id")


def phones(inbox: Any) -> list[str]:
    return [row["contact"]["phone"] for row in inbox]


def bodies(thread: Any) -> list[str]:
    return [row["body"] for row in thread]


def test_the_sample_passes_the_strict_compiler(sample: Path) -> None:
    assert run(sample, "typescript/bin/tsc") == ""


def test_the_sample_has_no_cast_and_nothing_untyped() -> None:
    sources = {path.name: path.read_text() for path in SOURCES.glob("*.ts") if path.name != "graphql-env.ts"}

    assert len(sources) > 5
    assert {name for name, code in sources.items() if LOOSE.search(NOT_CODE.sub("", code)) or "@ts-" in code} == set()


@pytest.mark.parametrize("cast", ["x as Y", "a: any", "data!.id", "rows[0]!", "f()!"])
def test_a_cast_is_noticed(cast: str) -> None:
    assert LOOSE.search(cast)


def test_the_code_on_the_page_is_that_of_the_sample() -> None:
    blocks = re.findall(r"^```ts\n(.*?)^```", PAGE, re.M | re.S)
    sources = "\n".join(path.read_text() for path in SOURCES.glob("*.ts"))

    assert len(blocks) > 5
    assert [block for block in blocks if block not in sources] == []


async def test_the_inbox_shows_contact_latest_message_unread_count_and_assignee(screen: Screen, scene: Scene):
    await receive(scene, (PHONE, "One"), (PHONE, "Two"))
    owner = await USERS.where(email=scene.account.email).only(scene.services, "id")
    async with scene.unit() as unit:
        await conversations.assign(unit, await thread_of(scene), owner)

    await screen.do("inbox - start")

    [row] = screen.last("inbox")
    assert row["contact"]["phone"] == PHONE
    assert (row["last_message"]["body"], row["last_message"]["direction"]) == ("Two", "inbound")
    assert (row["unread_count"], row["assignee"]["email"]) == (2, scene.account.email)


@pytest.mark.parametrize("end", ["start", "end"])
async def test_the_inbox_scrolls_past_every_conversation_once_while_texts_come_in(
    screen: Screen, scene: Scene, end: str
):
    await receive(scene, *((phone_of(number), "Hello") for number in range(COUNT)))
    await screen.do("follow")
    more = await screen.do(f"inbox - {end}")

    news = [phone_of(3), phone_of(COUNT), phone_of(COUNT - 3)]
    while more:
        await receive(scene, (news[0], "New"))
        more = await screen.do("more")
        news = news[1:] + news[:1]

    newest = [phone_of(COUNT), phone_of(3)]
    rest = [phone_of(number) for number in reversed(range(COUNT)) if phone_of(number) not in newest]
    await screen.until("inbox", lambda inbox: phones(inbox) == newest + rest)


@pytest.mark.parametrize("end", ["start", "end"])
async def test_a_thread_scrolls_past_every_message_once_while_texts_come_in(screen: Screen, scene: Scene, end: str):
    texts = [f"Text {number}" for number in range(COUNT)]
    await receive(scene, *((PHONE, text) for text in texts))
    await screen.do("follow")
    more = await screen.do(f"thread {await thread_of(scene)} {end}")

    while more:
        texts.append(f"New {len(texts)}")
        await receive(scene, (PHONE, texts[-1]))
        more = await screen.do("more")

    await screen.until("thread", lambda thread: bodies(thread) == texts[::-1])


async def test_a_text_is_shown_at_once_and_becomes_the_message_of_the_service(screen: Screen, scene: Scene):
    await receive(scene, (PHONE, "Hi"))
    await screen.do("follow")
    await screen.do("inbox - start")
    await screen.do(f"thread {await thread_of(scene)} start")
    asked = await screen.do("requests")

    sent = await screen.do(f"send {await thread_of(scene)} Hello there")
    message = await MESSAGES.where(body="Hello there").only(scene.services, "id")
    threads = screen.states("thread")
    await hand_over(scene.services.handoff)
    await scene.dispatch()
    await screen.until("thread", lambda thread: thread[0]["status"] == "sent")
    await scene.deliver(message)
    await screen.until("inbox", lambda inbox: inbox[0]["last_message"]["status"] == "delivered")

    assert sent is None
    assert [[row["body"] for row in rows] for rows in threads] == [["Hi"], ["Hello there", "Hi"], ["Hello there", "Hi"]]
    assert [rows[0]["status"] for rows in threads[1:]] == ["pending", "pending"]
    assert threads[1][0]["id"] > threads[2][0]["id"] == message
    assert screen.last("inbox")[0]["last_message"]["body"] == "Hello there"
    assert await screen.do("requests") == asked + 1


async def test_a_refused_text_goes_from_the_screen_and_the_error_names_the_field(screen: Screen, scene: Scene):
    await receive(scene, (PHONE, "Hi"))
    await screen.do("inbox - start")
    await screen.do(f"thread {await thread_of(scene)} start")

    refused = await screen.do(f"send {await thread_of(scene)} {'x' * 1601}")

    assert refused == [{"path": ["reply"], "code": "message_too_long", "field": "body"}]
    assert [len(thread) for thread in screen.states("thread")] == [1, 2, 1]
    assert await MESSAGES.where(direction="outbound").read(scene.services, "id") == []


async def test_updates_enter_the_lists_and_nothing_is_loaded_again(screen: Screen, scene: Scene):
    await receive(scene, (PHONE, "One"))
    await receive(scene, (phone_of(1), "Hello"))
    await screen.do("follow")
    await screen.do("inbox - start")
    await screen.do(f"thread {await thread_of(scene)} start")
    asked = await screen.do("requests")

    await receive(scene, (PHONE, "Two"))
    await screen.until("inbox", lambda inbox: phones(inbox) == [PHONE, phone_of(1)])
    await receive(scene, (phone_of(2), "I am new"))
    await screen.until("inbox", lambda inbox: phones(inbox) == [phone_of(2), PHONE, phone_of(1)])

    assert bodies(screen.last("thread")) == ["Two", "One"]
    assert [row["unread_count"] for row in screen.last("inbox")] == [1, 2, 1]
    assert await screen.do("requests") == asked


async def test_an_update_leaves_a_row_in_its_place_and_brings_none_of_a_page_that_is_not_loaded(
    screen: Screen, scene: Scene
):
    await receive(scene, *((phone_of(number), "Hello") for number in range(12)))
    await screen.do("follow")
    await screen.do("inbox - start")
    loaded = phones(screen.last("inbox"))

    async with scene.unit() as unit:
        for phone in (phone_of(0), loaded[-1]):
            await conversations.update(unit, await thread_of(scene, phone), {"status": ConversationStatus.closed})
    await scene.dispatch()

    inbox = await screen.until("inbox", lambda inbox: inbox[-1]["status"] == "closed")
    assert loaded == [phone_of(number) for number in range(11, 1, -1)] == phones(inbox)


async def test_after_a_lost_connection_every_missed_text_is_there(screen: Screen, scene: Scene, served: Served):
    await receive(scene, (PHONE, "One"))
    await screen.do("follow")
    await screen.do("inbox - start")
    await screen.do(f"thread {await thread_of(scene)} start")
    await receive(scene, (PHONE, "Two"))
    await screen.until("thread", lambda thread: bodies(thread) == ["Two", "One"])
    asked = await screen.do("requests")

    served.cut()
    await screen.until("connection", lambda connection: connection == "lost")
    await receive(scene, (PHONE, "Three"), (PHONE, "Four"))
    await screen.do("connect")
    await screen.until("thread", lambda thread: bodies(thread) == ["Four", "Three", "Two", "One"])

    assert await screen.do("requests") == asked


async def test_a_client_that_missed_too_many_updates_is_told_to_load_again(
    screen: Screen, scene: Scene, served: Served
):
    await receive(scene, (PHONE, "One"))
    await screen.do("follow")
    await receive(scene, (PHONE, "Two"))
    await screen.do("inbox - start")

    served.cut()
    await screen.until("connection", lambda connection: connection == "lost")
    await record_many(scene.services, scene.account.account_id, MAX_MISSED + 1)
    for _ in range(3):
        await scene.dispatch()
    await screen.do("connect")

    [error] = await screen.until("connection", lambda connection: connection != "lost")
    assert error["code"] == "updates_missed"


async def test_a_key_that_is_revoked_ends_the_following(sample: Path, scene: Scene, served: Served):
    id, key = await scene.key("messages:read", "conversations:read", "contacts:read", "conversations:write")
    async with looking_at(sample, f"http://{served.address}", key) as screen:
        await screen.do("follow")
        await scene.revoke(id)
        await receive(scene, (PHONE, "One"))

        assert await screen.until("connection", lambda connection: connection != "lost") == []


async def test_reading_up_to_a_message_leaves_later_ones_unread(screen: Screen, scene: Scene):
    await receive(scene, (PHONE, "One"), (PHONE, "Two"), (PHONE, "Three"))
    await screen.do("inbox - start")
    thread = await thread_of(scene)
    await screen.do(f"thread {thread} start")
    second = screen.last("thread")[1]["id"]

    await screen.do(f"read {thread} {second}")

    [row] = screen.last("inbox")
    assert (row["unread_count"], row["read_up_to"]) == (1, second)


async def test_a_missing_record_is_null_beside_an_existing_one(screen: Screen, scene: Scene):
    await receive(scene, (PHONE, "One"))
    thread = await thread_of(scene)

    shown = await screen.do(f"message {thread} 999999")

    assert shown["conversation"]["id"] == thread
    assert shown["message"] is None
    assert shown["errors"] == [{"path": ["message"], "code": "not_found"}]
