"""The commands of the documents that start the service."""

import ssl
from collections.abc import Iterator
from pathlib import Path

import pytest
from cryptography.hazmat.primitives.asymmetric.ec import SECP256R1, generate_private_key
from cryptography.hazmat.primitives.serialization import NoEncryption

from tests.e2e.backgrounds import running
from tests.e2e.pages import SHELL, blocks_of
from tests.e2e.processes import ROOT, environment, free_port, is_ready, until
from tests.e2e.terminals import terminal
from tests.http.test_tls import write_certificate, write_key

FRESH = ("runtime", "node")
"""The stamps of packages that are installed, which `make` compares with the locks."""


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """Provide a clone whose packages are installed; the data of its service stay from one start to the next."""
    folder = tmp_path_factory.mktemp("clone")
    for name in ("Makefile", "pyproject.toml", "requirements.lock", "requirements-dev.lock"):
        (folder / name).symlink_to(ROOT / name)
    (folder / "hatch_build.py").touch()  # builds no dashboard
    with terminal(folder):
        for tool in ("uv", "pip"):
            (folder / ".venv" / "bin" / tool).symlink_to("python")
        for stamp in FRESH:
            (folder / ".venv" / stamp).touch()
        yield folder


def test_make_serve_starts_the_service(folder: Path) -> None:
    [block] = blocks_of("README.md", "make")
    port = free_port()

    with running(SHELL, block, folder, environment(folder, PORT=port)):
        until(lambda: is_ready(f"http://127.0.0.1:{port}"))
    until(lambda: not is_ready(f"http://127.0.0.1:{port}"))

    assert (folder / "data" / "secret.key").exists()


def test_serve_with_a_certificate_serves_https(folder: Path) -> None:
    [block] = blocks_of("docs/operating.md", "https")
    key = generate_private_key(SECP256R1())
    certificate = write_certificate(folder / "fullchain.pem", key)
    write_key(folder / "key.pem", key, NoEncryption())
    trusted, port = ssl.create_default_context(cafile=certificate), free_port()
    env = environment(folder, PORT=port, MESSAGING_ENVIRONMENT="development")

    with running(SHELL, block, folder, env | {"PATH": f"{folder}/.venv/bin:{env['PATH']}"}):
        until(lambda: is_ready(f"https://127.0.0.1:{port}", trusted))
    until(lambda: not is_ready(f"https://127.0.0.1:{port}", trusted))
