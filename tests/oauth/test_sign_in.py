"""Signing in and out, in a browser."""

import re
from collections.abc import AsyncGenerator, Iterator
from typing import Any

import httpx2
import pytest
from pwdlib import PasswordHash
from pwdlib.hashers.argon2 import Argon2Hasher
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from app.domain.accounts.sign_in import passwords
from app.domain.accounts.user_agents import describe
from app.domain.kernel.errors import RateLimited
from app.domain.onboarding.service import Opened
from app.main import create_app
from app.providers import attempts
from app.services import Services
from app.settings import Settings
from app.web.browser import Browser
from tests.factories.accounts import ACCOUNTS, AUDIT_ENTRIES, SESSIONS, USERS
from tests.factories.tables import ago
from tests.oauth.browsing import OURS, Browsing, Form
from tests.oauth.pages import actions, alert, count_sessions
from tests.shared import running
from tests.waiting import until

pytestmark = pytest.mark.anyio
PATIENCE_SECONDS = 30
WRONG = "The e-mail address or the password is wrong."
POLICY = "default-src 'none'; style-src 'self'; img-src 'self' data:; frame-ancestors 'none'; base-uri 'none'"


@pytest.fixture
async def secure(settings: Settings) -> AsyncGenerator[Browsing]:
    """Give a browser of a service that others reach over https."""
    public = settings.model_copy(update={"environment": "production", "base_url": "https://sms.example.com"})
    async with running(create_app(public)) as app:
        transport = httpx2.ASGITransport(app=app, raise_app_exceptions=False)
        async with httpx2.AsyncClient(transport=transport, base_url="https://sms.example.com") as client:
            yield Browsing(client)


class Counting(PasswordHash):
    """Counts the passwords that are verified."""

    verified = 0

    def verify_and_update(self, password: Any, hash: Any) -> tuple[bool, str | None]:
        self.verified += 1
        return super().verify_and_update(password, hash)


@pytest.fixture
def counting(monkeypatch: pytest.MonkeyPatch) -> Iterator[Counting]:
    """Give what verifies passwords, and counts how often."""
    hasher = Counting((Argon2Hasher(time_cost=1, memory_cost=8, parallelism=1),))
    monkeypatch.setattr(passwords, "PASSWORDS", hasher)
    return hasher


def cookies(answer: httpx2.Response) -> dict[str, str]:
    """Return the attributes of each cookie that an answer sets, without its value."""
    parted = [cookie.split("; ", 1) for cookie in answer.headers.get_list("set-cookie")]
    return {pair.partition("=")[0]: attributes for pair, attributes in parted}


async def owner_of(services: Services, account: Opened) -> str:
    id = await USERS.where(account_id=account.account_id).only(services, "id")
    return f"user:{id}"


@pytest.mark.parametrize("path", ["/login", "/forgot", "/account", "/password/unknown"])
async def test_no_page_can_be_framed_scripted_or_kept(browsing: Browsing, path: str) -> None:
    page = await browsing.get(path)

    assert {name: page.headers[name] for name in ("content-security-policy", "x-frame-options")} == {
        "content-security-policy": POLICY,
        "x-frame-options": "DENY",
    }
    assert (page.headers["referrer-policy"], page.headers["cache-control"]) == ("no-referrer", "no-store")
    assert page.headers["x-content-type-options"] == "nosniff"
    assert "<script" not in page.text
    assert "style=" not in page.text


async def test_a_user_signs_in_and_sees_the_account(browsing: Browsing, services: Services, account: Opened) -> None:
    answer = await browsing.sign_in(f" {account.email.upper()} ", account.password)

    assert (answer.status_code, answer.headers["location"]) == (303, "/app/")
    page = await browsing.get("/account")
    assert page.status_code == 200
    assert f"<dd>{account.email}</dd>" in page.text
    assert account.company_name in page.text
    owner = await owner_of(services, account)
    assert await actions(services) == [("signed_in", owner, account.email)]
    row = await AUDIT_ENTRIES.last(services, "address", "user_agent")
    assert (row["address"], row["user_agent"]) == ("127.0.0.1", browsing.client.headers["user-agent"])


async def test_in_development_the_cookie_has_a_plain_name_and_needs_no_https(
    browsing: Browsing, account: Opened
) -> None:
    answer = await browsing.sign_in(account.email, account.password)

    assert cookies(answer) == {
        "session": "HttpOnly; Max-Age=7776000; Path=/; SameSite=lax",
        "browser": "HttpOnly; Max-Age=31536000; Path=/; SameSite=lax",
        "form": "HttpOnly; Max-Age=0; Path=/; SameSite=lax",
    }


async def test_elsewhere_the_cookie_is_for_this_host_and_https_alone(secure: Browsing, account: Opened) -> None:
    form = await secure.form("/login")

    answer = await secure.send(form, email=account.email, password=account.password)

    assert cookies(answer) == {
        "__Host-session": "HttpOnly; Max-Age=7776000; Path=/; SameSite=lax; Secure",
        "__Host-browser": "HttpOnly; Max-Age=31536000; Path=/; SameSite=lax; Secure",
        "__Host-form": "HttpOnly; Max-Age=0; Path=/; SameSite=lax; Secure",
    }
    assert (await secure.get("/account")).status_code == 200


async def test_the_cookie_itself_is_stored_nowhere(browsing: Browsing, services: Services, account: Opened) -> None:
    await browsing.enter(account)

    row = await SESSIONS.only(services)
    token = browsing.client.cookies["session"]
    assert len(token) == 43
    assert row["hash"] == services.authentication.tokens.fingerprint(token)
    assert token not in str(dict(row))


@pytest.mark.parametrize("who", ["nobody", "wrong password", "removed", "suspended", "invited"])
async def test_every_refusal_reads_the_same_and_takes_the_same_work(
    browsing: Browsing, services: Services, account: Opened, counting: Counting, who: str
) -> None:
    email, password = account.email, account.password
    if who == "nobody":
        email = "nobody@example.com"
    elif who == "wrong password":
        password = "not it"
    else:
        rows, values = {
            "removed": (USERS, {"removed_at": ago()}),
            "suspended": (ACCOUNTS, {"status": "suspended"}),
            "invited": (USERS, {"password_hash": None}),
        }[who]
        await rows.change(services, **values)
    usual = await browsing.sign_in("somebody@example.com", "whatever")
    counting.verified = 0

    answer = await browsing.sign_in(email, password)

    assert (answer.status_code, alert(answer), counting.verified) == (403, WRONG, 1)
    masked = re.sub(r'value="[^"]*"', "", answer.text)
    assert masked == re.sub(r'value="[^"]*"', "", usual.text)
    assert answer.headers.keys() == usual.headers.keys()
    assert "session" not in browsing.client.cookies
    assert await count_sessions(services) == 0


async def test_a_refusal_is_in_the_audit_log_of_the_user_it_was_for(
    browsing: Browsing, services: Services, account: Opened
) -> None:
    await browsing.sign_in(account.email, "not it")
    await browsing.sign_in("nobody@example.com", "not it")

    owner = await owner_of(services, account)
    noted = await until(lambda: actions(services))
    assert noted == [("sign_in_refused", owner, account.email)]


async def test_the_page_repeats_the_typed_address_escaped_and_omits_the_password(
    browsing: Browsing, account: Opened
) -> None:
    answer = await browsing.sign_in('"><script>alert(1)</script>', "open sesame")

    assert "<script" not in answer.text
    assert "&lt;script&gt;alert(1)" in answer.text
    assert "open sesame" not in answer.text


async def test_too_many_failures_delay_even_the_right_password(
    browsing: Browsing, services: Services, account: Opened, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(attempts, "FIRST_WAIT_MS", 600_000)
    for _ in range(5):
        assert (await browsing.sign_in(account.email, "not it")).status_code == 403

    answer = await browsing.sign_in(account.email, account.password)

    assert answer.status_code == 429
    assert 1 < int(answer.headers["retry-after"]) <= 600
    assert re.fullmatch(r"Too many attempts\. Try again in \d+ minutes\.", alert(answer) or "")
    assert account.email in answer.text
    assert await count_sessions(services) == 0


@pytest.mark.usefixtures("stopped_attempts")
async def test_an_unknown_address_is_held_back_like_a_known_one(browsing: Browsing, account: Opened) -> None:
    statuses = [(await browsing.sign_in("nobody@example.com", "not it")).status_code for _ in range(6)]

    assert statuses == [403] * 5 + [429]


async def test_signing_out_ends_the_session(browsing: Browsing, services: Services, account: Opened) -> None:
    await browsing.enter(account)
    token = browsing.client.cookies["session"]

    answer = await browsing.send(await browsing.form("/account", "/logout"))

    assert (answer.status_code, answer.headers["location"]) == (303, "/login?notice=signed_out")
    assert "session" not in browsing.client.cookies
    assert await services.authentication.find(token) is None
    assert await count_sessions(services) == 0
    assert [action for action, *_ in await actions(services)] == ["signed_in", "signed_out"]
    assert "You are signed out." in (await browsing.get("/login?notice=signed_out")).text


async def test_another_site_cannot_sign_a_user_out(browsing: Browsing, services: Services, account: Opened) -> None:
    await browsing.enter(account)

    answers = [
        await browsing.send(Form("/logout", {"form_token": ""}), {"Sec-Fetch-Site": "cross-site"}),
        await browsing.send(Form("/logout", {"form_token": ""}), OURS),
        await browsing.get("/logout"),
    ]

    assert [answer.status_code for answer in answers] == [403, 403, 405]
    assert await count_sessions(services) == 1


async def test_a_notice_is_one_of_ours_or_none(browsing: Browsing) -> None:
    page = await browsing.get("/login?notice=Your+account+is+locked.+Call+us")

    assert "Call us" not in page.text


@pytest.mark.parametrize(
    ("body", "kind", "status"),
    [
        (b"{}", "application/json", 415),
        (b"x=" + b"y" * 65_536, "application/x-www-form-urlencoded", 413),
        (b"\xff=%ff&email=%00", "application/x-www-form-urlencoded", 403),
    ],
)
async def test_an_invalid_form_is_refused_with_a_page(
    browsing: Browsing, services: Services, body: bytes, kind: str, status: int
) -> None:
    answer = await browsing.client.post("/login", content=body, headers={"Content-Type": kind, **OURS})

    assert (answer.status_code, answer.headers["content-type"]) == (status, "text/html; charset=utf-8")


async def test_an_address_that_cannot_be_stored_is_a_wrong_one(browsing: Browsing, account: Opened) -> None:
    answer = await browsing.sign_in("ann\0@example.com", "open sesame")

    assert (answer.status_code, alert(answer)) == (403, WRONG)


async def test_the_style_is_served_under_a_name_that_changes_with_it(browsing: Browsing) -> None:
    [path] = re.findall(r'rel="stylesheet" href="([^"]+)"', (await browsing.get("/login")).text)

    style = await browsing.get(path)

    assert re.fullmatch(r"/assets/sign-in-[0-9a-f]{12}\.css", path)
    assert (style.status_code, style.headers["content-type"]) == (200, "text/css; charset=utf-8")
    assert style.headers["cache-control"] == "public, max-age=31536000, immutable"


async def test_forms_are_labelled_and_known_to_password_managers(browsing: Browsing) -> None:
    page = (await browsing.get("/login")).text

    assert re.findall(r'autocomplete="([^"]+)"', page) == ["username", "current-password"]
    assert set(re.findall(r'<input id="(\w+)"', page)) == set(re.findall(r'<label for="(\w+)"', page))


@pytest.mark.parametrize(
    ("cause", "status", "told"),
    [
        (KeyError("the secret of the house"), 500, "An unexpected error of the service. Try again."),
        (ConnectionError("10.0.0.7 is away"), 503, "The service is not available at this moment. Try again in a few"),
        (RateLimited(seconds=7), 429, "Too many requests. Try again in 7 s."),
    ],
)
async def test_an_error_page_does_not_reveal_the_cause(
    services: Services, cause: Exception, status: int, told: str
) -> None:
    async def fail(_: Request) -> Response:
        raise cause

    app = Starlette(routes=[Route("/fail", Browser(services).shown(fail))])
    async with httpx2.AsyncClient(transport=httpx2.ASGITransport(app), base_url="http://127.0.0.1:8000") as client:
        page = await client.get("/fail")

    assert (page.status_code, page.headers["content-security-policy"]) == (status, POLICY)
    assert alert(page).startswith(told)
    assert "house" not in page.text
    assert "10.0.0.7" not in page.text
    assert page.headers.get("retry-after") == {429: "7", 503: "5"}.get(status)


def test_browsers_are_told_apart_in_words() -> None:
    chrome = (
        "Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/140.0 Safari/537.36"
    )
    phone = "Mozilla/5.0 (iPhone; CPU iPhone OS 26_0 like Mac OS X) AppleWebKit/605.1 Version/26.0 Mobile Safari/604.1"

    told = [describe(agent) for agent in (chrome, f"{chrome} Edg/140.0", phone, "curl/8.9", "")]

    assert told == ["Chrome on Windows", "Edge on Windows", "Safari on iPhone", "Unknown browser", "Unknown browser"]
