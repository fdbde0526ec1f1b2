"""The REST reference by route, generated from the operation documents."""

from collections.abc import Iterator
from typing import Any
from urllib.parse import urlencode

import orjson

from app.domain.messages.events import NewMessage
from app.operations.document import Operation
from app.operations.surface import Rest
from app.operations.variables import Variable
from app.rest.envelope import success

INTRODUCTION = "Every route of the API. [rest.md](rest.md) describes what applies to all of them; values are examples."

SAMPLES: dict[str, Any] = {
    "to": "+12025550143",
    "phone": "+12025550143",
    "phone_number": "+15002000001",
    "from_number": "+15002000001",
    "to_number": "+12025550143",
    "email": "ann@example.com",
    "first_name": "Ann",
    "last_name": "Lee",
    "message": "Your table is booked for 7 pm.",
    "body": "Your table is booked for 7 pm.",
    "description": "20% off all haircuts this Friday",
    "event": "new_message",
    "target_url": "https://example.com/hooks",
    "tag": "vip",
    "tags": ["vip"],
    "currency": "USD",
    "company_name": "Blue Door",
    "name": "Bookings",
    "key": "auto_...",
    "prefix": "auto_dpQ",
    "scopes": ["messages:send"],
    "events": ["new_message"],
    "bodies": ["Hi {first_name}, 20% off all haircuts this Friday. Reply STOP to opt out."],
    "source": "api",
    "from": "+15002000001",
    "sequence_name": "Welcome",
    "provider_message_id": "sbx_1",
    "dnd_sms": False,
    "unconfirmed": False,
    "score": 15,
    "rate": 0.01,
    "cost": 0.01,
    "balance": 999,
    "balance_after": 999,
    "credits_remaining": 999,
    "daily_avg_send": 20,
    "estimated_days_left": 49,
}
"""Example values, by the name of a parameter or field."""

SAMPLES_OF: dict[str, dict[str, Any]] = {
    "contacts": {"label": "Ann Lee (+12025550143)"},
    "messages": {"status": "delivered", "status_description": None, "error_code": None},
    "phone_numbers": {"label": "Bookings"},
    "send_message": {"message_id": "1"},
    "send_message_now": {"message_id": "1", "status": "sent"},
    "sequences": {"name": "Welcome", "label": "Welcome"},
    "tags": {"id": "vip", "label": "vip"},
    "transactions": {"type": "debit", "amount": -1, "description": "Message 1"},
}
"""Example values that differ from those in `SAMPLES`, by the root field of the operation."""

WHOLE: dict[str, Any] = {"event_samples": [NewMessage.example]}
"""Answers that their schema does not describe, by the root field of the operation."""

WHICH = ("contact_id", "phone")
"""Parameters of which a request has exactly one, where neither is required."""

SEARCHED = ("phone",)
"""Parameters that an example of a route without a body has in its query."""


def as_markdown(operations: list[Operation]) -> str:
    """Return the page: each route with its scope, parameters, an example request and the shape of its answer."""
    lines = ["# REST reference", "", INTRODUCTION, ""]
    for area in sorted({operation.area for operation in operations}):
        lines += [f"## {area}", ""]
        for operation in (each for each in operations if each.area == area):
            for rest in operation.rest:
                lines += [*_route(operation, rest), ""]
    return "\n".join(lines)


def _route(operation: Operation, rest: Rest) -> Iterator[str]:
    yield f"### {rest.method} {rest.path}"
    yield ""
    scopes = ", ".join(f"`{scope}`" for scope in sorted(operation.scopes))
    yield f"{operation.description} Scope: {scopes or 'none'}."
    yield ""
    if operation.variables:
        yield "| Parameter | In | Required | Meaning |"
        yield "|---|---|---|---|"
        for variable in operation.variables.values():
            meaning = variable.schema.get("description", "").replace("\n", " ").replace("|", "\\|")
            required = "yes" if _is_required(variable) else "no"
            yield f"| `{variable.header or variable.name}` | {_place(variable, rest)} | {required} | {meaning} |"
        yield ""
    yield from ("```sh reference", _curl(operation, rest), "```", "", "```json")
    value = WHOLE.get(operation.root_field) or _sample("", operation.returns, _samples(operation))
    answered = value[rest.pick] if rest.pick else value
    yield orjson.dumps(success(answered, rest.envelope), option=orjson.OPT_INDENT_2).decode()
    yield "```"


def _place(variable: Variable, rest: Rest) -> str:
    if variable.header:
        return "header"
    if variable.name in rest.placeholders:
        return "path"
    return "body" if rest.has_body else "query"


def _curl(operation: Operation, rest: Rest) -> str:
    samples = _samples(operation)
    values = {name: _sample(name, variable.schema, samples) for name, variable in operation.variables.items()}
    path = rest.path
    for name in rest.placeholders:
        path = path.replace(f"{{{name}}}", str(values[name]))
    method = "" if rest.method in ("GET", "POST") else f"-X {rest.method} "
    asked = {} if rest.has_body else {name: values[name] for name in SEARCHED if name in values}
    query = f"?{urlencode(asked)}" if asked else ""
    command = f'curl -s {method}"$URL{path}{query}" -H "X-API-Key: $KEY"'
    sent = {name: values[name] for name in _members(operation, rest)}
    return f"{command} --json '{orjson.dumps(sent).decode()}'" if rest.has_body else command


def _members(operation: Operation, rest: Rest) -> list[str]:
    """Return the members of the body of an example: those that are required, or else the first two.

    Of the parameters in `WHICH` it has the first, and of a change also the first field.
    """
    members = [each for each in operation.variables.values() if _place(each, rest) == "body"]
    required = [each.name for each in members if _is_required(each)]
    optional = [each.name for each in members if not _is_required(each)]
    if not set(WHICH) <= set(optional):
        return required or optional[:2]
    others = [name for name in optional if name not in WHICH]
    return [WHICH[0], *(required or others[:1])]


def _samples(operation: Operation) -> dict[str, Any]:
    return SAMPLES | SAMPLES_OF.get(operation.root_field, {})


def _is_required(variable: Variable) -> bool:
    return variable.required or variable.attested is not None


def _sample(name: str, schema: dict[str, Any], samples: dict[str, Any]) -> Any:
    """Return an example value of a schema."""
    if name in samples:
        return samples[name]
    if "anyOf" in schema:
        return _sample(name, schema["anyOf"][0], samples)
    stated = [schema.get("const"), schema.get("default"), *schema.get("enum", ())]
    known = next((each for each in stated if each is not None), None)
    return _by_type(schema, samples) if known is None else known


def _by_type(schema: dict[str, Any], samples: dict[str, Any]) -> Any:
    match schema.get("type"):
        case "object":
            return {field: _sample(field, each, samples) for field, each in schema.get("properties", {}).items()}
        case "array":
            return [_sample("", schema.get("items", {}), samples)]
        case "string":
            return "2026-11-21T09:30:00Z" if schema.get("format") == "date-time" else "text"
        case kind:
            return kind == "boolean" or 1
