"""Looking on at the service as people run it: from the worker's hands to the eyes, through a stop and a start."""

import json
import re
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import httpx2
import pytest

from tests.e2e.conftest import Served
from tests.e2e.processes import PATIENCE_SECONDS, until

SUBSCRIPTION = "subscription { updates(after: 0, kinds: [message_status]) { id message { status body } } }"
STOP_SECONDS = 15
"""Five for the processes of the service, ten for its databases."""


@pytest.fixture(scope="module")
def key(served: Served) -> str:
    """Return the key of the first account."""
    return until(lambda: re.search(r"export KEY=(\S+)", served.process.output))[1]


@contextmanager
def looking(served: Served, key: str, **headers: str) -> Iterator[Iterator[Any]]:
    """Look on; give the data of each event, and `complete` for the end that is none of a stop."""
    with httpx2.stream(
        "POST",
        f"{served.url}/graphql",
        json={"query": SUBSCRIPTION},
        headers={"Authorization": f"Bearer {key}", "Accept": "text/event-stream", **headers},
        timeout=PATIENCE_SECONDS,
    ) as answer:
        lines = (line for line in answer.iter_lines() if line.startswith("data:"))
        yield (json.loads(line[5:])["data"]["updates"] if line != "data:" else "complete" for line in lines)


def send(served: Served, key: str, text: str) -> None:
    body = {"to": "+12025550143", "message": text, "consent_attested": True}
    assert served.ask("POST", "/sms/send", key, body)["success"]


def test_the_fate_of_a_text_is_shown_and_a_stop_ends_the_stream_but_not_the_looking_on(served: Served, key: str):
    with looking(served, key) as updates:
        send(served, key, "One")
        shown = [next(updates), next(updates)]

        began = time.monotonic()
        code = served.process.stop()
        seconds = time.monotonic() - began
        rest = list(updates)
    served.again()
    send(served, key, "Two")
    with looking(served, key, **{"Last-Event-ID": str(shown[0]["id"])}) as updates:
        again = [next(updates) for _ in range(3)]

    assert [(each["message"]["body"]) for each in shown] == ["One", "One"]
    assert (code, rest) == (0, [])
    assert seconds < STOP_SECONDS
    assert [each["message"]["body"] for each in again] == ["One", "Two", "Two"]
    assert again[0]["id"] == shown[1]["id"]
