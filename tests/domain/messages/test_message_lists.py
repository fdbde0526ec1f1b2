"""Which messages a list holds."""

from collections.abc import Callable
from typing import Any

from app.db.engine import Pool
from app.domain.kernel.paging import Total, Window
from app.domain.messages import queries
from app.domain.messages.queries import MessageFilter
from tests.factories.contacts import id_of_contact
from tests.factories.conversations import CONVERSATIONS

ANN, BOB = "+12025550143", "+12025550144"


async def test_messages_are_listed_of_one_contact_or_of_one_conversation(
    send: Callable[..., Any], act: Callable[..., Any], pool: Pool
) -> None:
    await send(ANN, "For Ann")
    await send(BOB, "For Bob")
    ann, bob = await id_of_contact(pool, ANN), await id_of_contact(pool, BOB)
    conversation = await CONVERSATIONS.where(contact_id=bob).only(pool, "id")

    async with act() as unit:
        of_ann = await queries.find_page(unit, MessageFilter(contact_id=ann), Window())
        of_bob = await queries.find_page(unit, MessageFilter(conversation_id=conversation), Window())

        assert [message.body for message in of_ann.nodes] == ["For Ann"]
        assert ([message.body for message in of_bob.nodes], await of_bob.total()) == (["For Bob"], Total(1))
