"""The certificate and key of HTTPS: what is refused, and requests over TLS."""

import asyncio
import ssl
from collections.abc import AsyncGenerator
from contextlib import suppress
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from ipaddress import ip_address
from pathlib import Path

import pytest
from cryptography import x509
from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric.ec import SECP256R1, EllipticCurvePrivateKey, generate_private_key
from cryptography.hazmat.primitives.serialization import (
    BestAvailableEncryption,
    Encoding,
    KeySerializationEncryption,
    NoEncryption,
    PrivateFormat,
)
from cryptography.x509.oid import NameOID

from app.server.connection_limits import Limits
from app.server.tls import InvalidCertificate, check
from tests.http.conftest import PATIENCE, QUICK, Running, running
from tests.waiting import until, within

GREEDY, OTHER = "127.0.0.2", "127.0.0.3"
GET = b"GET / HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n"


def write_key(path: Path, key: EllipticCurvePrivateKey, encryption: KeySerializationEncryption) -> Path:
    path.write_bytes(key.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, encryption))
    return path


def write_certificate(path: Path, key: EllipticCurvePrivateKey) -> Path:
    name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, "127.0.0.1")])
    now = datetime.now(UTC)
    built = (
        x509.CertificateBuilder(name, name, key.public_key(), x509.random_serial_number(), now, now + timedelta(days=1))
        .add_extension(x509.SubjectAlternativeName([x509.IPAddress(ip_address("127.0.0.1"))]), critical=False)
        .sign(key, hashes.SHA256())
    )
    path.write_bytes(built.public_bytes(Encoding.PEM))
    return path


@pytest.fixture
def key() -> EllipticCurvePrivateKey:
    return generate_private_key(SECP256R1())


@pytest.fixture
def pair(tmp_path: Path, key: EllipticCurvePrivateKey) -> tuple[Path, Path]:
    """Give a certificate of 127.0.0.1 that signs itself, and its key."""
    return write_certificate(tmp_path / "cert.pem", key), write_key(tmp_path / "key.pem", key, NoEncryption())


def refusal(certificate: Path | None, key: Path | None) -> str:
    with pytest.raises(InvalidCertificate) as refused:
        check(certificate, key)
    return str(refused.value)


def test_a_certificate_with_its_key_and_none_at_all_are_taken(pair: tuple[Path, Path]) -> None:
    check(*pair)
    check(None, None)


def test_one_file_without_the_other_is_refused(pair: tuple[Path, Path]) -> None:
    both = "HTTPS needs both: a certificate and its key."

    assert refusal(pair[0], None) == f"--tls-cert was given without --tls-key. {both}"
    assert refusal(None, pair[1]) == f"--tls-key was given without --tls-cert. {both}"


def test_a_file_that_is_missing_or_cannot_be_read_is_refused(pair: tuple[Path, Path], tmp_path: Path) -> None:
    missing = tmp_path / "missing.pem"

    assert refusal(missing, pair[1]) == f"{missing} cannot be read: No such file or directory."
    assert refusal(pair[0], missing) == f"{missing} cannot be read: No such file or directory."
    assert refusal(tmp_path, pair[1]) == f"{tmp_path} cannot be read: Is a directory."


def test_a_file_that_holds_something_else_is_refused(pair: tuple[Path, Path]) -> None:
    certificate, key = pair

    assert refusal(key, key) == f"{key} holds no certificate in PEM format."
    assert refusal(certificate, certificate) == f"{certificate} holds no private key in PEM format."


def test_a_key_with_a_password_is_refused(
    pair: tuple[Path, Path], key: EllipticCurvePrivateKey, tmp_path: Path
) -> None:
    locked = write_key(tmp_path / "locked.pem", key, BestAvailableEncryption(b"secret"))

    assert refusal(pair[0], locked) == f"The key {locked} is protected by a password. Give one without."


def test_a_key_of_another_certificate_is_refused(pair: tuple[Path, Path], tmp_path: Path) -> None:
    other = write_key(tmp_path / "other.pem", generate_private_key(SECP256R1()), NoEncryption())

    assert refusal(pair[0], other) == f"The key {other} does not belong to the certificate {pair[0]}."


async def ask(port: int, certificate: Path, data: bytes, address: str = "127.0.0.1") -> bytes:
    """Send bytes over TLS, and return all that comes until the server closes the connection."""
    context = ssl.create_default_context(cafile=certificate)
    reader, writer = await asyncio.open_connection("127.0.0.1", port, ssl=context, local_addr=(address, 0))
    writer.write(data)
    async with asyncio.timeout(PATIENCE):
        answer = await reader.read()
    writer.close()
    return answer


async def test_a_request_over_tls_is_answered_and_has_the_scheme_https(pair: tuple[Path, Path]) -> None:
    certificate, key = pair

    async with running(Limits(), ssl_certfile=certificate, ssl_keyfile=key) as server:
        answer = await ask(server.port, certificate, GET)
        [(scope, _)] = server.requests

    assert answer.startswith(b"HTTP/1.1 200 OK\r\n")
    assert scope["scheme"] == "https"


async def test_a_refused_request_over_tls_is_answered_and_the_connection_closed(pair: tuple[Path, Path]) -> None:
    certificate, key = pair

    async with running(Limits(), ssl_certfile=certificate, ssl_keyfile=key) as server:
        answer = await ask(server.port, certificate, b"no HTTP at all\r\n\r\n")
        requests = server.requests

    assert answer.startswith(b"HTTP/1.1 400 Bad Request\r\n")
    assert requests == []


@pytest.fixture
async def small(pair: tuple[Path, Path]) -> AsyncGenerator[Running]:
    """Give a server of HTTPS with ten places, of which an address has four."""
    limits = replace(Limits(), connections=10, address_connections=4)
    async with running(limits, ssl_certfile=pair[0], ssl_keyfile=pair[1]) as found:
        yield found


async def test_connections_without_a_handshake_take_no_more_than_the_share_of_their_address(
    small: Running, pair: tuple[Path, Path]
) -> None:
    silent = [await small.connect(GREEDY) for _ in range(12)]
    await until(lambda: all(raw.reader.at_eof() for raw in silent[:8]))

    answers = [await ask(small.port, pair[0], GET, address) for address in (OTHER, GREEDY)]

    assert [answer[:15] for answer in answers] == [b"HTTP/1.1 200 OK"] * 2
    assert [raw.reader.at_eof() for raw in silent] == [True] * 9 + [False] * 3
    await until(lambda: small.connections() == 3)


async def test_a_handshake_that_does_not_come_to_its_end_closes_the_connection(pair: tuple[Path, Path]) -> None:
    async with running(QUICK, ssl_certfile=pair[0], ssl_keyfile=pair[1]) as server:
        silent, broken = await server.connect(), await server.connect()
        broken.send(GET)

        assert await within("the end of a silent connection", silent.rest()) == b""
        await within("the end of one that speaks no TLS", broken.rest())
        await until(lambda: server.connections() == 0)


async def test_a_server_that_stops_waits_for_no_handshake(pair: tuple[Path, Path]) -> None:
    async with running(Limits(), ssl_certfile=pair[0], ssl_keyfile=pair[1]) as server:
        silent = await server.connect()
        await until(lambda: server.connections() == 1)

        server.server.should_exit = True

        assert await within("the end of the connection", silent.rest()) == b""


async def test_a_request_sent_with_the_end_of_the_handshake_is_answered(pair: tuple[Path, Path]) -> None:
    incoming, outgoing = ssl.MemoryBIO(), ssl.MemoryBIO()
    client = ssl.create_default_context(cafile=pair[0]).wrap_bio(incoming, outgoing, server_hostname="127.0.0.1")
    async with running(Limits(), ssl_certfile=pair[0], ssl_keyfile=pair[1]) as server:
        raw = await server.connect()
        with pytest.raises(ssl.SSLWantReadError):
            client.do_handshake()
        raw.send(outgoing.read())
        while not _is_done(client):
            incoming.write(await within("the server's part", raw.reader.read(65536)))
        client.write(GET)

        raw.send(outgoing.read())

        answer = b""
        while not answer:
            incoming.write(await within("the answer", raw.reader.read(65536)))
            with suppress(ssl.SSLWantReadError):
                answer = client.read(15)
    assert answer == b"HTTP/1.1 200 OK"


def _is_done(client: ssl.SSLObject) -> bool:
    try:
        client.do_handshake()
    except ssl.SSLWantReadError:
        return False
    return True
