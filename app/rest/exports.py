"""The download of an account's export, by a link that `create_export_link` has made."""

from collections.abc import AsyncGenerator
from contextlib import AsyncExitStack, aclosing

import structlog
from starlette.requests import Request
from starlette.responses import Response, StreamingResponse
from starlette.routing import Route
from starlette.types import Receive, Scope, Send

from app.bootstrap import Services
from app.domain.erasure import downloads
from app.domain.erasure.downloads import Places
from app.domain.kernel.unit import Actor, open_unit
from app.graphql.exports import PATH
from app.graphql.identity import request_id
from app.graphql.requests import address_of
from app.graphql.routing import CountedRoute
from app.graphql.strangers import count_stranger

log = structlog.get_logger(__name__)


def routes(services: Services) -> list[Route]:
    """Return the route of downloads."""
    return [CountedRoute(f"{PATH}/{{token}}", Exports(services).download, methods=["GET"])]


class Exports:
    """Sends exports to whoever has a link that is good."""

    def __init__(self, services: Services) -> None:
        self._services = services
        self._places = Places(services.database, max(1, services.settings.database_pool // 4))

    async def download(self, request: Request) -> Response:
        """Answer the archive, in pieces."""
        services = self._services
        await count_stranger(services.limits, address_of(request))
        token, now = request.path_params["token"], services.clock.now()
        actor = downloads.open_link(services.exports, token, now, request_id())
        async with AsyncExitStack() as place:
            await place.enter_async_context(self._places.take(actor.account_id))
            async with open_unit(services.database.sessions, actor, services.clock, services.ring) as unit:
                exported_at = await downloads.begin(unit)
            return Download(self._send(actor, exported_at), exported_at, place.pop_all())

    async def _send(self, actor: Actor, exported_at: str) -> AsyncGenerator[bytes]:
        sent, is_whole = 0, False
        try:
            async with aclosing(downloads.send(self._services.database, actor.account_id, exported_at)) as pieces:
                async for piece in pieces:
                    sent += len(piece)
                    yield piece
            is_whole = True
        finally:
            log.info("account_export_sent", account_id=actor.account_id, bytes=sent, is_whole=is_whole)


class Download(StreamingResponse):
    """An archive that is sent in pieces. Its place is given back when it is sent, or nobody reads it any more."""

    def __init__(self, pieces: AsyncGenerator[bytes], exported_at: str, place: AsyncExitStack) -> None:
        named = {"Content-Disposition": f'attachment; filename="export-{exported_at[:10]}.zip"'}
        super().__init__(pieces, 200, named, "application/zip")
        self._pieces, self._place = pieces, place

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Send the archive."""
        async with self._place, aclosing(self._pieces):
            await super().__call__(scope, receive, send)
