"""Keeps one session with an SMSC: connects, binds, and does so again with longer waits when the session has ended."""

import asyncio
import random
from collections.abc import Callable
from dataclasses import dataclass

import structlog

from app.providers.carriers.smpp.leases import BEGINNING
from app.providers.carriers.smpp.pdu import Login
from app.providers.carriers.smpp.session import USUAL, BindRefused, Receiver, Session, Target, Timers, open_session

FIRST_WAIT, LONGEST_WAIT = 0.5, 30.0
FIRST_WAIT_REFUSED, LONGEST_WAIT_REFUSED = 5.0, 300.0
"""Seconds before the next attempt to bind; longer after a refusal, because SMSCs lock out clients that insist."""

STEADY_SECONDS = 10.0
"""A session that lasted for this long is followed by another one at the first wait."""

UNBIND_SECONDS = 3.0

log = structlog.get_logger(__name__)


@dataclass(frozen=True, slots=True)
class LinkSettings:
    """The SMSC of a link, the login, and how the link paces itself; `window` bounds submits without a response."""

    name: str
    target: Target
    login: Login
    window: int = 10
    timers: Timers = USUAL


class Link:
    """A link to an SMSC. `session` is the bound one, if there is one; `problem` is the last reason for none.

    `on_bound` is called when a session begins, `on_refused` with the reason when the SMSC refuses the bind. There is no
    session while `may_bind` returns False.
    """

    def __init__(
        self,
        settings: LinkSettings,
        receiver: Receiver,
        on_bound: Callable[[], None] = lambda: None,
        may_bind: Callable[[], bool] = lambda: True,
        on_refused: Callable[[str], None] = lambda problem: None,
    ) -> None:
        self.problem = BEGINNING
        self._may_bind = may_bind
        self.binds = 0
        self._settings = settings
        self._receiver = receiver
        self._on_bound = on_bound
        self._on_refused = on_refused
        self._session: Session | None = None
        self._log = log.bind(connection=settings.name)

    @property
    def session(self) -> Session | None:
        """Return the bound session, if there is one."""
        return self._session if self._session and self._session.is_bound and self._may_bind() else None

    async def run(self) -> None:
        """Keep a session until cancelled."""
        wait = FIRST_WAIT
        while True:
            lasted, refused = await self._serve()
            first, longest = (FIRST_WAIT_REFUSED, LONGEST_WAIT_REFUSED) if refused else (FIRST_WAIT, LONGEST_WAIT)
            wait = first if lasted >= STEADY_SECONDS else min(max(first, 2 * wait), longest)
            await asyncio.sleep(wait * random.uniform(0.5, 1.0))

    async def stop(self, grace: float = UNBIND_SECONDS) -> None:
        """Unbind within `grace` seconds, and disconnect. Call it after `run` was cancelled."""
        if self._session:
            await self._session.unbind(grace)

    def drop(self, reason: str) -> None:
        """Disconnect at once, without unbinding."""
        if self._session:
            self._session.end(reason)

    async def _serve(self) -> tuple[float, bool]:
        """Serve one session; return the seconds that it lasted, and whether the SMSC refused the bind."""
        loop = asyncio.get_running_loop()
        try:
            await self._open()
        except BindRefused as error:
            self._report(str(error))
            self._on_refused(str(error))
            return 0.0, True
        except OSError as error:
            self._report(str(error) or repr(error))
            return 0.0, False
        began = loop.time()
        assert self._session
        self._report(await asyncio.shield(self._session.ended))
        return loop.time() - began, False

    async def _open(self) -> None:
        settings = self._settings
        self._session = None
        if not self._may_bind():
            raise ConnectionError("the lease has ended")

        def make() -> Session:
            return Session(settings.window, settings.timers, self._receiver)

        self._session = await open_session(settings.target, settings.login, make, settings.timers.connect)
        self.problem, self.binds = "", self.binds + 1
        self._log.info("smpp_bound", host=settings.target.host, port=settings.target.port)
        self._on_bound()

    def _report(self, problem: str) -> None:
        self.problem = problem
        self._log.warning("smpp_not_bound", problem=problem)
