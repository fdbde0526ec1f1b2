"""The writer that calls a language model."""

import asyncio
from typing import TYPE_CHECKING

import structlog

from app.domain.writing.writer import Brief, Failure, WriterFailed, Written
from app.providers.language_models.endpoint import Endpoint
from app.telemetry.logs import Throttle

if TYPE_CHECKING:
    from app.providers.language_models.client import Client

log = structlog.get_logger(__name__)


class LanguageModelWriter:
    """Writes with a language model. Its library is loaded in a thread, at the first use."""

    def __init__(self, endpoint: Endpoint) -> None:
        self._endpoint = endpoint
        self._loading: asyncio.Task[Client] | None = None
        self._warnings = Throttle()

    @property
    def provider(self) -> str:
        """Return the protocol."""
        return self._endpoint.protocol

    @property
    def model(self) -> str:
        """Return the name of the model."""
        return self._endpoint.model

    def check(self, brief: Brief) -> None:
        """Accept every brief."""

    async def write(self, brief: Brief) -> Written:
        """Return the texts of the model; raise `WriterFailed`, also for faults of its library."""
        if self._loading is None:
            self._loading = asyncio.create_task(asyncio.to_thread(_load, self._endpoint))
        client = await asyncio.shield(self._loading)
        try:
            return await client.write(brief)
        except WriterFailed as problem:
            self._warn(problem.failure, str(problem))
            raise
        except Exception as problem:
            self._warn(Failure.malformed, type(problem).__name__)
            raise WriterFailed(Failure.malformed, type(problem).__name__) from problem

    async def close(self) -> None:
        """Close the connections."""
        if self._loading is not None:
            await (await self._loading).close()

    def _warn(self, failure: Failure, cause: str) -> None:
        if self._warnings.passes():
            log.warning("ai_call_failed", provider=self.provider, model=self.model, failure=failure, cause=cause)


def _load(endpoint: Endpoint) -> "Client":
    from app.providers.language_models.client import Client  # takes more than a second

    return Client(endpoint)
