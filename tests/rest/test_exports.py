"""The download of an account's export: who may have it, for how long, and what it holds."""

import io
import json
import re
import zipfile
from collections.abc import AsyncGenerator, Callable
from datetime import timedelta
from typing import Any

import httpx2
import pytest
from structlog.testing import capture_logs

from app.domain.accounts import api_keys, service, users
from app.domain.accounts.api_keys import NewKey
from app.domain.accounts.models import Role
from app.domain.accounts.scopes import ALL
from app.domain.erasure import downloads
from app.domain.erasure.downloads import ExportInProgress
from app.domain.kernel import account_tables
from app.domain.kernel.unit_of_work import Actor
from app.domain.onboarding.service import Opened
from app.providers.places import Places
from app.services import Services
from app.settings import Settings
from tests.conftest import unit_of
from tests.domain.conftest import SetClock
from tests.factories.accounts import ACCOUNTS, AUDIT_ENTRIES, USERS
from tests.factories.traps import column_gone
from tests.factories.webhooks import add_attempt, add_delivery, add_subscription
from tests.shared import wait_for_valkey

pytestmark = pytest.mark.anyio

MAKE = {"query": "mutation { create_export_link { url expires_at } }"}


def owner(account: Opened, **who: int) -> Actor:
    return Actor(account.account_id, ALL, "test", **who)


async def make_link(services: Services, actor: Actor, minutes_ago: int = 0) -> str:
    """Return the path of a link."""
    async with unit_of(services, actor) as unit:
        unit.clock = SetClock(services.clock.now() - timedelta(minutes=minutes_ago))
        return f"/exports/{(await downloads.make_link(unit, services.exports)).token}"


async def make_key(services: Services, account: Opened, scope: str) -> tuple[int, str]:
    async with unit_of(services, owner(account)) as unit:
        key, text = await api_keys.create_key(unit, services.secret, NewKey("Mine", scopes=[scope]))
        return key.id, text.text


@pytest.fixture
async def places(settings: Settings) -> AsyncGenerator[Places]:
    """Give the places of another process, two of them."""
    places = Places(settings.redis_url or "", 2)
    wait_for_valkey(places)
    yield places
    await places.close()


async def exported(services: Services) -> int:
    return await AUDIT_ENTRIES.where(action="account_exported").count(services)


def read(answer: httpx2.Response) -> tuple[dict[str, Any], dict[str, Any]]:
    """Return the manifest of an archive, and the records of each file."""
    with zipfile.ZipFile(io.BytesIO(answer.content)) as archive:
        texts = {name.removesuffix(".ndjson"): archive.read(name).decode() for name in archive.namelist()}
    manifest = json.loads(texts.pop("manifest.json"))
    return manifest, {name: [json.loads(line) for line in text.splitlines()] for name, text in texts.items()}


async def test_an_owner_downloads_everything_of_the_account_and_nothing_of_another(
    http: httpx2.AsyncClient, services: Services, account: Opened, new_account: Callable[..., Any]
):
    await new_account(company_name="Others")
    _, key = await make_key(services, account, "account:write")
    asked = await http.post("/graphql", json=MAKE, headers={"X-API-Key": key})
    url = asked.json()["data"]["create_export_link"]["url"]

    answer = await http.get(url)

    assert (answer.status_code, answer.headers["content-type"]) == (200, "application/zip")
    assert answer.headers["content-disposition"].startswith('attachment; filename="export-2')
    assert "no-store" in answer.headers["cache-control"]
    manifest, found = read(answer)
    assert [each["company_name"] for each in found["accounts"]] == ["Blue Door"]
    assert {each["account_id"] for each in found["users"] + found["api_keys"]} == {account.account_id}
    assert {name: len(records) for name, records in found.items()} == {
        name: count for name, count in manifest["records"].items() if count
    }
    actions = await AUDIT_ENTRIES.where(account_id=account.account_id).read(services, "action")
    assert actions[-2:] == ["export_link_made", "account_exported"]


async def test_a_key_without_account_write_makes_no_link(http: httpx2.AsyncClient, services: Services, account: Opened):
    answer = await http.post("/graphql", json=MAKE, headers={"X-API-Key": account.svc_key})

    assert answer.json()["errors"][0]["extensions"]["code"] == "insufficient_scope"
    assert await AUDIT_ENTRIES.where(action="export_link_made").count(services) == 0


async def test_a_link_ends_after_ten_minutes(http: httpx2.AsyncClient, services: Services, account: Opened):
    nearly = await http.get(await make_link(services, owner(account), 9))
    late = await http.get(await make_link(services, owner(account), 10))

    assert (nearly.status_code, late.status_code) == (200, 410)
    assert late.json()["error_code"] == "export_link_ended"
    assert await exported(services) == 1


async def test_a_link_that_was_changed_or_made_up_is_not_found(
    http: httpx2.AsyncClient, services: Services, account: Opened
):
    path = await make_link(services, owner(account))

    for wrong in (
        path[:-9] + ("A" if path[-9] != "A" else "B") + path[-8:],
        "/exports/x",
        "/exports/%C3%A4",
        path[:-8],
    ):
        answer = await http.get(wrong)
        assert (answer.status_code, answer.json()["error_code"]) == (404, "not_found")
    assert await exported(services) == 0


@pytest.mark.parametrize("ending", ["key revoked", "user removed", "user a member"])
async def test_a_link_ends_with_the_key_or_the_user_that_made_it(
    http: httpx2.AsyncClient, services: Services, account: Opened, ending: str
):
    key_id, _ = await make_key(services, account, "account:write")
    async with unit_of(services, owner(account)) as unit:
        bob = await service.add_user(unit, "bob@example.com", "secret")
    creator = {"key_id": key_id} if ending == "key revoked" else {"user_id": bob.id}
    path = await make_link(services, owner(account, **creator))
    async with unit_of(services, owner(account)) as unit:
        match ending:
            case "key revoked":
                await api_keys.revoke_key(unit, key_id)
            case "user removed":
                await users.remove(unit, bob.id)
            case _:
                await users.change_role(unit, bob.id, Role.member)

    answer = await http.get(path)

    assert (answer.status_code, answer.json()["error_code"]) == (410, "export_link_ended")
    assert await exported(services) == 0


@pytest.mark.parametrize(("status", "code"), [("suspended", "account_suspended"), ("deleted", "export_link_ended")])
async def test_an_account_that_is_not_active_is_not_exported(
    http: httpx2.AsyncClient, services: Services, account: Opened, status: str, code: str
):
    path = await make_link(services, owner(account))
    await ACCOUNTS.change(services, status=status)

    assert (await http.get(path)).json()["error_code"] == code
    assert await exported(services) == 0


async def test_one_export_of_an_account_is_sent_at_a_time_by_all_processes(
    http: httpx2.AsyncClient, services: Services, account: Opened, places: Places
):
    path = await make_link(services, owner(account))
    async with places.take(account.account_id + 1), places.take(account.account_id):
        refused = await http.get(path)

    assert (refused.status_code, refused.json()["error_code"]) == (429, "export_in_progress")
    assert refused.headers["retry-after"] == "30"
    assert await exported(services) == 0
    assert [(await http.get(path)).status_code for _ in range(2)] == [200, 200]


async def test_a_process_sends_so_many_exports_at_a_time(places: Places):
    async with places.take(1), places.take(2):
        with pytest.raises(ExportInProgress):
            async with places.take(3):
                pass
    async with places.take(3):
        pass


async def test_while_redis_is_away_one_export_of_an_account_is_sent_by_each_process():
    places = Places("redis://127.0.0.1:1")
    async with places.take(1):
        with pytest.raises(ExportInProgress):
            async with places.take(1):
                pass
    await places.close()


async def test_head_answers_the_headers_of_an_export_and_exports_nothing(
    http: httpx2.AsyncClient, services: Services, account: Opened, places: Places
):
    path = await make_link(services, owner(account))
    async with places.take(account.account_id):
        head = await http.head(path)

    assert (head.status_code, head.headers["content-type"], head.content) == (200, "application/zip", b"")
    assert "content-length" not in head.headers
    assert await exported(services) == 0
    names = [answer.headers["content-disposition"] for answer in (head, await http.get(path))]
    assert {re.sub(r"\d{4}-\d\d-\d\d", "DATE", name) for name in names} == {'attachment; filename="export-DATE.zip"'}


async def test_head_says_that_a_link_has_ended(http: httpx2.AsyncClient, services: Services, account: Opened):
    assert (await http.head(await make_link(services, owner(account), 10))).status_code == 410


async def test_an_export_is_read_in_batches_and_loses_nothing(
    http: httpx2.AsyncClient, services: Services, account: Opened, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(account_tables, "EXPORT_BATCH", 3)
    async with unit_of(services, owner(account)) as unit:
        for number in range(7):
            await service.add_user(unit, f"user{number}@example.com", "secret")

    manifest, found = read(await http.get(await make_link(services, owner(account))))

    assert [each["id"] for each in found["users"]] == await USERS.read(services, "id")
    assert manifest["records"]["users"] == 8


async def test_an_export_reads_records_of_parents_in_batches_and_loses_none(
    http: httpx2.AsyncClient, services: Services, account: Opened, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(account_tables, "EXPORT_BATCH", 2)
    deliveries: list[int] = []
    attempts: list[int] = []
    for count in (3, 0, 1, 4):
        subscription = await add_subscription(services, account.account_id)
        deliveries += [await add_delivery(services, account.account_id, subscription) for _ in range(count)]
    for delivery in deliveries[::2]:
        attempts += [await add_attempt(services, delivery) for _ in range(3)]

    _, found = read(await http.get(await make_link(services, owner(account))))

    assert [each["id"] for each in found["webhook_deliveries"]] == deliveries
    assert [each["id"] for each in found["webhook_attempts"]] == attempts


@pytest.mark.parametrize(("table", "column"), [("audit_entries", "actor"), ("password_links", "hash")])
async def test_no_token_of_a_link_is_logged(
    http: httpx2.AsyncClient, services: Services, account: Opened, table: str, column: str
):
    path = await make_link(services, owner(account)) if table == "audit_entries" else "/password/secret-token"
    async with column_gone(services.database.pool, table, column):
        with capture_logs() as logs:
            answer = await http.get(path)

    assert answer.status_code == 500
    assert f"{path.rpartition('/')[0]}/{{token}}" in [entry.get("route") for entry in logs]
    assert path.rpartition("/")[2] not in str(logs)
