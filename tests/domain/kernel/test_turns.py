"""Long work in the event loop lets other tasks go on."""

import asyncio

import pytest

from app.domain.kernel import turns
from app.domain.kernel.turns import in_turns

pytestmark = pytest.mark.anyio


@pytest.mark.parametrize(("seconds", "order"), [(-1, "a0 b0 a1 b1 a2 b2"), (3600, "a0 a1 a2 b0 b1 b2")])
async def test_work_takes_turns_with_other_work(monkeypatch: pytest.MonkeyPatch, seconds: float, order: str) -> None:
    monkeypatch.setattr(turns, "TURN_SECONDS", seconds)
    done: list[str] = []

    async def work(name: str) -> None:
        async for number in in_turns(range(3)):
            done.append(f"{name}{number}")

    await asyncio.gather(work("a"), work("b"))

    assert " ".join(done) == order
