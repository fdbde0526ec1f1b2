"""A small service over a small schema: its documents, its records in memory, and its HTTP application."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import httpx2
from fastapi import FastAPI
from graphql import GraphQLSchema, build_schema, graphql
from starlette.requests import Request

from app.domain.kernel.errors import (
    Conflict,
    DomainError,
    InvalidInput,
    NotFound,
    RateLimited,
    Unauthenticated,
    Unavailable,
)
from app.domain.kernel.unit_of_work import Actor
from app.operations.document import Operation, load
from app.rest import envelope
from app.rest.routes import routes

DOCS = "https://sms.example/docs/errors"

SDL = """
directive @scope(requires: String!) on FIELD_DEFINITION
directive @refuses(codes: [String!]!) on FIELD_DEFINITION

scalar BigInt
scalar JSON

enum Stage {
  new_lead
  won
}

type Contact {
  id: BigInt!
  name: String!
  tags: [String!]!
  stage: Stage!
}

type PageInfo {
  has_next_page: Boolean!
  end_cursor: String
}

type ContactPage {
  total_count: Int!
  total_is_exact: Boolean!
  page_info: PageInfo!
  nodes: [Contact!]!
}

type Sent {
  message_id: ID!
  segments: Int!
}

type User {
  id: BigInt!
  email: String!
}

type Query {
  contacts(
    "Matches the name."
    search: String
    tags: [String!]
    stage: Stage
    limit: Int! = 2
    offset: Int! = 0
    after: String
  ): ContactPage! @scope(requires: "contacts:read")
  contact(id: BigInt!): Contact! @scope(requires: "contacts:read") @refuses(codes: ["not_found"])
  tags: [String!]! @scope(requires: "contacts:read")
  me: User!
  broken: String
  refused(code: String!): String
}

type Mutation {
  create_contact(name: String!, tags: [String!], stage: Stage! = new_lead): Contact!
    @scope(requires: "contacts:write")
    @refuses(codes: ["conflict"])
  update_contact(id: BigInt!, name: String, tags: [String!]): Contact!
    @scope(requires: "contacts:write")
    @refuses(codes: ["not_found"])
  delete_contact(id: BigInt!): Contact! @scope(requires: "contacts:write") @refuses(codes: ["not_found"])
  send_sms(to: String!, message: String!, key: String): Sent! @scope(requires: "messages:send")
  echo(value: JSON): JSON
  ping: String!
}
"""

CONTACTS = """
fragment Shown on Contact {
  id
  name
  tags
  stage
}

"List contacts."
query list_contacts(
  $search: String
  "Has one of these tags."
  $tags: [String!]
  $stage: Stage
  "How many to list."
  $limit: Int! = 2
  $offset: Int! = 0
  $after: String
) @rest(method: GET, path: "/contacts", envelope: page) {
  contacts(search: $search, tags: $tags, stage: $stage, limit: $limit, offset: $offset, after: $after) {
    total_count
    total_is_exact
    page_info {
      has_next_page
      end_cursor
    }
    nodes {
      ...Shown
    }
  }
}

"Create a contact."
mutation create_contact($name: String!, $tags: [String!], $stage: Stage! = new_lead)
@rest(method: POST, path: "/contacts") {
  create_contact(name: $name, tags: $tags, stage: $stage) {
    ...Shown
  }
}

"Show a contact."
query get_contact($id: BigInt!) @rest(method: GET, path: "/contacts/{id}") {
  contact(id: $id) {
    ...Shown
  }
}

"Change the fields of a contact that are sent."
mutation update_contact($id: BigInt!, $name: String, $tags: [String!]) @rest(method: PUT, path: "/contacts/{id}") {
  update_contact(id: $id, name: $name, tags: $tags) {
    ...Shown
  }
}

"Delete a contact."
mutation delete_contact($id: BigInt!) @rest(method: DELETE, path: "/contacts/{id}") {
  delete_contact(id: $id) {
    id
  }
}

"List the tags."
query list_tags @rest(method: GET, path: "/contacts/tags", envelope: bare) {
  tags
}
"""

SMS = """
"Send one message."
mutation send_sms($to: String!, $message: String!, $key: String @header(name: "Idempotency-Key"))
@rest(method: POST, path: "/sms/send") {
  send_sms(to: $to, message: $message, key: $key) {
    message_id
    segments
  }
}
"""

SYSTEM = """
"Show who asks."
query whoami
@rest(method: GET, path: "/auth/test", envelope: user)
@rest(method: GET, path: "/oauth/test", envelope: user) {
  me {
    id
    email
  }
}

"Fail."
query broken @rest(method: GET, path: "/broken") {
  broken
}

"Refuse."
query refused($code: String!) @rest(method: GET, path: "/refused/{code}") {
  refused(code: $code)
}

"Give back what was sent."
mutation echo($value: JSON) @rest(method: POST, path: "/echo") {
  echo(value: $value)
}

"Take nothing."
mutation ping @rest(method: POST, path: "/ping") {
  ping
}
"""

KEYS = {
    "svc_all": Actor(7, frozenset({"contacts:read", "contacts:write", "messages:send"})),
    "svc_none": Actor(8, frozenset()),
}


@cache
def schema() -> GraphQLSchema:
    """Return the schema of the toy."""
    return build_schema(SDL)


@cache
def compiled() -> list[Operation]:
    """Compile the documents of the toy."""
    with TemporaryDirectory() as folder:
        for name, text in {"contacts": CONTACTS, "sms": SMS, "system": SYSTEM}.items():
            (Path(folder) / f"{name}.graphql").write_text(text)
        return load(Path(folder), schema())


@dataclass(frozen=True)
class Done:
    """The result of an operation."""

    value: Any
    replayed: bool


@dataclass
class Toy:
    """Contacts and sent messages; its methods are the resolvers of the root fields."""

    names: dict[int, str] = field(default_factory=dict)
    sent: dict[str | None, str] = field(default_factory=dict)
    asked: list[tuple[str, Mapping[str, Any], Actor | None]] = field(default_factory=list)

    async def admit(self, scopes: frozenset[str], actor: Actor | None) -> None:
        """Allow every request."""

    async def count_size(self, size: int, actor: Actor | None) -> None:
        """Allow every size."""

    async def __call__(
        self, operation: Operation, variables: Mapping[str, Any], actor: Actor | None, *, as_text: bool
    ) -> Done:
        """Run an operation on graphql-core."""
        self.asked.append((operation.name, variables, actor))
        replayed = variables.get("key") in self.sent
        result = await graphql(schema(), operation.text, self, variable_values=dict(variables))
        if result.errors:
            raise result.errors[0].original_error or result.errors[0]
        return Done((result.data or {})[operation.root], replayed)

    def contacts(
        self, _info: Any, limit: int, offset: int, after: str | None = None, **_filters: Any
    ) -> dict[str, Any]:
        if after and not (after.isascii() and after.isdecimal()):
            raise InvalidInput(reason="after is no cursor.", field="after")
        ids = [id for id in self.names if id > int(after or 0)][offset:]
        shown = ids[:limit]
        return {
            "total_count": len(self.names),
            "total_is_exact": len(self.names) <= 5,
            "page_info": {"has_next_page": len(ids) > limit, "end_cursor": str(shown[-1]) if shown else None},
            "nodes": [self._shown(id) for id in shown],
        }

    def contact(self, _info: Any, id: int) -> dict[str, Any]:
        return self._shown(id)

    def tags(self, _info: Any) -> list[str]:
        return ["vip"]

    def me(self, _info: Any) -> dict[str, Any]:
        return {"id": 7, "email": "ann@example.com"}

    def broken(self, _info: Any) -> None:
        raise RuntimeError("the password is hunter2")

    def refused(self, _info: Any, code: str) -> None:
        errors: dict[str, DomainError] = {
            "rate_limited": RateLimited(seconds=17),
            "unavailable": Unavailable(),
            "conflict": Conflict(reason="There is one already."),
        }
        raise errors.get(code, NotFound(kind="code", id=code))

    def create_contact(self, _info: Any, name: str, **_rest: Any) -> dict[str, Any]:
        self.names[len(self.names) + 1] = name
        return self._shown(len(self.names))

    def update_contact(self, _info: Any, id: int, **changes: Any) -> dict[str, Any]:
        return self._shown(id) | {name: value for name, value in changes.items() if value is not None}

    def delete_contact(self, _info: Any, id: int) -> dict[str, Any]:
        return self._shown(id)

    def send_sms(self, _info: Any, key: str | None = None, **_message: Any) -> dict[str, Any]:
        return {"message_id": self.sent.setdefault(key, f"m{len(self.sent)}"), "segments": 1}

    def echo(self, _info: Any, value: Any = None) -> Any:
        return value

    def ping(self, _info: Any) -> str:
        return "pong"

    def _shown(self, id: int) -> dict[str, Any]:
        if id not in self.names:
            raise NotFound(kind="contact", id=id)
        return {"id": id, "name": self.names[id], "tags": [], "stage": "won"}


async def identify(request: Request) -> Actor | None:
    """Return the actor of a request's key."""
    sent = [request.headers.get("x-api-key"), request.headers.get("authorization")]
    keys = [key.removeprefix("Bearer ") for key in sent if key is not None]
    if any(key not in KEYS for key in keys):
        raise Unauthenticated(reason="The key is not known.")
    return KEYS[keys[0]] if keys else None


def serve(toy: Toy) -> FastAPI:
    """Return the application."""
    app = FastAPI(openapi_url=None)
    app.router.routes.extend(routes(compiled(), toy, identify))
    envelope.install(app, DOCS)
    return app


def client(app: FastAPI, key: str | None = "svc_all") -> httpx2.AsyncClient:
    """Return a client of the application, which raises its uncaught exceptions."""
    headers = {"X-API-Key": key} if key else {}
    return httpx2.AsyncClient(transport=httpx2.ASGITransport(app), base_url="https://sms.example", headers=headers)
