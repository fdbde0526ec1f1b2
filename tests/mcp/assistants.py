"""Assistants: requests of the protocol in both of its eras, without the SDK."""

import re
from collections.abc import AsyncGenerator, Collection
from contextlib import aclosing, asynccontextmanager
from dataclasses import dataclass, field
from typing import Any

import httpx2
import orjson

from app.mcp.catalogue import catalogue

MODERN, HANDSHAKE = "2026-07-28", "2025-11-25"
ACCEPT = "application/json, text/event-stream"
META = {
    "io.modelcontextprotocol/protocolVersion": MODERN,
    "io.modelcontextprotocol/clientInfo": {"name": "tests", "version": "1"},
}
CAPABILITIES = "io.modelcontextprotocol/clientCapabilities"


@dataclass
class Assistant:
    """An assistant with a credential; `address` may select tools, `capabilities` say that it can ask its user."""

    http: httpx2.AsyncClient
    credential: str | None = None
    address: str = "/mcp"
    headers: dict[str, str] = field(default_factory=dict)
    capabilities: dict[str, Any] = field(default_factory=dict)

    async def post(self, method: str, params: dict[str, Any] | None = None) -> httpx2.Response:
        """Send a request as the version of 2026 has it."""
        body, headers = self._modern(method, params or {})
        return await self.send(body, headers)

    def listen(self, *uris: str) -> dict[str, Any]:
        """Return the request of a stream for changes of resources, for a client that reads streams."""
        body, headers = self._modern("subscriptions/listen", {"notifications": {"resourceSubscriptions": [*uris]}})
        return {"content": body, "headers": {**self._usual(), **headers}}

    def _modern(self, method: str, params: dict[str, Any]) -> tuple[bytes, dict[str, str]]:
        sent = {**params, "_meta": {**META, CAPABILITIES: self.capabilities}}
        body = {"jsonrpc": "2.0", "id": 1, "method": method, "params": sent}
        name = sent.get("name") or sent.get("uri")
        named = {"Mcp-Name": name} if name else {}
        return orjson.dumps(body), {"MCP-Protocol-Version": MODERN, "Mcp-Method": method, **named}

    async def send(self, body: bytes, headers: dict[str, str] | None = None) -> httpx2.Response:
        """Send a body as it is."""
        return await self.http.post(self.address, content=body, headers={**self._usual(), **(headers or {})})

    async def ask(self, method: str, params: dict[str, Any] | None = None) -> Any:
        """Return the result of a request."""
        answer = await self.post(method, params)
        assert answer.status_code == 200, answer.text
        return answer.json()["result"]

    async def list(self) -> list[str]:
        """Return the names of the tools."""
        return [tool["name"] for tool in (await self.ask("tools/list"))["tools"]]

    async def call(self, name: str, /, **arguments: Any) -> Any:
        """Call a tool; return its structured result, or its error, which names an argument of the tool."""
        result = await self.ask("tools/call", {"name": name, "arguments": arguments})
        check_field(result, {**(catalogue().input_schema(name) or {})["properties"], **arguments})
        return told(result)

    async def shake_hands(self, **headers: str) -> httpx2.Response:
        """Begin as the versions up to 2025 do."""
        client = {"protocolVersion": HANDSHAKE, "capabilities": self.capabilities}
        return await self.post_legacy(
            "initialize", {**client, "clientInfo": {"name": "tests", "version": "1"}}, **headers
        )

    async def post_legacy(
        self, method: str, params: dict[str, Any], id: int | str = 1, **headers: str
    ) -> httpx2.Response:
        """Send a request of 2025; the answer is one event."""
        body = {"jsonrpc": "2.0", "id": id, "method": method, "params": params}
        return await self.send(orjson.dumps(body), {"MCP-Protocol-Version": HANDSHAKE, **headers})

    async def answer_legacy(self, id: int | str, result: dict[str, Any], **headers: str) -> None:
        """Answer a question of the server as a client of 2025."""
        body = {"jsonrpc": "2.0", "id": id, "result": result}
        answer = await self.send(orjson.dumps(body), {"MCP-Protocol-Version": HANDSHAKE, **headers})
        assert answer.status_code == 202, answer.text

    @asynccontextmanager
    async def stream_legacy(
        self, method: str, params: dict[str, Any], **headers: str
    ) -> AsyncGenerator[AsyncGenerator[Any]]:
        """Send a request of 2025; yield the messages of its answer, such as a question and the result."""
        body = orjson.dumps({"jsonrpc": "2.0", "id": 1, "method": method, "params": params})
        sent = {**self._usual(), "MCP-Protocol-Version": HANDSHAKE, **headers}
        async with (
            self.http.stream("POST", self.address, content=body, headers=sent) as stream,
            aclosing(_messages(stream)) as messages,
        ):
            yield messages

    def _usual(self) -> dict[str, str]:
        key = {"Authorization": f"Bearer {self.credential}"} if self.credential else {}
        return {"Accept": ACCEPT, "Content-Type": "application/json", **key, **self.headers}


async def _messages(stream: httpx2.Response) -> AsyncGenerator[Any]:
    async for line in stream.aiter_lines():
        if line.startswith("data:"):
            yield orjson.loads(line.removeprefix("data:"))


def told(result: Any) -> Any:
    """Return the structured result of a call; for an error its code, its field and its sentence."""
    if not result.get("isError"):
        assert orjson.loads(result["content"][0]["text"]) == result["structuredContent"]
        return result["structuredContent"]
    assert "structuredContent" not in result
    said = orjson.loads(result["content"][0]["text"])
    assert result["_meta"]["messaging/error_code"] == said["error_code"]
    return said["error_code"], said.get("field"), said["error"]


def check_field(result: Any, known: Collection[str]) -> None:
    """Fail unless an error names one of the known arguments, or none."""
    said = orjson.loads(result["content"][0]["text"]) if result.get("isError") else {}
    assert "field" not in said or re.split(r"\W", said["field"], maxsplit=1)[0] in known, said


def read_event(answer: httpx2.Response) -> Any:
    """Return the message of an answer that is one event."""
    [data] = [line for line in answer.text.splitlines() if line.startswith("data:")]
    return orjson.loads(data.removeprefix("data:"))
