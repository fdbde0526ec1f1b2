"""The consent page: what it shows, who decides on it, and what is granted."""

import jwt
import pytest

from app.domain.onboarding.service import Opened
from app.services import Services
from tests.factories.accounts import AUDIT_ENTRIES, SESSIONS, USERS
from tests.factories.oauth import OAUTH_CLIENTS, OAUTH_GRANTS, OAUTH_REQUESTS
from tests.oauth.applications import (
    BASE,
    STATE,
    Application,
    add_application,
    query_of,
)
from tests.oauth.browsing import Browsing, Form
from tests.oauth.redirected import ANSWERED, WRONG, faults

pytestmark = pytest.mark.anyio


async def test_the_page_names_the_application_its_host_and_its_scopes(application: Application):
    page = await application.ask(scope="contacts:read messages:send account:read")

    assert page.status_code == 200
    assert "Pipelines wants to use your account" in page.text
    assert "<strong>app.example.com</strong>" in page.text
    assert [line for line in page.text.splitlines() if line.startswith('<label for="scope')] == [
        '<label for="scope1">See the account&#39;s name and who you are, its automations, its quiet hours and your '
        "notices</label></div>",
        '<label for="scope2">Send messages, which costs credits</label></div>',
        '<label for="scope3">Read and export contacts, with their consents and bookings</label></div>',
    ]
    assert 'name="email"' in page.text
    assert 'name="password"' in page.text
    assert "registered itself" not in page.text
    assert "<script" not in page.text


async def test_the_name_of_an_application_is_escaped(services: Services, browsing: Browsing, account: Opened):
    application = await add_application(services, browsing, account)
    await OAUTH_CLIENTS.change(services, name="<b>x</b>")

    page = await application.ask()

    assert "<b>x" not in page.text
    assert "&lt;b&gt;x&lt;/b&gt; wants to use your account" in page.text


async def test_the_page_cannot_be_framed_leaks_no_address_and_does_not_block_its_own_redirect(
    application: Application,
):
    headers = (await application.ask()).headers

    policy = headers["content-security-policy"]
    assert "frame-ancestors 'none'" in policy
    assert "form-action" not in policy
    assert (headers["x-frame-options"], headers["referrer-policy"]) == ("DENY", "no-referrer")
    assert headers["cache-control"] == "no-store"


async def test_a_wrong_password_shows_the_page_again_and_grants_nothing(application: Application, services: Services):
    form = await application.form()

    answer = await application.browsing.send(form, email="Who@example.com", password="wrong", decision="allow")

    assert answer.status_code == 403
    assert WRONG in answer.text
    assert 'value="Who@example.com"' in answer.text
    assert "location" not in answer.headers
    assert await OAUTH_GRANTS.count(services) == 0
    again = await application.browsing.send(
        form, email=application.account.email, password=application.account.password, decision="allow"
    )
    assert again.status_code == 302


@pytest.mark.usefixtures("stopped_attempts")
async def test_guesses_are_held_back(application: Application, services: Services):
    form = await application.form()
    answers = [await application.browsing.send(form, email="a@example.com", password="wrong") for _ in range(12)]

    statuses = [answer.status_code for answer in answers]
    assert statuses[0] == 403
    assert statuses[-1] == 429
    assert int(answers[-1].headers["retry-after"]) >= 1


async def test_a_signed_in_user_is_only_asked_to_consent(application: Application, account: Opened):
    await application.browsing.enter(account)

    page = await application.ask()

    assert f"Signed in to <strong>{account.company_name}</strong> as <strong>{account.email}</strong>" in page.text
    assert 'name="password"' not in page.text
    answer = await application.browsing.send(await application.form(), decision="allow")
    assert answer.status_code == 302
    assert "code" in query_of(answer)


async def test_a_user_who_signs_in_on_the_page_stays_signed_in(application: Application):
    await application.consent()

    assert 'name="password"' not in (await application.ask()).text


async def test_not_you_signs_out_and_asks_again(application: Application, services: Services, account: Opened):
    await application.browsing.enter(account)
    form = await application.form(scope="contacts:read")

    answer = await application.browsing.send(form, decision="sign_out")

    assert answer.status_code == 303
    page = await application.browsing.get(answer.headers["location"])
    assert page.status_code == 200
    assert 'name="password"' in page.text
    assert "Read and export contacts" in page.text
    assert await SESSIONS.count(services) == 0
    assert await OAUTH_GRANTS.count(services) == 0


async def test_denying_needs_no_sign_in_and_is_told_to_the_application(application: Application, services: Services):
    answer = await application.browsing.send(await application.form(), decision="deny")

    told = faults(answer)
    assert (told["error"], told["state"], told["iss"]) == ("access_denied", STATE, BASE)
    assert "code" not in told
    assert await OAUTH_GRANTS.count(services) == 0
    assert await OAUTH_REQUESTS.count(services) == 0


async def test_an_unticked_scope_is_not_granted(application: Application):
    form = await application.form(scope="account:read contacts:read contacts:write")
    del form.fields["allow:contacts:write"]
    del form.fields["allow:account:read"]

    account = application.account
    answer = await application.browsing.send(form, email=account.email, password=account.password, decision="allow")

    tokens = (await application.exchange(query_of(answer)["code"])).json()
    assert tokens["scope"] == "account:read contacts:read"


async def test_a_scope_that_was_not_requested_is_not_granted(application: Application):
    form = await application.form(scope="contacts:read")
    form.fields |= {"allow:messages:send": "on", "allow:account:write": "on"}

    account = application.account
    answer = await application.browsing.send(form, email=account.email, password=account.password, decision="allow")

    assert (await application.exchange(query_of(answer)["code"])).json()["scope"] == "contacts:read"


async def test_a_form_without_a_ticked_scope_is_refused(application: Application, services: Services):
    form = await application.form(scope="contacts:read")
    del form.fields["allow:contacts:read"]

    account = application.account
    answer = await application.browsing.send(form, email=account.email, password=account.password, decision="allow")

    assert answer.status_code == 400
    assert "Select at least one" in answer.text
    assert await OAUTH_GRANTS.count(services) == 0


async def test_a_form_without_a_pressed_button_grants_the_requested_scopes(application: Application):
    form = await application.form(scope="contacts:read contacts:write")
    hidden = Form(form.action, {name: form.fields[name] for name in ("form_token", "request")})

    account = application.account
    answer = await application.browsing.send(hidden, email=account.email, password=account.password)

    tokens = (await application.exchange(query_of(answer)["code"])).json()
    assert tokens["scope"] == "contacts:read contacts:write"


async def test_a_form_that_is_sent_again_is_refused(application: Application, services: Services):
    form, account = await application.form(), application.account
    said = {"email": account.email, "password": account.password, "decision": "allow"}
    first = await application.browsing.send(form, None, **said)
    again = await application.form()
    again.fields["request"] = form.fields["request"]

    second = await application.browsing.send(again, decision="allow")

    assert first.status_code == 302
    assert second.status_code == 400
    assert ANSWERED in second.text
    assert await OAUTH_GRANTS.count(services) == 1


async def test_a_form_of_another_site_is_refused(application: Application, services: Services, account: Opened):
    await application.browsing.enter(account)
    form = await application.form()

    foreign = await application.browsing.send(
        form, {"Origin": "https://evil.example.com", "Sec-Fetch-Site": "cross-site"}, decision="allow"
    )
    del form.fields["form_token"]
    tokenless = await application.browsing.send(form, decision="allow")

    assert (foreign.status_code, tokenless.status_code) == (403, 403)
    assert await OAUTH_GRANTS.count(services) == 0


async def test_a_grant_is_for_the_user_who_consented(application: Application, services: Services, account: Opened):
    token = (await application.connect())["access_token"]

    claims = jwt.decode(token, options={"verify_signature": False})
    email = await USERS.where(id=int(claims["sub"])).only(services, "email")
    assert email == account.email


async def test_a_consent_is_in_the_audit_log(application: Application, services: Services):
    await application.connect(scope="contacts:read")

    entry = await AUDIT_ENTRIES.where(action="application_connected").only(services)
    assert entry["subject"] == "Pipelines"
    assert entry["actor"].startswith("user:")
    assert entry["details"]["scopes"] == ["contacts:read"]
    assert entry["details"]["redirect_host"] == "app.example.com"
