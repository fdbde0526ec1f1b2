"""Connections to SMSCs: their settings and credentials, their opening, and the check of a login."""

import asyncio
import ssl
from dataclasses import dataclass
from typing import Literal

from pydantic import Field, SecretStr

from app.db.engine import Pool
from app.domain.carriers.carrier import CarrierAccount, ConnectionRefused
from app.domain.carriers.kinds import Credentials, Settings
from app.providers.carriers.smpp.carrier import SmppCarrier, Style
from app.providers.carriers.smpp.leases import BEGINNING, Lease, State, find_state
from app.providers.carriers.smpp.link import LinkSettings
from app.providers.carriers.smpp.pdu import Login, ShortMessage
from app.providers.carriers.smpp.session import BindRefused, Reply, Session, Submitted, Target, Timers, open_session
from app.providers.carriers.smpp.statuses import Status
from app.providers.carriers.smpp.text import Alphabet

ROLE = "smpp"
"""The role of the processes that bind, `messaging smpp`."""

CHECK_SECONDS = 10.0
ASK_SECONDS = 0.1


class SmppSettings(Settings):
    """The address of an SMSC, and the form in which it expects messages."""

    host: str = Field(min_length=1, description="The host name or the IP address of the SMSC.")
    port: int = Field(2775, ge=1, le=65535, description="The port of the SMSC.")
    tls: bool = Field(False, description="Whether to connect over TLS, with a certificate of the host.")
    system_type: str = Field("", max_length=12, description="The system type of the bind, if the SMSC expects one.")
    service_type: str = Field("", max_length=5, description="The service type of messages, if the SMSC expects one.")
    window: int = Field(10, ge=1, le=1000, description="The most messages without a response at a time.")
    alphabet: Literal["gsm-7", "latin-1"] = Field(
        "gsm-7", description="The alphabet of texts that need no UCS-2: data coding 0 (gsm-7) or 3 (latin-1)."
    )
    source_ton: int | None = Field(None, ge=0, le=6, description="The type of number of senders; unset: by its form.")
    source_npi: int | None = Field(None, ge=0, le=18, description="The numbering plan of senders; unset: by its form.")
    enquire_seconds: float = Field(30.0, ge=1, le=3600, description="Seconds between two enquire_link.")
    response_seconds: float = Field(10.0, ge=1, le=20, description="Seconds until a response counts as missing.")


class SmppCredentials(Credentials):
    """The login of a bind."""

    system_id: str = Field(min_length=1, max_length=64, description="The system id.")
    password: SecretStr = Field(max_length=64, description="The password.")


@dataclass(frozen=True, slots=True)
class Check:
    """Checks the login of a connection: by the process that binds it, or else by a bind of its own.

    A `proposed` one is not the login of that process, and so always checked by a bind of its own.
    """

    pool: Pool
    settings: LinkSettings
    proposed: bool = False

    async def __call__(self) -> CarrierAccount:
        """Return the system id; raise `ConnectionRefused`, or `ConnectionError` without a response."""
        lease = Lease(self.pool, self.settings.name, "check", CHECK_SECONDS)
        try:
            if await lease.acquire("checking the login"):
                await self._bind_with(lease)
            elif not self.proposed or await self._is_bound_already():
                return self._read(await self._await_state())
        except BindRefused as error:
            raise ConnectionRefused(str(error)) from None
        return self._describe("by this check")

    async def _bind_with(self, lease: Lease) -> None:
        try:
            await self._bind()
        finally:
            await lease.release()

    async def _is_bound_already(self) -> bool:
        """Bind beside the process that holds the lease; return whether the SMSC allows no more than its session.

        Nothing more can be learnt of the login then.
        """
        try:
            await self._bind()
        except BindRefused as refused:
            state = await find_state(self.pool, self.settings.name)
            if refused.status != Status.already_bound or state is None or state.problem:
                raise
            return True
        return False

    async def _await_state(self) -> State | None:
        """Return the state of the bind of another process, which may have begun to bind a moment ago."""
        loop = asyncio.get_running_loop()
        ends = loop.time() + CHECK_SECONDS / 2
        state = await find_state(self.pool, self.settings.name)
        while state and state.problem == BEGINNING and loop.time() < ends:
            await asyncio.sleep(ASK_SECONDS)
            state = await find_state(self.pool, self.settings.name)
        return state

    def _read(self, state: State | None) -> CarrierAccount:
        if state and not state.problem:
            return self._describe("by a process of the role smpp")
        raise ConnectionError(state.problem if state else "another process began to bind")

    def _describe(self, bound: str) -> CarrierAccount:
        target = self.settings.target
        return CarrierAccount(self.settings.login.system_id, {"smsc": f"{target.host}:{target.port}", "bound": bound})

    async def _bind(self) -> None:
        settings = self.settings

        def make() -> Session:
            return Session(1, settings.timers, _Later())

        try:
            session = await open_session(settings.target, settings.login, make, CHECK_SECONDS / 2)
        except OSError as error:
            raise ConnectionError(str(error)) from error
        await session.unbind(CHECK_SECONDS / 4)


class _Later:
    """Has the SMSC deliver later: a check takes no messages."""

    async def receive(self, message: ShortMessage) -> Reply:
        return Reply(Status.temporary_error)

    async def keep_malformed(self, body: bytes, problem: str) -> Reply:
        return Reply(Status.temporary_error)

    def acknowledged(self, tokens: object) -> None:
        pass

    def answered_late(self, tag: object, response: Submitted) -> None:
        pass


def open_smpp(
    key: str, settings: SmppSettings, credentials: SmppCredentials, pool: Pool, *, proposed: bool = False
) -> SmppCarrier:
    """Return the carrier of a connection. It is bound by a process of the role, which gives it a link."""
    style = Style(Alphabet(settings.alphabet), _source(settings), settings.service_type)
    of_smsc = settings.host, settings.port, ssl.create_default_context() if settings.tls else None
    login = Login(credentials.system_id, credentials.password.get_secret_value(), settings.system_type)
    timers = Timers(response=settings.response_seconds, enquire=settings.enquire_seconds)
    link_settings = LinkSettings(key, Target(*of_smsc), login, settings.window, timers)
    return SmppCarrier(link_settings, style, Check(pool, link_settings, proposed))


def _source(settings: SmppSettings) -> tuple[int, int] | None:
    """Return the type and plan of all senders; None where they follow from each sender."""
    if settings.source_ton is None and settings.source_npi is None:
        return None
    return settings.source_ton or 0, settings.source_npi or 0
