"""The OpenAPI 3.1 document of the endpoints generated from operation documents."""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping

from app.domain.kernel.errors import (
    BodyTooLarge,
    DomainError,
    InsufficientScope,
    InvalidInput,
    InvalidJson,
    NotFound,
    QueryTimeout,
    RateLimited,
    Unauthenticated,
    Unavailable,
    UnsupportedMediaType,
    catalogue,
)
from app.operations.document import Operation
from app.operations.errors import InvalidDocument
from app.operations.forms import form_schema
from app.operations.json_schema import Json, obj
from app.operations.named_types import Types, define, refer
from app.operations.surface import Rest
from app.operations.variables import Variable
from app.rest.arguments import Places

Catalogue = Mapping[str, type[DomainError]]

NAMED_CODES = 5
"""The most codes of a refusal that is named after them."""

ALWAYS = (Unauthenticated, RateLimited, DomainError, Unavailable, QueryTimeout)
"""The errors of every endpoint."""

TITLE = "Messaging API"

HEADERS: Json = {
    "Idempotent-Replayed": {
        "description": "The answer of an earlier request with the same Idempotency-Key; nothing was done again.",
        "schema": {"const": "true"},
    },
    "Link": {"description": "The next and the previous page (RFC 8288).", "schema": {"type": "string"}},
    "RateLimit": {
        "description": "The remaining requests of each limit, and the seconds until it is reset.",
        "schema": {"type": "string"},
    },
    "RateLimit-Policy": {
        "description": "The limits that the request counts against.",
        "schema": {"type": "string"},
    },
    "Retry-After": {"description": "Seconds to wait.", "schema": {"type": "integer"}},
    "WWW-Authenticate": {
        "description": "The way to send a key, or the scope that is missing (RFC 6750).",
        "schema": {"type": "string"},
    },
    "X-Copy-Model": {"description": "The language model that wrote the texts.", "schema": {"type": "string"}},
    "X-Copy-Notice": {
        "description": "The reason why no AI wrote the texts: none is connected, or it failed.",
        "schema": {"type": "string"},
    },
    "X-Copy-Provider": {
        "description": "The writer of the texts: template without an AI, else openai or anthropic.",
        "schema": {"type": "string"},
    },
    "X-Request-Id": {"description": "Names the request in our logs.", "schema": {"type": "string"}},
    "X-Total-Count": {"description": "Number of items on all pages.", "schema": {"type": "integer"}},
    "X-Total-Is-Exact": {
        "description": "false where there are more than X-Total-Count says: long lists are counted up to 10000, "
        "a search for contacts up to 1000.",
        "schema": {"enum": ["true", "false"]},
    },
}
LIMITS = ("RateLimit", "RateLimit-Policy")
"""The headers of every answer to a good key (draft-ietf-httpapi-ratelimit-headers)."""

REFUSING = {
    401: ("WWW-Authenticate",),
    403: ("WWW-Authenticate",),
    429: (*LIMITS, "Retry-After"),
    503: ("Retry-After",),
}
"""The headers of some statuses."""

RESPONSES = "#/components/responses/"
SCHEMAS = "#/components/schemas/"

ERROR = obj(
    {
        "success": {"const": False},
        "error": {"type": "string", "description": "The error as a sentence."},
        "error_code": {"type": "string", "description": "The code of the error."},
        "field": {"type": "string", "description": "The parameter or field at fault, where one is."},
        "docs": {"type": "string", "format": "uri", "description": "The address of the explanation of the code."},
        "request_id": {"type": "string", "description": "Names the request in our logs."},
    },
    ("success", "error", "error_code", "docs", "request_id"),
)

SECURITY = {
    "bearer": {"type": "http", "scheme": "bearer", "description": "An API key, or an OAuth access token."},
    "api_key": {"type": "apiKey", "in": "header", "name": "X-API-Key", "description": "An API key."},
}


def document(operations: Iterable[Operation], version: str, server_url: str) -> Json:
    """Describe every endpoint; raise `InvalidDocument` if an operation declares an unknown error code."""
    offered = [operation for operation in operations if operation.rest]
    responses = _Responses(catalogue())
    paths: defaultdict[str, Json] = defaultdict(dict)
    for operation in offered:
        for number, rest in enumerate(operation.rest, 1):
            paths[rest.path][rest.method.lower()] = _endpoint(operation, rest, number, responses)
    return {
        "openapi": "3.1.0",
        "info": {"title": TITLE, "version": version},
        "servers": [{"url": server_url}],
        "tags": [{"name": area} for area in sorted({operation.area for operation in offered})],
        "paths": dict(sorted(paths.items())),
        "components": {
            "headers": HEADERS,
            "responses": dict(sorted(responses.components.items())),
            "schemas": _schemas(offered, [paths, responses.components]),
            "securitySchemes": SECURITY,
        },
    }


def _schemas(operations: Iterable[Operation], described: list[Json]) -> Json:
    """Return the named types that a description refers to; raise `InvalidDocument` if two have one name."""
    known: dict[str, Json] = {"Error": ERROR}
    for operation in operations:
        for name in operation.types:
            schema = define(name, operation.types, SCHEMAS)
            if known.setdefault(name, schema) != schema:
                raise InvalidDocument(f"{operation.name} gives the name {name} to another type than others do")
    used: dict[str, Json] = {}
    waiting = [*_references(described), "Error"]
    while waiting:
        if (name := waiting.pop()) not in used:
            used[name] = known[name]
            waiting += _references(known[name])
    return dict(sorted(used.items()))


def _references(value: object) -> Iterator[str]:
    """Yield the names of the schemas that a part of the document refers to."""
    if isinstance(value, dict) and (reference := value.get("$ref", "")).startswith(SCHEMAS):
        yield reference.removeprefix(SCHEMAS)
    for inner in value.values() if isinstance(value, dict) else value if isinstance(value, list) else ():
        yield from _references(inner)


def _endpoint(operation: Operation, rest: Rest, number: int, responses: "_Responses") -> Json:
    places = Places(operation, rest)
    scopes = sorted(operation.scopes)
    endpoint: Json = {
        "operationId": operation.name if number == 1 else f"{operation.name}_{number}",
        "summary": operation.description,
        "tags": [operation.area],
        "parameters": _parameters(places),
        "responses": responses.of(operation, rest, places),
    }
    if places.body:
        endpoint["requestBody"] = _body(places.body, operation.types, forms=places.forms)
    if scopes:
        endpoint["description"] = f"Needs {' and '.join(f'`{scope}`' for scope in scopes)}."
        endpoint["security"] = [{scheme: scopes} for scheme in SECURITY]
    return endpoint


def _parameters(places: Places) -> list[Json]:
    path = [_parameter("path", variable.name, variable) | {"required": True} for variable in places.path]
    query = [_parameter("query", variable.name, variable) for variable in places.query]
    headers = [_parameter("header", header, variable) for header, variable in places.headers.items()]
    return path + query + headers


def _parameter(place: str, name: str, variable: Variable) -> Json:
    notes = {note: variable.schema[note] for note in ("default", "description") if note in variable.schema}
    schema = (variable.many or variable.single) | notes
    return {"name": name, "in": place, "required": variable.required, "schema": refer(schema, variable.types, SCHEMAS)}


def _body(variables: Iterable[Variable], types: Types, *, forms: bool) -> Json:
    variables = list(variables)
    required = [variable.name for variable in variables if variable.required or variable.attested]
    schema = obj({variable.name: _member(variable, forms=forms) for variable in variables}, required)
    return {"required": bool(required), "content": {"application/json": {"schema": refer(schema, types, SCHEMAS)}}}


def _member(variable: Variable, *, forms: bool) -> Json:
    """Describe a member of a body; an attestation allows only true."""
    schema = form_schema(variable) if forms else variable.schema
    if not variable.attested:
        return schema
    return {"type": "boolean", "const": True, "description": schema.get("description", "")}


def _answer(operation: Operation, rest: Rest) -> Json:
    headers = ["X-Request-Id", *LIMITS]
    if rest.envelope == "page":
        headers += ["X-Total-Count", "X-Total-Is-Exact", "Link"]
    headers += rest.shown
    if any((variable.header or "").lower() == "idempotency-key" for variable in operation.variables.values()):
        headers.append("Idempotent-Replayed")
    returns = operation.returns["properties"][rest.pick] if rest.pick else operation.returns
    return _response("Done.", headers, refer(_enveloped(returns, rest.envelope), operation.types, SCHEMAS))


def _response(description: str, headers: Iterable[str], schema: Json) -> Json:
    shown = {name: {"$ref": f"#/components/headers/{name}"} for name in headers}
    return {"description": description, "headers": shown, "content": {"application/json": {"schema": schema}}}


def _enveloped(returns: Json, envelope: str) -> Json:
    match envelope:
        case "bare":
            return returns
        case "page":
            return _enveloped(returns["properties"]["nodes"], "data")
        case _:
            return obj({"success": {"const": True}, envelope: returns}, ("success", envelope))


class _Responses:
    """The responses of all endpoints as components: each is described once.

    An answer is named after its operation. A refusal is named after its codes, of which `invalid_input` and
    `insufficient_scope` are left out beside others; one with many codes belongs to one operation, and has its name.
    """

    def __init__(self, known: Catalogue) -> None:
        self.components: dict[str, Json] = {}
        self._known = known

    def of(self, operation: Operation, rest: Rest, places: Places) -> Json:
        """Return references to the responses of an endpoint, by status; raise `InvalidDocument` for an unknown code."""
        by_status: defaultdict[int, dict[str, type[DomainError]]] = defaultdict(dict)
        for error in (*_common(operation, places), *_declared(operation, self._known)):
            by_status[error.status][error.code] = error
        found = {"200": self._share(f"{operation.name}_200", _answer(operation, rest))}
        for status, errors in sorted(by_status.items()):
            found[str(status)] = self._share(_name(operation, status, errors), _refusal(status, errors))
        return found

    def _share(self, name: str, response: Json) -> Json:
        same = next((known for known, other in self.components.items() if other == response), None)
        own = _free(_pascal(name), self.components)
        self.components.setdefault(same or own, response)
        return {"$ref": f"{RESPONSES}{same or own}"}


def _name(operation: Operation, status: int, codes: Mapping[str, object]) -> str:
    if len(codes) == 1 or codes.keys() <= {error.code for error in ALWAYS}:
        return next(iter(codes))
    special = [code for code in codes if code not in {InvalidInput.code, InsufficientScope.code}]
    return "_".join([*sorted(special), str(status)]) if len(codes) <= NAMED_CODES else f"{operation.name}_{status}"


def _free(name: str, taken: Json) -> str:
    """Return an unused name: an operation with two routes may have two envelopes."""
    return name if name not in taken else _free(f"{name}_2", taken)


def _common(operation: Operation, places: Places) -> list[type[DomainError]]:
    errors: list[type[DomainError]] = list(ALWAYS)
    if operation.scopes:
        errors.append(InsufficientScope)
    if operation.variables:
        errors.append(InvalidInput)
    if places.body:
        errors += [InvalidJson, BodyTooLarge, UnsupportedMediaType]
    if places.path:
        errors.append(NotFound)
    return errors


def _declared(operation: Operation, known: Catalogue) -> list[type[DomainError]]:
    if unknown := [code for code in operation.refusals if code not in known]:
        raise InvalidDocument(f"{operation.name} refuses with {unknown[0]}, which no error has")
    return [known[code] for code in operation.refusals]


def _pascal(name: str) -> str:
    return name.title().replace("_", "")


def _refusal(status: int, errors: Catalogue) -> Json:
    codes = {"properties": {"error_code": {"enum": sorted(errors)}}}
    description = "\n\n".join(f"`{code}`: {_first_line(error)}" for code, error in sorted(errors.items()))
    schema = {"allOf": [{"$ref": f"{SCHEMAS}Error"}, codes]}
    return _response(description, ["X-Request-Id", *REFUSING.get(status, ())], schema)


def _first_line(error: type[DomainError]) -> str:
    return (error.__doc__ or "").partition("\n")[0]
