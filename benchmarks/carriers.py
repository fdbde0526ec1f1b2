"""CPU time of one hand-off to Twilio and Telnyx, compared with one post of a webhook, in turns in one process.

Run by itself: `.venv/bin/python -m benchmarks.carriers`. The carrier is a separate process on loopback, without TLS;
only the CPU time of this process counts.
"""

import asyncio
import base64
import multiprocessing
import statistics
from collections.abc import Awaitable, Callable
from functools import partial
from ipaddress import IPv4Network
from multiprocessing.connection import Connection
from typing import cast

import uvloop

from app.domain.carriers.carrier import Accepted, Carrier, OutboundMessage
from app.providers.carrier_api import CarrierHttp
from app.providers.carriers.telnyx.carrier import TelnyxCarrier
from app.providers.carriers.telnyx.settings import TelnyxCredentials, TelnyxSettings
from app.providers.carriers.twilio.carrier import TwilioCarrier
from app.providers.carriers.twilio.settings import TwilioCredentials, TwilioSettings
from app.providers.outbound.client import HttpClient
from benchmarks.outbound import BODY, HEADERS, ROUNDS, measure

CALLS = 3000
MESSAGE = OutboundMessage(
    7, "+14155552345", "+14155552671", "Your table is booked for tonight at eight. Reply STOP to end.", 1
)
ANSWER = (
    b'{"sid":"SM00000000000000000000000000000001","status":"queued","num_segments":"1","price":null,'
    b'"data":{"id":"40385f64-5717-4562-b3fc-2c963f66afa6","to":[{"status":"queued"}],"parts":1}}'
)


class Answering(asyncio.Protocol):
    """Answers each request, which comes in one piece."""

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Store the transport."""
        self._transport = cast(asyncio.Transport, transport)

    def data_received(self, data: bytes) -> None:
        """Answer."""
        self._transport.write(b"HTTP/1.1 200 OK\r\ncontent-length: %d\r\n\r\n%s" % (len(ANSWER), ANSWER))


def serve(told: Connection) -> None:
    """Run the carrier and send its port."""

    async def run() -> None:
        server = await asyncio.get_running_loop().create_server(Answering, "127.0.0.1", 0)
        told.send(server.sockets[0].getsockname()[1])
        await server.serve_forever()

    uvloop.run(run())


async def compare(port: int) -> None:
    """Print the median and the range of each kind of call, measured in turns."""
    client, url = HttpClient(True, [IPv4Network("127.0.0.0/8")]), f"http://127.0.0.1:{port}"
    http = CarrierHttp(client, "https://sms.example.com", 10)
    key = base64.b64encode(bytes(range(32))).decode()
    twilio = TwilioCredentials.model_validate({"account_sid": "AC" + "0" * 32, "auth_token": "t"})
    telnyx = TelnyxCredentials.model_validate({"api_key": "KEY", "public_key": key})
    calls: dict[str, Callable[[], Awaitable[object]]] = {
        "webhook": partial(client.post, url, HEADERS, BODY),
        "twilio": partial(_send, TwilioCarrier("twilio", TwilioSettings(api_url=url), twilio, http)),
        "telnyx": partial(_send, TelnyxCarrier("telnyx", TelnyxSettings(api_url=url), telnyx, http)),
    }
    found: dict[str, list[float]] = {name: [] for name in calls}
    for turn in range(ROUNDS + 1):
        for name, call in calls.items():
            taken = await measure(call, CALLS)
            found[name] += [taken] if turn else []
    for name, figures in found.items():
        print(f"{name:8} {statistics.median(figures):6.0f} us a call ({min(figures):.0f} to {max(figures):.0f})")
    await client.close()


async def _send(carrier: Carrier) -> None:
    answer = await carrier.send(MESSAGE)
    assert isinstance(answer, Accepted), answer


def main() -> None:
    """Start the carrier, compare, and end it."""
    here, there = multiprocessing.get_context("spawn").Pipe()
    carrier = multiprocessing.get_context("spawn").Process(target=serve, args=(there,), daemon=True)
    carrier.start()
    uvloop.run(compare(here.recv()))
    carrier.terminate()


if __name__ == "__main__":
    main()
