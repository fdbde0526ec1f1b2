"""Error forms of each surface, and one rule for pages of other origins."""

import httpx2
import pytest

from app.domain.kernel.errors import InvalidInput
from app.http.sessions import Origin
from tests.graphql.calls import post
from tests.rest.answers import refusal

SECURE, PLAIN = Origin("https://sms.example.com", True), Origin("http://127.0.0.1:8000", False)


@pytest.mark.anyio
async def test_each_surface_names_its_own_parameter(api: httpx2.AsyncClient):
    rest = await api.get("/contacts?limit=201")
    graphql = await post(api, {"query": "{ contacts(first: 201) { total_count } }"})

    assert refusal(rest) == (422, InvalidInput.code, "limit must be from 1 to 200.")
    assert graphql.json()["errors"][0]["message"] == "first must be from 1 to 200."


@pytest.mark.parametrize(
    ("own", "origin", "host", "is_own"),
    [
        (SECURE, "https://sms.example.com", "sms.example.com", True),
        (SECURE, "https://sms.example.com:443", "sms.example.com", True),
        (SECURE, "https://texts.example.org", "texts.example.org", True),
        (SECURE, "http://sms.example.com", "sms.example.com", False),
        (SECURE, "https://sms.example.com:8443", "sms.example.com", False),
        (SECURE, "https://evil.example", "sms.example.com", False),
        (SECURE, "null", "sms.example.com", False),
        (SECURE, "https://sms.example.com\t", "sms.example.com", False),
        (PLAIN, "http://127.0.0.1:8000", "127.0.0.1:8000", True),
        (PLAIN, "http://localhost:8000", "localhost:8000", True),
        (PLAIN, "http://127.0.0.1:3000", "127.0.0.1:8000", False),
        (PLAIN, "https://127.0.0.1:8000", "127.0.0.1:8000", False),
    ],
)
def test_an_origin_is_ours_by_its_scheme_its_host_and_its_port(own: Origin, origin: str, host: str, is_own: bool):
    assert own.sent({"origin": origin, "host": host}) is is_own
