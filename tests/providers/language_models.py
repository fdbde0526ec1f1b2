"""A language model on this machine, and writers that call it."""

import asyncio
import socket
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager

import uvicorn

from app.providers.language_models.endpoint import Endpoint, Protocol
from app.providers.language_models.writer import LanguageModelWriter
from tests.peers.language_model import LanguageModel
from tests.waiting import within


@asynccontextmanager
async def serving(model: LanguageModel) -> AsyncGenerator[str]:
    """Serve a model within a block; yield its address."""
    listening = socket.create_server(("127.0.0.1", 0))
    config = uvicorn.Config(model, log_level="critical", lifespan="off", timeout_graceful_shutdown=1)
    server = uvicorn.Server(config)
    task = asyncio.create_task(server.serve([listening]))
    try:
        yield f"http://127.0.0.1:{listening.getsockname()[1]}"
    finally:
        server.should_exit = server.force_exit = True
        await within("the model to stop", task)


@asynccontextmanager
async def writer_of(
    protocol: Protocol, model: LanguageModel, seconds: float = 30
) -> AsyncGenerator[LanguageModelWriter]:
    """Open a writer that calls a model."""
    async with serving(model) as url:
        path = "/v1" if protocol == "openai" else ""
        writer = LanguageModelWriter(Endpoint(protocol, "the-model", "the-key", url + path, seconds=seconds))
        try:
            yield writer
        finally:
            await writer.close()
