"""The consent page, where a user signs in and allows or denies an application's request (RFC 6749, 4.1.1)."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, cast

from authlib.oauth2.rfc6749 import OAuth2Error
from sqlalchemy.util import greenlet_spawn
from starlette.requests import ClientDisconnect, Request
from starlette.responses import Response

from app.domain.accounts.roles import scopes_of
from app.domain.accounts.scopes import WORDS, Scope
from app.domain.accounts.sign_in.authentication import SignInRefused, actor_of
from app.domain.grants.models import Client, ClientKind
from app.domain.kernel.errors import DomainError, RateLimited
from app.domain.kernel.unit_of_work import Actor, UnitOfWork
from app.domain.oauth import clients, consent, documents, queries, redirects
from app.domain.oauth.consent import Handle
from app.domain.oauth.documents import Description
from app.domain.oauth.grants import Consent
from app.domain.oauth.resources import REQUIRED
from app.http.errors import translate
from app.http.identity import request_id
from app.services import Services
from app.web.browser import Browser, SignedIn
from app.web.oauth.authorization_request import Asked, Parameters, read_query
from app.web.oauth.metadata import AUTHORIZE_PATH
from app.web.oauth.registration_limit import check_rate
from app.web.oauth.server import Server
from app.web.oauth.units import open_unit_of
from app.web.wording import seconds_of, wait

PATH = AUTHORIZE_PATH
PARAMETERS = (
    "response_type",
    "client_id",
    "redirect_uri",
    "scope",
    "state",
    "code_challenge",
    "code_challenge_method",
    "resource",
)
MAX_ASKED = 4096
"""Maximum total size of a request's parameters in bytes; the page carries them before a sign-in."""

NOTHING_CHOSEN = "Select at least one permission for the application."
NOT_DECIDED = "Press Allow or Deny to decide."
SIGNED_OUT = "You were signed out. Sign in to decide."
ALLOWED = "allow:"
"""Prefix of the checkboxes' names, one name per scope."""


Found = tuple[Client, Description | None]


class AuthorizationRefused(DomainError):
    """An authorization request is invalid, and its redirect URI cannot be trusted; the page shows the reason."""

    code = "authorization_refused"
    status = 400
    message = "{reason}"


@dataclass(frozen=True, slots=True)
class Question:
    """A client's request and its handle for the page; `opened` is the decrypted handle."""

    client: Client
    asked: Asked
    handle: str
    opened: Handle | None = None


class Authorize:
    """Shows the consent page, and processes the decision."""

    def __init__(self, services: Services, browser: Browser) -> None:
        self._services = services
        self._authority = services.oauth
        self._browser = browser
        self._uri = f"{services.oauth.issuer}{PATH}"

    async def show(self, request: Request) -> Response:
        """Show the page; redirect errors to the application, unless the client or its redirect URI is invalid.

        Any client can register an application. Therefore a browser is redirected to it only after the user presses a
        button; otherwise this endpoint would be an open redirector (RFC 9700, 4.11.2).
        """
        try:
            await self._browser.admit(request)
            return await self._show(request)
        except ClientDisconnect:
            raise
        except Exception as cause:
            return self._refuse(request, translate(cause))

    async def decide(self, request: Request) -> Response:
        """Process the decision of a signed-in user, or of one who signs in with it; each request is granted once."""
        try:
            await self._browser.admit(request)
            return await self._decide(request)
        except ClientDisconnect:
            raise
        except Exception as cause:
            return self._refuse(request, translate(cause))

    async def _show(self, request: Request) -> Response:
        parameters = read_query(request)
        _check_size(parameters)
        client, description = await self._get_client(request, parameters)
        asked = Asked("GET", self._uri, parameters)
        async with open_unit_of(self._services, _anonymous()) as unit:
            server = Server(unit, self._authority, client=client)
            try:
                await greenlet_spawn(server.validate_consent, asked)
            except OAuth2Error as error:
                return self._answer_error(request, client, _refusal(server, asked, error), error)
        kept = {name: parameters[name] for name in PARAMETERS if name in parameters}
        now = self._services.clock.now()
        handle = consent.seal(self._authority.seal, client.client_id, kept, description, now)
        return self._page(request, Question(client, asked, handle), await self._browser.find(request))

    async def _decide(self, request: Request) -> Response:
        form = await self._browser.read_form(request)
        question = await self._get_question(form.get("request", ""))
        match form.get("decision"):
            case "sign_out":
                return await self._sign_out(request, question)
            case "deny":
                return await self._answer(question, _anonymous(), None)
            case "allow" | None:
                return await self._allow(request, question, form)
            case _:
                signed_in, chosen = await self._browser.find(request), self._chosen(form, question.asked)
                return self._page(request, question, signed_in, chosen, status=400, error=NOT_DECIDED)

    async def _allow(self, request: Request, question: Question, form: Mapping[str, str]) -> Response:
        signed_in, chosen = await self._browser.find(request), self._chosen(form, question.asked)
        if not chosen:
            return self._page(request, question, signed_in, chosen, status=400, error=NOTHING_CHOSEN)
        if signed_in:
            return await self._grant(question, signed_in, chosen)
        if "email" not in form:
            return self._page(request, question, None, chosen, status=SignInRefused.status, error=SIGNED_OUT)
        try:
            signed_in = await self._browser.sign_in(request, form.get("email", ""), form.get("password", ""))
        except (SignInRefused, RateLimited) as refused:
            return self._ask_again(request, question, form, refused)
        try:
            response = await self._grant(question, signed_in, chosen)
        except consent.NotForThisAccount as refused:
            response = self._refuse(request, refused)
        self._browser.attach(response, signed_in)
        return response

    async def _grant(self, question: Question, signed_in: SignedIn, chosen: frozenset[str]) -> Response:
        user, asked = signed_in.user, question.asked
        consent.check_account(question.client, signed_in.account.id)
        scopes = consent.narrow(asked.scopes, chosen, scopes_of(user.role))
        code_challenge = asked.payload.data.get("code_challenge")
        given = Consent(user.id, scopes, asked.resource, asked.payload.redirect_uri, code_challenge)
        return await self._answer(question, actor_of(user, request_id()), given)

    async def _answer(self, question: Question, actor: Actor, given: Consent | None) -> Response:
        """Redirect to the application with a code, or with the error `access_denied`."""
        asked = question.asked
        async with open_unit_of(self._services, actor) as unit:
            client = await self._note_grant(unit, question) if given else question.client
            server = Server(unit, self._authority, client=client)
            try:
                grant = await greenlet_spawn(server.validate_consent, asked)
            except OAuth2Error as error:
                return _refusal(server, asked, error)
            answer = await greenlet_spawn(server.create_authorization_response, asked, given, grant)
        return cast(Response, answer)

    async def _note_grant(self, unit: UnitOfWork, question: Question) -> Client:
        """Record that a request is granted, once; store its client's new metadata, and return the client."""
        handle, client = question.opened, question.client
        if handle is None or not await consent.answer(unit, self._authority.tokens, handle):
            raise _expired()
        if handle.description:
            client = await clients.remember(unit, handle.description, handle.sealed_at)
        if client.revoked_at or not redirects.allows(client.redirect_uris, question.asked.payload.redirect_uri):
            raise _expired()
        return client

    async def _sign_out(self, request: Request, question: Question) -> Response:
        response = self._browser.redirect(f"{PATH}?{question.asked.query()}")
        await self._browser.sign_out(request, response)
        return response

    async def _get_client(self, request: Request, parameters: Parameters) -> Found:
        """Return a client that has registered the redirect URI; otherwise no error may be redirected there."""
        ids, uris = parameters.get("client_id", []), parameters.get("redirect_uri", [])
        if len(ids) != 1 or len(uris) != 1:
            raise AuthorizationRefused(reason="The request must have one client_id and one redirect_uri.")
        client, description = await self._find_client(request, ids[0])
        if client is None:
            raise AuthorizationRefused(reason="No application has this client_id.")
        if not redirects.allows(client.redirect_uris, uris[0]):
            raise AuthorizationRefused(reason=f"{client.name} has not registered this redirect_uri.")
        return client, description

    async def _find_client(self, request: Request, client_id: str) -> tuple[Client | None, Description | None]:
        """Return a client, with its metadata document if fetched now; the consent stores it."""
        async with open_unit_of(self._services, _anonymous()) as unit:
            client = await queries.find_client(unit, client_id)
        if not documents.is_address(client_id, allow_http=self._authority.allow_http):
            return client, None
        if client and client.fetched_until and client.fetched_until > self._services.clock.now():
            return client, None
        try:
            await check_rate(self._services, request)
        except RateLimited:
            if client is None:
                raise
            return client, None
        description = await documents.fetch(self._authority.fetch, client_id)
        return clients.described(description), description

    async def _get_question(self, handle: str) -> Question:
        opened = consent.unseal(self._authority.seal, handle, self._services.clock.now())
        if opened is None:
            raise _expired()
        asked = Asked("GET", self._uri, opened.parameters)
        async with open_unit_of(self._services, _anonymous()) as unit:
            client = await queries.find_client(unit, opened.client_id)
            if opened.description:
                client = clients.described(opened.description)
            if client is None:
                raise _expired()
            try:
                await greenlet_spawn(Server(unit, self._authority, client=client).validate_consent, asked)
            except OAuth2Error:
                raise _expired() from None
        return Question(client, asked, handle, opened)

    def _ask_again(
        self, request: Request, question: Question, form: Mapping[str, str], refused: DomainError
    ) -> Response:
        chosen, email = self._chosen(form, question.asked), form.get("email", "")
        error = wait(refused) if isinstance(refused, RateLimited) else str(refused)
        response = self._page(request, question, None, chosen, status=refused.status, error=error, email=email)
        if isinstance(refused, RateLimited):
            response.headers["Retry-After"] = str(seconds_of(refused))
        return response

    def _page(
        self,
        request: Request,
        question: Question,
        signed_in: SignedIn | None,
        chosen: frozenset[str] | None = None,
        **context: Any,
    ) -> Response:
        client, asked = question.client, question.asked
        apart = self._authority.resources.apart(asked.resource)
        ticked = asked.scopes - apart if chosen is None else chosen
        is_of_other_account = signed_in is not None and client.account_id not in (None, signed_in.account.id)
        values: dict[str, Any] = {
            "path": PATH,
            "client": client,
            "redirect_host": redirects.host(asked.payload.redirect_uri),
            "handle": question.handle,
            "signed_in": signed_in,
            "scopes": _listed(asked.scopes - apart, ticked),
            "apart": _listed(asked.scopes & apart, ticked),
            "email": "",
            "error": str(consent.NotForThisAccount(name=client.name)) if is_of_other_account else None,
            **context,
        }
        return self._browser.page(request, "authorize.html", **values)

    def _chosen(self, form: Mapping[str, str], asked: Asked) -> frozenset[str]:
        """Return the selected scopes; the preselected ones when the form names no button."""
        if "decision" not in form:
            return asked.scopes - self._authority.resources.apart(asked.resource)
        ticked = frozenset(name.removeprefix(ALLOWED) for name in form if name.startswith(ALLOWED))
        return asked.scopes & (ticked | REQUIRED)

    def _answer_error(self, request: Request, client: Client, answer: Response, error: OAuth2Error) -> Response:
        """Return the error redirect for an account's own client; for any other, a page with the error."""
        if client.kind == ClientKind.managed:
            return answer
        reason = f"The application sent an invalid request. {_words(error)}"
        return self._refuse(request, AuthorizationRefused(reason=reason), answer.headers["location"])

    def _refuse(self, request: Request, error: DomainError, back: str = "") -> Response:
        told = wait(error) if isinstance(error, RateLimited) else str(error)
        shown = {"error": error, "told": told, "back": back, "back_host": redirects.host(back)}
        response = self._browser.page(request, "error.html", error.status, request_id=request_id(), **shown)
        if isinstance(error, RateLimited):
            response.headers["Retry-After"] = str(seconds_of(error))
        return response


def _listed(asked: frozenset[str], ticked: frozenset[str]) -> list[dict[str, Any]]:
    """Return the scopes for the page, in the order of the catalogue."""
    return [
        {"name": f"{ALLOWED}{scope}", "words": WORDS[scope], "stays": scope in REQUIRED, "is_ticked": scope in ticked}
        for scope in Scope
        if scope in asked
    ]


def _refusal(server: Server, asked: Asked, error: OAuth2Error) -> Response:
    if not error.redirect_uri:
        raise AuthorizationRefused(reason=_words(error))
    return cast(Response, server.handle_error_response(asked, error))


def _words(error: OAuth2Error) -> str:
    return error.description or "The request is invalid."


def _check_size(parameters: Parameters) -> None:
    sizes = (len(name) + len(value.encode()) for name, values in parameters.items() for value in values)
    if sum(sizes) > MAX_ASKED:
        raise AuthorizationRefused(reason=f"The application sent more than {MAX_ASKED} bytes of parameters.")


def _anonymous() -> Actor:
    return Actor(0, frozenset(), "nobody", request_id())


def _expired() -> AuthorizationRefused:
    reason = "This page was already used, or has expired. Go back to the application and connect it again."
    return AuthorizationRefused(reason=reason)
