"""Live updates: a real server on loopback, the events of an account, and clients of both transports."""

import asyncio
import socket
from collections.abc import AsyncGenerator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any

import httpx2
import orjson
from websockets.asyncio.client import ClientConnection, connect

from app.bootstrap import open_dispatcher
from app.domain.accounts import api_keys
from app.domain.accounts.api_keys import NewKey
from app.domain.accounts.scopes import Scope
from app.domain.carriers.carrier import InboundMessage, Receipt, ReceiptStatus
from app.domain.conversations import service as conversations
from app.domain.conversations.models import ConversationStatus
from app.domain.kernel.unit_of_work import Actor
from app.domain.messages.requests import Send
from app.domain.onboarding.service import Opened
from app.graphql.transport.websocket import PROTOCOL
from app.jobs.live import Announcer, Listener
from app.main import STOP_STREAMS, Server, configure
from app.services import Services
from app.settings import Settings
from tests.conftest import unit_of
from tests.domain.messages.handing import hand_over
from tests.factories.conversations import CONVERSATIONS
from tests.factories.messages import MESSAGES
from tests.waiting import PATIENCE_SECONDS, until, within

PHONE = "+12025550143"
UPDATES = "subscription ($after: BigInt, $kinds: [UpdateKind!]) { updates(after: $after, kinds: $kinds) { %s } }"
CONVERSATION = "conversation { contact_id status unread_count }"
MESSAGE = f"message {{ id body status }} {CONVERSATION}"
ALL = UPDATES % " ".join(
    [
        "__typename id kind at",
        f"... on NewMessageUpdate {{ {MESSAGE} }}",
        f"... on MessageStatusUpdate {{ {MESSAGE} }}",
        f"... on ConversationUpdate {{ {CONVERSATION} }}",
    ]
)
KINDS = UPDATES % "id kind"


@dataclass
class Served:
    """A server that runs on the loop of the test."""

    server: Server
    address: str
    task: asyncio.Task[None]

    @property
    def base_url(self) -> str:
        """Return the base URL of the service."""
        return f"http://{self.address.partition('/')[0]}"

    @property
    def watched(self) -> int:
        """Return the number of watched accounts."""
        listener: Listener = self.server.lifespan.state[STOP_STREAMS].__self__
        return len(listener._watches)

    def cut(self) -> None:
        """Close every connection, as a network failure does."""
        for connection in list(self.server.server_state.connections):
            connection.transport.abort()

    async def stop(self) -> None:
        """Stop as SIGTERM does."""
        self.server.should_exit = True
        await self.task

    async def stop_without_grace(self) -> None:
        """Stop within the patience of a test; fail where the server waits for a stream until it cuts it."""
        self.server.config.timeout_graceful_shutdown = 2 * int(PATIENCE_SECONDS)
        await within("the stop of the server", self.stop())


@asynccontextmanager
async def serving(settings: Settings, port: int = 0) -> AsyncGenerator[Served]:
    """Serve the whole application on a port, by default a free one, with that port in its base URL."""
    listening = socket.create_server(("127.0.0.1", port))
    port = listening.getsockname()[1]
    config = configure(settings.model_copy(update={"port": port, "base_url": f"http://127.0.0.1:{port}"}))
    config.log_config = None
    server = Server(config)
    served = Served(server, f"127.0.0.1:{port}/graphql", asyncio.create_task(server.serve([listening])))
    try:
        yield served
    finally:
        await served.stop()


@dataclass
class Scene:
    """An account with events, and the dispatcher of these."""

    services: Services
    account: Opened
    announcer: Announcer
    texts: int = field(default=0)

    def unit(self, *scopes: str) -> Any:
        return unit_of(self.services, Actor(self.account.account_id, frozenset(scopes), "test"))

    async def newest(self) -> int:
        """Return the id of the last update."""
        return await self.services.feed.start(self.account.account_id, None)

    async def dispatch(self) -> None:
        """Dispatch events, as a worker does when it is notified."""
        await open_dispatcher(self.services, self.announcer.announce).run()

    async def dispatch_next(self) -> None:
        """Dispatch events as soon as one is due: a request that is under way records it."""
        await until(open_dispatcher(self.services, self.announcer.announce).due)
        await self.dispatch()

    async def receive(self, body: str) -> None:
        """Receive a message from a contact."""
        self.texts += 1
        inbound = InboundMessage(f"in-{self.account.account_id}-{self.texts}", PHONE, self.account.phone_number, body)
        await self.services.inbox.receive("sandbox", inbound)
        await self.dispatch()

    async def send(self, body: str) -> int:
        """Send a message, and hand it over to the carrier."""
        actor = Actor(self.account.account_id, frozenset(), "test")
        sent = await self.services.acceptor.accept(actor, Send(PHONE, body, consent_attested=True))
        await hand_over(self.services.handoff)
        await self.dispatch()
        return sent.message_id

    async def deliver(self, message_id: int) -> None:
        """Receive a receipt `delivered` of the carrier."""
        reference = await MESSAGES.where(id=message_id).only(self.services, "provider_message_id")
        receipt = Receipt(reference, ReceiptStatus.delivered, "delivered")
        await self.services.receipts.receive("sandbox", receipt)
        await self.dispatch()

    async def change(self, status: ConversationStatus) -> None:
        """Close or reopen the conversation."""
        id = await CONVERSATIONS.where(account_id=self.account.account_id).only(self.services, "id")
        async with self.unit() as unit:
            await conversations.update(unit, id, {"status": status})
        await self.dispatch()

    async def key(self, *scopes: Scope) -> tuple[int, str]:
        """Create a key with scopes; return its id and its text."""
        async with self.unit(*scopes) as unit:
            key, text = await api_keys.create_key(unit, self.services.secret, NewKey("Some", scopes=list(scopes)))
        return key.id, text.text

    async def revoke(self, id: int) -> None:
        async with self.unit() as unit:
            await api_keys.revoke_key(unit, id)


class Talk:
    """A connection of graphql-transport-ws."""

    def __init__(self, socket: ClientConnection) -> None:
        self._socket = socket

    async def say(self, **message: Any) -> None:
        await self._socket.send(orjson.dumps(message).decode())

    async def say_raw(self, frame: str | bytes) -> None:
        await self._socket.send(frame)

    async def hear(self) -> Any:
        async with asyncio.timeout(PATIENCE_SECONDS):
            return orjson.loads(await self._socket.recv())

    async def init(self, key: str | None) -> None:
        await self.say(type="connection_init", payload={"Authorization": f"Bearer {key}"} if key else None)
        assert await self.hear() == {"type": "connection_ack"}

    async def subscribe(self, query: str = ALL, id: str = "1", **variables: Any) -> None:
        """Run an operation; a subscription replays all updates, unless `after` is set."""
        variables = {"after": 0} | variables if "$after" in query else variables
        await self.say(id=id, type="subscribe", payload={"query": query, "variables": variables})

    async def next(self) -> Any:
        """Return the next update of any operation."""
        message = await self.hear()
        assert message["type"] == "next", message
        return message["payload"]["data"]["updates"]

    async def end(self) -> tuple[int | None, str | None]:
        """Wait for the server to close; return the code and the reason."""
        async with asyncio.timeout(PATIENCE_SECONDS):
            await self._socket.wait_closed()
        return self._socket.close_code, self._socket.close_reason


@asynccontextmanager
async def talking(
    address: str, key: str | None = None, protocol: str = PROTOCOL, **options: Any
) -> AsyncGenerator[Talk]:
    """Open a WebSocket; with a key, initialise it."""
    options = {"subprotocols": [protocol], "proxy": None, "open_timeout": PATIENCE_SECONDS} | options
    async with connect(f"ws://{address}", **options) as socket:
        talk = Talk(socket)
        if key:
            await talk.init(key)
        yield talk


@dataclass
class Events:
    """A response of server-sent events, read as they arrive."""

    response: httpx2.Response
    _blocks: AsyncGenerator[list[str], None] | None = None

    async def next(self) -> dict[str, str] | None:
        """Return the fields of the next event, without comments; None at the end."""
        self._blocks = self._blocks or self._read()
        async with asyncio.timeout(PATIENCE_SECONDS):
            async for block in self._blocks:
                if fields := dict(line.split(":", 1) for line in block if not line.startswith(":")):
                    return {name: value.strip() for name, value in fields.items()}
        return None

    async def update(self) -> Any:
        """Return the next update."""
        event = await self.next()
        assert event
        assert event["event"] == "next", event
        return orjson.loads(event["data"])["data"]["updates"]

    async def _read(self) -> AsyncGenerator[list[str], None]:
        block: list[str] = []
        async for line in self.response.aiter_lines():
            if line:
                block.append(line)
            else:
                yield block
                block = []


@asynccontextmanager
async def looking(
    address: str, key: str | None, query: str = ALL, method: str = "POST", **extra: Any
) -> AsyncGenerator[Events]:
    """Request server-sent events; `extra` are variables, except `headers`."""
    headers = {"Accept": "text/event-stream", **extra.pop("headers", {})}
    extra = {"after": 0} | extra if "$after" in query else extra
    if key:
        headers["Authorization"] = f"Bearer {key}"
    asked: dict[str, Any] = {"json": {"query": query, "variables": extra}}
    if method == "GET":
        asked = {"params": {"query": query, "variables": orjson.dumps(extra).decode()}}
    async with (
        httpx2.AsyncClient(timeout=PATIENCE_SECONDS) as client,
        client.stream(method, f"http://{address}", headers=headers, **asked) as response,
    ):
        yield Events(response)


Scenes = Callable[[Opened], Scene]
"""Creates a scene of an account."""
