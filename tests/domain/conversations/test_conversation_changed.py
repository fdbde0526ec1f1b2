"""Events of a conversation's changes: one for each, and none without a change."""

from typing import Any

import pytest

from app.domain.carriers.carrier import InboundMessage
from app.domain.conversations import review, service
from app.domain.conversations.models import ConversationStatus
from app.domain.conversations.service import ConversationFields
from app.domain.onboarding.service import Opened
from app.services import Services
from tests.domain.conftest import Recorded, UnitFor
from tests.factories.conversations import CONVERSATIONS

PHONE = "+12025550143"
UNCLEAR = "stop what time is the showing"


async def text_in(services: Services, account: Opened, body: str, number: int = 1) -> Any:
    """Have a contact text in; return the conversation."""
    inbound = InboundMessage(f"in-{number}", PHONE, account.phone_number, body)
    await services.inbox.receive("sandbox", inbound)
    return await CONVERSATIONS.only(services)


async def changes(recorded: Recorded) -> list[dict[str, Any]]:
    return [payload for name, payload in await recorded() if name == "conversation_changed"]


@pytest.mark.parametrize(
    ("fields", "changed"),
    [
        ({"status": ConversationStatus.closed}, {"status": "closed"}),
        ({"status": ConversationStatus.open}, None),
        ({}, None),
    ],
)
async def test_an_update_that_changes_something_is_told(
    services: Services,
    account: Opened,
    unit_for: UnitFor,
    recorded: Recorded,
    fields: ConversationFields,
    changed: dict[str, Any] | None,
) -> None:
    conversation = await text_in(services, account, "Hello")

    async with unit_for(account) as unit:
        await service.update(unit, conversation["id"], fields)

    before = {
        "conversation_id": conversation["id"],
        "contact_id": conversation["contact_id"],
        "status": "open",
        "snoozed_until": None,
        "assignee_id": None,
        "unread_count": 1,
        "possible_opt_out": False,
        "ai_state": "none",
        "actor": "test",
    }
    after = [] if changed is None else [before | changed | {"changed": [*changed]}]
    assert await changes(recorded) == after


async def test_a_decision_on_an_unclear_reply_is_told_once(
    services: Services, account: Opened, unit_for: UnitFor, recorded: Recorded
) -> None:
    conversation = await text_in(services, account, UNCLEAR)
    assert conversation["possible_opt_out"]

    for _ in range(2):
        async with unit_for(account) as unit:
            await review.decide(unit, conversation["id"], opted_out=False)

    assert [payload["possible_opt_out"] for payload in await changes(recorded)] == [False]


async def test_a_text_that_reopens_a_conversation_is_told_as_a_change_and_any_other_is_not(
    services: Services, account: Opened, unit_for: UnitFor, recorded: Recorded
) -> None:
    conversation = await text_in(services, account, "Hello")
    await text_in(services, account, "Hello again", 2)
    async with unit_for(account) as unit:
        await service.update(unit, conversation["id"], {"status": ConversationStatus.closed})

    await text_in(services, account, UNCLEAR, 3)

    closed, reopened = await changes(recorded)
    assert (closed["status"], closed["unread_count"]) == ("closed", 2)
    assert (reopened["status"], reopened["unread_count"], reopened["possible_opt_out"]) == ("open", 3, True)
