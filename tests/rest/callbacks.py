"""Random callbacks of a carrier: valid, repeated, forged and malformed ones."""

import asyncio
import random
import time
from collections import Counter
from collections.abc import Callable
from typing import Any

import httpx2
import orjson

from app.db.engine import Pool
from app.providers.carriers.sandbox.signature import HEADER, sign
from tests.factories.messages import MESSAGES, UNMATCHED_CALLBACKS
from tests.rest.carriers import AT

INBOUND = "/carriers/sandbox/inbound"
AT_ONCE = 8
GOOD, BAD, FORGED = 204, 422, 403

WORDS = ["STOP", "stop please", "START", "HELP", "unstop", "STOP what time is it", "wrong number", "ARRÊT", "Yes", ""]
SENDERS = ["12345", "BlueDoor", "+", "+1", "tel:+12025550143", " +12025550143 ", "+44 7911 123456", "日本", "x" * 300]
BREAKS: list[Callable[[random.Random, bytes], bytes]] = [
    lambda _, body: body[:-1],
    lambda _, body: body[1:],
    lambda _, body: body + b"}",
    lambda _, body: body.replace(b'"text"', b'"body"'),
    lambda _, body: body.replace(b'"from"', b'"from ","from"', 1),
    lambda _, body: body.replace(b'"at":"2', b'"at":"x2'),
    lambda _, body: body.replace(b'"text":"', b'"text":"\\u0000'),
    lambda _, body: body.replace(b'"text":"', b'"text":"\\udfff'),
    lambda chance, _: chance.randbytes(chance.randrange(200)),
    lambda chance, body: body[: chance.randrange(len(body))],
]


class Traffic:
    """Random callbacks with the expected status of each; the same ones in every run."""

    def __init__(self, seed: int, to_number: str, secret: bytes) -> None:
        self._chance = random.Random(seed)
        self._to_number = to_number
        self._secret = secret
        self.texts: list[dict[str, Any]] = []
        self.unreadable: list[bytes] = []

    def next(self) -> tuple[int, bytes, str]:
        """Return the expected status, the body and its signature."""
        [kind] = self._chance.choices([GOOD, BAD, FORGED], [25, 50, 25])
        said = self._said(again=kind == GOOD and self._chance.random() < 0.1)
        body = orjson.dumps(said)
        if kind == GOOD and said not in self.texts[-50:]:
            self.texts.append(said)
        if kind == BAD:
            body = self._chance.choice(BREAKS)(self._chance, body)
            self.unreadable.append(body)
        signature = sign(self._secret, body, time.time())
        return kind, body, signature[:-1] + "x" if kind == FORGED else signature

    def _said(self, *, again: bool) -> dict[str, Any]:
        if again and self.texts:
            return self._chance.choice(self.texts[-50:])
        id = f"sbx_in_{self._chance.getrandbits(64):016x}"
        return {"id": id, "from": self._sender(), "to": self._to_number, "text": self._text(), "at": AT}

    def _text(self) -> str:
        if self._chance.random() < 0.2:
            return self._chance.choice(WORDS)
        return "".join(self._character() for _ in range(self._chance.randrange(1, 120)))

    def _character(self) -> str:
        point = self._chance.choice([self._chance.randrange(1, 128), self._chance.randrange(1, 0x110000)])
        return "\ufffd" if 0xD800 <= point <= 0xDFFF else chr(point)

    def _sender(self) -> str:
        if self._chance.random() < 0.05:
            return self._chance.choice(SENDERS)
        return f"+1202555{self._chance.randrange(200):04d}"


async def exchange(
    http: httpx2.AsyncClient, secret: bytes, to_number: str, pool: Pool, seed: int, callbacks: int
) -> None:
    """Post random callbacks; each must get its expected status, and each signed one must be stored once."""
    traffic = Traffic(seed, to_number, secret)
    answers = Counter[tuple[int, int]]()
    left = iter(range(callbacks))

    async def post() -> None:
        for _ in left:
            status, body, signature = traffic.next()
            answer = await http.post(INBOUND, content=body, headers={HEADER: signature})
            answers[status, answer.status_code] += 1

    await asyncio.gather(*(post() for _ in range(AT_ONCE)))

    assert [pair for pair in answers if pair[0] != pair[1]] == []
    assert answers.total() == callbacks
    rows = await MESSAGES.where(direction="inbound").read(pool, "provider_message_id", "body")
    assert sorted(map(tuple, rows)) == sorted((said["id"], said["text"]) for said in traffic.texts)
    bodies = [body.decode("utf-8", "replace").replace("\x00", "\ufffd") for body in traffic.unreadable]
    assert Counter(body for _, _, body in await kept(pool)) == Counter(bodies)


async def kept(pool: Pool) -> list[tuple[str, str, str]]:
    """Return the stored unusable callbacks: carrier, kind and body."""
    rows = await UNMATCHED_CALLBACKS.read(pool, "carrier", "kind", "payload")
    return [(row["carrier"], row["kind"], row["payload"].get("body")) for row in rows]
