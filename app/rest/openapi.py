"""The OpenAPI 3.1 document of the endpoints that are made from operation documents."""

from collections import defaultdict
from collections.abc import Iterable, Mapping

from app.domain.kernel.errors import (
    BodyTooLarge,
    DomainError,
    InsufficientScope,
    InvalidInput,
    InvalidJson,
    NotFound,
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
from app.operations.surface import Rest
from app.operations.variables import Variable
from app.rest.arguments import Places

Catalogue = Mapping[str, type[DomainError]]

ALWAYS = (Unauthenticated, RateLimited, DomainError, Unavailable)
"""What every endpoint may refuse with."""

TITLE = "Messaging API"

REQUEST_ID = {"X-Request-Id": {"description": "Names the request in our logs.", "schema": {"type": "string"}}}
LIMITS = {
    "RateLimit-Policy": {"description": "The limits that the request counts against.", "schema": {"type": "string"}},
    "RateLimit": {"description": "What is left of them, and in how many seconds all is.", "schema": {"type": "string"}},
}
"""The headers of every answer to a good key (draft-ietf-httpapi-ratelimit-headers)."""

REPLAYED = {
    "Idempotent-Replayed": {
        "description": "The answer of an earlier request with the same Idempotency-Key; nothing was done again.",
        "schema": {"const": "true"},
    }
}
PAGING = {
    "X-Total-Count": {"description": "How many there are on all pages.", "schema": {"type": "integer"}},
    "X-Total-Is-Exact": {
        "description": "false where there are more than X-Total-Count says: long lists are counted up to 10000.",
        "schema": {"enum": ["true", "false"]},
    },
    "Link": {"description": "The next and the previous page (RFC 8288).", "schema": {"type": "string"}},
}

REFUSING = {
    401: {"WWW-Authenticate": {"description": "How to send a key (RFC 6750).", "schema": {"type": "string"}}},
    403: {
        "WWW-Authenticate": {
            "description": "Which scope is missing, where one is (RFC 6750).",
            "schema": {"type": "string"},
        }
    },
    429: LIMITS | {"Retry-After": {"description": "Seconds to wait.", "schema": {"type": "integer"}}},
    503: {"Retry-After": {"description": "Seconds to wait.", "schema": {"type": "integer"}}},
}
"""The headers of some statuses."""

ERROR = obj(
    {
        "success": {"const": False},
        "error": {"type": "string", "description": "What is wrong, for people."},
        "error_code": {"type": "string", "description": "What is wrong, for programs."},
        "docs": {"type": "string", "format": "uri", "description": "Where the code is explained."},
        "request_id": {"type": "string", "description": "Names the request in our logs."},
    },
    ("success", "error", "error_code", "docs", "request_id"),
)

SECURITY = {
    "bearer": {"type": "http", "scheme": "bearer", "description": "An API key, or an OAuth access token."},
    "api_key": {"type": "apiKey", "in": "header", "name": "X-API-Key", "description": "An API key."},
}


def document(operations: Iterable[Operation], version: str, server_url: str) -> Json:
    """Describe every endpoint; raise `InvalidDocument` where an operation refuses with a code that no error bears."""
    offered = [operation for operation in operations if operation.rest]
    known = catalogue()
    paths: defaultdict[str, Json] = defaultdict(dict)
    for operation in offered:
        for number, rest in enumerate(operation.rest, 1):
            paths[rest.path][rest.method.lower()] = _endpoint(operation, rest, number, known)
    return {
        "openapi": "3.1.0",
        "info": {"title": TITLE, "version": version},
        "servers": [{"url": server_url}],
        "tags": [{"name": area} for area in sorted({operation.area for operation in offered})],
        "paths": dict(sorted(paths.items())),
        "components": {"schemas": {"Error": ERROR}, "securitySchemes": SECURITY},
    }


def _endpoint(operation: Operation, rest: Rest, number: int, known: Catalogue) -> Json:
    places = Places(operation, rest)
    scopes = sorted(operation.scopes)
    endpoint: Json = {
        "operationId": operation.name if number == 1 else f"{operation.name}_{number}",
        "summary": operation.description,
        "tags": [operation.area],
        "parameters": _parameters(places),
        "responses": {"200": _answer(operation, rest)} | _refusals(operation, places, known),
    }
    if places.body:
        endpoint["requestBody"] = _body(places.body, forms=places.forms)
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
    return {"name": name, "in": place, "required": variable.required, "schema": schema}


def _body(variables: Iterable[Variable], *, forms: bool) -> Json:
    variables = list(variables)
    required = [variable.name for variable in variables if variable.required or variable.attested]
    schema = obj({variable.name: _member(variable, forms=forms) for variable in variables}, required)
    return {"required": bool(required), "content": {"application/json": {"schema": schema}}}


def _member(variable: Variable, *, forms: bool) -> Json:
    """Describe a member of a body; one to attest takes true alone."""
    schema = form_schema(variable) if forms else variable.schema
    if not variable.attested:
        return schema
    return {"type": "boolean", "const": True, "description": schema.get("description", "")}


def _answer(operation: Operation, rest: Rest) -> Json:
    headers: Json = REQUEST_ID | LIMITS
    if rest.envelope == "page":
        headers |= PAGING
    if any((variable.header or "").lower() == "idempotency-key" for variable in operation.variables.values()):
        headers |= REPLAYED
    returns = operation.returns["properties"][rest.pick] if rest.pick else operation.returns
    schema = _enveloped(returns, rest.envelope)
    return {"description": "Done.", "headers": headers, "content": {"application/json": {"schema": schema}}}


def _enveloped(returns: Json, envelope: str) -> Json:
    match envelope:
        case "bare":
            return returns
        case "page":
            return _enveloped(returns["properties"]["nodes"], "data")
        case _:
            return obj({"success": {"const": True}, envelope: returns}, ("success", envelope))


def _refusals(operation: Operation, places: Places, known: Catalogue) -> Json:
    by_status: defaultdict[int, dict[str, type[DomainError]]] = defaultdict(dict)
    for error in (*_common(operation, places), *_declared(operation, known)):
        by_status[error.status][error.code] = error
    return {str(status): _refusal(status, errors) for status, errors in sorted(by_status.items())}


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
        raise InvalidDocument(f"{operation.name} refuses with {unknown[0]}, which no error bears")
    return [known[code] for code in operation.refusals]


def _refusal(status: int, errors: Catalogue) -> Json:
    codes = {"properties": {"error_code": {"enum": sorted(errors)}}}
    return {
        "description": "\n\n".join(f"`{code}`: {_first_line(error)}" for code, error in sorted(errors.items())),
        "headers": REQUEST_ID | REFUSING.get(status, {}),
        "content": {"application/json": {"schema": {"allOf": [{"$ref": "#/components/schemas/Error"}, codes]}}},
    }


def _first_line(error: type[DomainError]) -> str:
    return (error.__doc__ or "").partition("\n")[0]
