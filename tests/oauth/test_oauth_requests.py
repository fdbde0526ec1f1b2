"""Authorization requests are encrypted in the page: an anonymous load stores nothing."""

from datetime import UTC, datetime, timedelta

import pytest

from app.domain.accounts.scopes import AUTOMATION
from app.domain.kernel.sealing import Seal
from app.domain.oauth import consent
from app.domain.oauth.documents import Description
from app.services import Services
from tests.factories.oauth import OAUTH_GRANTS, OAUTH_REQUESTS
from tests.factories.snapshots import rows
from tests.oauth.applications import TOOLS, Application, Pkce
from tests.oauth.test_oauth_documents import describing

pytestmark = pytest.mark.anyio

SEAL = Seal(b"k" * 32)
NOON = datetime(2026, 11, 21, 12, tzinfo=UTC)
DOCUMENT = Description(
    "https://app.example.com/c", "App", "", ["https://app.example.com/callback"], timedelta(minutes=5)
)


@pytest.mark.parametrize("kind", ["managed", "document"])
async def test_loading_the_page_writes_nothing(application: Application, services: Services, kind: str) -> None:
    before = await rows(services.database.pool)

    if kind == "managed":
        page = await application.ask()
    else:
        async with describing(application):
            page = await application.ask(**Pkce().asked)

    assert page.status_code == 200
    assert await rows(services.database.pool) == before


async def test_saying_no_writes_nothing(application: Application, services: Services) -> None:
    before = await rows(services.database.pool)

    answer = await application.browsing.send(await application.form(), decision="deny")

    assert "error=access_denied" in answer.headers["location"]
    assert await rows(services.database.pool) == before


async def test_a_handle_that_was_not_made_here_grants_nothing(application: Application, services: Services) -> None:
    form, account = await application.form(), application.account
    good = form.fields["request"]

    for handle in ("", "x", good[:-8], good[4:], good.swapcase(), "\u00e9", f"{good}\u00e9"):
        answer = await application.browsing.send(
            form, email=account.email, password=account.password, request=handle, decision="allow"
        )
        assert (answer.status_code, "location" in answer.headers) == (400, False)

    assert (await OAUTH_GRANTS.count(services), await OAUTH_REQUESTS.count(services)) == (0, 0)


@pytest.mark.parametrize("description", [None, DOCUMENT])
def test_a_request_can_be_answered_for_ten_minutes(description: Description | None) -> None:
    handle = consent.seal(SEAL, "abc", {"state": ["\u00e9 1"]}, description, NOON)

    opened = consent.unseal(SEAL, handle, NOON + timedelta(minutes=10, microseconds=-1))

    assert opened
    assert (opened.client_id, opened.parameters, opened.description) == ("abc", {"state": ["\u00e9 1"]}, description)
    assert consent.unseal(SEAL, handle, NOON + timedelta(minutes=10)) is None
    assert consent.unseal(Seal(b"j" * 32), handle, NOON) is None


async def test_the_balance_and_the_writer_are_asked_for_apart_and_granted_only_when_ticked(
    application: Application, services: Services
) -> None:
    wanted = " ".join(sorted(AUTOMATION | {"billing:read", "ai:use"}))
    page = await application.ask(scope=wanted)
    [apart] = page.text.split("Optional permissions")[1:]
    apart = apart.split("</fieldset>")[0]
    assert ("See the balance" in apart, "Generate message texts" in apart, "checked" in apart) == (True, True, False)

    untouched = await application.connect(scope=wanted)
    assert untouched["scope"].split() == sorted(AUTOMATION)

    form = await application.form(scope=wanted)
    fields = {name: value for name, value in form.fields.items() if not name.startswith("allow:")}
    form.fields.clear()
    form.fields.update(fields)
    ticked = {"allow:billing:read": "on", "allow:contacts:read": "on"}
    answer = await application.browsing.client.post(
        form.action, data={**form.fields, **ticked, "decision": "allow"}, headers={"Sec-Fetch-Site": "same-origin"}
    )
    code = answer.headers["location"].split("code=")[1].split("&")[0]
    tokens = (await application.exchange(code)).json()
    assert tokens["scope"] == "account:read billing:read contacts:read"
    balance = await application.http.get(
        "/billing/balance", headers={"Authorization": f"Bearer {tokens['access_token']}"}
    )
    assert balance.status_code == 200


async def test_a_scope_asked_for_apart_is_not_granted_without_a_pressed_button(
    application: Application, services: Services
) -> None:
    form, account = await application.form(scope="account:read billing:read"), application.account

    answer = await application.browsing.send(form, email=account.email, password=account.password)

    assert answer.status_code == 302
    assert await OAUTH_GRANTS.only(services, "scopes") == ["account:read"]


async def test_the_tool_server_asks_for_everything_in_one_list(application: Application) -> None:
    page = await application.ask(resource=TOOLS, scope="account:read billing:read ai:use", **Pkce().asked)

    assert "Optional permissions" not in page.text
    assert page.text.count(" checked") == 3
