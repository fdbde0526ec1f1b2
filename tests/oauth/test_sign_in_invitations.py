"""A person joins an account: invited over GraphQL, by mail, through the pages, and back to GraphQL."""

import email
from dataclasses import replace
from email.policy import default
from typing import Any

import httpx2
import pytest
from pydantic import SecretStr

from app.bootstrap import open_mail_sender
from app.domain.onboarding.service import Opened
from app.services import Services
from tests.factories.accounts import id_of_user
from tests.oauth.browsing import Browsing
from tests.oauth.mailbox import deliver, link, text
from tests.oauth.test_sign_in import actions
from tests.providers.mail_server import serving_mail

pytestmark = pytest.mark.anyio

GOOD = "seven green bicycles"
INVITE = 'mutation { invite_user(email: "bob@example.com", role: %s) { id email role } }'


async def ask(client: httpx2.AsyncClient, query: str) -> Any:
    answer = await client.post(
        "/graphql", json={"query": query}, headers={"Sec-Fetch-Site": "same-origin", "Origin": "http://127.0.0.1:8000"}
    )
    body = answer.json()
    return body.get("data") or body["errors"][0]["extensions"]["code"]


async def test_a_person_is_invited_accepts_and_works(browsing: Browsing, services: Services, account: Opened) -> None:
    await browsing.enter(account)

    invited = (await ask(browsing.client, INVITE % "member"))["invite_user"]

    assert (invited["email"], invited["role"]) == ("bob@example.com", "member")
    [mail] = await deliver(services)
    assert (mail["to"], mail["subject"]) == ("bob@example.com", "You are invited to Blue Door")
    assert "for 7 days" in text(mail)

    browsing.client.cookies.clear()
    page = await browsing.get(link(mail))
    assert "Welcome. Choose a password" in page.text
    await browsing.send(await browsing.form(link(mail)), password=GOOD)
    assert (await browsing.sign_in("bob@example.com", GOOD)).headers["location"] == "/app/"

    viewer = await ask(browsing.client, "{ viewer { email company_name } users { email role } }")
    assert viewer["viewer"] == {"email": "bob@example.com", "company_name": "Blue Door"}
    assert viewer["users"] == [
        {"email": account.email, "role": "owner"},
        {"email": "bob@example.com", "role": "member"},
    ]
    assert await ask(browsing.client, INVITE % "member") == "insufficient_scope"
    assert [(action, subject) for action, _, subject in await actions(services)] == [
        ("signed_in", account.email),
        ("user_invited", "bob@example.com"),
        ("password_set", "bob@example.com"),
        ("signed_in", "bob@example.com"),
    ]


async def test_an_invitation_travels_over_smtp(browsing: Browsing, services: Services, account: Opened) -> None:
    await browsing.enter(account)
    await ask(browsing.client, INVITE % "owner")

    async with serving_mail() as server:
        posted = replace(services, settings=services.settings.model_copy(update=_smtp(server.url)))
        assert await open_mail_sender(posted).run()

    mail = email.message_from_bytes(server.mails[0].removesuffix(b".\r\n"), policy=default)
    assert (mail["From"], mail["To"]) == ("Blue Door <door@example.com>", "bob@example.com")
    browsing.client.cookies.clear()
    await browsing.send(await browsing.form(link(mail)), password=GOOD)  # type: ignore[arg-type]
    assert (await browsing.sign_in("bob@example.com", GOOD)).status_code == 303


async def test_a_removed_user_is_signed_out_at_once(browsing: Browsing, services: Services, account: Opened) -> None:
    await browsing.enter(account)
    await ask(browsing.client, INVITE % "owner")
    owner = dict(browsing.client.cookies)
    [mail] = await deliver(services)
    browsing.client.cookies.clear()
    await browsing.send(await browsing.form(link(mail)), password=GOOD)
    await browsing.sign_in("bob@example.com", GOOD)
    id = await id_of_user(services, email="bob@example.com")
    bob = dict(browsing.client.cookies)
    assert (await browsing.get("/account")).status_code == 200

    _use(browsing, owner)
    await ask(browsing.client, f"mutation {{ remove_user(id: {id}) {{ id }} }}")

    _use(browsing, bob)
    assert (await browsing.get("/account")).status_code == 303
    assert await ask(browsing.client, "{ viewer { email } }") == "unauthenticated"
    assert (await browsing.sign_in("bob@example.com", GOOD)).status_code == 403


def _smtp(address: str) -> dict[str, Any]:
    return {"smtp_url": SecretStr(f"smtp://{address}"), "mail_from": "Blue Door <door@example.com>"}


def _use(browsing: Browsing, cookies: dict[str, str]) -> None:
    browsing.client.cookies.clear()
    for name, value in cookies.items():
        browsing.client.cookies.set(name, value, domain="127.0.0.1", path="/")
