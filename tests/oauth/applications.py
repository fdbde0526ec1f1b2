"""An application that connects to an account, and its requests."""

import base64
import hashlib
import secrets
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import parse_qs, urlencode, urlsplit

import httpx2

from app.domain.kernel.unit_of_work import Actor
from app.domain.oauth import clients
from app.domain.oauth.clients import NewClient
from app.domain.onboarding.service import Opened
from app.services import Services
from tests.conftest import unit_of
from tests.oauth.browsing import Browsing, Form

AUTHORIZE = "/automation/oauth/authorize"
TOKEN = "/automation/oauth/token"
REVOKE = "/oauth/revoke"
REGISTER = "/oauth/register"
REDIRECT = "https://app.example.com/callback"
BASE = "http://127.0.0.1:8000"
TOOLS = f"{BASE}/mcp"
STATE = "xyz 1&2"


@dataclass(frozen=True)
class Pkce:
    """A verifier and its challenge (RFC 7636)."""

    verifier: str = field(default_factory=lambda: secrets.token_urlsafe(48))

    @property
    def challenge(self) -> str:
        digest = hashlib.sha256(self.verifier.encode()).digest()
        return base64.urlsafe_b64encode(digest).decode().rstrip("=")

    @property
    def asked(self) -> dict[str, str]:
        return {"code_challenge": self.challenge, "code_challenge_method": "S256"}


@dataclass
class Application:
    """A client, with its HTTP client and the browser of its user."""

    http: httpx2.AsyncClient
    browsing: Browsing
    account: Opened
    id: int
    client_id: str
    secret: str | None
    redirect_uri: str = REDIRECT

    def parameters(self, **given: str | None) -> dict[str, str]:
        """Return the parameters of an authorization request; None leaves one out."""
        usual = {
            "client_id": self.client_id,
            "redirect_uri": self.redirect_uri,
            "response_type": "code",
            "state": STATE,
        }
        return {name: value for name, value in (usual | given).items() if value is not None}

    def path(self, **given: str | None) -> str:
        return f"{AUTHORIZE}?{urlencode(self.parameters(**given))}"

    async def ask(self, **given: str | None) -> httpx2.Response:
        """Load the consent page."""
        return await self.browsing.get(self.path(**given))

    async def form(self, **given: str | None) -> Form:
        """Load the consent page; return its form."""
        return await self.browsing.form(self.path(**given))

    async def consent(self, decision: str = "allow", **given: str | None) -> httpx2.Response:
        """Sign in on the page, and decide."""
        form = await self.form(**given)
        return await self.browsing.send(
            form, email=self.account.email, password=self.account.password, decision=decision
        )

    async def code(self, **given: str | None) -> str:
        """Let a user consent; return the code."""
        answer = await self.consent(**given)
        assert answer.status_code == 302, answer.text
        return query_of(answer)["code"]

    async def exchange(self, code: str, headers: dict[str, str] | None = None, **given: str | None) -> httpx2.Response:
        """Exchange a code for tokens."""
        fields = {"grant_type": "authorization_code", "code": code, "redirect_uri": self.redirect_uri}
        return await self.post(TOKEN, headers, **(fields | given))

    async def refresh(self, refresh_token: str, **given: str | None) -> httpx2.Response:
        """Request new tokens with a refresh token."""
        return await self.post(TOKEN, **({"grant_type": "refresh_token", "refresh_token": refresh_token} | given))

    async def post(self, path: str, headers: dict[str, str] | None = None, **given: str | None) -> httpx2.Response:
        """Send a form as the client."""
        fields = {"client_id": self.client_id, "client_secret": self.secret} | given
        sent = {name: value for name, value in fields.items() if value is not None}
        return await self.http.post(path, data=sent, headers=headers)

    async def connect(self, **given: str | None) -> dict[str, Any]:
        """Run the whole flow; return the tokens."""
        code = await self.code(**given)
        answer = await self.exchange(code)
        assert answer.status_code == 200, answer.text
        return answer.json()

    async def connect_tools(self, scope: str | None = None) -> dict[str, Any]:
        """Run the whole flow for the tool server."""
        pkce = Pkce()
        code = await self.code(resource=TOOLS, scope=scope, **pkce.asked)
        answer = await self.exchange(code, code_verifier=pkce.verifier, resource=TOOLS)
        assert answer.status_code == 200, answer.text
        return answer.json()


async def add_application(
    services: Services, browsing: Browsing, account: Opened, *, confidential: bool = True, uri: str = REDIRECT
) -> Application:
    """Create a client of an account."""
    new = NewClient("Pipelines", [uri], confidential=confidential)
    async with unit_of(services, Actor(account.account_id, frozenset(), "test")) as unit:
        client, secret = await clients.create(unit, services.oauth.tokens, new)
    return Application(browsing.client, browsing, account, client.id, client.client_id, secret, uri)


def query_of(answer: httpx2.Response) -> dict[str, str]:
    """Return the parameters of a redirect."""
    parts = urlsplit(answer.headers["location"])
    return {name: values[0] for name, values in parse_qs(parts.query, keep_blank_values=True).items()}


def bearer(token: str) -> dict[str, str]:
    return {"Authorization": f"Bearer {token}"}
