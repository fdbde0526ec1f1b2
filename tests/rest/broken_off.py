"""Downloads that are read from a served process, by sockets of their own, and the ends of the creators of links."""

import asyncio
from collections.abc import Sequence

from app.domain.accounts import api_keys, users
from app.domain.accounts.api_keys import NewKey
from app.domain.accounts.scopes import ALL
from app.domain.kernel.unit_of_work import Actor
from app.services import Services
from tests.conftest import unit_of
from tests.factories.accounts import ACCOUNTS, add_user
from tests.graphql.live import Served

ENDINGS = ("key revoked", "user removed", "account suspended", "account deleted")
"""The ends of the creator of a link."""

END_OF_ANSWER = b"\r\n0\r\n\r\n"


async def begin(served: Served, path: str) -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
    """Ask for a download, and read its head."""
    host, port = served.base_url.removeprefix("http://").split(":")
    reader, writer = await asyncio.open_connection(host, int(port), limit=2**16)
    writer.write(f"GET {path} HTTP/1.1\r\nHost: {host}:{port}\r\nConnection: close\r\n\r\n".encode())
    assert (await reader.readuntil(b"\r\n\r\n")).startswith(b"HTTP/1.1 200")
    return reader, writer


async def rest(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> bytes:
    """Return the rest of a download until its connection ends."""
    try:
        async with asyncio.timeout(50):
            return await reader.read()
    except ConnectionError:
        return b""
    finally:
        writer.close()


async def add_creator(
    services: Services, account_id: int, ending: str, scopes: Sequence[str], role: str
) -> dict[str, int]:
    """Add a creator of links that can come to an end: a user of a role, or else a key with scopes."""
    if ending == "user removed":
        return {"user_id": await add_user(services, account_id, "bob@example.com", role)}
    async with unit_of(services, Actor(account_id, ALL, "test")) as unit:
        key, _ = await api_keys.create_key(unit, services.secret, NewKey("Mine", scopes=list(scopes)))
        return {"key_id": key.id}


async def end_creator(services: Services, account_id: int, ending: str, creator: dict[str, int]) -> None:
    """Bring the creator of a link to its end."""
    async with unit_of(services, Actor(account_id, ALL, "test")) as unit:
        match ending:
            case "key revoked":
                await api_keys.revoke_key(unit, creator["key_id"])
            case "user removed":
                await users.remove(unit, creator["user_id"])
            case _:
                await ACCOUNTS.change(services, status=ending.split()[1])
