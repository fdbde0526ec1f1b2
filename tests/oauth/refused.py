"""Error responses of the token endpoint."""

import httpx2

from app.services import Services
from tests.factories.oauth import (
    OAUTH_GRANTS,
)


def refusal(answer: httpx2.Response) -> tuple[int, str]:
    """Return the status and code of a refusal; fail unless it has the form of RFC 6749, 5.2."""
    body = answer.json()
    assert set(body) == {"error", "error_description"}
    assert len(body["error_description"]) > 10
    assert answer.headers["content-type"] == "application/json"
    assert answer.headers["cache-control"] == "no-store"
    assert answer.headers["access-control-allow-origin"] == "*"
    return answer.status_code, body["error"]


async def revoked_because(services: Services) -> list[str]:
    return await OAUTH_GRANTS.where_not(revoked_at=None).read(services, "revoked_because")
