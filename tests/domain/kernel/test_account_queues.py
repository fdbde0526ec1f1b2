"""Queues of the items that wait for locks, one queue for each account."""

import asyncio
from collections.abc import Sequence

import pytest

from app.domain.kernel.account_queues import AccountQueues
from tests.waiting import within

ACCOUNT = 7


class Server:
    """Serves a batch as soon as `go` is set, and keeps the batches that it was given."""

    def __init__(self) -> None:
        self.batches: list[list[str]] = []
        self.begun, self.go = asyncio.Event(), asyncio.Event()

    async def __call__(self, items: Sequence[str]) -> Sequence[str]:
        self.batches.append(list(items))
        self.begun.set()
        await within("the test to let it go on", self.go.wait())
        if "bad" in items:
            raise ValueError("a bad batch")
        return [item.upper() for item in items]


async def test_a_queue_is_removed_after_its_last_item_though_its_caller_was_cancelled() -> None:
    server = Server()
    queues = AccountQueues(server, limit=10, waiting=1)
    caller = asyncio.create_task(queues(ACCOUNT, "one"))
    await within("the batch to begin", server.begun.wait())

    caller.cancel()
    await within("the caller to end", asyncio.wait([caller]))
    was_in_use = ACCOUNT in queues
    server.go.set()
    await within("the queues to close", queues.close())

    assert (was_in_use, ACCOUNT in queues, server.batches) == (True, False, [["one"]])
    assert await queues(ACCOUNT, "two") == "TWO"
    assert ACCOUNT not in queues


async def test_a_queue_remains_while_items_wait_and_serves_them_in_one_batch() -> None:
    server = Server()
    queues = AccountQueues(server, limit=10, waiting=1)
    first = asyncio.create_task(queues(ACCOUNT, "one"))
    await within("the batch to begin", server.begun.wait())
    later = [asyncio.create_task(queues(ACCOUNT, item)) for item in ("two", "three")]
    server.go.set()

    results = await within("the items to be served", asyncio.gather(first, *later))
    assert results == ["ONE", "TWO", "THREE"]
    assert server.batches == [["one"], ["two", "three"]]
    assert ACCOUNT not in queues


async def test_a_queue_is_removed_after_a_batch_that_fails() -> None:
    server = Server()
    server.go.set()
    queues = AccountQueues(server, limit=10, waiting=1)

    with pytest.raises(ValueError, match="a bad batch"):
        await queues(ACCOUNT, "bad")

    assert ACCOUNT not in queues
