"""Runs tools, and turns results and errors into the form of the protocol."""

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any

import orjson
from mcp_types import InputRequiredResult

from app.domain.kernel.errors import DomainError, InvalidInput, catalogue
from app.domain.kernel.unit_of_work import Actor
from app.graphql.execution.execute import Executor
from app.http.errors import translate
from app.http.identity import request_id
from app.mcp.catalogue import REFUSED_BY, CompiledTool
from app.mcp.confirmations import (
    ARGUMENT,
    ConfirmationDeclined,
    ConfirmationRequired,
    Confirmations,
    once,
)
from app.mcp.selection import Caller
from app.mcp.sizes import LIMIT, fit
from app.operations.arguments import Unacceptable, Unattested
from app.operations.json_schema import Json

ERROR_CODE = "messaging/error_code"
"""The member of `_meta` that has the code of an error, for programs."""

IDEMPOTENCY_KEY = "idempotency_key"


@dataclass(frozen=True, slots=True)
class Question:
    """A question to the person at the client. `confirmation` proves that it was asked."""

    text: str
    confirmation: str


class Asked(Exception):
    """The client asks its user, and sends the call again with the answer; `result` is the question that it gets."""

    def __init__(self, result: InputRequiredResult) -> None:
        super().__init__()
        self.result = result


Ask = Callable[[Question], Awaitable[bool | None]]
"""Returns the answer of the person at the client, or None if the client cannot ask; raises `Asked`."""


@dataclass(frozen=True, slots=True)
class Call:
    """One call of a tool. `answer` is a sealed confirmation and the person's answer, of an earlier question."""

    tool: CompiledTool
    arguments: Mapping[str, Any]
    caller: Caller
    ask: Ask
    answer: tuple[str, bool] | None = None

    @property
    def actor(self) -> Actor:
        """Return the actor."""
        return self.caller.actor


@dataclass(frozen=True, slots=True)
class Calls:
    """Runs tools; `docs_url` is the page of error codes."""

    executor: Executor
    docs_url: str
    confirmations: Confirmations

    async def run(self, call: Call) -> Any:
        """Run a tool; return its result, or its error as a result that the assistant reads."""
        try:
            return await self._run(call)
        except Asked as asked:
            return asked.result
        except Refused as refused:
            return refused.result
        except Exception as cause:
            return self.refuse(translate(cause))

    async def _run(self, call: Call) -> Json:
        variables = accept(call.tool, call.arguments)
        if call.caller.selection.confirms(call.tool):
            variables = await self._confirm(call, variables)
            call = replace(call, caller=replace(call.caller, actor=await call.caller.find_present_actor()))
        result = await self._result(call, variables)

        async def page(size: int) -> Json:
            return await self._result(call, {**variables, LIMIT: size})

        return success(*await fit(call.tool, result, page), link=call.tool.link_of(result))

    async def _result(self, call: Call, variables: Mapping[str, Any]) -> Json:
        answer = await self.executor(call.tool.operation, variables, call.actor)
        return call.tool.operation.answer(answer.value)

    async def _confirm(self, call: Call, variables: Mapping[str, Any]) -> dict[str, Any]:
        """Return the variables of a call to which a person agreed; those that the question showed replace given ones.

        Raises `ConfirmationRequired`, `ConfirmationDeclined`, `InvalidConfirmation`, `Asked` and, before a person is
        asked, the errors of the preview and of the call.
        """
        name, actor = call.tool.name, call.actor
        if (given := call.arguments.get(ARGUMENT)) is not None:
            confirmation, agreed = str(given), True
        elif call.answer:
            confirmation, agreed = call.answer
        else:
            preview = await self._preview(call, variables)
            text, shown = call.tool.question(variables, preview), call.tool.shown(preview)
            if call.tool.announcement.dry_run:
                await self.executor.dry_run(call.tool.operation, {**shown, **variables}, actor)
            confirmation = self.confirmations.issue(name, variables, actor, shown)
            agreed = await call.ask(Question(text, confirmation))
            if agreed is None:
                error = ConfirmationRequired(question=text, tool=name)
                raise Refused(self.refuse(error, question=text, preview=preview, confirmation=confirmation))
        shown = self.confirmations.check(confirmation, name, variables, actor)
        if not agreed:
            raise ConfirmationDeclined()
        key = {IDEMPOTENCY_KEY: once(confirmation)} if IDEMPOTENCY_KEY in call.tool.operation.variables else {}
        return {**variables, **shown, **key}

    async def _preview(self, call: Call, variables: Mapping[str, Any]) -> Json:
        """Return the result of the query that precedes a question; a call that would be refused is refused here."""
        operation = call.tool.preview
        if operation is None:
            return {}
        shared = {name: value for name, value in variables.items() if name in operation.variables}
        answer = await self.executor(operation, shared, call.actor)
        preview = operation.answer(answer.value)
        if refused := preview.pop(REFUSED_BY, None):
            raise Refused(self._refusal(refused["error_code"], refused["reason"]))
        return preview

    def refuse(self, error: DomainError, **more: Any) -> Json:
        """Return an error in the words of the other surfaces. It is no structured content, which has a schema."""
        return self._refusal(error.code, str(error), error.field, **more)

    def _refusal(self, code: str, reason: str, field: str | None = None, **more: Any) -> Json:
        facts = {"error": reason, "error_code": code, "docs": f"{self.docs_url}#{code}", **more}
        if field:
            facts["field"] = field
        if id := request_id():
            facts["request_id"] = id
        return {"content": [text(facts)], "isError": True, "_meta": {ERROR_CODE: code}, "resultType": "complete"}


class Refused(Exception):
    """A call was refused; `result` says so."""

    def __init__(self, result: Json) -> None:
        super().__init__()
        self.result = result


def accept(tool: CompiledTool, arguments: Mapping[str, Any]) -> dict[str, Any]:
    """Return the variables of a call; null counts as left out.

    Raises `InvalidInput`, and before that the error of a missing attestation.
    """
    own = {name: value for name, value in arguments.items() if name != ARGUMENT or not tool.announcement.confirmation}
    try:
        taken = tool.accept.values(own)
    except Unattested as fault:
        raise catalogue()[str(fault)]() from None
    except Unacceptable as fault:
        raise InvalidInput(reason=str(fault), field=fault.field) from None
    return {name: value for name, value in taken.items() if value is not None}


def success(result: Json, hint: str | None = None, *, link: Json | None = None) -> Json:
    """Return the result of a call: structured, and as a text for clients that read no structures."""
    content = [text(result), *([{"type": "text", "text": hint}] if hint else []), *([link] if link else [])]
    return {"content": content, "structuredContent": result, "resultType": "complete"}


def text(value: Json) -> Json:
    """Return a JSON value as content."""
    return {"type": "text", "text": orjson.dumps(value).decode()}
