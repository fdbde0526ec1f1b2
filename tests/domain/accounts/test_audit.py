"""The audit log."""

from collections.abc import Callable
from typing import Any

from app.domain.accounts import api_keys, audit
from app.domain.accounts.api_keys import NewKey
from app.domain.accounts.audit import EntryFilter
from app.domain.accounts.scopes import ALL
from app.domain.kernel.paging import Total, Window
from app.domain.kernel.unit_of_work import Actor
from app.domain.onboarding.service import Opened
from app.services import Services
from tests.conftest import unit_of
from tests.domain.conftest import NOON, SetClock
from tests.factories.accounts import AUDIT_ENTRIES

SECRET = b"secret"


async def test_an_entry_records_actor_action_subject_time_and_address(services: Services, account: Opened) -> None:
    async with unit_of(services, Actor(account.account_id, ALL, "user:7", "request-1")) as unit:
        unit.clock = SetClock()
        await audit.record(unit, "painted", "the shed", address="203.0.113.7", user_agent="x" * 500, color="green")

    row = await AUDIT_ENTRIES.where(action="painted").only(services)
    assert (row["account_id"], row["actor"], row["subject"]) == (account.account_id, "user:7", "the shed")
    assert (row["address"], row["user_agent"], row["details"]) == ("203.0.113.7", "x" * 400, {"color": "green"})
    assert (row["request_id"], row["created_at"]) == ("request-1", NOON)


async def test_an_entry_is_rolled_back_with_its_transaction(services: Services, account: Opened) -> None:
    try:
        async with unit_of(services, Actor(account.account_id, ALL)) as unit:
            await audit.record(unit, "painted")
            raise InterruptedError
    except InterruptedError:
        pass

    assert await AUDIT_ENTRIES.where(action="painted").count(services) == 0


async def test_entries_are_read_the_newest_first_of_one_action_if_named(
    services: Services, account: Opened, new_account: Callable[..., Any]
) -> None:
    other = await new_account()
    for opened in (account, other):
        async with unit_of(services, Actor(opened.account_id, ALL)) as unit:
            for subject in ("door", "shed"):
                await audit.record(unit, "painted", f"{subject} of {opened.account_id}")

    async with unit_of(services, Actor(account.account_id, ALL)) as unit:
        painted = EntryFilter("painted")
        page = await audit.find_entries(unit, painted, Window(1))
        rest = await audit.find_entries(unit, painted, Window(1, page.end_cursor))
        whole = await audit.find_entries(unit, EntryFilter(), Window())

        assert [entry.subject for entry in page.nodes] == [f"shed of {account.account_id}"]
        assert [entry.subject for entry in rest.nodes] == [f"door of {account.account_id}"]
        assert (await page.has_next_page(), await rest.has_next_page(), await page.total()) == (True, False, Total(2))
        assert [entry.action for entry in whole.nodes] == ["painted", "painted", "key_created", "key_created"]
        assert await whole.total() == Total(4)


async def test_keys_leave_their_traces(services: Services, account: Opened) -> None:
    actor = Actor(account.account_id, ALL, "user:7")
    async with unit_of(services, actor) as unit:
        key, _ = await api_keys.create_key(unit, SECRET, NewKey("Shop", scopes=["contacts:read"]))
        await api_keys.rotate_key(unit, SECRET, key.id, 2)
        await api_keys.revoke_key(unit, key.id)
        await api_keys.revoke_key(unit, key.id)

    rows = await AUDIT_ENTRIES.where(actor="user:7").read(services, "action", "subject", "details")
    assert rows == [
        ("key_created", "Shop", {"scopes": ["contacts:read"]}),
        ("key_rotated", "Shop", {"key_id": key.id, "overlap_hours": 2}),
        ("key_revoked", "Shop", {"key_id": key.id}),
    ]
