"""Choosing a password: by a mailed link, and while signed in."""

import asyncio
import re
from collections.abc import Callable
from datetime import datetime
from typing import Any

import pytest

from app.domain.accounts.links import PasswordLinkInvalid
from app.domain.accounts.models import User
from app.domain.accounts.sessions import Visitor
from app.domain.accounts.sign_in import passwords
from app.domain.onboarding.service import Opened
from app.services import Services
from tests.factories.accounts import ACCOUNTS, AUDIT_ENTRIES, PASSWORD_LINKS, SESSIONS, USERS, WAITING_MAILS
from tests.factories.tables import Change, ago
from tests.oauth.browsing import Browsing
from tests.oauth.mailbox import deliver, link, text
from tests.oauth.test_sign_in import actions, alert, count_sessions

pytestmark = pytest.mark.anyio

GOOD = "seven green bicycles"
OVER = "This link does not work any more: it was used, is too old, or the password was set meanwhile."


async def ask(browsing: Browsing, email: str) -> str:
    answer = await browsing.send(await browsing.form("/forgot"), email=email)
    assert answer.status_code == 200, answer.text
    return answer.text


async def mailed_link(browsing: Browsing, services: Services, account: Opened) -> str:
    await ask(browsing, account.email)
    return link((await deliver(services))[-1])


async def test_a_forgotten_password_is_replaced_by_a_mailed_link(
    browsing: Browsing, services: Services, account: Opened
) -> None:
    await browsing.enter(account)
    browsing.client.cookies.clear()
    await ask(browsing, f" {account.email.upper()}")
    [mail] = await deliver(services)
    assert (mail["to"], mail["subject"]) == (account.email, "Choose a new password")
    assert "for one hour" in text(mail)

    answer = await browsing.send(await browsing.form(link(mail)), password=GOOD)

    assert (answer.status_code, answer.headers["location"]) == (303, "/login?notice=password_set")
    assert await count_sessions(services) == 0
    assert (await browsing.sign_in(account.email, account.password)).status_code == 403
    assert (await browsing.sign_in(account.email, GOOD)).status_code == 303
    done = [action for action, *_ in await actions(services) if action != "sign_in_refused"]
    assert done == ["signed_in", "password_reset_asked", "password_set", "signed_in"]


@pytest.mark.parametrize("who", ["nobody", "removed", "suspended", "nonsense"])
async def test_the_page_says_the_same_for_addresses_that_get_no_mail(
    browsing: Browsing, services: Services, account: Opened, who: str
) -> None:
    usual = await ask(browsing, account.email)
    await PASSWORD_LINKS.delete(services)
    if who == "removed":
        await USERS.change(services, removed_at=ago())
    if who == "suspended":
        await ACCOUNTS.change(services, status="suspended")
    email = {"nobody": "nobody@example.com", "nonsense": "<b>@"}.get(who, account.email)

    told = await ask(browsing, email)

    assert told.replace("&lt;b&gt;@", "EMAIL").replace(email, "EMAIL") == usual.replace(account.email, "EMAIL")
    assert await deliver(services) == []


async def test_a_link_works_once(browsing: Browsing, services: Services, account: Opened) -> None:
    path = await mailed_link(browsing, services, account)
    form = await browsing.form(path)
    await browsing.send(form, password=GOOD)

    again = await browsing.send(form, password="another good password")

    assert (again.status_code, alert(again)) == (410, OVER)
    assert (await browsing.get(path)).status_code == 410
    assert (await browsing.sign_in(account.email, GOOD)).status_code == 303


async def test_looking_at_a_link_does_not_use_it_up(browsing: Browsing, services: Services, account: Opened) -> None:
    path = await mailed_link(browsing, services, account)

    assert [(await browsing.get(path)).status_code for _ in range(3)] == [200] * 3
    assert (await browsing.send(await browsing.form(path), password=GOOD)).status_code == 303


@pytest.mark.parametrize(
    "change",
    [
        lambda services: PASSWORD_LINKS.change(services, expires_at=ago()),
        lambda services: USERS.change(services, removed_at=ago()),
        lambda services: ACCOUNTS.change(services, status="suspended"),
    ],
    ids=["link over", "user removed", "account suspended"],
)
async def test_a_link_is_over_when_its_time_its_user_or_its_account_is(
    browsing: Browsing, services: Services, account: Opened, change: Change
) -> None:
    form = await browsing.form(await mailed_link(browsing, services, account))
    before = await USERS.only(services, "password_hash")
    await change(services)

    answer = await browsing.send(form, password=GOOD)

    assert (answer.status_code, alert(answer)) == (410, OVER)
    assert await USERS.only(services, "password_hash") == before


async def test_a_newer_link_leaves_the_older_one_good_until_one_is_used(
    browsing: Browsing, services: Services, account: Opened
) -> None:
    old = await mailed_link(browsing, services, account)
    new = await mailed_link(browsing, services, account)

    assert old != new
    assert [(await browsing.get(path)).status_code for path in (old, new)] == [200, 200]
    await browsing.send(await browsing.form(old), password=GOOD)
    assert [(await browsing.get(path)).status_code for path in (old, new)] == [410, 410]


async def test_one_of_two_concurrent_uses_of_a_link_is_refused(
    browsing: Browsing, services: Services, account: Opened
) -> None:
    token = (await mailed_link(browsing, services, account)).removeprefix("/password/")
    choices = [GOOD, "another good password"]

    answers = await asyncio.gather(
        *(services.authentication.set_password(token, choice, Visitor("127.0.0.1")) for choice in choices),
        return_exceptions=True,
    )

    assert [type(answer) for answer in answers].count(PasswordLinkInvalid) == 1
    chosen = next(choice for choice, answer in zip(choices, answers, strict=True) if isinstance(answer, User))
    assert (await browsing.sign_in(account.email, chosen)).status_code == 303


async def test_only_the_hash_of_a_mailed_link_is_stored(
    browsing: Browsing, services: Services, account: Opened
) -> None:
    path = await mailed_link(browsing, services, account)

    row = await PASSWORD_LINKS.only(services)
    token = path.removeprefix("/password/")
    assert (row["hash"], "seed" in row) == (services.authentication.tokens.fingerprint(token), False)
    assert await WAITING_MAILS.count(services) == 0
    assert _hours(row) == 1


@pytest.mark.parametrize(
    ("password", "told"),
    [
        ("eleven char", "Use at least 12 characters. Several words make a good password."),
        ("Passwordpassword", "This password is easy to guess. Use another one."),
        ("OWNER1@example.com", "Use a password that is not your e-mail address."),
        ("a" * 1001, "Use at most 1000 characters."),
    ],
)
async def test_a_password_that_will_not_do_leaves_the_link_good(
    browsing: Browsing, services: Services, account: Opened, password: str, told: str
) -> None:
    form = await browsing.form(await mailed_link(browsing, services, account))

    answer = await browsing.send(form, password=password)

    assert (answer.status_code, alert(answer)) == (422, told)
    assert password not in answer.text
    assert (await browsing.send(form, password=GOOD)).status_code == 303


@pytest.mark.usefixtures("stopped_attempts")
async def test_a_new_password_ends_the_wait_after_failed_sign_ins(
    browsing: Browsing, services: Services, account: Opened
) -> None:
    for _ in range(5):
        await browsing.sign_in(account.email, "not it")
    assert (await browsing.sign_in(account.email, account.password)).status_code == 429

    await browsing.send(await browsing.form(await mailed_link(browsing, services, account)), password=GOOD)

    assert (await browsing.sign_in(account.email, GOOD)).status_code == 303


@pytest.mark.usefixtures("stopped_attempts")
async def test_links_cannot_be_asked_for_without_end(browsing: Browsing, services: Services, account: Opened) -> None:
    for _ in range(5):
        await ask(browsing, account.email)

    answer = await browsing.send(await browsing.form("/forgot"), email=account.email)

    assert (answer.status_code, answer.headers["retry-after"]) == (429, "1")
    assert alert(answer) == "Too many attempts. Try again in 1 second."
    assert len(await deliver(services)) == 1


async def test_the_forms_of_links_are_ours_alone(browsing: Browsing, services: Services, account: Opened) -> None:
    form = await browsing.form(await mailed_link(browsing, services, account))

    answer = await browsing.send(form, {"Sec-Fetch-Site": "cross-site"}, password=GOOD)
    asked = await browsing.send(await browsing.form("/forgot"), {"Origin": "https://evil.example"}, email="a@b.com")

    assert (answer.status_code, asked.status_code) == (403, 403)
    assert (await browsing.send(form, password=GOOD)).status_code == 303


async def test_a_password_change_ends_the_other_sessions_of_the_user(
    browsing: Browsing, services: Services, account: Opened
) -> None:
    await browsing.enter(account)
    elsewhere = browsing.client.cookies["session"]
    browsing.client.cookies.clear()
    await browsing.enter(account)
    form = await browsing.form("/account", "/account/password")

    answer = await browsing.send(form, old_password=account.password, password=GOOD)

    assert (answer.status_code, answer.headers["location"]) == (303, "/account?notice=password_changed")
    assert "signed out everywhere else" in (await browsing.get(answer.headers["location"])).text
    assert await services.authentication.find(elsewhere) is None
    browsing.client.cookies.clear()
    assert (await browsing.sign_in(account.email, account.password)).status_code == 403
    assert (await browsing.sign_in(account.email, GOOD)).status_code == 303


@pytest.mark.parametrize(
    ("old", "new", "told"),
    [
        ("not it", GOOD, "The current password is wrong."),
        ("{right}", "short", "Use at least 12 characters. Several words make a good password."),
    ],
)
async def test_a_password_is_not_changed_without_the_current_one_or_to_a_bad_one(
    browsing: Browsing, services: Services, account: Opened, old: str, new: str, told: str
) -> None:
    await browsing.enter(account)
    form = await browsing.form("/account", "/account/password")

    answer = await browsing.send(form, old_password=old.replace("{right}", account.password), password=new)

    assert (answer.status_code, alert(answer)) == (422, told)
    browsing.client.cookies.clear()
    assert (await browsing.sign_in(account.email, account.password)).status_code == 303


@pytest.mark.usefixtures("stopped_attempts")
async def test_a_password_change_must_wait_after_five_wrong_current_passwords(
    browsing: Browsing, services: Services, account: Opened
) -> None:
    await browsing.enter(account)
    form = await browsing.form("/account", "/account/password")
    for _ in range(5):
        assert (await browsing.send(form, old_password="not it", password=GOOD)).status_code == 422

    answer = await browsing.send(form, old_password=account.password, password=GOOD)

    assert (answer.status_code, answer.headers["retry-after"]) == (429, "1")
    assert alert(answer) == "Too many attempts. Try again in 1 second."
    assert "Change your password" in answer.text
    assert await AUDIT_ENTRIES.where(action="password_set").count(services) == 0


async def test_a_password_that_changes_while_another_change_is_made_is_told_in_the_form(
    browsing: Browsing, services: Services, account: Opened, monkeypatch: pytest.MonkeyPatch
) -> None:
    await browsing.enter(account)
    form = await browsing.form("/account", "/account/password")
    verify = passwords.verify

    async def verify_slowly(password: str, stored: str | None) -> tuple[bool, str | None]:
        verified = await verify(password, stored)
        await USERS.change(services, password_hash="another")
        return verified

    monkeypatch.setattr(passwords, "verify", verify_slowly)

    answer = await browsing.send(form, old_password=account.password, password=GOOD)

    assert answer.status_code == 403
    assert alert(answer) == "Your password was changed meanwhile. Sign out, and sign in with the new one."
    assert await USERS.only(services, "password_hash") == "another"


@pytest.mark.parametrize("email", ["", "  ", "ada", "ada\x00"])
async def test_a_password_link_request_without_an_email_address_is_refused(
    browsing: Browsing, services: Services, email: str
) -> None:
    answer = await browsing.send(await browsing.form("/forgot"), email=email)

    assert (answer.status_code, alert(answer)) == (422, "Enter the e-mail address that you sign in with.")
    assert "belongs to an account" not in answer.text
    assert await deliver(services) == []


async def test_a_session_elsewhere_can_be_ended(browsing: Browsing, services: Services, account: Opened) -> None:
    browsing.client.headers["User-Agent"] = "Mozilla/5.0 (Windows NT 10.0; Win64; x64; rv:140.0) Firefox/140.0"
    await browsing.enter(account)
    elsewhere = browsing.client.cookies["session"]
    browsing.client.cookies.clear()
    browsing.client.headers["User-Agent"] = "Mozilla/5.0 (Macintosh; Intel Mac OS X 10_15) Version/26.0 Safari/605.1"
    await browsing.enter(account)
    page = (await browsing.get("/account")).text
    assert re.findall(r"<li>\s*<div><strong>([^<]*)", page) == ["Safari on macOS", "Firefox on Windows"]
    [action] = re.findall(r'action="(/account/sessions/\d+/end)"', page)

    answer = await browsing.send(await browsing.form("/account", action))

    assert (answer.status_code, answer.headers["location"]) == (303, "/account?notice=session_ended")
    assert await services.authentication.find(elsewhere) is None
    assert (await browsing.get("/account")).status_code == 200
    assert (await actions(services))[-1][0] == "session_ended"


async def test_a_user_cannot_end_the_session_of_another_account(
    browsing: Browsing, services: Services, account: Opened, new_account: Callable[..., Any]
) -> None:
    other = await new_account()
    await browsing.enter(other)
    browsing.client.cookies.clear()
    id = await SESSIONS.only(services, "id")
    await browsing.enter(account)
    form = await browsing.form("/account", "/logout")
    form.action = f"/account/sessions/{id}/end"

    answer = await browsing.send(form)

    assert (answer.status_code, await count_sessions(services)) == (404, 2)


async def test_a_password_change_after_a_sign_out_redirects_to_sign_in(
    browsing: Browsing, services: Services, account: Opened
) -> None:
    await browsing.enter(account)
    form = await browsing.form("/account", "/account/password")
    await SESSIONS.delete(services)

    answer = await browsing.send(form, old_password=account.password, password=GOOD)

    assert (answer.status_code, answer.headers["location"]) == (303, "/login?next=%2Faccount")


def _hours(row: dict[str, datetime]) -> float:
    return (row["expires_at"] - row["created_at"]).total_seconds() / 3600
