"""`messaging serve` with a certificate of its own."""

import ssl
from collections.abc import Iterator
from pathlib import Path

import httpx2
import pytest
from cryptography.hazmat.primitives.asymmetric.ec import SECP256R1, generate_private_key
from cryptography.hazmat.primitives.serialization import NoEncryption

from tests.e2e.commands import complete
from tests.e2e.processes import Process, environment, exports, free_port, starting, until
from tests.http.test_tls import write_certificate, write_key

TO = "+12025550143"


@pytest.fixture
def files(tmp_path: Path) -> dict[str, Path]:
    key = generate_private_key(SECP256R1())
    certificate = write_certificate(tmp_path / "fullchain.pem", key)
    return {"cert": certificate, "key": write_key(tmp_path / "key.pem", key, NoEncryption())}


@pytest.fixture
def secured(tmp_path: Path, files: dict[str, Path]) -> Iterator[tuple[Process, dict[str, str]]]:
    """Start the service with a certificate; give it, and what its welcome exports."""
    with starting(tmp_path) as start:
        options = ("--tls-cert", str(files["cert"]), "--tls-key", str(files["key"]))
        process = start("serve", *options, PORT=free_port(), MESSAGING_DATA=tmp_path / "data")
        yield process, until(lambda: exports(process.output) if "Paste the exports" in process.output else {})


def test_over_https_texts_are_sent_reported_and_answered_and_cookies_are_secure(
    secured: tuple[Process, dict[str, str]], files: dict[str, Path], tmp_path: Path
) -> None:
    process, exported = secured
    with httpx2.Client(
        base_url=exported["URL"],
        headers={"X-API-Key": exported["KEY"]},
        verify=ssl.create_default_context(cafile=files["cert"]),
    ) as client:
        until(lambda: "listening" in process.output)
        send = {"to": TO, "message": "Hello", "consent_attested": True}
        sent = client.post("/sms/send", json=send)
        until(lambda: client.get("/sms/logs").json()["data"][0]["status"] == "delivered")
        reported = complete(
            ("sandbox", "inbound", TO, exported["NUMBER"], "Hi"),
            tmp_path,
            environment(tmp_path, MESSAGING_DATA=tmp_path / "data"),
        )
        page = client.get("/login")

    assert exported["URL"].startswith("https://127.0.0.1:")
    assert sent.json()["data"]["status"] == "pending"
    assert (reported.returncode, reported.stderr) == (0, "")
    assert page.headers["strict-transport-security"] == "max-age=31536000"
    assert "; Secure" in page.headers["set-cookie"]


def test_a_key_of_another_certificate_is_refused_in_a_sentence_and_nothing_is_started(
    files: dict[str, Path], tmp_path: Path
) -> None:
    other = write_key(tmp_path / "other.pem", generate_private_key(SECP256R1()), NoEncryption())
    settings = {"MESSAGING_TLS_CERT": files["cert"], "MESSAGING_TLS_KEY": other, "MESSAGING_DATA": tmp_path / "data"}

    done = complete(("serve",), tmp_path, environment(tmp_path, PORT=free_port(), **settings))

    assert (done.returncode, done.stdout) == (1, "")
    assert done.stderr == f"messaging: The key {other} does not belong to the certificate {files['cert']}.\n"
    assert not (tmp_path / "data").exists()
