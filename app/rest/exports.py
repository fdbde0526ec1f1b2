"""The download of an account's export, by a link from `create_export_link`."""

import asyncio
from collections.abc import AsyncGenerator, Callable
from contextlib import AbstractAsyncContextManager, AsyncExitStack, aclosing
from functools import partial

import structlog
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from app.domain.accounts import file_links
from app.domain.erasure import downloads
from app.domain.erasure.downloads import Sending
from app.domain.kernel.events import timestamp
from app.domain.kernel.unit_of_work import UnitOfWork, open_unit
from app.graphql.exports import PATH
from app.http.anonymous import count_anonymous
from app.http.client_address import address_of
from app.http.downloads import Download
from app.http.identity import request_id
from app.http.routing import CountedRoute
from app.services import Services

TYPE = "application/zip"
log = structlog.get_logger(__name__)


def routes(services: Services) -> list[Route]:
    """Return the route of downloads."""
    return [CountedRoute(f"{PATH}/{{token}}", Exports(services).download, methods=["GET"])]


class Exports:
    """Sends exports to clients with a valid link."""

    def __init__(self, services: Services) -> None:
        self._services = services
        self._turns = asyncio.Semaphore(max(1, services.settings.database_pool // 4))

    async def download(self, request: Request) -> Response:
        """Return the archive in pieces; for HEAD only the headers."""
        services = self._services
        await count_anonymous(services.limits, address_of(request))
        token, now = request.path_params["token"], services.clock.now()
        actor = downloads.open_link(services.exports, token, now, request_id())
        units = partial(open_unit, services.database.sessions, actor, services.clock, services.notify)
        if request.method == "HEAD":
            async with units() as unit:
                await downloads.check(unit)
            return _head(timestamp(now))
        async with AsyncExitStack() as place:
            await place.enter_async_context(services.places.take(actor.account_id))
            async with units() as unit:
                exported_at = await downloads.begin(unit)
            archive = Sending(services.database.pool, actor.account_id, self._turns).pieces(exported_at)
            pieces = _logged(file_links.limit(archive, partial(_check, units)), actor.account_id)
            return Download(pieces, _headers(exported_at), TYPE, place.pop_all())


async def _check(units: Callable[[], AbstractAsyncContextManager[UnitOfWork]]) -> None:
    async with units() as unit:
        await downloads.check(unit)


async def _logged(pieces: AsyncGenerator[bytes], account_id: int) -> AsyncGenerator[bytes]:
    sent, is_whole = 0, False
    try:
        async with aclosing(pieces):
            async for piece in pieces:
                sent += len(piece)
                yield piece
        is_whole = True
    finally:
        log.info("account_export_sent", account_id=account_id, bytes=sent, is_whole=is_whole)


def _head(exported_at: str) -> Response:
    head = Response(None, 200, _headers(exported_at), TYPE)
    del head.headers["content-length"]
    return head


def _headers(exported_at: str) -> dict[str, str]:
    return {"Content-Disposition": f'attachment; filename="export-{exported_at[:10]}.zip"'}
