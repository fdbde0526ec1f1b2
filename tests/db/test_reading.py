"""Rows that asyncpg reads are those that SQLAlchemy reads, and reading begins no transaction."""

from typing import Any

import pytest
from sqlalchemy import Select, bindparam, delete, func, select

from app.domain.contacts.models import Contact
from app.domain.kernel.unit_of_work import Actor
from app.domain.messages.models import Message
from app.domain.messages.requests import Send
from app.domain.onboarding.service import Opened
from app.services import Services
from tests.conftest import unit_of
from tests.factories.traps import open_transactions

pytestmark = pytest.mark.anyio

COLUMNS = Message.id, Message.status, Message.cost, Message.created_at, Message.media, Message.deferral_rule


@pytest.fixture
async def actor(services: Services, account: Opened) -> Actor:
    actor = Actor(account.account_id, frozenset(), "test")
    for text in ("First", "Second"):
        await services.acceptor.accept(actor, Send("+12025550143", text, consent_attested=True))
    return actor


@pytest.mark.parametrize(
    "statement",
    [
        select(*COLUMNS).order_by(Message.id),
        select(*COLUMNS).where(Message.body == "Second").limit(1),
        select(*COLUMNS).where(Message.body.in_(["First", "Second", "Third"])).order_by(Message.id),
        select(Contact.id, Contact.custom_fields, Contact.tags).where(Contact.custom_fields.contains({})),
        select(func.array_agg(Message.body.op("||")(Message.status)), func.max(Message.id)),
    ],
)
async def test_a_statement_has_the_rows_that_sqlalchemy_reads(
    services: Services, actor: Actor, statement: Select[Any]
) -> None:
    async with unit_of(services, actor) as unit:
        unit.reads_alone = True
        found = [tuple(row) for row in await unit.rows_apart(statement)]

        assert found
        assert found == [tuple(row) for row in await unit.rows(statement)]


async def test_a_statement_has_the_parameters_of_each_run(services: Services, actor: Actor) -> None:
    async with unit_of(services, actor) as unit:
        unit.reads_alone = True
        found = [
            [tuple(row) for row in await unit.rows_apart(select(Message.body).where(Message.body == body))]
            for body in ("First", "Second")
        ]
        asked = select(Message.body).where(Message.body == bindparam("body"))
        found.append([tuple(row) for row in await unit.rows_apart(asked, {"body": "First"})])

    assert found == [[("First",)], [("Second",)], [("First",)]]


async def test_reading_begins_no_transaction_and_sees_what_the_unit_has_written(
    services: Services, actor: Actor
) -> None:
    count = select(func.count()).select_from(Message)
    async with unit_of(services, actor) as unit:
        unit.reads_alone = True
        [[before]] = await unit.rows_apart(count)
        begun = [await open_transactions(services.database.pool)]
        await unit.execute(delete(Message).where(Message.body == "First"))
        begun.append(await open_transactions(services.database.pool))
        [[after]] = await unit.rows_apart(count)

    assert (begun, before, after) == ([0, 1], 2, 1)
