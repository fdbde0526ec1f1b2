"""Calls of the GraphQL endpoint."""

from typing import Any

import httpx2
from starlette.applications import Starlette
from starlette.requests import Request

from app.domain.kernel.unit_of_work import Actor
from app.graphql.execution.documents import Documents, Prepared
from app.graphql.execution.execute import Executor
from app.graphql.transport import endpoint
from app.graphql.transport.requests import GRAPHQL
from app.services import Services

URL = "http://127.0.0.1:8000/graphql"
DOCS = "http://127.0.0.1:8000/docs/errors"
BROWSER = "text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8"
TYPENAME = {"query": "{ __typename }"}

SEND = """
mutation ($key: String) {
  send_message(to: "+12025550143", body: "Hi", consent_attested: true, idempotency_key: $key) {
    message_id
    credits_remaining
  }
}
"""

DOCUMENTS = Documents()


def prepared(text: str) -> Prepared:
    """Read a document once, as the service does, however many actors run it."""
    return DOCUMENTS.find(text, None) or DOCUMENTS.read(text)


async def post(client: httpx2.AsyncClient, body: Any, accept: str = GRAPHQL, **headers: str) -> httpx2.Response:
    return await client.post(URL, json=body, headers={"Accept": accept, **headers})


async def get(client: httpx2.AsyncClient, accept: str = GRAPHQL, **parameters: str) -> httpx2.Response:
    return await client.get(URL, params=parameters, headers={"Accept": accept})


def codes(response: httpx2.Response) -> list[str]:
    return [error["extensions"]["code"] for error in response.json()["errors"]]


def serving(services: Services, actor: Actor | None = None) -> httpx2.AsyncClient:
    """Return a client of an application with only the endpoint, on which every request has an actor."""

    async def identify(_: Request) -> Actor | None:
        return actor

    routes = endpoint.routes(Executor(services), identify, DOCS)
    return httpx2.AsyncClient(transport=httpx2.ASGITransport(Starlette(routes=routes)), base_url=URL)
