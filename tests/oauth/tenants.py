"""Two accounts, each with one record of every kind that a browser, an application or a carrier can request."""

import re
from dataclasses import dataclass, replace
from typing import Any

import httpx2
import jwt
from sqlalchemy import select

from app.bootstrap import derive
from app.domain.accounts import links, sessions
from app.domain.accounts import queries as accounts
from app.domain.accounts import service as account_service
from app.domain.accounts.models import WaitingMail
from app.domain.accounts.scopes import ALL
from app.domain.accounts.sessions import Visitor
from app.domain.carriers.carrier import InboundMessage
from app.domain.contacts import service as contacts
from app.domain.integrations import service as integrations
from app.domain.kernel.unit_of_work import Actor
from app.domain.messages.requests import Send
from app.domain.onboarding.service import Opened
from app.services import Services
from tests.conftest import unit_of
from tests.oauth.applications import Application, add_application
from tests.oauth.browsing import Browsing, Form

MARK, OTHERS = "tell-tale", "Others"
"""The names of the two companies, which all their texts contain."""

PHONE = "+12025550143"
"""The phone of a contact of both accounts."""


@dataclass(frozen=True)
class Tenant:
    """An account, the browser of its signed-in owner, and the ids of its records."""

    services: Services
    account: Opened
    browsing: Browsing
    application: Application
    tokens: dict[str, Any]
    code: str
    question: Form
    link: str
    session_id: int
    contact_id: int
    message_id: int
    hook: str

    @property
    def carrier(self) -> bytes:
        """Return the carrier's signing secret."""
        return derive(self.services.settings, "sandbox")

    @property
    def hook_secret(self) -> str:
        """Return the secret of the inbound webhook."""
        return f"secret of {self.account.company_name}"

    @property
    def grant_id(self) -> int:
        """Return the grant of the tokens."""
        return jwt.decode(self.tokens["access_token"], options={"verify_signature": False})["grant_id"]

    def anonymous_browser(self) -> Browsing:
        """Return another browser, without a session."""
        return Browsing(_client_beside(self.browsing.client))

    def in_new_browser(self, http: httpx2.AsyncClient) -> "Tenant":
        """Return the same tenant with another browser, in which the owner is also signed in."""
        client = _client_beside(http)
        client.cookies.update(self.browsing.client.cookies)
        browsing = Browsing(client)
        application = replace(self.application, http=client, browsing=browsing)
        return replace(self, browsing=browsing, application=application)

    async def form(self, action: str, **fields: str) -> Form:
        """Return a valid form of the owner's pages with other fields."""
        [token] = re.findall(r'name="form_token" value="([^"]*)"', (await self.browsing.get("/account")).text)[:1]
        return Form(action, {"form_token": token, **fields})


async def settle(services: Services, http: httpx2.AsyncClient, account: Opened) -> Tenant:
    """Create one record of each kind for an account."""
    actor, name = Actor(account.account_id, ALL, "owner"), account.company_name
    async with unit_of(services, actor) as unit:
        [user] = await accounts.list_users(unit)
        await account_service.add_user(unit, f"second@{name}.example", "blue wooden boats")
        contact = await contacts.create(unit, {"phone": PHONE, "first_name": name})
        _, cookie = await sessions.begin(unit, services.authentication.tokens, user, Visitor("", "Here"))
        elsewhere, _ = await sessions.begin(unit, services.authentication.tokens, user, Visitor("", "Elsewhere"))
        link = await links.make(unit, services.authentication.tokens, user)
        seed = await unit.one(select(WaitingMail.seed).where(WaitingMail.link_id == link.id))
        assert seed
        path = f"/password/{services.authentication.tokens.of_link(seed)}"
        hook, _ = await integrations.add_webhook(
            unit, services.intake.ports, name, {"paths": {"phone": "phone"}}, f"secret of {name}"
        )
    sent = await services.acceptor.accept(actor, Send(PHONE, name, consent_attested=True))
    text = InboundMessage(f"in-{account.account_id}", PHONE, account.phone_number, name)
    await services.inbox.receive("sandbox", text)
    browsing = Browsing(_client_beside(http))
    browsing.client.cookies.set("session", cookie)
    application = await add_application(services, browsing, account)
    return Tenant(
        services,
        account,
        browsing,
        application,
        tokens=await application.connect(),
        code=await application.code(),
        question=await application.form(),
        link=path,
        session_id=elsewhere.id,
        contact_id=contact.id,
        message_id=sent.message_id,
        hook=f"/integrations/webhook/{hook.address}",
    )


def summarize(answer: httpx2.Response) -> str:
    """Summarize a response: its status, redirect target or error code, and the company names that it contains."""
    names = [name for name in (MARK, OTHERS) if name in answer.text]
    return " ".join([str(answer.status_code), *_said(answer), *names])


def _said(answer: httpx2.Response) -> list[str]:
    if "location" in answer.headers:
        return [answer.headers["location"].partition("?")[0]]
    if answer.headers.get("content-type", "").startswith("text/html"):
        return [re.sub(r"\d+", "N", text) for text in re.findall(r'role="alert"[^>]*>([^<]*)<', answer.text)]
    body = answer.json() if answer.content else {}
    codes = [error["extensions"]["code"] for error in body.get("errors", [])]
    return codes or [code for code in (body.get("error_code", body.get("error")),) if code]


def _client_beside(client: httpx2.AsyncClient) -> httpx2.AsyncClient:
    return httpx2.AsyncClient(transport=client._transport, base_url=client.base_url)
