"""Live updates: each once, in order, only of the own account, and replayed after a gap."""

from collections.abc import Callable
from typing import Any

import pytest

from app.domain.conversations import notes
from app.domain.conversations.models import ConversationStatus
from app.domain.live.feed import MAX_MISSED
from app.services import Services
from tests.factories.conversations import CONVERSATIONS
from tests.factories.events import EVENTS, LIVE_UPDATES, record, record_many
from tests.graphql.live import KINDS, PHONE, UPDATES, Scene, Scenes, Served, serving, talking
from tests.waiting import until

pytestmark = pytest.mark.anyio

MISSED = "Updates cannot be replayed from {}. Reload the displayed data, and subscribe without `after`."


async def test_a_text_that_comes_in_is_shown_with_its_conversation(served: Served, scene: Scene):
    async with talking(served.address, scene.account.svc_key) as talk:
        await talk.subscribe()

        await scene.receive("Hello")

        began, came = await talk.next(), await talk.next()
    assert (began["__typename"], began["kind"]) == ("ConversationUpdate", "conversation_changed")
    assert (came["__typename"], came["kind"]) == ("NewMessageUpdate", "new_message")
    assert came["message"] == {"id": came["message"]["id"], "body": "Hello", "status": "received"}
    assert came["conversation"]["status"] == "open"
    assert came["conversation"]["unread_count"] == 1
    assert came["id"] > began["id"]


async def test_the_fate_of_a_text_that_was_sent_is_shown(served: Served, scene: Scene):
    async with talking(served.address, scene.account.svc_key) as talk:
        await talk.subscribe(kinds=["message_status"])

        id = await scene.send("Hello")
        sent = await talk.next()
        await scene.deliver(id)
        delivered = await talk.next()

    assert [each["kind"] for each in (sent, delivered)] == ["message_status"] * 2
    assert [each["__typename"] for each in (sent, delivered)] == ["MessageStatusUpdate"] * 2
    assert sent["message"] == {"id": id, "body": "Hello", "status": "sent"}
    assert delivered["message"] == {"id": id, "body": "Hello", "status": "delivered"}


async def test_a_conversation_that_is_closed_and_comes_back_is_shown(served: Served, scene: Scene):
    await scene.receive("Hello")
    async with talking(served.address, scene.account.svc_key) as talk:
        await talk.subscribe(kinds=["conversation_changed"], after=await scene.newest())

        await scene.change(ConversationStatus.closed)
        closed = await talk.next()
        await scene.receive("Hello again")
        reopened = await talk.next()

    assert (closed["conversation"]["status"], closed["conversation"]["unread_count"]) == ("closed", 1)
    assert (reopened["conversation"]["status"], reopened["conversation"]["unread_count"]) == ("open", 2)


async def test_notes_and_presence_are_shown_to_the_account_only(
    served: Served, scene: Scene, scene_of: Scenes, new_account: Callable[..., Any]
):
    await scene.receive("Hello")
    other = scene_of(await new_account())
    present = UPDATES % "id kind conversation_id actor { label } ... on PresenceUpdate { typing }"
    noted = UPDATES % "... on NoteUpdate { conversation_id actor { label } note { body author { label } } }"
    id = await CONVERSATIONS.only(scene.services, "id")
    newest = await scene.newest()
    async with (
        talking(served.address, scene.account.svc_key) as talk,
        talking(served.address, other.account.svc_key) as stranger,
    ):
        await talk.subscribe(present, kinds=["presence"], after=newest)
        await stranger.subscribe(present, kinds=["presence", "conversation_changed"])
        announce = f"mutation {{ announce_presence(conversation_id: {id}, typing: true) {{ id }} }}"
        came: dict[str, Any] = {"id": "2", "type": "complete"}
        while came["id"] != "1":  # again until the server has subscribed to Redis
            if came["type"] == "complete":
                await talk.say(id="2", type="subscribe", payload={"query": announce})
            came = await talk.hear()
        await other.receive("For others")
        seen = await stranger.next()
        async with scene.unit() as unit:
            await notes.add(unit, id, "An old friend")
        await scene.dispatch()
        await talk.subscribe(noted, kinds=["note_added"], after=newest, id="3")
        while (note := await talk.hear())["id"] != "3":
            pass

    shown = came["payload"]["data"]["updates"]
    assert shown.pop("actor")["label"].startswith("key:")
    assert shown == {"id": newest, "kind": "presence", "conversation_id": id, "typing": True}
    assert seen["kind"] == "conversation_changed"
    by = {"label": "test"}
    body = {"body": "An old friend", "author": by}
    assert note["payload"]["data"]["updates"] == {"conversation_id": id, "actor": by, "note": body}


async def test_a_subscriber_does_not_see_the_updates_of_another_account(
    served: Served, scene: Scene, scene_of: Scenes, new_account: Callable[..., Any]
):
    other = scene_of(await new_account())
    async with talking(served.address, other.account.svc_key) as talk:
        await talk.subscribe(kinds=["new_message"])

        await scene.receive("Not for others")
        await other.receive("For others")

        assert (await talk.next())["message"]["body"] == "For others"


async def test_a_returning_subscriber_is_shown_only_the_missed_updates(served: Served, scene: Scene):
    async with talking(served.address, scene.account.svc_key) as talk:
        await talk.subscribe(kinds=["new_message"])
        await scene.receive("One")
        seen = await talk.next()
    await scene.receive("Two")
    await scene.receive("Three")

    async with talking(served.address, scene.account.svc_key) as talk:
        await talk.subscribe(kinds=["new_message"], after=seen["id"])
        bodies = [(await talk.next())["message"]["body"] for _ in range(2)]
        await scene.receive("Four")
        bodies.append((await talk.next())["message"]["body"])

    assert bodies == ["Two", "Three", "Four"]


async def test_a_transaction_that_ends_late_is_shown_late_and_not_skipped(
    served: Served, scene: Scene, scene_of: Scenes, services: Services
):
    await scene.receive("Hello")
    contact_id = await CONVERSATIONS.only(services, "contact_id")
    async with talking(served.address, scene.account.svc_key) as talk:
        await talk.subscribe(KINDS, after=await scene.newest())
        async with services.database.pool.acquire() as slow:
            transaction: Any = slow.transaction()
            await transaction.start()
            early_id = await record(slow, scene.account.account_id, "conversation_changed", contact_id)
            await scene.receive("Meanwhile")
            first = await talk.next()
            await transaction.commit()
        await scene.dispatch()
        second = await talk.next()
    async with talking(served.address, scene.account.svc_key) as talk:
        await talk.subscribe(KINDS, after=first["id"])
        again = await talk.next()

    assert early_id < await EVENTS.where(name="new_message").last(services, "id")
    assert [first["kind"], second["kind"]] == ["new_message", "conversation_changed"]
    assert again == second


async def test_the_updates_of_one_batch_are_shown_in_the_order_of_their_events(
    served: Served, scene: Scene, services: Services
):
    names = ("message_failed", "conversation_changed")
    for number in range(1, 251):
        await record(services, scene.account.account_id, names[number % 2], 1, {"message_id": number})
    async with talking(served.address, scene.account.svc_key) as talk:
        await talk.subscribe(KINDS)

        await scene.dispatch()

        shown = [await talk.next() for _ in range(250)]
    assert [each["kind"] for each in shown] == ["conversation_changed", "message_status"] * 125
    assert [each["id"] for each in shown] == sorted({each["id"] for each in shown})


async def test_a_subscriber_that_missed_over_a_thousand_updates_is_told_to_load_again(
    served: Served, scene: Scene, services: Services
):
    await record_many(services, scene.account.account_id, MAX_MISSED + 1)
    for _ in range(3):
        await scene.dispatch()
    first = min(await LIVE_UPDATES.read(services, "position"))

    async with talking(served.address, scene.account.svc_key) as talk:
        await talk.subscribe(KINDS, after=first)
        exactly = await talk.next()
        await talk.say(id="1", type="complete")
        await talk.subscribe(KINDS, after=first - 1, id="2")
        while (refused := await talk.hear())["id"] == "1":
            pass

    assert exactly["id"] == first + 1
    [error] = refused["payload"]
    assert refused["type"] == "error"
    assert error["message"] == MISSED.format(first - 1)
    assert (error["extensions"]["code"], error["extensions"]["status"]) == ("updates_missed", 410)


@pytest.mark.parametrize("after", [-1, 2**60])
async def test_an_id_that_was_never_sent_is_refused(served: Served, scene: Scene, after: int):
    async with talking(served.address, scene.account.svc_key) as talk:
        await talk.subscribe(KINDS, after=after)

        refused = await talk.hear()

    assert [error["message"] for error in refused["payload"]] == [MISSED.format(after)]


async def test_a_new_subscriber_is_not_shown_earlier_updates(served: Served, scene: Scene):
    await scene.receive("Before")
    async with talking(served.address, scene.account.svc_key) as talk:
        await talk.subscribe(kinds=["new_message"], after=None)
        await until(lambda: served.watched > 0)

        await scene.receive("After")

        assert (await talk.next())["message"]["body"] == "After"


async def test_no_update_is_lost_between_loading_and_subscribing(served: Served, scene: Scene):
    await scene.receive("Before")
    async with talking(served.address, scene.account.svc_key) as talk:
        await talk.subscribe("{ last_update_id messages { nodes { body } } }", id="load")
        loaded = (await talk.hear())["payload"]["data"]
        await talk.hear()
        await scene.receive("Meanwhile")
        await talk.subscribe(kinds=["new_message"], after=loaded["last_update_id"])

        shown = await talk.next()

    assert loaded["messages"]["nodes"] == [{"body": "Before"}]
    assert shown["message"]["body"] == "Meanwhile"


async def test_two_processes_are_told_alike(served: Served, scene: Scene, services: Services):
    async with (
        serving(services.settings) as second,
        talking(served.address, scene.account.svc_key) as here,
        talking(second.address, scene.account.svc_key) as there,
    ):
        await here.subscribe(kinds=["new_message"])
        await there.subscribe(kinds=["new_message"])
        await scene.receive("Hello")

        shown = [await here.next(), await there.next()]

    assert shown[0] == shown[1]
    assert shown[0]["message"]["body"] == "Hello"


async def test_a_contact_is_shown_with_the_scope_for_contacts(served: Served, scene: Scene):
    async with talking(served.address, scene.account.svc_key) as talk:
        await talk.subscribe(
            UPDATES % "... on NewMessageUpdate { message { contact { phone } } }", kinds=["new_message"]
        )
        await scene.receive("Hello")

        assert await talk.next() == {"message": {"contact": {"phone": PHONE}}}
