"""Smart encoding of sends: the account asks for it, and pays for the text that is sent."""

from collections.abc import Awaitable, Callable
from typing import Any

import pytest

from app.db.engine import Pool
from app.domain.kernel.unit_of_work import Actor
from app.domain.messages.handoff import Handoff
from app.domain.messages.sending.acceptance import Acceptance
from app.domain.onboarding.service import Opened
from app.services import Services
from tests.domain.messages.handing import hand_over
from tests.domain.messages.sends import hello
from tests.factories.accounts import ACCOUNTS
from tests.factories.billing import entries
from tests.factories.messages import MESSAGES, calls

pytestmark = pytest.mark.anyio

COSTLY, CHEAP = "A" * 158 + "’A", "A" * 158 + "'A"
ACCENTED = "¡Está aquí la nueva colección! " * 3
Send = Callable[..., Awaitable[Acceptance]]


async def test_a_send_is_not_changed_unless_the_account_says_so(send: Send, pool: Pool) -> None:
    taken = await send(body=COSTLY)

    assert taken.segments == 3
    assert await MESSAGES.read(pool, "body", "original_body", "encoding") == [(COSTLY, None, "UCS-2")]


async def test_a_send_is_encoded_charged_and_handed_over_as_it_is_sent(
    send: Send, pool: Pool, handoff: Handoff
) -> None:
    await ACCOUNTS.change(pool, smart_encoding=True)

    taken = await send(body=COSTLY)
    await hand_over(handoff)

    assert (taken.segments, taken.credits_remaining) == (1, 999)
    shown = "body", "original_body", "encoding", "segments", "credits"
    assert await MESSAGES.read(pool, *shown) == [(CHEAP, COSTLY, "GSM-7", 1, 1)]
    assert [amount for _, amount, _ in await entries(pool)] == [-1]
    assert len(await calls(pool)) == 1


@pytest.mark.parametrize("body", ["Plain text", "Zoë’s", "你好"])
async def test_a_text_that_encoding_would_not_make_cheaper_stays_as_it_is(send: Send, pool: Pool, body: str) -> None:
    await ACCOUNTS.change(pool, smart_encoding=True)

    await send(body=body)

    assert await MESSAGES.read(pool, "body", "original_body") == [(body, None)]


@pytest.mark.parametrize(("folds", "segments"), [(False, 2), (True, 1)])
async def test_accents_are_folded_only_where_the_account_asks_for_it(
    send: Send, pool: Pool, folds: bool, segments: int
) -> None:
    await ACCOUNTS.change(pool, smart_encoding=True, fold_accents=folds)

    assert (await send(body=ACCENTED)).segments == segments


async def test_a_repeated_send_gets_its_answer_although_the_setting_changed(send: Send, pool: Pool) -> None:
    first = await send(body=COSTLY, idempotency_key="mine")
    await ACCOUNTS.change(pool, smart_encoding=True)

    again = await send(body=COSTLY, idempotency_key="mine")

    assert (again.message_id, again.replayed) == (first.message_id, True)
    assert await MESSAGES.count(pool) == 1


async def test_sends_of_two_accounts_in_one_batch_follow_their_own_settings(
    services: Services, account: Opened, new_account: Callable[..., Any], pool: Pool
) -> None:
    other: Opened = await new_account()
    await ACCOUNTS.where(id=other.account_id).change(pool, smart_encoding=True)
    owners = [Actor(each.account_id, frozenset(), "key:1") for each in (account, other)]

    taken = [await services.acceptor.accept(owner, hello(body=COSTLY)) for owner in owners]

    assert [each.segments for each in taken] == [3, 1]


async def test_an_explanation_counts_the_text_as_it_is_sent(services: Services, actor: Actor, pool: Pool) -> None:
    await ACCOUNTS.change(pool, smart_encoding=True)

    found = await services.acceptor.explain(actor, hello(body=COSTLY))

    assert (found.facts.segments, found.facts.credits) == (1, 1)
