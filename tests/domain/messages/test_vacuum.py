"""The vacuum of the queue."""

from collections.abc import Callable
from typing import Any

import pytest

from app.db.engine import Pool
from app.domain.messages import vacuum
from app.domain.messages.handoff import Handoff
from tests.domain.messages.handing import hand_over
from tests.factories.messages import OUTGOING, states

pytestmark = pytest.mark.anyio


async def test_the_queue_is_vacuumed_each_time_that_many_texts_were_claimed(
    send: Callable[..., Any], handoff: Handoff, pool: Pool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(vacuum, "EVERY", 3)
    before, counts = await OUTGOING.count_vacuums(pool), list[int]()
    for _ in range(7):
        await send()
        await hand_over(handoff)
        counts.append(await OUTGOING.count_vacuums(pool) - before)

    assert counts == [0, 0, 1, 1, 1, 2, 2]
    assert await states(pool) == [("sent", None)] * 7
