"""The download of the file of a job, by a link from `create_job_link`."""

from contextlib import AsyncExitStack
from functools import partial

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from app.domain.accounts import file_links
from app.domain.jobs import downloads, parts
from app.domain.jobs.downloads import JobFile
from app.domain.kernel.unit_of_work import Actor, open_unit
from app.graphql.jobs import PATH
from app.http.anonymous import count_anonymous
from app.http.client_address import address_of
from app.http.downloads import Download
from app.http.identity import request_id
from app.http.routing import CountedRoute
from app.services import Services


def routes(services: Services) -> list[Route]:
    """Return the route of downloads."""
    return [CountedRoute(f"{PATH}/{{token}}", JobFiles(services).download, methods=["GET"])]


class JobFiles:
    """Sends the files of jobs to clients with a valid link."""

    def __init__(self, services: Services) -> None:
        self._services = services

    async def download(self, request: Request) -> Response:
        """Return the file in parts; for HEAD only the headers."""
        services = self._services
        await count_anonymous(services.limits, address_of(request))
        actor, job_id = downloads.open_link(
            services.exports, request.path_params["token"], services.clock.now(), request_id()
        )
        file = await self._find_file(actor, job_id)
        headers = {"Content-Disposition": f'attachment; filename="{file.name}"'}
        if request.method == "HEAD":
            return _head(headers, file.media_type)
        async with AsyncExitStack() as place:
            await place.enter_async_context(services.places.take(actor.account_id))
            contents = file_links.split(parts.read(services.database.pool, job_id))
            pieces = file_links.limit(contents, partial(self._find_file, actor, job_id))
            return Download(pieces, headers, file.media_type, place.pop_all())

    async def _find_file(self, actor: Actor, job_id: int) -> JobFile:
        services = self._services
        async with open_unit(services.database.sessions, actor, services.clock, services.notify) as unit:
            return await downloads.find_file(unit, job_id)


def _head(headers: dict[str, str], media_type: str) -> Response:
    head = Response(None, 200, headers, media_type)
    del head.headers["content-length"]
    return head
