"""Calls of language models through pydantic-ai. Its import takes more than a second: only `writer.py` loads it."""

from typing import Any

from anthropic import AsyncAnthropic
from openai import AsyncOpenAI
from pydantic import BaseModel, Field
from pydantic_ai import Agent, NativeOutput, PromptedOutput, ToolOutput, UsageLimits
from pydantic_ai.exceptions import (
    AgentRunError,
    ContentFilterError,
    ModelAPIError,
    ModelQuotaExceededError,
    ModelRateLimitError,
    ModelRequestRejectedError,
    ModelTimeoutError,
)
from pydantic_ai.models import Model
from pydantic_ai.models.anthropic import AnthropicModel
from pydantic_ai.models.openai import OpenAIChatModel
from pydantic_ai.providers.anthropic import AnthropicProvider
from pydantic_ai.providers.openai import OpenAIProvider
from pydantic_ai.usage import RunUsage

from app.domain.kernel.blank_texts import is_blank
from app.domain.writing.writer import Brief, Failure, Kind, WriterFailed, Written
from app.providers.language_models.endpoint import Endpoint
from app.providers.language_models.prompts import instructions, prompt

MAX_TOKENS, MAX_REQUESTS, TRANSPORT_RETRIES = 1500, 2, 1
MOST_CHARACTERS = 4000
"""The most characters of a text that are looked at; the check refuses shorter ones already."""

NO_KEY = "none"
OUTPUTS: dict[str, Any] = {"tool": ToolOutput, "json_schema": NativeOutput, "prompted": PromptedOutput}


class Candidates(BaseModel):
    """Texts for the brief."""

    texts: list[str] = Field(max_length=10)


class Reply(BaseModel):
    """The reply, or the reason for which a person should answer."""

    text: str = ""
    needs_person: str = Field("", description="Reason why a person should answer. Empty if text answers.")


class Client:
    """Runs a model at an endpoint; one for each process, which shares its connections."""

    def __init__(self, endpoint: Endpoint) -> None:
        self._endpoint = endpoint
        self._client = _open(endpoint)
        self._agent = Agent(_model(self._client, endpoint.model), retries=1)

    async def write(self, brief: Brief) -> Written:
        """Return the texts of the model; raise `WriterFailed`."""
        shape = Reply if brief.kind is Kind.reply else Candidates
        try:
            result: Any = await self._agent.run(
                prompt(brief),
                output_type=OUTPUTS[self._endpoint.output](shape),
                instructions=instructions(brief),
                model_settings={"max_tokens": MAX_TOKENS},
                usage_limits=UsageLimits(request_limit=MAX_REQUESTS),
            )
        except (AgentRunError, ValueError) as problem:
            raise WriterFailed(_failure(problem), type(problem).__name__) from problem
        return _written(result.output, result.usage)

    async def close(self) -> None:
        """Close the connections."""
        await self._client.close()


def _open(endpoint: Endpoint) -> AsyncOpenAI | AsyncAnthropic:
    kind = AsyncOpenAI if endpoint.protocol == "openai" else AsyncAnthropic
    return kind(
        api_key=endpoint.api_key or NO_KEY,
        base_url=endpoint.base_url,
        timeout=endpoint.seconds,
        max_retries=TRANSPORT_RETRIES,
    )


def _model(client: AsyncOpenAI | AsyncAnthropic, name: str) -> Model:
    if isinstance(client, AsyncOpenAI):
        return OpenAIChatModel(name, provider=OpenAIProvider(openai_client=client))
    return AnthropicModel(name, provider=AnthropicProvider(anthropic_client=client))


def _written(output: Candidates | Reply, usage: RunUsage) -> Written:
    is_reply = isinstance(output, Reply)
    texts = [output.text] if is_reply else output.texts
    needs_person = (output.needs_person or ("It has no answer." if is_blank(output.text) else "")) if is_reply else ""
    kept = [text[:MOST_CHARACTERS] for text in texts if not is_blank(text)]
    return Written(() if needs_person else kept, usage.input_tokens, usage.output_tokens, needs_person[:300])


FAILURES: tuple[tuple[type[Exception], Failure], ...] = (
    (ModelTimeoutError, Failure.timeout),
    (ModelRateLimitError, Failure.busy),
    (ModelQuotaExceededError, Failure.busy),
    (ModelRequestRejectedError, Failure.rejected),
    (ContentFilterError, Failure.rejected),
    (ModelAPIError, Failure.unavailable),
)


def _failure(problem: Exception) -> Failure:
    return next((failure for kind, failure in FAILURES if isinstance(problem, kind)), Failure.malformed)
