"""Cursors of lists: they tell nothing, cannot be made up, and stay good when what they point at is gone."""

import base64
from collections.abc import Callable
from typing import Any

import httpx2
import orjson
import pytest

from app.domain.kernel.sealing import CursorSeal
from app.domain.onboarding.service import Opened
from tests.rest.answers import data

pytestmark = pytest.mark.anyio

LIST = """
query ($after: String, $sort: ContactSort! = name_asc) {
  contacts(sort: $sort, first: 2, after: $after) { nodes { id first_name } page_info { has_next_page end_cursor } }
}
"""
NAMES = ["Ann", "Bobadilla-Quintero", "Cid", "Dee", "Eve"]
REFUSAL = ("invalid_input", "after is not a cursor of this list. Leave it out to begin at the start.")
LISTS = ["conversations", "messages", "sequences", "transactions", "webhook_deliveries", "webhook_notices"]


@pytest.fixture
async def ids(api: httpx2.AsyncClient) -> list[int]:
    """Give five contacts in the order of their names."""
    made = [
        data(await api.post("/contacts", json={"phone": f"+1202555010{place}", "first_name": name}))
        for place, name in enumerate(NAMES)
    ]
    return [contact["id"] for contact in made]


async def ask(api: httpx2.AsyncClient, **variables: Any) -> Any:
    return (await api.post("/graphql", json={"query": LIST, "variables": variables})).json()


async def page(api: httpx2.AsyncClient, **variables: Any) -> tuple[list[str], str, bool]:
    found = (await ask(api, **variables))["data"]["contacts"]
    names = [node["first_name"] for node in found["nodes"]]
    return names, found["page_info"]["end_cursor"], found["page_info"]["has_next_page"]


def refusal(answer: Any) -> tuple[str, str]:
    [error] = answer["errors"]
    return error["extensions"]["code"], error["message"]


async def test_a_list_is_read_to_its_end_by_its_cursors(api: httpx2.AsyncClient, ids: list[int]) -> None:
    seen, after, more = list[str](), None, True
    while more:
        names, after, more = await page(api, after=after)
        seen += names

    assert seen == NAMES


async def test_a_cursor_tells_nothing_of_the_row_it_points_at(api: httpx2.AsyncClient, ids: list[int]) -> None:
    _, cursor, _ = await page(api)

    sealed = base64.urlsafe_b64decode(cursor)
    assert b"bobadilla" not in sealed.lower()
    assert cursor == (await page(api))[1]


async def test_a_cursor_stays_good_when_its_row_is_deleted_or_renamed(api: httpx2.AsyncClient, ids: list[int]) -> None:
    _, cursor, _ = await page(api)

    data(await api.delete(f"/contacts/{ids[1]}"))
    deleted = await page(api, after=cursor)
    data(await api.put(f"/contacts/{ids[2]}", json={"first_name": "Zoe"}))
    renamed = await page(api, after=cursor)

    assert (deleted[0], renamed[0]) == (["Cid", "Dee"], ["Dee", "Eve"])


async def test_a_list_can_be_emptied_page_by_page(api: httpx2.AsyncClient, ids: list[int]) -> None:
    after, more, seen = None, True, 0
    while more:
        answer = (await ask(api, after=after))["data"]["contacts"]
        for node in answer["nodes"]:
            data(await api.delete(f"/contacts/{node['id']}"))
            seen += 1
        after, more = answer["page_info"]["end_cursor"], answer["page_info"]["has_next_page"]

    assert seen == 5
    assert data(await api.get("/contacts")) == []


@pytest.mark.parametrize(
    "after",
    [
        "",
        " ",
        "nonsense!",
        "é",
        "😀",
        base64.urlsafe_b64encode(orjson.dumps(["bob", "", 2])).decode(),
        orjson.dumps(["bob", "", 2]).decode(),
        base64.urlsafe_b64encode(bytes(48)).decode(),
        CursorSeal(b"x" * 32).close('["bob","",2]', 1, "contacts name_asc"),
        "A" * 100_000,
    ],
)
async def test_an_invalid_cursor_is_refused_in_plain_words(api: httpx2.AsyncClient, ids: list[int], after: str) -> None:
    assert refusal(await ask(api, after=after)) == REFUSAL


async def test_a_changed_cursor_is_refused(api: httpx2.AsyncClient, ids: list[int]) -> None:
    sealed = bytearray(base64.urlsafe_b64decode((await page(api))[1]))
    for place in (0, len(sealed) // 2, len(sealed) - 1):
        changed = sealed.copy()
        changed[place] ^= 1
        assert refusal(await ask(api, after=base64.urlsafe_b64encode(changed).decode())) == REFUSAL


async def test_a_cursor_of_another_order_list_or_account_is_refused(
    api: httpx2.AsyncClient, ids: list[int], new_account: Callable[..., Any]
) -> None:
    _, cursor, _ = await page(api)
    other: Opened = await new_account()

    assert refusal(await ask(api, after=cursor, sort="name_desc")) == REFUSAL
    for name in LISTS:
        query = f'{{ {name}(after: "{cursor}") {{ page_info {{ end_cursor }} }} }}'
        assert refusal((await api.post("/graphql", json={"query": query})).json()) == REFUSAL
    api.headers["Authorization"] = f"Bearer {other.svc_key}"
    assert refusal(await ask(api, after=cursor)) == REFUSAL
