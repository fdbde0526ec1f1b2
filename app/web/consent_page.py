"""The downloads of the evidence of a phone's consent, by a link from `create_consent_link`."""

from collections.abc import AsyncGenerator, Callable
from functools import partial

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from app.db.engine import Pool
from app.domain.accounts import file_links
from app.domain.consent import evidence
from app.domain.consent.evidence import EvidenceFile
from app.domain.kernel.unit_of_work import Actor, open_unit
from app.graphql.consents import PATH
from app.http.anonymous import count_anonymous
from app.http.client_address import address_of
from app.http.downloads import Download
from app.http.identity import request_id
from app.http.routing import CountedRoute
from app.services import Services
from app.web import consent_files
from app.web.browser import HEADERS

POLICY = f"default-src 'none'; style-src 'sha256-{consent_files.STYLE_HASH}'; frame-ancestors 'none'; base-uri 'none'"

Write = Callable[[Pool, EvidenceFile], AsyncGenerator[bytes]]


def routes(services: Services) -> list[Route]:
    """Return the routes of the JSON file and of the page."""
    files = ConsentFiles(services)
    return [
        CountedRoute(f"{PATH}/{{token}}.json", files.document, methods=["GET"]),
        CountedRoute(f"{PATH}/{{token}}", files.page, methods=["GET"]),
    ]


class ConsentFiles:
    """Sends the evidence of phones to clients with a valid link."""

    def __init__(self, services: Services) -> None:
        self._services = services

    async def page(self, request: Request) -> Response:
        """Return the page."""
        headers = {**HEADERS, "Content-Security-Policy": POLICY}
        return await self._send(request, consent_files.page, headers, "text/html; charset=utf-8")

    async def document(self, request: Request) -> Response:
        """Return the JSON file."""
        headers = {"Content-Disposition": 'attachment; filename="consent.json"', "Cache-Control": "no-store"}
        return await self._send(request, consent_files.document, headers, "application/json")

    async def _send(self, request: Request, write: Write, headers: dict[str, str], media_type: str) -> Response:
        services = self._services
        await count_anonymous(services.limits, address_of(request))
        token, now = request.path_params["token"], services.clock.now()
        actor, phone = evidence.open_link(services.exports, token, now, request_id())
        head = await self._begin(actor, phone)
        contents = file_links.split(write(services.database.pool, head))
        pieces = file_links.limit(contents, partial(self._begin, actor, phone))
        return Download(pieces, headers, media_type)

    async def _begin(self, actor: Actor, phone: str) -> EvidenceFile:
        services = self._services
        async with open_unit(services.database.sessions, actor, services.clock, services.notify) as unit:
            return await evidence.begin(unit, phone)
