"""A row that PostgreSQL writes as JSON is written as Python writes it, whatever values it has."""

import re
from collections.abc import Awaitable, Callable
from dataclasses import replace
from datetime import UTC, datetime
from itertools import pairwise
from typing import Any

import orjson
import pytest
from graphql import ExecutionResult
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from app.domain.accounts.scopes import ALL
from app.domain.contacts import service as contacts
from app.domain.contacts.models import ContactFields
from app.domain.kernel.unit_of_work import Actor
from app.domain.messages.requests import Send
from app.domain.onboarding.service import Opened
from app.graphql.execution.documents import prepare
from app.graphql.execution.execute import Executor, Run
from app.services import Services
from tests.conftest import unit_of
from tests.factories.messages import MESSAGES
from tests.factories.plans import NO_HISTORIES, NO_SEQUENTIAL_SCANS, list_kept_plan, noted
from tests.graphql.test_linked_records import session_statements

pytestmark = pytest.mark.anyio

SHOWN = (
    "__typename id phone name: first_name last_name email tags pipeline_stage source status dnd_sms time_zone "
    "time_zone_source held_until assignee_id score created_at updated_at"
)
"""Members of every kind; some may be null."""

is_scan_of_messages = re.compile(r"Scan .*\bmessages_from_").search

TEXTS = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0"), max_size=20)
INSTANTS = st.datetimes(datetime(1, 2, 1), datetime(9999, 11, 30), timezones=st.just(UTC))  # noqa: DTZ001
NUMBERS = st.integers(-(2**63), 2**63 - 1)


@settings(max_examples=100, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    values=st.fixed_dictionaries(
        {
            "first_name": TEXTS,
            "tags": st.lists(TEXTS, max_size=3),
            "time_zone": st.none() | TEXTS,
            "held_until": st.none() | INSTANTS,
            "assignee_id": st.none() | NUMBERS,
            "dnd_sms": st.booleans(),
            "created_at": INSTANTS,
        }
    )
)
async def test_a_row_is_the_same_json_from_the_database_as_from_python(
    values: dict[str, Any], services: Services, account: Opened
) -> None:
    actor = Actor(account.account_id, ALL, "test")
    async with unit_of(services, actor) as unit:
        [contact, *_] = (await contacts.find_exact(unit, "+12025550143", None)) or [
            await contacts.create(unit, ContactFields(phone="+12025550143"))
        ]
        for name, value in values.items():
            setattr(contact, name, value)
    run = Run(prepare(f"{{ contacts {{ nodes {{ {SHOWN} }} }} }}"), {}, actor)

    by_database, _ = await Executor(services).run(Run(run.prepared, {}, actor, as_text=True))
    by_python, _ = await Executor(services).run(run)

    assert by_database.data
    assert by_python.data
    assert type(by_database.data["contacts"]["nodes"][0]) is orjson.Fragment
    assert orjson.dumps(by_database.data) == orjson.dumps(by_python.data)


async def test_a_number_that_the_contract_cannot_show_is_refused_in_both_forms(
    services: Services, account: Opened
) -> None:
    actor = Actor(account.account_id, ALL, "test")
    await services.acceptor.accept(actor, Send("+12025550143", "Hi", consent_attested=True))
    await MESSAGES.change(services, segments=2**31)
    run = Run(prepare("{ messages { nodes { segments } } }"), {}, actor)

    by_database, _ = await Executor(services).run(Run(run.prepared, {}, actor, as_text=True))
    by_python, _ = await Executor(services).run(run)

    assert by_database.data == by_python.data == {"messages": None}
    assert by_database.errors
    assert by_python.errors


LINKED = [
    "{ contacts { nodes { phone conversation { id status messages { nodes { body created_at } } } } } }",
    "{ contacts(sort: last_message, last: 2) { page_info { end_cursor } nodes { conversation { id } id } } }",
    "{ a: contacts { b: nodes { c: conversation { __typename d: messages(first: 1) { e: nodes { f: body } } } } } }",
    "query ($n: Int = 1) { conversations { nodes { id messages(first: $n) { nodes { __typename id segments } } } } }",
]
WITH_OBJECTS = [
    "{ conversations { nodes { messages(last: 1) { nodes { body } } } } }",
    "{ conversations { nodes { messages(offset: 1) { nodes { body } } } } }",
    "{ conversations { nodes { messages(first: 0) { nodes { body } } } } }",
    '{ conversations { nodes { messages(after: "x") { nodes { body } } } } }',
    "{ conversations { nodes { messages { nodes { body } total_count } } } }",
    "{ conversations { nodes { messages { nodes { cost body } } } } }",
    "{ messages { nodes { id conversation { id } } } }",
    "{ contacts(offset: 1) { nodes { conversation { id } } } }",
]
"""Queries of records that are not written with the records they link."""


@pytest.fixture
async def actor(services: Services, account: Opened) -> Actor:
    actor = Actor(account.account_id, ALL, "test")
    for phone, text in [("+12025550143", "One"), ("+12025550143", 'Two "'), ("+12025550144", "Three")]:
        await services.acceptor.accept(actor, Send(phone, text, consent_attested=True))
    async with unit_of(services, actor) as unit:
        await contacts.create(unit, ContactFields(phone="+12025550145"))
    return actor


async def answers_to(services: Services, actor: Actor, query: str) -> tuple[bytes, bytes, list[str]]:
    """Return the answers by the database and by Python, and the statements of the first."""
    prepared = prepare(query)
    with session_statements() as statements:
        by_database, _ = await Executor(services).run(Run(prepared, {}, actor, as_text=True))
    by_python, _ = await Executor(services).run(Run(replace(prepared, plan=None), {}, actor))
    return written(by_database), written(by_python), statements


def written(result: ExecutionResult) -> bytes:
    return orjson.dumps([result.data, [error.formatted for error in result.errors or ()]])


@pytest.mark.parametrize("query", LINKED)
async def test_the_records_that_a_list_links_are_read_with_it_and_are_the_same(
    services: Services, actor: Actor, query: str
) -> None:
    by_database, by_python, statements = await answers_to(services, actor, query)

    assert by_database == by_python
    assert ["linked_1" in each for each in statements if "FROM" in each] == [True]


WITH_CURSORS = (
    "{ contacts(first: 2) { nodes { conversation {"
    " messages(first: 2) { nodes { body } page_info { end_cursor } } } } } }"
)


@pytest.mark.parametrize("query", [LINKED[0], WITH_CURSORS])
async def test_a_plan_of_a_time_with_few_messages_reads_those_of_each_conversation_only(
    services: Services, actor: Actor, query: str
) -> None:
    with noted() as sent:
        await Executor(services).run(Run(prepare(query), {}, actor, as_text=True))
    [(statement, parameters)] = [each for each in sent if "messages" in each[0]]

    lines = await list_kept_plan(
        services.database.pool,
        MESSAGES,
        statement,
        *parameters,
        settings=[NO_SEQUENTIAL_SCANS, *NO_HISTORIES],
    )

    conditions = [then for line, then in pairwise(lines) if is_scan_of_messages(line)]
    assert conditions, lines
    assert all("Cond: (conversation_id = " in each for each in conditions), "\n".join(lines)


@pytest.mark.parametrize("query", WITH_OBJECTS)
async def test_records_with_other_fields_are_read_as_objects(services: Services, actor: Actor, query: str) -> None:
    by_database, by_python, statements = await answers_to(services, actor, query)

    assert by_database == by_python
    assert [each for each in statements if "linked_" in each] == []


async def test_a_linked_record_is_of_the_same_account(
    services: Services, actor: Actor, new_account: Callable[[], Awaitable[Opened]]
) -> None:
    stranger = Actor((await new_account()).account_id, ALL, "test")
    await services.acceptor.accept(stranger, Send("+12025550143", "Strange", consent_attested=True))

    answer, _, _ = await answers_to(services, stranger, LINKED[0])

    assert answer.count(b'"body"') == 1
    assert b"Strange" in answer


async def test_a_number_of_a_linked_record_that_the_contract_cannot_show_is_refused_at_its_place(
    services: Services, actor: Actor
) -> None:
    await MESSAGES.where(body="One").change(services, segments=2**31)

    by_database, by_python, _ = await answers_to(services, actor, LINKED[0].replace("created_at", "segments"))

    assert by_database == by_python
    assert b'"messages"' in by_database
