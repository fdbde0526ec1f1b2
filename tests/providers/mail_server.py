"""A mail server on a loopback port that accepts or refuses mails."""

import asyncio
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field

from tests.waiting import within


@dataclass
class MailServer:
    """The received commands and mails; `RCPT` is answered with `refusal` if set."""

    refusal: str = ""
    said: list[str] = field(default_factory=list)
    mails: list[bytes] = field(default_factory=list)
    url: str = ""
    talks: set[asyncio.Task[None] | None] = field(default_factory=set)

    async def converse(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """Serve one connection."""
        self.talks.add(asyncio.current_task())
        writer.write(b"220 test\r\n")
        while line := (await within("the next line of the peer", reader.readline())).decode():
            self.said.append(line.strip())
            writer.write(await self._answer(line.split()[0].upper(), reader, writer))
            if line.upper().startswith("QUIT"):
                break
        writer.close()
        with suppress(ConnectionError):
            await within("the connection to close", writer.wait_closed())

    async def _answer(self, verb: str, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> bytes:
        match verb:
            case "EHLO":
                return b"250-test\r\n250-8BITMIME\r\n250 AUTH PLAIN LOGIN\r\n"
            case "RCPT" if self.refusal:
                return f"550 {self.refusal}\r\n".encode()
            case "DATA":
                writer.write(b"354 go on\r\n")
                self.mails.append(await reader.readuntil(b"\r\n.\r\n"))
                return b"250 taken\r\n"
            case "STARTTLS":
                return b"502 no\r\n"
            case "QUIT":
                return b"221 bye\r\n"
            case _:
                return b"250 ok\r\n"


@asynccontextmanager
async def serving_mail(refusal: str = "") -> AsyncGenerator[MailServer]:
    """Run a mail server."""
    mail = MailServer(refusal)
    server = await asyncio.start_server(mail.converse, "127.0.0.1", 0)
    mail.url = f"127.0.0.1:{server.sockets[0].getsockname()[1]}"
    try:
        yield mail
    finally:
        server.close()
        await within("the mail server to close", server.wait_closed())
        await asyncio.gather(*(talk for talk in mail.talks if talk))
