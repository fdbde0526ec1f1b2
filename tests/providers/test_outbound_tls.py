"""Posting over TLS: the certificate must be of the URL's host and of an authority that we trust, always."""

import asyncio
import datetime
import ssl
from ipaddress import ip_address
from pathlib import Path

import pytest
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID

from app.domain.webhooks.poster import PostError, Reply
from app.providers.outbound.client import HttpClient
from tests.providers.peers import NETWORKS, OK, Peer, say, serve
from tests.waiting import within

DAY = datetime.timedelta(days=1)
HOST = "hooks.example"


class Authority:
    """Signs certificates; peers that it certifies are trusted by `trust`."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._key = ec.generate_private_key(ec.SECP256R1())
        self._name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, "an authority for tests")])
        certificate = self._build(self._name, self._key, x509.BasicConstraints(ca=True, path_length=0), 3650)
        self.trust = ssl.create_default_context(cadata=certificate.public_bytes(serialization.Encoding.PEM).decode())

    def certify(self, *names: str, days: int = 3650) -> ssl.SSLContext:
        """Return what a server of these names, or addresses, shows."""
        key = ec.generate_private_key(ec.SECP256R1())
        subject = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, names[0])])
        certificate = self._build(subject, key, x509.SubjectAlternativeName(list(map(_general_name, names))), days)
        file = self._folder / f"{names[0]}.pem"
        private = serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
        file.write_bytes(
            key.private_bytes(serialization.Encoding.PEM, *private)
            + certificate.public_bytes(serialization.Encoding.PEM)
        )
        context = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
        context.load_cert_chain(file)
        return context

    def _build(
        self, subject: x509.Name, key: ec.EllipticCurvePrivateKey, extension: x509.ExtensionType, days: int
    ) -> x509.Certificate:
        builder = x509.CertificateBuilder(self._name, subject, key.public_key(), x509.random_serial_number())
        builder = builder.not_valid_before(_real_now() - 30 * DAY).not_valid_after(_real_now() + days * DAY)
        return builder.add_extension(extension, critical=False).sign(self._key, hashes.SHA256())


def _real_now() -> datetime.datetime:
    return datetime.datetime.now(datetime.UTC)


def _general_name(name: str) -> x509.GeneralName:
    try:
        return x509.IPAddress(ip_address(name))
    except ValueError:
        return x509.DNSName(name)


async def look_up(host: str) -> list[str]:
    return ["127.0.0.1"]


@pytest.fixture
def authority(tmp_path: Path) -> Authority:
    return Authority(tmp_path)


def open_poster(trust: ssl.SSLContext | None, connect_timeout: float = 10.0) -> HttpClient:
    return HttpClient(False, NETWORKS, connect_timeout, 10.0, look_up, trust)


async def post(trust: ssl.SSLContext | None, peer: Peer, host: str = HOST) -> Reply:
    poster = open_poster(trust)
    reply = await poster.post(f"https://{host}:{peer.port}/hook", {}, b"body")
    await poster.close()
    return reply


async def test_a_peer_that_is_certified_for_its_name_gets_the_post(authority: Authority) -> None:
    context, shown = authority.certify(HOST), []
    context.sni_callback = lambda _socket, name, _context: shown.append(name)

    async with serve(say(OK), tls=context) as peer:
        reply = await post(authority.trust, peer)

    assert (reply.status, reply.error, reply.address, reply.body) == (200, "", "127.0.0.1", b"ok")
    assert shown == [HOST]
    assert peer.requests == [(f"POST /hook HTTP/1.1\r\nhost: {HOST}:{peer.port}\r\ncontent-length: 4\r\n\r\n", b"body")]


async def test_a_connection_over_tls_is_kept(authority: Authority) -> None:
    poster = open_poster(authority.trust)

    async with serve(say(OK), tls=authority.certify(HOST)) as peer:
        replies = [await poster.post(f"https://{HOST}:{peer.port}/", {}, b"") for _ in range(5)]
        await poster.close()
        await peer.wait_until_ended()

    assert [reply.status for reply in replies] == [200] * 5
    assert peer.connections <= 2


async def test_an_address_may_be_certified(authority: Authority) -> None:
    async with serve(say(OK), tls=authority.certify("127.0.0.1")) as peer:
        reply = await post(authority.trust, peer, host="127.0.0.1")

    assert reply.status == 200


async def test_the_name_of_the_url_must_be_certified_not_the_address_behind_it(authority: Authority) -> None:
    async with serve(say(OK), tls=authority.certify("127.0.0.1", "other.example")) as peer:
        reply = await post(authority.trust, peer)

    assert (reply.status, reply.error, peer.requests) == (None, PostError.tls, [])


async def test_a_certificate_that_has_expired_is_refused(authority: Authority) -> None:
    async with serve(say(OK), tls=authority.certify(HOST, days=-1)) as peer:
        reply = await post(authority.trust, peer)

    assert (reply.error, peer.requests) == (PostError.tls, [])


async def test_an_unknown_authority_is_refused(authority: Authority) -> None:
    async with serve(say(OK), tls=authority.certify(HOST)) as peer:
        reply = await post(None, peer)

    assert (reply.error, peer.requests) == (PostError.tls, [])


async def test_a_peer_that_speaks_no_tls_is_refused(authority: Authority) -> None:
    async def greet(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.read(1)
        writer.write(OK)
        writer.close()
        await within("the connection to close", writer.wait_closed())

    server = await asyncio.start_server(greet, "127.0.0.1", 0)
    reply = await post(authority.trust, Peer(server.sockets[0].getsockname()[1]))
    server.close()

    assert (reply.status, reply.error) == (None, PostError.tls)


async def test_a_handshake_that_does_not_end_is_an_error_of_connecting(authority: Authority) -> None:
    over = asyncio.Event()

    async def wait(_: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await within("the test to end", over.wait())
        writer.transport.abort()

    server = await asyncio.start_server(wait, "127.0.0.1", 0)
    poster = open_poster(authority.trust, connect_timeout=0.1)
    reply = await poster.post(f"https://{HOST}:{server.sockets[0].getsockname()[1]}/", {}, b"")
    await poster.close()
    over.set()
    server.close()
    await asyncio.sleep(0)

    assert (reply.status, reply.error, reply.address) == (None, PostError.connect, "")
