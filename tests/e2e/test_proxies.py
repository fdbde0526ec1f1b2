"""The configurations of proxies and of systemd in docs/operating.md, by the programs that read them."""

import re
import shutil
import ssl
import subprocess
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

import httpx2
import pytest
from cryptography.hazmat.primitives.asymmetric.ec import SECP256R1, generate_private_key
from cryptography.hazmat.primitives.serialization import NoEncryption

from app import settings
from tests.e2e.conftest import Served
from tests.e2e.processes import ROOT, environment, free_port, is_ready, until
from tests.http.test_tls import write_certificate, write_key

PAGE = (ROOT / "docs" / "operating.md").read_text()
NGINX = """
daemon off; pid {folder}/pid; error_log {folder}/log; events {{}}
http {{
  access_log off; client_body_temp_path {folder}/1; proxy_temp_path {folder}/2; fastcgi_temp_path {folder}/3;
  uwsgi_temp_path {folder}/4; scgi_temp_path {folder}/5;
  {server}
}}
"""
CADDY = "{{ admin off\n auto_https disable_redirects\n https_port {port}\n}}\n{site}"


def shown(language: str) -> str:
    """Return the first block of the page in a language."""
    return re.findall(rf"```{language}\n(.*?)```", PAGE, re.S)[0]


def replaced(text: str, values: Mapping[str, str]) -> str:
    """Replace values that each occur in a text."""
    for value, other in values.items():
        assert value in text
        text = text.replace(value, other)
    return text


@contextmanager
def started(arguments: list[str], folder: Path) -> Iterator[None]:
    process = subprocess.Popen(arguments, cwd=folder, env=environment(folder, XDG_DATA_HOME=folder))
    try:
        yield
    finally:
        process.terminate()
        process.wait()


@pytest.fixture
def certificate(tmp_path: Path) -> dict[str, Path]:
    key = generate_private_key(SECP256R1())
    return {
        "cert": write_certificate(tmp_path / "cert.pem", key),
        "key": write_key(tmp_path / "key.pem", key, NoEncryption()),
    }


@pytest.mark.skipif(not shutil.which("nginx"), reason="nginx is not installed; .ci/run installs it")
def test_nginx_serves_https_with_the_configuration_of_the_page(
    served: Served, tmp_path: Path, certificate: dict[str, Path]
) -> None:
    port = free_port()
    paths = {"/etc/nginx/fullchain.pem": str(certificate["cert"]), "/etc/nginx/key.pem": str(certificate["key"])}
    addresses = {"listen 443": f"listen 127.0.0.1:{port}", "127.0.0.1:8000": f"127.0.0.1:{served.port}"}
    server = replaced(shown("nginx"), paths | addresses)
    (tmp_path / "nginx.conf").write_text(NGINX.format(folder=tmp_path, server=server))

    with started(["nginx", "-e", f"{tmp_path}/log", "-p", str(tmp_path), "-c", f"{tmp_path}/nginx.conf"], tmp_path):
        trusted = ssl.create_default_context(cafile=certificate["cert"])
        until(lambda: is_ready(f"https://127.0.0.1:{port}", trusted))
        page = httpx2.get(f"https://127.0.0.1:{port}/login", verify=trusted)

    assert (page.status_code, "Sign in" in page.text) == (200, True)


@pytest.mark.skipif(not shutil.which("caddy"), reason="Caddy is not installed; .ci/run installs it")
def test_caddy_serves_https_with_the_configuration_of_the_page(
    served: Served, tmp_path: Path, certificate: dict[str, Path]
) -> None:
    port = free_port()
    own = f"https://127.0.0.1:{port} {{\n\ttls {certificate['cert']} {certificate['key']}"
    site = replaced(shown("caddyfile"), {"sms.example.com {": own, "127.0.0.1:8000": f"127.0.0.1:{served.port}"})
    (tmp_path / "Caddyfile").write_text(CADDY.format(port=port, site=site))

    with started(["caddy", "run", "--adapter", "caddyfile", "--config", "Caddyfile"], tmp_path):
        trusted = ssl.create_default_context(cafile=certificate["cert"])
        until(lambda: is_ready(f"https://127.0.0.1:{port}", trusted))
        page = httpx2.get(f"https://127.0.0.1:{port}/login", verify=trusted)

    assert (page.status_code, "Sign in" in page.text) == (200, True)


@pytest.mark.skipif(not shutil.which("systemd-analyze"), reason="systemd is not installed")
def test_systemd_knows_every_line_of_the_unit_of_the_page(tmp_path: Path) -> None:
    command = tmp_path / "messaging"
    command.touch(0o755)
    unit = tmp_path / "messaging.service"
    unit.write_text(replaced(shown("ini"), {"/opt/messaging/.venv/bin/messaging": str(command)}))

    done = subprocess.run(["systemd-analyze", "verify", unit], capture_output=True, text=True, check=False)

    assert (done.returncode, [line for line in done.stderr.splitlines() if "messaging.service" in line]) == (0, [])


def test_the_environment_of_own_servers_has_settings_that_the_service_takes(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    [_, lines] = re.findall(r"```ini\n(.*?)```", PAGE, re.S)
    given = dict(line.split("=", 1) for line in lines.splitlines())
    for name, value in given.items():
        monkeypatch.setenv(name, value)

    found = settings.load()

    assert given.keys() <= set(settings.names().values())
    assert (found.database_url, found.redis_url) == (given["DATABASE_URL"], given["REDIS_URL"])
    assert (found.public_url, found.host) == ("https://sms.example.com", "0.0.0.0")
