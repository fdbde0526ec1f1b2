"""Updates that are read together: one transaction, and one statement for each kind of record."""

from collections.abc import AsyncGenerator
from dataclasses import replace
from typing import Any

import pytest
from sqlalchemy import event

from app.domain.accounts.scopes import ALL as ALL_SCOPES
from app.domain.kernel.unit_of_work import Actor
from app.graphql import live
from app.graphql.execution.documents import prepare
from app.graphql.execution.execute import Executor, Run
from app.services import Services
from tests.graphql.live import ALL, Scene

pytestmark = pytest.mark.anyio

PREPARED = prepare(ALL)


@pytest.fixture
def actor(scene: Scene) -> Actor:
    return Actor(scene.account.account_id, ALL_SCOPES, "test")


@pytest.fixture
async def pages(services: Services, scene: Scene, actor: Actor) -> AsyncGenerator[Any]:
    """Give the stream of three messages that came in."""
    for number in range(3):
        await scene.receive(f"Text {number}")
    pages: Any = await Executor(services).subscribe(Run(PREPARED, {"after": 0}, actor))
    yield pages
    await pages.aclose()


def texts(results: list[Any]) -> list[str | None]:
    """Return the text of each update; None for one that is not about a message."""
    shown = [result.data["updates"].get("message") if result.data else None for result in results]
    return [message and message["body"] for message in shown]


async def test_updates_of_a_page_are_shown_in_one_transaction(services: Services, pages: Any, actor: Actor) -> None:
    together = await anext(pages)
    sent: list[str] = []
    engine = services.database.engine.sync_engine

    def note(*details: Any) -> None:
        sent.append(details[2].split()[0])

    def commit(_: Any) -> None:
        sent.append("COMMIT")

    event.listen(engine, "before_cursor_execute", note)
    event.listen(engine, "commit", commit)

    results = await Executor(services).show(Run(PREPARED, {"after": 0}, actor), together)

    event.remove(engine, "before_cursor_execute", note)
    event.remove(engine, "commit", commit)
    assert [text for text in texts(results) if text] == ["Text 0", "Text 1", "Text 2"]
    assert sent == ["SELECT", "SELECT", "COMMIT"]


async def test_a_long_page_is_shown_in_parts(pages: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(live, "SHOWN_TOGETHER", 3)

    parts = [await anext(pages) for _ in range(2)]

    assert [len(part) for part in parts] == [3, 1]


async def test_an_update_that_cannot_be_shown_keeps_no_other_from_being_shown(
    services: Services, pages: Any, actor: Actor
) -> None:
    together = await anext(pages)
    broken = [*together[:-1], replace(together[-1], message_id=2**70)]

    results = await Executor(services).show(Run(PREPARED, {"after": 0}, actor), broken)

    assert [text for text in texts(results[:-1]) if text] == ["Text 0", "Text 1"]
    assert [bool(result.errors) for result in results] == [False] * (len(broken) - 1) + [True]
