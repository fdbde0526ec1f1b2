"""Errors of GraphQL requests and operations, and their responses."""

import re
from typing import Any

from graphql import FieldNode, GraphQLError, GraphQLInputObjectType, get_named_type

from app.domain.kernel.errors import DomainError, InvalidInput
from app.graphql.execution.literals import FIELD
from app.graphql.schema import CORE
from app.http.errors import translate
from app.telemetry.metrics import ERRORS

_VARIABLE = re.compile(r"Variable '\$(\w+)' has invalid value(?: at ([^:]+))?:")
_ROOTS = {
    name: field
    for kind in (CORE.query_type, CORE.mutation_type, CORE.subscription_type)
    if kind
    for name, field in kind.fields.items()
}


class InvalidGraphql(DomainError):
    """The request is not a GraphQL operation of this contract: it does not parse, or does not fit `schema.graphql`."""

    code = "invalid_graphql"
    status = 400
    message = "{reason}"


class QueryTooComplex(InvalidGraphql):
    """The document is too long or too deep, or requests too many values; the text names the limit."""

    code = "query_too_complex"


class NotAcceptable(DomainError):
    """The `Accept` header names no media type that the endpoint can answer with."""

    code = "not_acceptable"
    status = 406
    message = "This endpoint answers with {types} only. Accept one of them."


def refusal(error: GraphQLError) -> DomainError:
    """Return the error of the catalogue for an error of an operation.

    A `DomainError` is returned unchanged, and an error without a cause is one of the request. All other causes are
    logged and answered as `internal_error`, without details.
    """
    cause = error.original_error
    if cause is None or isinstance(cause, GraphQLError):
        refused: DomainError = InvalidInput(reason=error.message, field=_named_in(error))
    else:
        refused = translate(cause)
    ERRORS.labels(refused.code).inc()
    return refused


def find_cause(error: GraphQLError) -> DomainError:
    """Return the error of the catalogue for an error of a request: that of `refusal`, or `InvalidGraphql`."""
    cause = error.original_error
    if not error.path and (cause is None or isinstance(cause, GraphQLError)):
        return InvalidGraphql(reason=error.message, field=_named_in(error))
    refused = refusal(error)
    refused.field = _locate(error, refused.field)
    return refused


def extensions(error: DomainError, docs_url: str, request_id: str | None) -> dict[str, Any]:
    """Return the extensions of a GraphQL error."""
    facts = {"code": error.code, "status": error.status, "docs": f"{docs_url}#{error.code}"}
    if error.field:
        facts["field"] = error.field
    return facts | {"request_id": request_id} if request_id else facts


def _named_in(error: GraphQLError) -> str | None:
    """Return the path of an invalid value of a literal or of a variable."""
    if error.extensions and FIELD in error.extensions:
        return error.extensions[FIELD]
    found = _VARIABLE.match(error.message)
    return found[1] + (found[2] or "") if found else None


def _locate(error: GraphQLError, field: str | None) -> str | None:
    """Return the path of a field at fault from the arguments of the root field, such as `changes.email`."""
    node = error.nodes[0] if error.nodes else None
    if field is None or not isinstance(node, FieldNode):
        return field
    described = _ROOTS.get(node.name.value)
    name = re.split(r"[.\[]", field, maxsplit=1)[0]
    if described is None or name in described.args:
        return field
    inputs = {key: get_named_type(argument.type) for key, argument in described.args.items()}
    holders = [key for key, kind in inputs.items() if isinstance(kind, GraphQLInputObjectType) and name in kind.fields]
    return f"{holders[0]}.{field}" if len(holders) == 1 else field
