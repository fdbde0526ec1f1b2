"""One server of the dashboard for the tests of a process: its start takes as long as a small test."""

from contextlib import AsyncExitStack
from dataclasses import dataclass, field

import pytest

from app import main
from app.settings import Settings
from tests.e2e.processes import free_port
from tests.graphql.live import Served, serving
from tests.shared import Shared
from tests.waiting import until


@dataclass
class KeptServer:
    """A server with services of its own, which are cleared with those of the test; `stack` stops it."""

    shared: Shared
    stack: AsyncExitStack
    port: int = field(default_factory=free_port)
    _served: Served | None = None

    async def serve(self, settings: Settings) -> Served:
        """Return the server; start it again if a test has stopped it."""
        if self._served is None or self._served.task.done():
            with pytest.MonkeyPatch.context() as patch:
                patch.setattr(main, "open_services", self.shared.open)
                served = await self.stack.enter_async_context(serving(settings, self.port))
                await until(lambda: served.server.started)
            self._served = served
        return self._served


async def settle(served: Served) -> None:
    """Wait until the server does nothing any more that a test has asked for."""
    if not served.task.done():
        await until(lambda: not served.server.server_state.tasks)
