"""The OpenAPI document of the service."""

from typing import Any

import orjson
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from app.http.routing import CountedRoute


def routes(document: dict[str, Any]) -> list[Route]:
    """Return `/openapi.json`."""
    described = orjson.dumps(document)

    async def openapi(_: Request) -> Response:
        return Response(described, media_type="application/json")

    return [CountedRoute("/openapi.json", openapi)]
