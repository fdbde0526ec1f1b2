"""Asks the person at the client, in the way of each era of the protocol."""

import asyncio
from contextlib import suppress
from functools import partial
from typing import Any

import anyio
from mcp.server.context import ServerRequestContext
from mcp.shared.exceptions import MCPError
from mcp_types import (
    CallToolRequestParams,
    ClientCapabilities,
    ElicitationCapability,
    ElicitRequest,
    ElicitRequestFormParams,
    ElicitResult,
    InputRequiredResult,
)
from mcp_types.version import MODERN_PROTOCOL_VERSIONS

from app.mcp.calls import Ask, Asked, Question

QUESTION = "confirm"
FORM = {
    "type": "object",
    "properties": {"confirm": {"type": "boolean", "title": "Yes, do this", "default": False}},
    "required": ["confirm"],
}


def asker(context: ServerRequestContext) -> Ask:
    """Return the way to ask the person at a client."""
    can_be_asked = context.session.check_client_capability(ClientCapabilities(elicitation=ElicitationCapability()))
    if not can_be_asked:
        return _nobody
    is_modern = context.protocol_version in MODERN_PROTOCOL_VERSIONS
    return partial(_ask_between_calls if is_modern else _ask_within_call, context)


def answer_of(params: CallToolRequestParams) -> tuple[str, bool] | None:
    """Return the confirmation and the answer that a call carries; its state was unsealed before."""
    if params.request_state is None:
        return None
    return params.request_state, _agrees((params.input_responses or {}).get(QUESTION))


async def _nobody(_: Question) -> None:
    return None


async def _ask_between_calls(_: ServerRequestContext, question: Question) -> bool:
    """Answer the call with the question, which the client repeats with the answer (since 2026-07-28)."""
    request = ElicitRequest(params=ElicitRequestFormParams(message=question.text, requested_schema=FORM))
    raise Asked(InputRequiredResult(input_requests={QUESTION: request}, request_state=question.confirmation))


async def _ask_within_call(context: ServerRequestContext, question: Question) -> bool | None:
    """Send the question while the call waits; None where there is no session to send it in.

    Also None when the process stops: no answer can reach it any more.
    """
    if not context.session.can_send_request:
        return None
    request: Any = context.request
    answer = None
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(_cancel_at, request.scope["state"]["stopping"], tasks.cancel_scope)
        with suppress(MCPError):
            answer = _agrees(await context.session.elicit_form(question.text, FORM, context.request_id))
        tasks.cancel_scope.cancel()
    return answer


async def _cancel_at(event: asyncio.Event, scope: anyio.CancelScope) -> None:
    await event.wait()
    scope.cancel()


def _agrees(answer: object) -> bool:
    if not isinstance(answer, ElicitResult) or answer.action != "accept":
        return False
    return (answer.content or {}).get("confirm") is True
