"""Runs tools, and turns results and errors into the form of the protocol."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import orjson

from app.domain.kernel.errors import DomainError, InvalidInput, catalogue
from app.domain.kernel.unit_of_work import Actor
from app.graphql.execution.execute import Executor
from app.http.errors import translate
from app.http.identity import request_id
from app.mcp.catalogue import CompiledTool
from app.operations.arguments import Unacceptable, Unattested
from app.operations.json_schema import Json

ERROR_CODE = "messaging/error_code"
"""The member of `_meta` that has the code of an error, for programs."""


@dataclass(frozen=True, slots=True)
class Calls:
    """Runs tools; `docs_url` is the page of error codes."""

    executor: Executor
    docs_url: str

    async def run(self, tool: CompiledTool, arguments: Mapping[str, Any], actor: Actor) -> Json:
        """Run a tool; return its result, or its error as a result that the assistant reads."""
        try:
            variables = accept(tool, arguments)
            answer = await self.executor(tool.operation, variables, actor)
        except Exception as cause:
            return self.refuse(translate(cause))
        return told(tool.operation.answer(answer.value))

    def refuse(self, error: DomainError) -> Json:
        """Return an error in the words of the other surfaces. It is no structured content, which has a schema."""
        facts = {"error": str(error), "error_code": error.code, "docs": f"{self.docs_url}#{error.code}"}
        if error.field:
            facts["field"] = error.field
        if id := request_id():
            facts["request_id"] = id
        return {"content": [text(facts)], "isError": True, "_meta": {ERROR_CODE: error.code}, "resultType": "complete"}


def accept(tool: CompiledTool, arguments: Mapping[str, Any]) -> dict[str, Any]:
    """Return the variables of a call; null counts as left out.

    Raises `InvalidInput`, and before that the error of a missing attestation.
    """
    try:
        taken = tool.accept.values(arguments)
    except Unattested as fault:
        raise catalogue()[str(fault)]() from None
    except Unacceptable as fault:
        raise InvalidInput(reason=str(fault), field=fault.field) from None
    return {name: value for name, value in taken.items() if value is not None}


def told(result: Json) -> Json:
    """Return the result of a call: structured, and as a text for clients that read no structures."""
    return {"content": [text(result)], "structuredContent": result, "resultType": "complete"}


def text(value: Json) -> Json:
    """Return a JSON value as content."""
    return {"type": "text", "text": orjson.dumps(value).decode()}
