"""The own name, the other sessions of a user, the scopes in words, and the audit log by actor and time."""

from datetime import timedelta
from typing import Any

import httpx2
import pytest

from app.domain.accounts.scopes import AUTOMATION_LIMIT, Scope
from app.domain.accounts.sessions import Visitor
from app.domain.onboarding.service import Opened
from app.services import Services
from tests.factories.accounts import AUDIT_ENTRIES, SESSIONS, USERS, add_session, add_user, id_of_user
from tests.graphql.calls import codes, post
from tests.graphql.people import OURS, SOFA, change_role

pytestmark = pytest.mark.anyio

CHROME = "Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/156.0.0.0 Safari/537.36"


@pytest.fixture
async def cookie(services: Services, account: Opened) -> str:
    """Give the cookie of a browser that the account's owner is signed in with."""
    _, token = await services.authentication.enter(account.email, account.password, SOFA)
    return f"session={token}"


async def ask(http: httpx2.AsyncClient, cookie: str, query: str) -> Any:
    answer = await post(http, {"query": query}, Cookie=cookie, **OURS)
    assert answer.status_code == 200, answer.text
    return answer.json()["data"]


async def test_a_member_changes_the_own_name_and_the_audit_log_tells_of_it(
    http: httpx2.AsyncClient, services: Services, account: Opened, cookie: str
) -> None:
    await change_role(services, "member")
    other = await add_user(services, account.account_id, "bo@example.com", first_name="Bo")

    changed = await ask(
        http, cookie, 'mutation { update_viewer(changes: { first_name: "Ann" }) { first_name last_name } }'
    )

    assert changed == {"update_viewer": {"first_name": "Ann", "last_name": ""}}
    assert await USERS.where(id=other).only(services, "first_name") == "Bo"
    assert await AUDIT_ENTRIES.where(action="user_changed").read(services, "subject") == [account.email]


async def test_a_member_chooses_a_time_zone_and_a_locale_and_returns_to_those_of_the_browser(
    http: httpx2.AsyncClient, services: Services, account: Opened, cookie: str
) -> None:
    await change_role(services, "member")
    shown = "{ time_zone locale first_name }"

    chosen = await ask(
        http,
        cookie,
        f'mutation {{ update_viewer(changes: {{ time_zone: "america/chicago", locale: "en-GB" }}) {shown} }}',
    )
    read = await ask(http, cookie, f"{{ viewer {shown} }}")
    kept = await ask(http, cookie, f'mutation {{ update_viewer(changes: {{ first_name: "Ann" }}) {shown} }}')
    emptied = await ask(
        http, cookie, f'mutation {{ update_viewer(changes: {{ time_zone: null, locale: "" }}) {shown} }}'
    )

    assert chosen["update_viewer"] == read["viewer"]
    assert read["viewer"] == {"time_zone": "America/Chicago", "locale": "en-GB", "first_name": ""}
    assert kept["update_viewer"] == {"time_zone": "America/Chicago", "locale": "en-GB", "first_name": "Ann"}
    assert emptied["update_viewer"] == {"time_zone": None, "locale": None, "first_name": "Ann"}


@pytest.mark.parametrize(
    ("field", "value"),
    [("time_zone", "Mars/Base"), ("time_zone", "Etc/GMT+5"), ("locale", "english"), ("locale", "en_GB")],
)
async def test_a_time_zone_or_a_locale_that_does_not_exist_is_refused_and_the_name_stays(
    http: httpx2.AsyncClient, services: Services, cookie: str, field: str, value: str
) -> None:
    query = f'mutation {{ update_viewer(changes: {{ first_name: "Ann", {field}: "{value}" }}) {{ id }} }}'
    answer = await post(http, {"query": query}, Cookie=cookie, **OURS)

    assert codes(answer) == ["invalid_input"]
    assert answer.json()["errors"][0]["extensions"]["field"] == f"changes.{field}"
    assert await USERS.read(services, "first_name", "time_zone", "locale") == [("", None, None)]


async def test_a_user_ends_only_their_own_other_sessions(
    http: httpx2.AsyncClient, services: Services, account: Opened, cookie: str
) -> None:
    await services.authentication.enter(account.email, account.password, Visitor("203.0.113.8", CHROME))
    other = await add_user(services, account.account_id, "bo@example.com")
    theirs = await add_session(services, account.account_id, other, b"theirs", services.clock.now() + timedelta(days=1))

    ended = await ask(http, cookie, "mutation { end_other_sessions { sessions { device address } } }")
    again = await ask(http, cookie, "mutation { end_other_sessions { sessions { id } } }")

    assert ended == {"end_other_sessions": {"sessions": [{"device": "Chrome on Linux", "address": "203.0.113.8"}]}}
    assert again == {"end_other_sessions": {"sessions": []}}
    own = await SESSIONS.where(user_id=await id_of_user(services, email=account.email)).read(services, "address")
    assert (own, await SESSIONS.where(id=theirs).count(services)) == (["203.0.113.7"], 1)
    assert await AUDIT_ENTRIES.where(action="session_ended").read(services, "details") == [{"ended": 1}]


async def test_a_key_has_no_name_and_no_sessions_of_its_own(
    api: httpx2.AsyncClient, services: Services, account: Opened, cookie: str
) -> None:
    for mutation in ('update_viewer(changes: { first_name: "Key" }) { id }', "end_other_sessions { sessions { id } }"):
        assert codes(await post(api, {"query": f"mutation {{ {mutation} }}"})) == ["person_required"]

    assert await SESSIONS.count(services) == 1
    assert await USERS.read(services, "first_name") == [""]


async def test_the_scopes_are_listed_in_words(http: httpx2.AsyncClient, cookie: str) -> None:
    listed = (await ask(http, cookie, "{ scopes { name description is_for_automation } }"))["scopes"]

    assert {each["name"] for each in listed} == set(Scope)
    assert {each["name"] for each in listed if each["is_for_automation"]} == AUTOMATION_LIMIT
    assert {each["name"]: each["description"] for each in listed}[
        "billing:read"
    ] == "See the balance, the transactions and the payments"


async def test_the_audit_log_is_read_by_actor_and_by_time(
    http: httpx2.AsyncClient, services: Services, account: Opened, cookie: str
) -> None:
    now = services.clock.now()
    for actor, days in (("key:7", 3), ("key:7", 1), ("user:9", 1)):
        await AUDIT_ENTRIES.insert(
            services,
            account_id=account.account_id,
            action="contacts_merged",
            actor=actor,
            subject=f"{actor} {days}",
            created_at=now - timedelta(days=days),
        )

    async def read(filters: str) -> list[str]:
        query = f"{{ audit_log(action: contacts_merged, {filters}) {{ nodes {{ subject }} }} }}"
        return [each["subject"] for each in (await ask(http, cookie, query))["audit_log"]["nodes"]]

    since = (now - timedelta(days=2)).isoformat()
    assert await read('actor: "key:7"') == ["key:7 1", "key:7 3"]
    assert await read(f'since: "{since}"') == ["user:9 1", "key:7 1"]
    assert await read(f'until: "{since}"') == ["key:7 3"]
    assert await read(f'actor: "user:9", until: "{since}"') == []
