"""Runs the conformance suite of the protocol against the service, with the fixtures merged into its handlers."""

import asyncio
import socket
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

from app.main import Server, configure
from app.mcp import server as protocol
from app.mcp.tools import Tools
from app.settings import Settings
from tests.node import NODE, install
from tests.waiting import within

SOURCES = Path(__file__).parents[1] / "oauth" / "oauth_clients"
SUITE = "node_modules/@modelcontextprotocol/conformance/dist/index.js"
SUITE_SECONDS = 150.0
TRIES = 3
MODEL = {"by_alias": True, "mode": "json", "exclude_none": True}
own_handlers = protocol.handlers


def with_fixtures(tools: Tools) -> dict[str, Any]:
    """Return the handlers of the service, which pass what is for a fixture to it."""
    from tests.mcp.conformance_fixtures import accept, fixtures

    own, others = own_handlers(tools), fixtures._lowlevel_server
    named = {"tools/call": "on_call_tool", "prompts/get": "on_get_prompt", "resources/read": "on_read_resource"}
    listed = {
        "tools/list": ("on_list_tools", "tools"),
        "prompts/list": ("on_list_prompts", "prompts"),
        "resources/list": ("on_list_resources", "resources"),
        "resources/templates/list": ("on_list_resource_templates", "resourceTemplates"),
    }

    def other(method: str) -> Any:
        entry = others.get_request_handler(method)
        assert entry, method
        return entry.handler

    def choose(method: str, mine: Any) -> Any:
        async def run(context: Any, params: Any) -> Any:
            name = getattr(params, "name", None) or str(getattr(params, "uri", ""))
            is_fixture = name.startswith(("test_", "test://", "json_schema")) and name != "test_connection"
            return await (other(method) if is_fixture else mine)(context, params)

        return run

    def join(method: str, key: str, mine: Any) -> Any:
        async def run(context: Any, params: Any) -> Any:
            theirs = (await other(method)(context, params)).model_dump(**MODEL)
            return {**await mine(context, params), key: [*(await mine(context, params))[key], *theirs[key]]}

        return run

    async def listen(context: Any, params: Any) -> Any:
        uris = params.notifications.resource_subscriptions or []
        mine = any(str(uri).startswith("sms://") for uri in uris)
        return await (own["on_subscriptions_listen"] if mine else other("subscriptions/listen"))(context, params)

    def input_schema(name: str) -> Any:
        found = fixtures._tool_manager._tools.get(name)
        return found.parameters if found else own["get_tool_input_schema"](name)

    return {
        **own,
        "get_tool_input_schema": input_schema,
        **{handler: choose(method, own[handler]) for method, handler in named.items()},
        **{handler: join(method, key, own[handler]) for method, (handler, key) in listed.items()},
        "on_subscriptions_listen": listen,
        "on_subscribe_resource": accept,
        "on_unsubscribe_resource": accept,
        "on_set_logging_level": accept,
    }


class WithKey:
    """Adds a key to the requests, because the suite cannot send one."""

    def __init__(self, app: Any, key: str) -> None:
        self._app = app
        self._header = (b"authorization", f"Bearer {key}".encode())

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        if scope["type"] == "http":
            scope = {**scope, "headers": [*scope["headers"], self._header]}
        await self._app(scope, receive, send)


@asynccontextmanager
async def serving_with_key(settings: Settings, key: str) -> AsyncGenerator[str]:
    """Serve the application on a free port; give the address of the tool server."""
    listening = socket.create_server(("127.0.0.1", 0))
    address = f"http://127.0.0.1:{listening.getsockname()[1]}"
    config = configure(settings.model_copy(update={"base_url": address}))
    config.app = WithKey(config.app, key)
    server = Server(config)
    task = asyncio.create_task(server.serve([listening]))
    try:
        yield f"{address}/mcp"
    finally:
        server.should_exit = True
        await task


async def run_suite(folder: Path, address: str, *options: str) -> tuple[int, str]:
    """Run the suite until it passes, at most three times; return its exit code and its output.

    Its scenario server-stateless waits 800 ms and 1500 ms for events of a subscription, which are late on a busy
    machine; no option of the suite sets these times. A fault of the server fails every time.
    """
    for _ in range(TRIES):
        code, output = await run_once(folder, address, *options)
        if code == 0:
            break
    return code, output


async def run_once(folder: Path, address: str, *options: str) -> tuple[int, str]:
    """Run the suite; return its exit code and its output."""
    node = await asyncio.create_subprocess_exec(
        NODE,
        install(SOURCES) / SUITE,
        *("server", "--url", address, "--output-dir", str(folder), *options),
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.STDOUT,
    )
    output, _ = await within("the suite to end", node.communicate(), SUITE_SECONDS)
    return node.returncode or 0, output.decode()
