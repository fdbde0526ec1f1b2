"""Every route written by hand x {another account, the account itself}; what is made from documents is told elsewhere.

An endpoint made from a document is one root field of the contract, and the matrix of root fields has them all.
"""

import re
from collections.abc import Iterable, Iterator
from typing import Any

import httpx2
import pytest
from starlette.routing import BaseRoute, Mount, Route, WebSocketRoute

from app.http.routing import PlainRoute
from app.rest.routes import Endpoint
from app.services import Services
from app.web.browser import STYLE_PATH
from tests.conftest import SAVED, opener
from tests.factories.snapshots import rows
from tests.oauth import reaches
from tests.oauth.applications import AUTHORIZE, REDIRECT, REGISTER, REVOKE, TOKEN, bearer
from tests.oauth.browsing import Browsing
from tests.oauth.reaches import Reach
from tests.oauth.tenants import MARK, OTHERS, Tenant, settle

pytestmark = pytest.mark.anyio


NOT_FOR_OTHERS = "Pipelines belongs to another account. Only users of that account can connect it."
UNSIGNED, UNSIGNED_PAYMENT = "403 unsigned_callback", "403 unsigned_payment_event"
NO_SESSIONS = "405 method_not_allowed"
SENT_BACK = f"302 {REDIRECT}"
EVENTS = frozenset({"events", "outbox", "live_updates", "notices", "number_hours"})

REACHES: dict[str, tuple[str, list[Reach]]] = {
    "ANY /graphql": (
        "Whoever the key, token or session is of; every query starts from that account.",
        [
            Reach(reaches.change_contact_by_session, "200 not_found", f"200 {MARK}"),
            Reach(reaches.change_contact_by_key_beside_a_session, "200 not_found", f"200 {MARK}"),
            Reach(reaches.change_contact_by_token, "200 not_found", f"200 {MARK}"),
            Reach(reaches.look_on_over_events, OTHERS, MARK, changes=False, notes=EVENTS),
        ],
    ),
    "WS /graphql": (
        "The key of connection_init, looked at again before each piece.",
        [
            Reach(
                reaches.read_and_look_on_over_a_socket,
                f"not_found {OTHERS}",
                f"{MARK} {MARK}",
                changes=False,
                notes=EVENTS,
            )
        ],
    ),
    "POST /login": (
        "The password of the one user with the address; the attempt is in that user's audit log.",
        [
            Reach(
                reaches.sign_in_with_own_password,
                "403 The e-mail address or the password is wrong.",
                "303 /app/",
                notes=frozenset({"audit_entries"}),
            )
        ],
    ),
    "POST /logout": (
        "The session of the browser, and a form token made from its cookie.",
        [
            Reach(
                reaches.sign_out_with_the_form_of,
                "403 This form is out of date. Load the page again, then send it once more.",
                "303 /login",
            )
        ],
    ),
    "POST /forgot": (
        "The page is the same for every address; the link goes to the address itself.",
        [
            Reach(
                reaches.ask_for_a_link,
                "200 owner1@example.com",
                "200 owner1@example.com",
                notes=frozenset({"password_links", "waiting_mails", "audit_entries"}),
            )
        ],
    ),
    "GET /password/{token}": (
        "The link says whose password it sets, and nothing else does.",
        [Reach(reaches.open_own_link, "200 owner2@example.com", "200 owner1@example.com", changes=False)],
    ),
    "POST /password/{token}": (
        "The link says whose password it sets, and nothing else does.",
        [Reach(reaches.set_password_by_own_link, "303 /login", "303 /login")],
    ),
    "GET /account": (
        "The session says whose page it is.",
        [Reach(reaches.open_account_page, f"200 {OTHERS}", f"200 {MARK}", changes=False)],
    ),
    "POST /account/password": (
        "The session says whose password it is.",
        [Reach(reaches.change_password, f"422 The current password is wrong. {OTHERS}", "303 /account")],
    ),
    "POST /account/sessions/{id}/end": (
        "Sessions of the user who is signed in are found, and no others.",
        [Reach(reaches.end_session, "404 No session with id N.", "303 /account")],
    ),
    "POST /account/applications/{id}/disconnect": (
        "Grants of the user who is signed in are found, and no others.",
        [Reach(reaches.disconnect, "404 No connected application with id N.", "303 /account")],
    ),
    "GET /exports/{token}": (
        "The link says whose export it is, and nothing else does.",
        [Reach(reaches.download_export, f"200 {OTHERS}", f"200 {MARK}", changes=False)],
    ),
    "GET /consents/{token}": (
        "The link says whose record it is, and nothing else does.",
        [Reach(reaches.read_consent_page, f"200 {OTHERS}", f"200 {MARK}", changes=False)],
    ),
    "GET /consents/{token}.json": (
        "The link says whose record it is, and nothing else does.",
        [Reach(reaches.read_consent_file, f"200 {OTHERS}", f"200 {MARK}", changes=False)],
    ),
    "GET /jobs/{token}": (
        "The link says whose job it is, and nothing else does.",
        [Reach(reaches.download_job_file, f"200 {OTHERS}", f"200 {MARK}", changes=False)],
    ),
    f"GET {AUTHORIZE}": (
        "An account's own application is for that account alone.",
        [
            Reach(
                reaches.open_consent,
                f"200 {NOT_FOR_OTHERS} {OTHERS}",
                f"200 {MARK}",
                changes=False,
            )
        ],
    ),
    f"POST {AUTHORIZE}": (
        "The grant is of who answers, for an application of that account's or of all.",
        [
            Reach(reaches.answer_what_was_asked_of, f"403 {NOT_FOR_OTHERS}", SENT_BACK),
            Reach(reaches.allow_an_application_of_all, SENT_BACK, SENT_BACK, notes=frozenset({"oauth_requests"})),
        ],
    ),
    **{
        f"POST {path}": (
            "Codes and refresh tokens are good for the client that they were given to.",
            [
                Reach(reaches.exchange(path), "400 invalid_grant", "200"),
                Reach(reaches.refresh(path), "400 invalid_grant", "200"),
            ],
        )
        for path in (TOKEN, "/token")
    },
    f"POST {REVOKE}": (
        "A client hands back its own tokens.",
        [Reach(reaches.hand_back(kind), "400 invalid_grant", "200") for kind in ("access_token", "refresh_token")],
    ),
    f"POST {REGISTER}": (
        "A new client belongs to no account, whatever is claimed.",
        [Reach(reaches.register_as, "201", "201", changes=False)],
    ),
    **{
        f"{method} {path}": (
            "The key says whose contacts are found; without sessions there is nothing else.",
            [Reach(reaches.use_tools(method, path), another, itself, changes=False)],
        )
        for method, another, itself in (
            ("GET", NO_SESSIONS, NO_SESSIONS),
            ("POST", "200", f"200 {MARK}"),
            ("DELETE", NO_SESSIONS, NO_SESSIONS),
        )
        for path in ("/mcp", "/mcp/")
    },
    "POST /carriers/{carrier}/inbound": (
        "The carrier signs; a text is of the account that holds the number.",
        [
            Reach(reaches.text_own_number, "204", "204", notes=frozenset({"carrier_ids"})),
            Reach(reaches.forge_text_to, UNSIGNED, "204"),
        ],
    ),
    "POST /carriers/{carrier}/status": (
        "The carrier signs; a report is on the message with the carrier's id.",
        [
            Reach(reaches.report_on_own_message, "204", "204", notes=frozenset({"receipts", "carrier_ids"})),
            Reach(reaches.forge_report_on, UNSIGNED, "204"),
        ],
    ),
    "POST /integrations/{kind}/{address}": (
        "The sender has the secret of one integration; tests/domain/integrations forges and replays.",
        [
            Reach(
                reaches.post_to_webhook_with_own_secret,
                "403 unsigned_event",
                "202",
                notes=frozenset({"integrations"}),
            )
        ],
    ),
    "POST /integrations/{kind}": (
        "The CRM signs, and names its account, which one integration has. tests/domain/crm forges it.",
        [],
    ),
    "GET /crm/callback": (
        "The sealed state names the account that began; tests/domain/crm finishes it for another.",
        [],
    ),
    "POST /payments/stripe/webhook": (
        "Stripe signs; without it, as here, nothing is taken. tests/rest/test_payment_events.py has what it signed.",
        [Reach(reaches.forge_payment_of, UNSIGNED_PAYMENT, UNSIGNED_PAYMENT, changes=False)],
    ),
}
"""The routes through which an account's things can be reached: how they keep accounts apart, and attempts to reach."""

SERVER, GUARDED = "The addresses of the server; the same for all.", "Where tokens come from; the same for all."

SAME_FOR_ALL = {
    "GET /": "Leads to the dashboard.",
    "GET /app": "Leads to the dashboard.",
    "GET /app/{path:path}": "The page of the dashboard, which holds a nonce and the form token of the session.",
    "GET /app/assets/{path:path}": "The built files of the dashboard.",
    "GET /account/keys": "Leads to the settings that have replaced it.",
    "GET /account/people": "Leads to the settings that have replaced it.",
    "GET /account/export": "Leads to the settings that have replaced it.",
    "GET /docs": "Links to the pages for developers.",
    "GET /docs/graphql": "The GraphQL explorer, with the schema of the service.",
    "GET /docs/rest": "The REST reference.",
    "GET /docs/webhooks": "The events of webhooks.",
    "GET /docs/tools": "The tools of assistants.",
    "GET /docs/errors": "The catalogue of errors.",
    "GET /openapi.json": "The description of the REST endpoints.",
    "GET /healthz": "Says that the process lives.",
    "GET /readyz": "Says whether database and Valkey can be reached.",
    "GET /metrics": "Figures of the whole service, for its operator.",
    "GET /login": "An empty form; who is signed in is led on.",
    "GET /forgot": "An empty form.",
    f"GET {STYLE_PATH}": "The style sheet of the pages.",
    "GET /oauth/keys": "The public keys of the server.",
    "GET /.well-known/oauth-authorization-server": SERVER,
    "GET /.well-known/oauth-authorization-server/mcp": SERVER,
    "GET /.well-known/openid-configuration": SERVER,
    "GET /.well-known/openid-configuration/mcp": SERVER,
    "GET /mcp/.well-known/openid-configuration": SERVER,
    "GET /.well-known/oauth-protected-resource": GUARDED,
    "GET /.well-known/oauth-protected-resource/mcp": GUARDED,
}
"""Routes that hold nothing of any account, and what they hold instead."""

REPLACED = ("GET /account/keys", "GET /account/people", "GET /account/export")
TO_DASHBOARD = dict.fromkeys(("GET /", "GET /app", "GET /app/{path:path}", *REPLACED), 303)
STATUSES = {**dict.fromkeys(SAME_FOR_ALL, 200), **TO_DASHBOARD, "GET /app/assets/{path:path}": 404}
"""The status for strangers; no built file has the name `{path:path}`."""

WITH_NONCE = {f"GET /docs{page}" for page in ("", "/graphql", "/rest", "/webhooks", "/tools")}
CHANGING = {"GET /metrics", "GET /app/{path:path}", *WITH_NONCE}
"""Values that differ in each response."""

FORM_TOKEN = re.compile(r'name="form_token" value="[^"]*"')


@pytest.fixture
async def tenants(services: Services, http: httpx2.AsyncClient) -> list[Tenant]:
    """Give two accounts, of which each has one of everything."""

    async def make() -> list[Tenant]:
        open_account = opener(services)
        return [await settle(services, http, await open_account(company_name=name)) for name in (MARK, OTHERS)]

    return [each.in_new_browser(http) for each in await SAVED.world(services, "tenants", make)]


@pytest.fixture
def tenant(tenants: list[Tenant]) -> Tenant:
    """Give the account that others must not reach."""
    return tenants[0]


@pytest.fixture
def other(tenants: list[Tenant]) -> Tenant:
    """Give another account, which has all that the first one has."""
    return tenants[1]


def _is_of_a_document(route: Route) -> bool:
    return isinstance(route, PlainRoute) and isinstance(getattr(route.respond, "__self__", None), Endpoint)


def walk(routes: Iterable[BaseRoute], prefix: str = "") -> Iterator[str]:
    """Name every route that is not made from a document, by method and path; what is mounted counts as one."""
    for route in routes:
        match route:
            case Route() if not _is_of_a_document(route):
                methods = (route.methods or {"ANY"}) - {"HEAD", "OPTIONS"}
                yield from (f"{method} {prefix}{route.path}" for method in methods)
            case Route():
                pass
            case WebSocketRoute():
                yield f"WS {prefix}{route.path}"
            case Mount() if route.routes:
                yield from walk(route.routes, prefix + route.path)
            case _:
                yield f"{type(route).__name__} {prefix}{getattr(route, 'path', route)}"


async def test_every_route_written_by_hand_says_how_it_keeps_accounts_apart(http: httpx2.AsyncClient):
    app: Any = http._transport
    while not hasattr(app, "router"):
        app = getattr(app, "app", None) or app._app
    routes = list(walk(app.router.routes))

    assert sorted(routes) == sorted([*REACHES, *SAME_FOR_ALL])


@pytest.mark.parametrize(
    "reach",
    [
        pytest.param(each, id=f"{route}-{each.attempt.__name__}")
        for route, (_, attempts) in REACHES.items()
        for each in attempts
    ],
)
async def test_another_account_cannot_reach_the_records_of_an_account(tenant: Tenant, other: Tenant, reach: Reach):
    pool, id = tenant.services.database.pool, tenant.account.account_id
    before = await rows(pool, id)

    assert await reach.attempt(tenant, other) == reach.another
    after = await rows(pool, id)
    assert {name for name in before if before[name] != after[name]} <= reach.notes

    assert await reach.attempt(tenant, tenant) == reach.itself
    assert not reach.changes or await rows(pool, id) != after


async def test_routes_without_account_data_answer_all_accounts_alike(tenant: Tenant, other: Tenant):
    pool = tenant.services.database.pool
    before = await rows(pool)

    to_nobody = await visit(tenant.anonymous_browser(), {})
    to_tenant, to_other = [await visit(each.browsing, bearer(each.account.svc_key)) for each in (tenant, other)]

    assert {route: answer.status_code for route, answer in to_nobody.items()} == STATUSES
    for route in SAME_FOR_ALL:
        texts = [FORM_TOKEN.sub("", answers[route].text) for answers in (to_tenant, to_other)]
        assert route in CHANGING or texts[0] == texts[1]
        assert MARK not in texts[0] + texts[1] + to_nobody[route].text
        assert OTHERS not in texts[0] + texts[1] + to_nobody[route].text
    assert await rows(pool) == before


async def visit(browsing: Browsing, headers: dict[str, str]) -> dict[str, httpx2.Response]:
    """Ask for everything that is the same for all."""
    asked = [(route, *route.split()) for route in SAME_FOR_ALL]
    return {route: await browsing.client.request(method, path, headers=headers) for route, method, path in asked}
