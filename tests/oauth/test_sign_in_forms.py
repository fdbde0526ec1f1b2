"""The forms of signing in: which are taken, and where they lead."""

import re

import httpx2
import pytest
from structlog.testing import capture_logs

from app.domain.onboarding.service import Opened
from app.services import Services
from tests.oauth.browsing import OURS, Browsing
from tests.oauth.pages import actions, alert, count_sessions
from tests.shared import Shared

pytestmark = pytest.mark.anyio
STALE = "This form is out of date. Load the page again, then send it once more."


@pytest.mark.parametrize(
    ("spoil", "headers"),
    [
        ("no token", OURS),
        ("wrong token", OURS),
        ("no cookie", OURS),
        ("", {"Origin": "https://evil.example"}),
        ("", {"Origin": "null"}),
        ("", {"Origin": "http://127.0.0.1:8000", "Sec-Fetch-Site": "cross-site"}),
        ("", {"Origin": "null", "Sec-Fetch-Site": "cross-site"}),
        ("", {"Sec-Fetch-Site": "same-site"}),
        ("", {"Origin": "http://127.0.0.1:8001"}),
        ("", {"Origin": "http://["}),
        ("", {"Origin": ""}),
    ],
)
async def test_a_form_that_is_not_ours_is_refused(
    browsing: Browsing, services: Services, account: Opened, spoil: str, headers: dict[str, str]
) -> None:
    form = await browsing.form("/login")
    if spoil == "no token":
        del form.fields["form_token"]
    elif spoil == "wrong token":
        form.fields["form_token"] = "é" + form.fields["form_token"][1:]
    elif spoil == "no cookie":
        browsing.client.cookies.clear()

    answer = await browsing.send(form, headers, email=account.email, password=account.password)

    assert (answer.status_code, alert(answer)) == (403, STALE)
    assert "session" not in browsing.client.cookies
    assert await count_sessions(services) == 0
    assert await actions(services) == []


@pytest.mark.parametrize(
    "headers",
    [
        OURS,
        {},
        {"Origin": "http://127.0.0.1:8000"},
        {"Origin": "http://127.0.0.1:8000", "Sec-Fetch-Site": "same-origin"},
        {"Origin": "http://localhost:8000", "Host": "localhost:8000"},
    ],
)
async def test_a_form_of_ours_is_taken_however_the_browser_says_so(
    browsing: Browsing, account: Opened, headers: dict[str, str]
) -> None:
    form = await browsing.form("/login")

    answer = await browsing.send(form, headers, email=account.email, password=account.password)

    assert answer.status_code == 303


async def test_the_token_of_another_browser_is_refused(
    browsing: Browsing, http: httpx2.AsyncClient, services: Services, account: Opened
) -> None:
    foreign = Browsing(httpx2.AsyncClient(transport=http._transport, base_url=http.base_url))
    token = (await foreign.form("/login")).fields["form_token"]
    form = await browsing.form("/login")
    assert token != form.fields["form_token"]

    answer = await browsing.send(form, email=account.email, password=account.password, form_token=token)

    assert (answer.status_code, await count_sessions(services)) == (403, 0)


async def test_a_sign_in_form_cannot_be_sent_again_after_it_succeeded(
    browsing: Browsing, services: Services, account: Opened
) -> None:
    form = await browsing.form("/login")
    await browsing.send(form, email=account.email, password=account.password)

    again = await browsing.send(form, email=account.email, password=account.password)

    assert (again.status_code, await count_sessions(services)) == (403, 1)


async def test_a_cookie_chosen_before_signing_in_is_worth_nothing_after_it(
    browsing: Browsing, services: Services, account: Opened
) -> None:
    browsing.client.cookies.set("session", "chosen-by-another", domain="127.0.0.1", path="/")
    form = await browsing.form("/login")

    answer = await browsing.send(form, email=account.email, password=account.password)

    assert answer.status_code == 303
    [token] = re.findall(r"session=([^;]*)", answer.headers["set-cookie"])
    assert token != "chosen-by-another"
    assert await services.authentication.find("chosen-by-another") is None
    assert await services.authentication.find(token) is not None


async def test_signing_in_again_ends_the_session_of_before(
    browsing: Browsing, services: Services, account: Opened
) -> None:
    form = await browsing.form("/login")
    await browsing.enter(account)
    old = browsing.client.cookies["session"]
    form.fields["form_token"] = services.authentication.tokens.of_form(old)

    await browsing.send(form, email=account.email, password=account.password)

    assert browsing.client.cookies["session"] != old
    assert await services.authentication.find(old) is None
    assert await count_sessions(services) == 1


async def test_the_sign_in_page_redirects_a_signed_in_user_to_the_next_page(
    browsing: Browsing, account: Opened
) -> None:
    await browsing.enter(account)

    answer = await browsing.get("/login?next=/automation/oauth/authorize%3Frequest%3D7")

    assert (answer.status_code, answer.headers["location"]) == (303, "/automation/oauth/authorize?request=7")


async def test_a_user_is_redirected_to_the_requested_page_after_signing_in(browsing: Browsing, account: Opened) -> None:
    asked = await browsing.get("/account")
    assert (asked.status_code, asked.headers["location"]) == (303, "/login?next=%2Faccount")

    answer = await browsing.sign_in(account.email, account.password, "/login?next=/account%3Fnotice%3Dpassword_set")

    assert answer.headers["location"] == "/account?notice=password_set"


@pytest.mark.parametrize(
    "onward",
    [
        "https://evil.example",
        "//evil.example",
        "/\\evil.example",
        "\\\\evil.example",
        "/\t/evil.example",
        "/\n/evil.example",
        " //evil.example",
        "evil.example",
        "javascript:alert(1)",
        "/ok\r\nSet-Cookie: a=b",
        "/€",
        "/\x00",
        "",
    ],
)
async def test_sign_in_does_not_redirect_to_another_site(browsing: Browsing, account: Opened, onward: str) -> None:
    form = await browsing.form("/login")

    answer = await browsing.send(form, email=account.email, password=account.password, next=onward)

    assert (answer.status_code, answer.headers["location"]) == (303, "/app/")


async def test_a_signed_in_user_is_not_redirected_to_a_path_that_is_not_ascii(
    browsing: Browsing, account: Opened
) -> None:
    await browsing.enter(account)

    answer = await browsing.get("/login?next=/%E2%82%AC")

    assert (answer.status_code, answer.headers["location"]) == (303, "/app/")


@pytest.mark.parametrize("path", ["/login", "/automation/oauth/authorize", "/account/password"])
async def test_a_client_that_leaves_while_it_sends_a_form_is_no_fault(
    services: Services, shared: Shared, path: str
) -> None:
    arriving = [{"type": "http.request", "body": b"email=ann", "more_body": True}, {"type": "http.disconnect"}]
    sent: list[object] = []

    async def receive() -> dict[str, object]:
        return arriving.pop(0)

    async def send(message: object) -> None:
        sent.append(message)

    scope = {
        "type": "http",
        "method": "POST",
        "path": path,
        "query_string": b"",
        "headers": [(b"host", b"127.0.0.1:8000"), (b"content-type", b"application/x-www-form-urlencoded")],
        "client": ("127.0.0.1", 1),
    }

    with capture_logs() as logs:
        await (await shared.app(services))(scope, receive, send)

    assert [entry["event"] for entry in logs if entry["log_level"] == "error"] == []
    assert (sent, arriving) == ([], [])
    assert await actions(services) == []
