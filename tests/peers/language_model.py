"""A language model that answers by script, over the protocols of OpenAI and Anthropic."""

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import orjson

CUT = -1
"""As a status: the connection is closed in the middle of the answer."""


@dataclass(frozen=True, slots=True)
class Answer:
    """One answer: the arguments of the output tool, or a status with a body; after a delay, piece by piece."""

    output: dict[str, Any] | None = None
    status: int = 200
    body: bytes | None = None
    delay: float = 0
    dribbles: bool = False
    stop: str = "tool"


@dataclass
class LanguageModel:
    """The ASGI application; each request gets the next answer, the last one again and again."""

    answers: Sequence[Answer]
    requests: list[dict[str, Any]] = field(default_factory=list)
    keys: list[str] = field(default_factory=list)

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        """Answer one request."""
        body = b""
        while (part := await receive())["type"] == "http.request":
            body += part["body"]
            if not part.get("more_body"):
                break
        headers = {name.decode(): value.decode() for name, value in scope["headers"]}
        self.keys.append(headers.get("x-api-key", "") or headers.get("authorization", ""))
        self.requests.append(orjson.loads(body))
        answer = self.answers[min(len(self.requests), len(self.answers)) - 1]
        await asyncio.sleep(answer.delay)
        await _send(send, answer, _body(scope["path"], self.requests[-1], answer))


def _body(path: str, request: dict[str, Any], answer: Answer) -> bytes:
    if answer.body is not None:
        return answer.body
    if answer.output is None:
        return orjson.dumps({"error": {"message": "as the script says", "type": "error"}})
    return orjson.dumps((_anthropic if path.endswith("/messages") else _openai)(request, answer))


def _openai(request: dict[str, Any], answer: Answer) -> dict[str, Any]:
    name = request["tools"][0]["function"]["name"]
    arguments = orjson.dumps(answer.output).decode()
    call = {"id": "call_1", "type": "function", "function": {"name": name, "arguments": arguments}}
    message = {"role": "assistant", "content": None, "tool_calls": [call]}
    choice = {"index": 0, "message": message, "finish_reason": "tool_calls" if answer.stop == "tool" else answer.stop}
    usage = {"prompt_tokens": 100, "completion_tokens": 20, "total_tokens": 120}
    base = {"id": "chat_1", "object": "chat.completion", "created": 1, "model": request["model"]}
    return {**base, "choices": [choice], "usage": usage}


def _anthropic(request: dict[str, Any], answer: Answer) -> dict[str, Any]:
    use = {"type": "tool_use", "id": "toolu_1", "name": request["tools"][0]["name"], "input": answer.output}
    stop = "tool_use" if answer.stop == "tool" else answer.stop
    base = {"id": "msg_1", "type": "message", "role": "assistant", "model": request["model"], "stop_sequence": None}
    return {**base, "content": [use], "stop_reason": stop, "usage": {"input_tokens": 100, "output_tokens": 20}}


async def _send(send: Any, answer: Answer, body: bytes) -> None:
    headers = [(b"content-type", b"application/json"), (b"content-length", b"%d" % len(body))]
    status = 200 if answer.status == CUT else answer.status
    await send({"type": "http.response.start", "status": status, "headers": headers})
    if answer.status == CUT:
        await send({"type": "http.response.body", "body": body[: len(body) // 2], "more_body": True})
        raise ConnectionAbortedError
    pieces = [body[at : at + 16] for at in range(0, len(body), 16)] if answer.dribbles else [body]
    for piece in pieces:
        await send({"type": "http.response.body", "body": piece, "more_body": True})
        await asyncio.sleep(0.05 if answer.dribbles else 0)
    await send({"type": "http.response.body", "body": b""})
