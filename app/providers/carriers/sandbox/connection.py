"""Connections to the sandbox: their settings, and their opening."""

from dataclasses import dataclass

from pydantic import Field, SecretStr

from app.db.engine import Pool
from app.domain.carriers.carrier import Capabilities
from app.domain.carriers.kinds import Credentials, Settings
from app.domain.kernel.unit_of_work import Notify
from app.providers.carriers.sandbox.carrier import MAX_SEGMENTS, SandboxCarrier


class SandboxSettings(Settings):
    """The limits that the sandbox simulates."""

    max_segments: int = Field(MAX_SEGMENTS, ge=1, le=255, description="The most SMS parts of a text.")
    handles_opt_out: bool = Field(False, description="Whether the network answers STOP, START and HELP itself.")
    numbers: list[str] = Field(list[str](), max_length=1000, description="The numbers that the network lists.")


class SandboxCredentials(Credentials):
    """The secret that signs callbacks. Without one, it is derived from the secret key of the service."""

    secret: SecretStr | None = Field(None, min_length=16, description="The text that signs callbacks.")


@dataclass(frozen=True, slots=True)
class Network:
    """The network that all connections share; see `SandboxCarrier`. `secret` signs callbacks by default."""

    pool: Pool
    secret: bytes
    delay: float
    timeout: float
    notify: Notify


def open_sandbox(
    key: str, settings: SandboxSettings, credentials: SandboxCredentials, network: Network
) -> SandboxCarrier:
    """Return a connection to the network."""
    secret = credentials.secret.get_secret_value().encode() if credentials.secret else network.secret
    carrier = SandboxCarrier(network.pool, secret, network.delay, network.timeout, notify=network.notify)
    carrier.key = key
    carrier.numbers = settings.numbers
    carrier.capabilities = Capabilities(
        settings.max_segments,
        handles_opt_out=settings.handles_opt_out,
        lists_numbers=bool(settings.numbers),
        takes_short_codes=True,
        takes_alphanumeric=True,
        shares_lookups=True,
        answers_status_queries=True,
    )
    return carrier
