"""The certificate and key of HTTPS: what is refused, and requests over TLS."""

import asyncio
import ssl
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

from app.server.tls import InvalidCertificate, check
from tests.http.conftest import PATIENCE, QUICK, running

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


async def ask(port: int, certificate: Path, data: bytes) -> bytes:
    """Send bytes over TLS, and return all that comes until the server closes the connection."""
    context = ssl.create_default_context(cafile=certificate)
    reader, writer = await asyncio.open_connection("127.0.0.1", port, ssl=context)
    writer.write(data)
    async with asyncio.timeout(PATIENCE):
        answer = await reader.read()
    writer.close()
    return answer


async def test_a_request_over_tls_is_answered_and_has_the_scheme_https(pair: tuple[Path, Path]) -> None:
    certificate, key = pair

    async with running(QUICK, ssl_certfile=certificate, ssl_keyfile=key) as server:
        answer = await ask(server.port, certificate, GET)
        [(scope, _)] = server.requests

    assert answer.startswith(b"HTTP/1.1 200 OK\r\n")
    assert scope["scheme"] == "https"


async def test_a_refused_request_over_tls_is_answered_and_the_connection_closed(pair: tuple[Path, Path]) -> None:
    certificate, key = pair

    async with running(QUICK, ssl_certfile=certificate, ssl_keyfile=key) as server:
        answer = await ask(server.port, certificate, b"no HTTP at all\r\n\r\n")
        requests = server.requests

    assert answer.startswith(b"HTTP/1.1 400 Bad Request\r\n")
    assert requests == []
