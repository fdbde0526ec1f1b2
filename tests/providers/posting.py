"""Posts to local peers."""

import ssl
from collections.abc import Sequence

from app.providers.outbound.client import HttpClient
from tests.providers.peers import NETWORKS

HEADERS = {"content-type": "application/json", "webhook-id": "evt_1"}
LONG = 10.0
TLS = ssl.create_default_context()


class Names:
    """Answers and counts look-ups from a script; the last answer is repeated."""

    def __init__(self, *answers: Sequence[str]) -> None:
        self._answers = list(answers)
        self.asked: list[str] = []

    async def look_up(self, host: str) -> Sequence[str]:
        self.asked.append(host)
        return self._answers.pop(0) if len(self._answers) > 1 else self._answers[0]


def open_poster(names: Names | None = None, timeout: float = LONG, connect_timeout: float = LONG) -> HttpClient:
    return HttpClient(True, NETWORKS, connect_timeout, timeout, names and names.look_up, TLS)
