"""Generated files, and checks of the operation documents."""

import inspect
from collections.abc import Callable
from pathlib import Path

import orjson

from app.cli import compiled, documents, reference, tool_reference
from app.domain.kernel.errors import catalogue
from app.domain.kernel.events import EVENTS
from app.domain.quiet_hours.laws import LAWS
from app.domain.quiet_hours.rules import clock
from app.graphql.schema import sdl
from app.main import VERSION, rest_operations
from app.mcp.catalogue import catalogue as tools
from app.providers import carrier_errors
from app.providers.carriers.sandbox import numbers
from app.rest import openapi

ROOT = Path(__file__).parents[2]
SERVER = "http://127.0.0.1:8000"


def check_documents() -> str:
    """Compile everything that is loaded at start; return a summary."""
    counts = f"{len(rest_operations())} operations, {len(tools().tools)} tools, {len(documents.operations())} commands"
    return f"{counts}, {len(EVENTS)} events and {len(catalogue())} errors are valid."


def write_all(*, check: bool) -> list[str]:
    """Write the generated files that are out of date, or with `check` only return their names."""
    stale: list[str] = []
    for name, make in FILES.items():
        path, text = ROOT / name, make()
        if not path.exists() or path.read_text() != text:
            stale.append(name)
            if not check:
                path.parent.mkdir(parents=True, exist_ok=True)
                path.write_text(text)
    return stale


def _openapi() -> str:
    document = openapi.document(rest_operations(), VERSION, SERVER)
    return orjson.dumps(document, option=orjson.OPT_INDENT_2 | orjson.OPT_SORT_KEYS).decode() + "\n"


def _errors() -> str:
    lines = ["# Error codes", "", "Every error of every surface has one of these codes.", ""]
    for code, error in sorted(catalogue().items()):
        lines += [f"## {code}", "", f"Status {error.status}. {inspect.cleandoc(error.__doc__ or '')}", ""]
    return "\n".join(lines)


def _events() -> str:
    lines = ["# Events", "", "The events of an account that webhooks can receive.", ""]
    for name, event in sorted(EVENTS.items()):
        if not event.subscribable and event.topic is None:
            continue
        dotted = f" Dashboard webhooks call it `{event.topic}`." if event.topic else ""
        sample = orjson.dumps(event(**event.example).payload(), option=orjson.OPT_INDENT_2).decode()
        lines += [
            f"## {name}",
            "",
            f"{inspect.cleandoc(event.__doc__ or '')}{dotted}",
            "",
            f"```json\n{sample}\n```",
            "",
        ]
    return "\n".join(lines)


def _quiet_hours() -> str:
    lines = [
        "# Shipped rules of quiet hours",
        "",
        "The windows and caps of law that the service ships. They are engineering inputs, not legal advice:",
        "[quiet-hours.md](quiet-hours.md) says how they are used and changed.",
        "",
        "A rule is verified if the compared sources agree on it: the text of the law, as for Rhode Island, or",
        "several that cite it. Of the others, such as Kentucky, only tables of vendors were found, or the sources",
        "disagree; then the stricter hours are shipped. Legal holidays, on which some states allow no calls, are not",
        "covered.",
        "",
        "| Rule | Days | Window | Texts in 24 hours | Source | Compared on | Verified |",
        "|---|---|---|---|---|---|---|",
    ]
    for rule in LAWS:
        first, *others = rule.days
        days = f"{first} to {others[-1]}" if others else first
        window = f"{clock(rule.span.start)}-{clock(rule.span.end)}" if rule.span.start < rule.span.end else "closed"
        verified = "yes" if rule.is_verified else "no"
        lines.append(
            f"| `{rule.id}` | {days} | {window} | {rule.cap or ''} | {rule.source} | {rule.as_of} | {verified} |"
        )
    return "\n".join([*lines, ""])


FILES: dict[str, Callable[[], str]] = {
    "schema.graphql": sdl,
    "app/cli/operations.json": lambda: compiled.as_json(documents.operations()),
    "docs/openapi.json": _openapi,
    "docs/errors.md": _errors,
    "docs/rest-reference.md": lambda: reference.as_markdown(rest_operations()),
    "docs/events.md": _events,
    "docs/tools.json": lambda: tool_reference.as_json(tools()),
    "docs/tools.md": lambda: tool_reference.as_markdown(tools()),
    "docs/quiet-hours-rules.md": _quiet_hours,
    "docs/carrier-errors.md": carrier_errors.as_markdown,
    "docs/sandbox.md": numbers.as_markdown,
}
