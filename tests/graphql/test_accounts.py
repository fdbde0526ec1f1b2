"""The account's people, their sessions and the audit log over GraphQL, for who is signed in with a browser."""

from collections.abc import Callable
from datetime import timedelta
from typing import Any

import httpx2
import pytest

from app.domain.accounts import users
from app.domain.accounts.api_keys import NewKey, create_key
from app.domain.accounts.models import Role
from app.domain.accounts.scopes import ALL
from app.domain.accounts.service import add_user
from app.domain.accounts.sessions import Visitor
from app.domain.kernel.unit_of_work import Actor
from app.domain.onboarding.service import Opened
from app.services import Services
from tests.conftest import unit_of
from tests.factories import accounts as factory
from tests.factories.accounts import ACCOUNTS, SESSIONS, add_session, id_of_user
from tests.graphql.calls import codes, post
from tests.graphql.people import OURS, SOFA, change_role

pytestmark = pytest.mark.anyio


def change(changes: str) -> str:
    return f"mutation {{ update_account(changes: {{ {changes} }}) {{ region support_contact }} }}"


CHANGE = {"query": change('region: "GB"')}


@pytest.fixture
async def cookie(services: Services, account: Opened) -> str:
    """Give the cookie of a browser that the account's owner is signed in with."""
    _, token = await services.authentication.enter(account.email, account.password, SOFA)
    return f"theme=dark; session={token}; other=1"


async def ask(http: httpx2.AsyncClient, cookie: str, query: str) -> Any:
    answer = await post(http, {"query": query}, Cookie=cookie, **OURS)
    assert answer.status_code == 200, answer.text
    return answer.json()["data"]


async def test_sessions_are_listed_and_ended(
    http: httpx2.AsyncClient, services: Services, account: Opened, cookie: str
) -> None:
    _, other = await services.authentication.enter(account.email, account.password, Visitor("203.0.113.8", "Safari"))

    found = await ask(http, cookie, "{ sessions { id user_id address user_agent } users { id } }")
    assert [(each["address"], each["user_agent"]) for each in found["sessions"]] == [
        ("203.0.113.8", "Safari"),
        ("203.0.113.7", "Firefox"),
    ]
    assert {each["user_id"] for each in found["sessions"]} == {found["users"][0]["id"]}
    [safari] = [each["id"] for each in found["sessions"] if each["user_agent"] == "Safari"]

    ended = await ask(http, cookie, f"mutation {{ end_session(id: {safari}) {{ address }} }}")

    assert ended == {"end_session": {"address": "203.0.113.8"}}
    assert await services.authentication.find(other) is None


async def test_a_member_sees_and_ends_only_sessions_and_applications_of_the_own(
    http: httpx2.AsyncClient, services: Services, account: Opened, cookie: str
) -> None:
    await change_role(services, "member")
    other = await factory.add_user(services, account.account_id, "bo@example.com")
    until = services.clock.now() + timedelta(days=1)
    theirs = await add_session(services, account.account_id, other, b"theirs", until)

    found = await ask(http, cookie, "{ sessions { id is_current address } oauth_grants { id } viewer { session_id } }")

    own = found["viewer"]["session_id"]
    assert found["sessions"] == [{"id": own, "is_current": True, "address": "203.0.113.7"}]
    assert found["oauth_grants"] == []
    end = "mutation {{ end_session(id: {}) {{ id }} }}"
    refused = await post(http, {"query": end.format(theirs)}, Cookie=cookie, **OURS)
    assert codes(refused) == ["not_found"]
    assert await SESSIONS.where(id=theirs).count(services) == 1
    assert await ask(http, cookie, end.format(own)) == {"end_session": {"id": own}}
    assert await SESSIONS.where(id=own).count(services) == 0


async def test_the_audit_log_is_read_page_by_page(http: httpx2.AsyncClient, account: Opened, cookie: str) -> None:
    query = """{ audit_log(first: 2%s) {
      nodes { action actor { kind user { email } } subject address user_agent details request_id }
      total_count
      page_info { has_next_page end_cursor }
    } }"""

    page = (await ask(http, cookie, query % ""))["audit_log"]

    assert page["nodes"][0] == {
        "action": "signed_in",
        "actor": {"kind": "user", "user": {"email": account.email}},
        "subject": account.email,
        "address": "203.0.113.7",
        "user_agent": "Firefox",
        "details": {},
        "request_id": None,
    }
    assert (page["nodes"][1]["action"], page["total_count"], page["page_info"]["has_next_page"]) == (
        "key_created",
        3,
        True,
    )
    rest = (await ask(http, cookie, query % f', after: "{page["page_info"]["end_cursor"]}"'))["audit_log"]
    assert [node["action"] for node in rest["nodes"]] == ["key_created"]
    of_one = (await ask(http, cookie, query % ", action: signed_in"))["audit_log"]
    assert [node["action"] for node in of_one["nodes"]] == ["signed_in"]


@pytest.mark.parametrize(
    "field",
    [
        "audit_log { total_count }",
        "api_keys { id }",
        "oauth_clients { id }",
    ],
)
async def test_only_owners_read_the_audit_log_the_keys_and_the_clients(
    http: httpx2.AsyncClient, services: Services, cookie: str, field: str
) -> None:
    assert await ask(http, cookie, f"{{ {field} }}")

    await change_role(services, "member")

    assert codes(await post(http, {"query": f"{{ {field} }}"}, Cookie=cookie, **OURS)) == ["insufficient_scope"]


async def test_a_member_sees_the_account_and_its_people(
    http: httpx2.AsyncClient, services: Services, account: Opened, cookie: str
) -> None:
    await change_role(services, "member")

    seen = await ask(http, cookie, "{ account { company_name } viewer { email } users { email } }")

    assert seen == {
        "account": {"company_name": "Blue Door"},
        "viewer": {"email": account.email},
        "users": [{"email": account.email}],
    }


@pytest.mark.parametrize("field", ["audit_log { total_count }", "sessions { id }", "users { id }", "api_keys { id }"])
async def test_an_automation_key_sees_the_account_and_none_of_its_people(
    http: httpx2.AsyncClient, account: Opened, field: str
) -> None:
    http.headers["Authorization"] = f"Bearer {account.auto_key}"

    answer = await post(http, {"query": "{ account { company_name } viewer { email } }"})

    assert answer.json()["data"] == {"account": {"company_name": "Blue Door"}, "viewer": {"email": account.email}}
    assert codes(await post(http, {"query": f"{{ {field} }}"})) == ["insufficient_scope"]


async def test_an_owner_changes_the_account_and_the_audit_log_tells_of_it(
    http: httpx2.AsyncClient, services: Services, cookie: str
) -> None:
    changed = await ask(http, cookie, change('region: "gb", support_contact: "help@bluedoor.example"'))
    emptied = await ask(http, cookie, change("support_contact: null"))

    assert changed == {"update_account": {"region": "GB", "support_contact": "help@bluedoor.example"}}
    assert emptied == {"update_account": {"region": "GB", "support_contact": ""}}
    user = await id_of_user(services)
    log = await ask(
        http, cookie, "{ audit_log(action: account_changed) { nodes { actor { label } subject details } } }"
    )
    assert log["audit_log"]["nodes"] == [
        {
            "actor": {"label": f"user:{user}"},
            "subject": "Blue Door",
            "details": {"former": {"support_contact": "help@bluedoor.example"}, "support_contact": ""},
        },
        {
            "actor": {"label": f"user:{user}"},
            "subject": "Blue Door",
            "details": {
                "former": {"region": "US", "support_contact": ""},
                "region": "GB",
                "support_contact": "help@bluedoor.example",
            },
        },
    ]


@pytest.mark.parametrize(
    ("changes", "reason"),
    [
        ('region: "UK"', "region must be the two letters of a country (ISO 3166), such as US or GB."),
        ("region: null", "region must not be null. Leave it out to keep the present value."),
        (f'support_contact: "{"x" * 101}"', "support_contact must be one line of at most 100 characters."),
        (r'support_contact: "one\ntwo"', "support_contact must be one line of at most 100 characters."),
    ],
)
async def test_an_account_that_cannot_be_as_it_is_wanted_stays_as_it_is(
    http: httpx2.AsyncClient, services: Services, cookie: str, changes: str, reason: str
) -> None:
    answer = await post(http, {"query": change(changes)}, Cookie=cookie, **OURS)

    assert answer.json()["errors"][0]["message"] == reason
    assert await ACCOUNTS.only(services, "region", "support_contact") == ("US", "")


@pytest.mark.parametrize("key", ["svc_key", "auto_key"])
async def test_a_key_that_may_not_write_the_account_does_not_change_it(
    http: httpx2.AsyncClient, services: Services, account: Opened, key: str
) -> None:
    refused = await post(http, CHANGE, Authorization=f"Bearer {getattr(account, key)}")

    assert codes(refused) == ["insufficient_scope"]
    assert await ACCOUNTS.only(services, "region") == "US"


async def test_a_member_does_not_change_the_account(http: httpx2.AsyncClient, services: Services, cookie: str) -> None:
    await change_role(services, "member")

    assert codes(await post(http, CHANGE, Cookie=cookie, **OURS)) == ["insufficient_scope"]
    assert await ACCOUNTS.only(services, "region") == "US"


async def test_a_key_with_the_scope_changes_its_own_account_and_no_other(
    http: httpx2.AsyncClient, services: Services, account: Opened, new_account: Callable[..., Any]
) -> None:
    other = await new_account()
    async with unit_of(services, Actor(account.account_id, ALL)) as unit:
        _, key = await create_key(unit, services.secret, NewKey("Setup", scopes=["account:write"]))

    await post(http, CHANGE, Authorization=f"Bearer {key.text}")

    regions = dict(await ACCOUNTS.read(services, "id", "region"))
    assert regions == {account.account_id: "GB", other.account_id: "US"}
    seen = await post(http, {"query": "{ account { region } }"}, Authorization=f"Bearer {other.svc_key}")
    assert seen.json()["data"] == {"account": {"region": "US"}}


async def test_the_keys_that_a_member_made_end_when_the_member_is_removed(
    http: httpx2.AsyncClient, services: Services, account: Opened, cookie: str
) -> None:
    async with unit_of(services, Actor(account.account_id, ALL)) as unit:
        bob = await add_user(unit, "bob@example.com", "secret")
        await users.change_role(unit, bob.id, Role.member)
    _, token = await services.authentication.enter("bob@example.com", "secret", SOFA)
    made = await ask(http, f"session={token}", 'mutation { create_automation_key(name: "Zap") { key } }')
    key = {"Authorization": f"Bearer {made['create_automation_key']['key']}"}
    assert (await http.get("/automation/subscriptions", headers=key)).status_code == 200

    await ask(http, cookie, f"mutation {{ remove_user(id: {bob.id}) {{ id }} }}")

    assert (await http.get("/automation/subscriptions", headers=key)).status_code == 401


async def test_a_change_of_the_time_zone_moves_the_next_time_of_an_automation(
    http: httpx2.AsyncClient, cookie: str
) -> None:
    trigger, actions = '{kind: schedule, at: "10:00"}', '[{kind: add_tag, tag: "new"}]'
    fields = f'{{name: "Daily", trigger: {trigger}, actions: {actions}}}'
    made = await ask(http, cookie, f"mutation {{ create_automation(automation: {fields}) {{ id }} }}")
    id = made["create_automation"]["id"]
    enabling = f"mutation {{ set_automation_status(id: {id}, enabled: true) {{ next_at }} }}"
    before = (await ask(http, cookie, enabling))["set_automation_status"]["next_at"]

    await ask(http, cookie, change('time_zone: "Asia/Tokyo"'))

    after = (await ask(http, cookie, f"{{ automation(id: {id}) {{ next_at }} }}"))["automation"]["next_at"]
    assert (before[11:16], after[11:16]) == ("10:00", "01:00")
    assert before[:10] == after[:10]


async def test_the_last_owner_stays(http: httpx2.AsyncClient, services: Services, cookie: str) -> None:
    id = await id_of_user(services)

    remove = {"query": f"mutation {{ remove_user(id: {id}) {{ id }} }}"}
    change = {"query": f"mutation {{ change_role(id: {id}, role: member) {{ id }} }}"}
    removed, changed = [await post(http, each, Cookie=cookie, **OURS) for each in (remove, change)]

    assert (codes(removed), codes(changed)) == (["conflict"], ["conflict"])
    assert await services.authentication.find(cookie.partition("session=")[2].partition(";")[0]) is not None
