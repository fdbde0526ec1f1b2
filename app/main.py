"""The web process: every surface in one ASGI application."""

import asyncio
from collections.abc import AsyncGenerator, Callable, Mapping
from contextlib import AbstractAsyncContextManager, asynccontextmanager, suppress
from functools import cache
from importlib.metadata import version
from pathlib import Path
from socket import socket
from types import FrameType
from typing import Any

import orjson
import structlog
import uvicorn
from fastapi import FastAPI
from starlette.requests import Request
from starlette.routing import BaseRoute
from starlette.types import ASGIApp

from app import gc
from app.bootstrap import open_partitions, open_services
from app.db import schema
from app.domain.kernel.unit_of_work import Actor
from app.domain.oauth.resources import Resources
from app.graphql.execution.execute import Executor
from app.graphql.schema import contract
from app.graphql.transport import endpoint
from app.graphql.transport.requests import MAX_BODY
from app.http.anonymous import find_actor
from app.http.challenges import challenge
from app.http.client_address import address_of
from app.http.headers import SafeHeaders
from app.http.hosts import LoopbackOnly
from app.http.identity import Identity
from app.http.pace import Paced
from app.http.routing import ShortWay
from app.http.sessions import Origin, SessionIdentity
from app.jobs.job import Runner
from app.jobs.poller import tick
from app.mcp import endpoint as mcp
from app.mcp.running import Running
from app.mcp.tools import open_tools
from app.operations.document import Operation, load
from app.rest import envelope, exports, health, inbound, integrations, job_files, openapi, pages, payments, routes
from app.server import sockets as listening
from app.server import tls
from app.server.connection_limits import BoundedConfig, Limits
from app.server.tls_handshake import protocol_for
from app.server.websocket import BoundedWebSocket
from app.services import Services
from app.settings import Settings, environment
from app.telemetry import logs
from app.telemetry.requests import RequestTelemetry, new_id
from app.web import account, consent_page, crm_page, dashboard, front, sign_in
from app.web.browser import Browser
from app.web.oauth import routes as oauth

REST = Path(__file__).parent / "rest"
VERSION = version("messaging")
STOP_SECONDS = 4
TICK_SECONDS = 1.0
"""The age that the date in the headers of responses reaches."""
STOP_STREAMS, STOP_TOOLS = "stop_streams", "stop_tools"
ANONYMOUS_PER_SECOND = 20.0
"""Undelayed anonymous responses of a network per second."""

log = structlog.get_logger(__name__)

State = Mapping[str, Any]
"""The lifespan state that the application passes to the server."""


def create_app(settings: Settings) -> RequestTelemetry:
    """Return the application; it connects, and gets its routes, when the server starts it."""
    app = FastAPI(
        lifespan=_lifespan(settings, rest_operations()),
        openapi_url=None,
        docs_url=None,
        redoc_url=None,
        telemetry={"tracing": False, "metrics": False, "logs": False},
    )
    if settings.in_development:
        app.add_middleware(LoopbackOnly)
    refuse = envelope.install(app, _docs(settings), _challenge(settings), front.missing)

    def guard(endpoint: ASGIApp) -> ASGIApp:
        return envelope.UncaughtErrors(LoopbackOnly(endpoint) if settings.in_development else endpoint, refuse)

    safe = SafeHeaders(ShortWay(app, guard), https=settings.public_url.startswith("https://"))
    return RequestTelemetry(Paced(safe, ANONYMOUS_PER_SECOND * (10 if settings.in_development else 1)))


@cache
def rest_operations() -> list[Operation]:
    """Return the operations that are REST endpoints; raise `InvalidDocument` for one that does not fit the contract."""
    return load(REST, contract())


def _lifespan(
    settings: Settings, operations: list[Operation]
) -> Callable[[FastAPI], AbstractAsyncContextManager[State]]:
    @asynccontextmanager
    async def lifespan(app: FastAPI) -> AsyncGenerator[State]:
        async with open_services(settings, settings.statement_timeout_seconds) as services:
            identity, executor = _open_identity(services), Executor(services)
            tools = Running(lambda: open_tools(services, executor, _docs(settings)))
            app.router.routes.extend(_routes(services, identity, executor, operations, tools))
            upkeep = asyncio.create_task(tick([Runner(open_partitions(services))]))
            try:
                yield {STOP_STREAMS: services.live.stop, STOP_TOOLS: tools.stop}
            finally:
                upkeep.cancel()
                await asyncio.wait({upkeep})
                await tools.close()
                await identity.close()

    return lifespan


def _routes(
    services: Services, identity: Identity, executor: Executor, operations: list[Operation], tools: Running
) -> list[BaseRoute]:
    docs = _docs(services.settings)
    described = openapi.document(operations, VERSION, services.settings.public_url)
    people = SessionIdentity(identity.resolve, services.authentication, Origin.of(services.settings))
    browser = Browser(services)

    async def identify(request: Request) -> Actor | None:
        return await find_actor(services.limits, identity.resolve, request.headers, address_of(request))

    return [  # routes are tried one after another: those with the most requests come first
        *inbound.routes(services),
        *integrations.routes(services),
        *routes.routes(operations, executor, identify),
        *endpoint.routes(executor, people.resolve, docs),
        *sign_in.routes(services, browser),
        *dashboard.routes(browser),
        *account.routes(services, browser),
        *crm_page.routes(browser, executor),
        *oauth.routes(services, browser),
        *mcp.routes(services, executor, identity, tools),
        *exports.routes(services),
        *job_files.routes(services),
        *payments.routes(services),
        *consent_page.routes(services),
        *health.routes(services),
        *front.routes(),
        *pages.routes(described),
    ]


def _open_identity(services: Services) -> Identity:
    ttl = services.settings.key_cache_seconds
    return Identity(services.database, services.secret, services.clock, ttl, services.oauth)


def _challenge(settings: Settings) -> str:
    resources = Resources(settings.public_url)
    return challenge(resources, resources.api)


def _docs(settings: Settings) -> str:
    return f"{settings.public_url}/docs/errors"


class Server(uvicorn.Server):
    """The server. At a stop it waits for running responses, and ends the streams."""

    _is_ending: asyncio.Event
    _loop: asyncio.AbstractEventLoop

    async def startup(self, sockets: list[socket] | None = None) -> None:
        """Start, log the listening addresses, and tune the garbage collector."""
        self._is_ending = asyncio.Event()
        self._loop = asyncio.get_running_loop()
        await super().startup(sockets)
        for each in sockets or ():
            log.info("listening", host=each.getsockname()[0], port=each.getsockname()[1])
        gc.settle()

    async def main_loop(self) -> None:
        """Serve until a signal; tick each second, not ten times, because an idle server wakes for nothing else."""
        while not await self.on_tick(0):
            with suppress(TimeoutError):
                async with asyncio.timeout(TICK_SECONDS):
                    await self._is_ending.wait()

    def handle_exit(self, sig: int, frame: FrameType | None) -> None:
        """Note a signal, and end the loop at once."""
        super().handle_exit(sig, frame)
        if self.started:
            self._loop.call_soon_threadsafe(self._is_ending.set)

    async def shutdown(self, sockets: list[socket] | None = None) -> None:
        """End the streams, then stop."""
        self.lifespan.state[STOP_STREAMS]()
        self.lifespan.state[STOP_TOOLS]()
        await super().shutdown(sockets)


def run(settings: Settings) -> None:
    """Wait for the schema, and serve until SIGTERM or SIGINT; running requests are finished.

    A signal ends the wait for the schema at once. Raises `SchemaBehind`, `SchemaAhead`, `UnsafeStart`,
    `InvalidCertificate` or `PortTaken`.
    """
    logs.configure(settings.log_format, settings.log_level)
    environment.check(settings)
    tls.check(settings.tls_cert, settings.tls_key)
    sockets = listening.bind(settings.host, settings.port)
    listening.allow_files(settings.max_connections)
    with suppress(KeyboardInterrupt):
        asyncio.run(schema.wait_for(settings.database_url or ""))
        Server(configure(settings)).run(sockets)


def configure(settings: Settings) -> BoundedConfig:
    """Return the configuration of the server."""
    docs = _docs(settings)
    limits = Limits(
        connections=settings.max_connections,
        address_connections=settings.max_connections_per_address,
        head_seconds=settings.request_head_seconds,
        body_seconds=settings.request_body_seconds,
        stall_seconds=settings.response_stall_seconds,
    )
    return BoundedConfig(
        create_app(settings),
        limits,
        lambda error: (error.status, orjson.dumps(envelope.failure(error, new_id(), docs))),
        host=settings.host,
        port=settings.port,
        ssl_certfile=settings.tls_cert,
        ssl_keyfile=settings.tls_key,
        loop="uvloop",
        http=protocol_for(settings.tls_cert),
        ws=BoundedWebSocket,
        timeout_keep_alive=settings.keep_alive_seconds,
        ws_max_size=MAX_BODY,
        ws_per_message_deflate=False,
        lifespan="on",
        access_log=False,
        log_config=None,
        server_header=False,
        timeout_graceful_shutdown=STOP_SECONDS,
    )
