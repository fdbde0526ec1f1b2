"""Lists of contacts in pages, their totals, and what reading them costs."""

import asyncio
from collections.abc import Callable
from datetime import UTC, datetime
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from sqlalchemy import event
from sqlalchemy import text as text_of

from app.domain.contacts import queries, service
from app.domain.contacts.models import Contact, ContactFields, ContactStatus, PipelineStage
from app.domain.contacts.queries import ContactFilter, ContactSort
from app.domain.erasure import service as erasure
from app.domain.kernel.paging import Page, Total, Window
from app.domain.kernel.unit_of_work import UnitOfWork
from app.domain.onboarding.service import Opened
from app.services import Services
from tests.domain.conftest import UnitFor
from tests.factories.contacts import CONTACT_TOTALS

EVERYONE = ContactFilter()
NAMES = st.sampled_from(["", "Ann", "ann", "Bob", "2026-11-21", "20261121T120000", "Zoë"])
PEOPLE = st.lists(st.tuples(NAMES, st.sampled_from(PipelineStage)), max_size=6)
KEYS: dict[ContactSort, Callable[[Any], Any]] = {
    ContactSort.name_asc: lambda contact: (contact.first_name.lower(), contact.last_name.lower(), contact.id),
    ContactSort.name_desc: lambda contact: (contact.first_name.lower(), contact.last_name.lower(), contact.id),
    ContactSort.score_high: lambda contact: (contact.score, contact.id),
    ContactSort.date_added: lambda contact: (contact.created_at, contact.id),
    ContactSort.date_updated: lambda contact: (contact.updated_at, contact.id),
}


@settings(max_examples=20, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(sort=st.sampled_from([*queries.ORDERS]), size=st.integers(1, 3), waves=st.lists(PEOPLE, min_size=1, max_size=4))
async def test_pages_show_each_contact_once_and_in_order_while_others_are_added(
    new_account: Callable[..., Any],
    unit_for: UnitFor,
    sort: ContactSort,
    size: int,
    waves: list[list[tuple[str, PipelineStage]]],
) -> None:
    account, phones = await new_account(), iter(range(12025550100, 12025550200))
    at_first = [(await _add(unit_for, account, next(phones), *person)).id for person in waves[0]]

    shown: list[Any] = []
    cursor, more = None, True
    while more:
        async with unit_for(account) as unit:
            page = await queries.find_page(unit, EVERYONE, sort, Window(size, cursor))
        shown += page.nodes
        cursor, more = page.end_cursor, await page.has_next_page()
        for person in waves.pop() if len(waves) > 1 else []:
            await _add(unit_for, account, next(phones), *person)

    ids = [contact.id for contact in shown]
    assert len(ids) == len(set(ids))
    assert set(at_first) <= set(ids)
    assert shown == sorted(shown, key=KEYS[sort], reverse=sort is not ContactSort.name_asc)


@pytest.mark.parametrize("sort", queries.ORDERS)
async def test_offsets_and_cursors_show_the_same_pages(unit: UnitOfWork, sort: ContactSort) -> None:
    for number, name in enumerate(["b", "a", "", "B", "c"]):
        await service.create(unit, {"phone": f"+1202555010{number}", "first_name": name})
    whole = await queries.find_page(unit, EVERYONE, sort, Window())

    by_offset = [await queries.find_page(unit, EVERYONE, sort, Window(2, offset=offset)) for offset in (0, 2, 4, 6)]
    second = await queries.find_page(unit, EVERYONE, sort, Window(2, by_offset[0].end_cursor))
    third = await queries.find_page(unit, EVERYONE, sort, Window(2, second.end_cursor))
    skipped = await queries.find_page(unit, EVERYONE, sort, Window(2, by_offset[0].end_cursor, offset=2))

    ids = ids_of(whole)
    assert [ids_of(page) for page in by_offset] == [ids[:2], ids[2:4], ids[4:], []]
    assert [await page.has_next_page() for page in by_offset] == [True, True, False, False]
    assert (ids_of(second), ids_of(third), ids_of(skipped)) == (ids[2:4], ids[4:], ids[4:])
    assert by_offset[3].end_cursor is None


def ids_of(page: Page[Contact]) -> list[int]:
    return [contact.id for contact in page.nodes]


async def test_the_total_is_right_after_each_contact_that_comes_or_goes(account: Opened, unit_for: UnitFor) -> None:
    totals = []
    for number in range(3):
        contact = await _add(unit_for, account, 12025550100 + number)
        totals.append(await _total(unit_for, account))
    async with unit_for(account) as unit:
        await erasure.erase(unit, contact.id)
        totals.append((await (await _first_page(unit)).total()).count)

    assert totals == [1, 2, 3, 2]


async def test_an_account_without_contacts_has_a_total_of_0(account: Opened, unit_for: UnitFor) -> None:
    assert await _total(unit_for, account) == 0


async def test_the_total_is_right_when_contacts_come_and_go_at_once(account: Opened, unit_for: UnitFor) -> None:
    there = [await _add(unit_for, account, 12025550100 + number) for number in range(3)]

    async def erase(id: int) -> None:
        async with unit_for(account) as unit:
            await erasure.erase(unit, id)

    async def fail(phone: int) -> None:
        async with unit_for(account) as unit:
            await service.create(unit, {"phone": f"+{phone}"})
            raise InterruptedError

    await asyncio.gather(
        *(_add(unit_for, account, 12025550110 + number) for number in range(6)),
        *(erase(contact.id) for contact in there),
        *(fail(12025550120 + number) for number in range(2)),
        return_exceptions=True,
    )

    async with unit_for(account) as unit:
        page = await _first_page(unit)
        assert (len(page.nodes), await page.total()) == (6, Total(6))


async def test_the_total_counts_many_rows_of_one_statement(services: Services, account: Opened) -> None:
    await _fill(services, account, 50)
    await services.database.pool.execute("DELETE FROM contacts WHERE phone < '+10000000020'")

    assert await CONTACT_TOTALS.only(services, "total") == 31


async def test_the_total_is_of_the_own_account(
    account: Opened, new_account: Callable[..., Any], unit_for: UnitFor
) -> None:
    other = await new_account()
    await _add(unit_for, account, 12025550100)
    await _add(unit_for, other, 12025550100)
    await _add(unit_for, other, 12025550101)

    assert (await _total(unit_for, account), await _total(unit_for, other)) == (1, 2)


async def test_no_list_of_contacts_reads_the_whole_table(services: Services, account: Opened, unit: UnitOfWork) -> None:
    await _fill(services, account, 20_000)
    await services.database.pool.execute("ANALYZE contacts, contact_tags")
    lists = {
        **{sort.value: (EVERYONE, sort) for sort in queries.ORDERS},
        "search": (ContactFilter(search="son 777"), ContactSort.date_added),
        "phone": (ContactFilter(search="+1 000 007 77"), ContactSort.date_added),
        "letter": (ContactFilter(search="q"), ContactSort.date_added),
        **{f"stage {sort}": (ContactFilter(stage=PipelineStage.won), sort) for sort in queries.ORDERS},
        "opted out": (ContactFilter(status=ContactStatus.opted_out), ContactSort.date_added),
        "tag": (ContactFilter(tag="tag 77"), ContactSort.date_added),
        "tag by name": (ContactFilter(tag="tag 77"), ContactSort.name_asc),
    }

    plans = {name: await _plan(services, unit, *wanted) for name, wanted in lists.items()}
    backward = {
        sort.value: await _plan(services, unit, EVERYONE, sort, Window(last=50, before=await _middle(unit, sort)))
        for sort in queries.ORDERS
    }

    assert {name: plan for name, plan in plans.items() if "Seq Scan" in plan} == {}
    assert {name: plan for name, plan in backward.items() if "Seq Scan" in plan or "Sort" in plan} == {}
    indexes = {
        "name_asc": "ix_contacts_name",
        "name_desc": "ix_contacts_name",
        "score_high": "ix_contacts_score",
        "date_updated": "ix_contacts_updated",
        "date_added": "ix_contacts_date_added",
        "search": "ix_contacts_searched",
        "phone": "uq_contacts_account_id_phone",
        "letter": "ix_contacts_date_added",
        "stage name_asc": "ix_contacts_stage_name",
        "stage name_desc": "ix_contacts_stage_name",
        "stage score_high": "ix_contacts_stage_score",
        "stage date_added": "ix_contacts_stage_added",
        "opted out": "ix_contacts_opted_out",
        "tag": "ix_contact_tags_added",
    }
    assert {name: index for name, index in indexes.items() if index not in plans[name]} == {}


@pytest.mark.parametrize(
    ("condition", "lists"),
    [
        ("c.searched", [ContactFilter(search=text) for text in ("ivy", *map(str, range(100, 110)))]),
        ("c.updated_at >=", [ContactFilter(updated_since=datetime(2026, 11, day, tzinfo=UTC)) for day in range(1, 12)]),
    ],
)
async def test_a_list_is_planned_for_its_text_or_time_however_often_it_is_run(
    unit: UnitOfWork, condition: str, lists: list[ContactFilter]
) -> None:
    before, _ = await _count_plans(unit, condition)

    for wanted in lists:
        page = await queries.find_page(unit, wanted, ContactSort.date_added, Window())
        await page.total()

    after, planned_for_values = await _count_plans(unit, condition)
    assert after == before
    assert planned_for_values >= 22


async def test_the_total_of_a_search_is_exact_up_to_the_limit_of_every_list(
    services: Services, account: Opened, unit_for: UnitFor
) -> None:
    await _fill(services, account, 10_001)

    async with unit_for(account) as unit:
        searches = {"Jackson 1000": 3, "ann 1": 1135, "ann": 10_000}
        totals = {}
        for text in searches:
            page = await queries.find_page(unit, ContactFilter(search=text), ContactSort.date_added, Window())
            totals[text] = await page.total()

    assert {text: total.count for text, total in totals.items()} == searches
    assert [total.is_exact for total in totals.values()] == [True, True, False]


async def test_the_total_of_a_search_among_many_contacts_is_exact_up_to_a_lower_limit(
    services: Services, account: Opened, unit: UnitOfWork, monkeypatch: pytest.MonkeyPatch
) -> None:
    await _fill(services, account, 30)
    monkeypatch.setattr(queries, "MANY", 29)
    monkeypatch.setattr(queries, "MAX_MATCHES", 3)

    found = [
        await queries.find_page(unit, ContactFilter(search=text), ContactSort.date_added, Window())
        for text in ("ann", "Jackson 3")
    ]

    assert [await page.total() for page in found] == [Total(3, is_exact=False), Total(2)]


async def _count_plans(unit: UnitOfWork, condition: str) -> tuple[int, int]:
    """Return how often this connection ran lists of a condition by a kept plan, and by a plan for their values."""
    counted = (
        "SELECT coalesce(sum(generic_plans), 0)::int, coalesce(sum(custom_plans), 0)::int FROM pg_prepared_statements"
        f" WHERE statement LIKE '%{condition}%' AND statement NOT LIKE '%pg_prepared%'"
    )
    [(kept, planned)] = await unit.rows(text_of(counted))
    return kept, planned


async def _add(
    unit_for: UnitFor, account: Opened, phone: int, name: str = "", stage: PipelineStage = PipelineStage.new_lead
) -> Any:
    async with unit_for(account) as unit:
        fields = ContactFields(phone=f"+{phone}", first_name=name, pipeline_stage=stage)
        return await service.create(unit, fields)


async def _first_page(unit: UnitOfWork) -> Any:
    return await queries.find_page(unit, EVERYONE, ContactSort.date_added, Window())


async def _total(unit_for: UnitFor, account: Opened) -> int:
    async with unit_for(account) as unit:
        return (await (await _first_page(unit)).total()).count


async def _fill(services: Services, account: Opened, count: int) -> None:
    await services.database.pool.execute(
        "INSERT INTO contacts (account_id, phone, first_name, last_name, tags, pipeline_stage, created_at)"
        " SELECT $1, '+1' || lpad(n::text, 10, '0'), 'Ann ' || n % 97, 'Jackson ' || n,"
        " ARRAY['tag ' || n % 1000], CASE n % 6 WHEN 0 THEN 'won' ELSE 'contacted' END, now() - n * interval '1 s'"
        " FROM generate_series(1, $2::int) AS n",
        account.account_id,
        count,
    )


async def _middle(unit: UnitOfWork, sort: ContactSort) -> str | None:
    return (await queries.find_page(unit, EVERYONE, sort, Window(1, offset=10_000))).end_cursor


async def _plan(
    services: Services, unit: UnitOfWork, wanted: ContactFilter, sort: ContactSort, window: Window | None = None
) -> str:
    """Return how PostgreSQL runs the very statement that reads a page of a list, by default the first."""
    sent: list[tuple[str, tuple[Any, ...]]] = []

    def note(_connection: Any, _cursor: Any, statement: str, parameters: tuple[Any, ...], *_: Any) -> None:
        sent.append((statement, parameters))

    engine = services.database.engine.sync_engine
    event.listen(engine, "before_cursor_execute", note)
    await queries.find_page(unit, wanted, sort, window or Window())
    event.remove(engine, "before_cursor_execute", note)
    statement, parameters = next(each for each in sent if "FROM contacts AS c" in each[0])
    lines = await services.database.pool.fetch(f"EXPLAIN {statement}", *parameters)
    return "\n".join(line["QUERY PLAN"] for line in lines)


async def test_a_list_shows_the_unflushed_changes_of_its_unit(unit: UnitOfWork) -> None:
    contact = await service.create(unit, {"phone": "+12025550100", "first_name": "Ann"})
    contact.first_name = "Bea"

    page = await queries.find_page(unit, EVERYONE, ContactSort.date_added, Window())

    assert [each.first_name for each in page.nodes] == ["Bea"]
