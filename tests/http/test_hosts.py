"""A service in development answers its own machine only, whatever name a request came under."""

from collections.abc import Callable
from typing import Any

import httpx2
import pytest

from app.settings.base_url import is_loopback_authority
from tests.factories.messages import bodies

OURS = ["127.0.0.1", "127.0.0.1:8000", "localhost:3000", "LOCALHOST", "[::1]:8000", "127.8.9.1:1"]
FOREIGN = [
    "sms.example.com",
    "127.0.0.1.example.com",
    "localhost.example.com:8000",
    "192.168.1.7:8000",
    "0.0.0.0:8000",
    "[::]:8000",
    "127.0.0.1@example.com",
    "example.com#127.0.0.1",
    "127.0.0.1/example.com",
    "127.0.0.1:x",
    "2130706433",
    "",
]

pytestmark = pytest.mark.anyio


@pytest.mark.parametrize("host", OURS)
async def test_a_request_for_this_machine_is_answered(http: httpx2.AsyncClient, host: str) -> None:
    assert (await http.get("/healthz", headers={"Host": host})).status_code == 200


@pytest.mark.parametrize("host", FOREIGN)
@pytest.mark.parametrize("header", ["Host", "X-Forwarded-Host"])
async def test_a_request_for_another_host_is_refused_with_the_settings_to_change(
    http: httpx2.AsyncClient, header: str, host: str
) -> None:
    refused = await http.get("/healthz", headers={header: host})

    assert not is_loopback_authority(host)
    assert (refused.status_code, refused.json()["error_code"]) == (400, "invalid_host")
    assert refused.json()["error"] == (
        f"This service runs in development and answers on loopback addresses only, not as {host}. "
        "To serve others, start it with MESSAGING_ENVIRONMENT=production and MESSAGING_BASE_URL."
    )


async def test_a_request_for_another_host_is_answered_without_the_log_of_an_error(
    http: httpx2.AsyncClient, capsys: pytest.CaptureFixture[str]
) -> None:
    refused = await http.get("/healthz", headers={"Host": "sms.example.com"})

    assert refused.status_code == 400
    assert capsys.readouterr().err == ""


async def test_a_send_for_another_host_does_nothing(
    api: httpx2.AsyncClient, services: Any, work: Callable[[], Any]
) -> None:
    body = {"to": "+12025550143", "message": "Hello", "consent_attested": True}

    refused = await api.post("/sms/send", json=body, headers={"Host": "sms.example.com"})

    assert refused.json()["error_code"] == "invalid_host"
    assert await bodies(services.database.pool) == []
