"""Downloads of exports that are broken off: the link has ended, or the client reads too slowly."""

import asyncio
import os
from base64 import b64encode
from collections.abc import AsyncGenerator, Callable
from typing import Any

import pytest

from app.domain.accounts import file_links
from app.domain.accounts.scopes import ALL
from app.domain.erasure import downloads
from app.domain.kernel import account_tables
from app.domain.kernel.unit_of_work import Actor
from app.domain.onboarding.service import Opened
from app.http import downloads as answers
from app.services import Services
from tests.conftest import unit_of
from tests.factories.traps import open_transactions
from tests.factories.webhooks import add_delivery, add_subscription
from tests.graphql.live import Served, serving
from tests.rest.broken_off import END_OF_ANSWER, ENDINGS, add_creator, begin, end_creator, rest
from tests.waiting import until, within

pytestmark = pytest.mark.anyio


@pytest.fixture
async def served(services: Services) -> AsyncGenerator[Served]:
    async with serving(services.settings) as served:
        yield served


@pytest.fixture
async def large(services: Services, account: Opened, monkeypatch: pytest.MonkeyPatch) -> Opened:
    """Give an account whose export does not fit into the buffers of a connection, in many batches."""
    monkeypatch.setattr(account_tables, "EXPORT_BATCH", 4)
    subscription = await add_subscription(services, account.account_id)
    for _ in range(40):
        body = b64encode(os.urandom(300_000))  # PostgreSQL tries long to compress random hexadecimal digits
        await add_delivery(services, account.account_id, subscription, body=body)
    return account


async def make_link(services: Services, account: Opened, **who: int) -> str:
    async with unit_of(services, Actor(account.account_id, ALL, "test", **who)) as unit:
        return f"/exports/{(await downloads.make_link(unit, services.exports)).token}"


async def test_a_download_that_is_read_to_the_end_ends_as_an_answer_does(
    services: Services, large: Opened, served: Served
):
    whole = await rest(*await begin(served, await make_link(services, large)))

    assert whole.endswith(END_OF_ANSWER)
    assert len(whole) > 40 * 200_000


@pytest.mark.parametrize("ending", ENDINGS)
async def test_a_download_is_broken_off_when_its_link_ends(
    services: Services, large: Opened, served: Served, monkeypatch: pytest.MonkeyPatch, ending: str
):
    monkeypatch.setattr(file_links, "CHECK_SECONDS", 0)
    creator = await add_creator(services, large.account_id, ending, ["account:write"], "owner")
    download = await begin(served, await make_link(services, large, **creator))

    await end_creator(services, large.account_id, ending, creator)

    sent = await rest(*download)
    assert not sent.endswith(END_OF_ANSWER)
    assert len(sent) < 40 * 200_000


async def test_a_download_that_takes_too_long_is_broken_off(
    services: Services, large: Opened, served: Served, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(file_links, "MAX_SECONDS", 0)

    sent = await rest(*await begin(served, await make_link(services, large)))

    assert not sent.endswith(END_OF_ANSWER)
    assert len(sent) < 40 * 200_000


async def test_a_client_that_reads_too_slowly_loses_its_place(
    services: Services, large: Opened, served: Served, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(answers, "PATIENCE_SECONDS", 0.5)
    path = await make_link(services, large)
    slow = await begin(served, path)

    await until(lambda: is_free(served, path))

    assert not (await rest(*slow)).endswith(END_OF_ANSWER)


async def is_free(served: Served, path: str) -> bool:
    host, port = served.base_url.removeprefix("http://").split(":")
    reader, writer = await asyncio.open_connection(host, int(port))
    writer.write(f"GET {path} HTTP/1.1\r\nHost: {host}:{port}\r\nConnection: close\r\n\r\n".encode())
    status = await within("the status of an answer", reader.readline())
    writer.close()
    return b"200" in status


async def test_a_slow_client_takes_no_place_of_other_accounts_and_keeps_no_transaction_open(
    services: Services, large: Opened, served: Served, new_account: Callable[..., Any]
):
    _, slow = await begin(served, await make_link(services, large))
    last = await new_account(company_name="The last")

    whole = await rest(*await begin(served, await make_link(services, last)))

    assert whole.endswith(END_OF_ANSWER)
    await until(lambda: none_open(services))
    slow.close()


async def none_open(services: Services) -> bool:
    return await open_transactions(services.database.pool) == 0
