"""The reference of the tools, generated from their operation documents."""

from collections.abc import Iterator

import orjson

from app.mcp.catalogue import Catalogue, CompiledTool
from app.operations.json_schema import Json
from app.operations.surface import CATEGORIES

INTRODUCTION = (
    "The tools of `/mcp`. [assistants.md](assistants.md) describes how an assistant connects. A parameter marked with "
    "\\* is required. Every result is an object; the schemas of arguments and results are in [tools.json](tools.json)."
)


def as_json(catalogue: Catalogue) -> str:
    """Return the list of all tools, as `tools/list` answers it."""
    entries = [tool.entry for tool in catalogue.tools]
    return orjson.dumps(entries, option=orjson.OPT_INDENT_2).decode() + "\n"


def as_markdown(catalogue: Catalogue) -> str:
    """Return the page: each tool with its scopes, hints and parameters."""
    lines = ["# Tools", "", INTRODUCTION, ""]
    for category in CATEGORIES:
        tools = [tool for tool in catalogue.tools if tool.announcement.category == category]
        if tools:
            lines += [f"## {category}", ""]
        for tool in tools:
            lines += [*_describe(tool), ""]
    return "\n".join(lines)


def _describe(tool: CompiledTool) -> Iterator[str]:
    yield f"### {tool.name}"
    yield ""
    yield " ".join(tool.operation.description.split())
    yield ""
    scopes = ", ".join(f"`{scope}`" for scope in sorted(tool.scopes))
    yield f"Scopes: {scopes}. {_hints(tool)}{_aliases(tool)}"
    schema = tool.entry["inputSchema"]
    if schema["properties"]:
        yield ""
        yield "| Parameter | Type | |"
        yield "|---|---|---|"
    yield from _rows(schema, schema.get("$defs", {}))


def _rows(schema: Json, definitions: Json, prefix: str = "") -> Iterator[str]:
    """Yield the rows of the parameters, those of objects below them, and of a type that contains itself once."""
    for name, each in schema["properties"].items():
        mark = "\\*" if name in schema.get("required", ()) else ""
        yield f"| `{prefix}{name}`{mark} | {_type(each)} | {_words(each)} |"
        element = each["items"] if each.get("type") == "array" else each
        defined = element.get("$ref", "").rpartition("/")[2]
        kind = definitions.get(defined, element)
        if "properties" in kind:
            others = {key: value for key, value in definitions.items() if key != defined}
            yield from _rows(kind, others, f"{prefix}{name}{'[]' if element is not each else ''}.")


def _hints(tool: CompiledTool) -> str:
    if tool.reads_only:
        return "Reads only."
    hints = tool.entry["annotations"]
    told = [
        "cannot be undone" if hints["destructiveHint"] else "",
        "may be repeated" if hints["idempotentHint"] else "",
        "reaches other people or systems" if hints["openWorldHint"] else "",
    ]
    return f"Changes data: {', '.join(filter(None, told))}." if any(told) else "Changes data."


def _aliases(tool: CompiledTool) -> str:
    names = ", ".join(f"`{name}`" for name in tool.announcement.aliases)
    return f" Also called {names}." if names else ""


def _type(schema: Json) -> str:
    if "enum" in schema:
        return " ".join(f"`{value}`" for value in schema["enum"])
    return f"array of {_type(schema['items'])}" if schema["type"] == "array" else str(schema["type"])


def _words(schema: Json) -> str:
    described = " ".join(str(schema.get("description", "")).partition("\n- ")[0].split())
    default = f" Default: `{orjson.dumps(schema['default']).decode()}`." if "default" in schema else ""
    return f"{described}{default}".replace("|", "\\|")
