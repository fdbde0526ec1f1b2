"""HTTP server and command line of the simulated carriers."""

import argparse
import asyncio
import socket
from collections.abc import Awaitable, Callable
from dataclasses import asdict
from typing import Any
from urllib.parse import parse_qsl

import orjson
import uvicorn

from tests.peers.carrier import NEVER_SECONDS, Request, Response, SimulatedCarrier, answer_json
from tests.peers.scripts import describe

Receive = Callable[[], Awaitable[dict[str, Any]]]
Send = Callable[[dict[str, Any]], Awaitable[None]]


class Application:
    """The ASGI application of one carrier: its API, and /simulator for tests and curious people."""

    def __init__(self, carrier: SimulatedCarrier) -> None:
        self._carrier = carrier

    async def __call__(self, scope: dict[str, Any], receive: Receive, send: Send) -> None:
        """Answer one request."""
        if scope["type"] != "http":
            return
        body = b""
        while (part := await receive())["type"] == "http.request":
            body += part["body"]
            if not part.get("more_body"):
                break
        request = _request(scope, body)
        answering = asyncio.ensure_future(self._answer(request))
        leaving = asyncio.ensure_future(receive())
        await asyncio.wait([answering, leaving], timeout=NEVER_SECONDS, return_when=asyncio.FIRST_COMPLETED)
        leaving.cancel()
        if answering.done():
            await _send(send, answering.result())
        else:
            answering.cancel()

    async def _answer(self, request: Request) -> Response:
        path = request.path
        if not path.startswith("/simulator/"):
            return await self._carrier.answer(request)
        if path == "/simulator/messages":
            return answer_json(200, [asdict(each) for each in self._carrier.messages.values()])
        if path == "/simulator/state":
            return answer_json(200, state_of(self._carrier))
        if path == "/simulator/inbound":
            await self._carrier.inbound(orjson.loads(request.body))
            return Response(204)
        if path == "/simulator/secrets":
            change_secrets(self._carrier, orjson.loads(request.body))
            return Response(204)
        return Response(404)


def state_of(carrier: SimulatedCarrier) -> dict[str, Any]:
    """Return what the tests ask a carrier for: the calls by address of callbacks, deletions, answers to callbacks."""
    return {
        "calls": carrier.calls,
        "brought": carrier.brought,
        "deleted": carrier.deleted,
        "answers": {str(status): count for status, count in carrier.answers.items()},
        "accepted": {message.callback_url: message.id for message in carrier.messages.values()},
    }


def change_secrets(carrier: SimulatedCarrier, said: dict[str, Any]) -> None:
    """Change the credentials that are accepted, and the one that signs."""
    secrets = carrier.secrets
    secrets.accepted = set(said.get("accepted", secrets.accepted))
    secrets.signing = said.get("signing", secrets.signing)
    secrets.is_sha256 = said.get("is_sha256", secrets.is_sha256)


def options(name: str, port: int, example: str) -> argparse.ArgumentParser:
    """Return the parser of the options that all carriers have."""
    parser = argparse.ArgumentParser(
        prog=f"python -m tests.peers.{name}",
        description=f"Stand in for {name.title()} on this machine: keep texts, and report on them to the service.",
        epilog=f"recipients with a behaviour of their own:\n{describe(example)}\n  any other number: delivered.",
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    service = "http://127.0.0.1:8000"
    parser.add_argument("--port", type=int, default=port, help="port on 127.0.0.1, 0 for any (default: %(default)s)")
    parser.add_argument(
        "--inbound-url",
        default=f"{service}/carriers/{name}/inbound",
        help="the address for texts of people, as entered in the console (default: %(default)s)",
    )
    parser.add_argument("--number", action="append", help="a number of the account (default: +14155550100)")
    parser.add_argument("--delay", type=float, default=0.5, help="seconds before each report (default: %(default)s)")
    return parser


def serve(carrier: SimulatedCarrier, port: int, hints: str) -> None:
    """Serve a carrier until the process is stopped; print its address, then the hints."""
    listening = socket.create_server(("127.0.0.1", port))
    url = f"http://127.0.0.1:{listening.getsockname()[1]}"
    print(url, hints.replace("URL", url), sep="\n", flush=True)  # noqa: T201
    config = uvicorn.Config(
        Application(carrier),
        log_level="critical",
        lifespan="off",
        timeout_keep_alive=75,
        timeout_graceful_shutdown=1,
    )
    uvicorn.Server(config).run([listening])


def _request(scope: dict[str, Any], body: bytes) -> Request:
    query = dict(parse_qsl(scope["query_string"].decode(), keep_blank_values=True))
    headers = {name.decode("latin-1"): value.decode("latin-1") for name, value in scope["headers"]}
    return Request(scope["method"], scope["path"], query, headers, body)


async def _send(send: Send, response: Response) -> None:
    length = len(response.body) + (100 if response.cut else 0)
    headers = [*response.headers, (b"content-length", b"%d" % length)]
    await send({"type": "http.response.start", "status": response.status, "headers": headers})
    await send({"type": "http.response.body", "body": response.body, "more_body": response.cut})
