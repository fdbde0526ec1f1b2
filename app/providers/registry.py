"""The kinds of connections to carriers, each with its adapter."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TypeVar

from app.db.engine import Pool
from app.domain.carriers.carrier import Carrier
from app.domain.carriers.kinds import CarrierKind, Configuration, Credentials, Open, Settings
from app.domain.carriers.models import WORKER
from app.domain.kernel.unit_of_work import Notify
from app.providers.carrier_api import CarrierHttp
from app.providers.carriers.sandbox.connection import Network, SandboxCredentials, SandboxSettings, open_sandbox
from app.providers.carriers.smpp.carrier import SmppCarrier
from app.providers.carriers.smpp.connection import ROLE as SMPP
from app.providers.carriers.smpp.connection import SmppCredentials, SmppSettings, open_smpp
from app.providers.carriers.telnyx.carrier import TelnyxCarrier
from app.providers.carriers.telnyx.settings import TelnyxCredentials, TelnyxSettings
from app.providers.carriers.twilio.carrier import TwilioCarrier
from app.providers.carriers.twilio.settings import TwilioCredentials, TwilioSettings
from app.providers.outbound.client import HttpClient

S = TypeVar("S", bound=Settings)
C = TypeVar("C", bound=Credentials)


@dataclass(frozen=True, slots=True)
class Environment:
    """Resources that the adapters of a process share.

    `public_url` is the address of the service, where a carrier posts to `/carriers/{key}/status` and
    `/carriers/{key}/inbound`. `timeout` is the time limit of a call in seconds. `sandbox_secret` and `sandbox_delay`
    sign, and delay, the callbacks of the sandbox.
    """

    pool: Pool
    notify: Notify
    client: HttpClient
    public_url: str
    timeout: float
    sandbox_secret: bytes
    sandbox_delay: float


Factory = Callable[[Configuration, Environment], Carrier]


@dataclass(frozen=True, slots=True)
class Adapter:
    """A kind of connection, and the function that opens one; it makes no call."""

    kind: CarrierKind
    open: Factory


def adapt(
    name: str,
    title: str,
    models: tuple[type[S], type[C]],
    open: Callable[[Configuration, S, C, Environment], Carrier],
    *,
    is_for_accounts: bool = False,
    role: str = WORKER,
) -> Adapter:
    """Return the adapter of a kind, see `CarrierKind`; `open` gets a configuration, and its values of the `models`."""
    settings, credentials = models

    def validate_and_open(configuration: Configuration, environment: Environment) -> Carrier:
        known = settings.model_validate(configuration.settings), credentials.model_validate(configuration.credentials)
        return open(configuration, *known, environment)

    return Adapter(CarrierKind(name, title, settings, credentials, is_for_accounts, role), validate_and_open)


def _open_sandbox(
    of: Configuration, settings: SandboxSettings, credentials: SandboxCredentials, its: Environment
) -> Carrier:
    network = Network(its.pool, its.sandbox_secret, its.sandbox_delay, its.timeout, its.notify)
    return open_sandbox(of.key, settings, credentials, network)


def _open_smpp(
    of: Configuration, settings: SmppSettings, credentials: SmppCredentials, its: Environment
) -> SmppCarrier:
    return open_smpp(of.key, settings, credentials, its.pool, proposed=of.proposed)


def _open_twilio(
    of: Configuration, settings: TwilioSettings, credentials: TwilioCredentials, its: Environment
) -> Carrier:
    return TwilioCarrier(of.key, settings, credentials, CarrierHttp(its.client, its.public_url, its.timeout))


def _open_telnyx(
    of: Configuration, settings: TelnyxSettings, credentials: TelnyxCredentials, its: Environment
) -> Carrier:
    return TelnyxCarrier(of.key, settings, credentials, CarrierHttp(its.client, its.public_url, its.timeout))


ADAPTERS = (
    adapt("sandbox", "Sandbox", (SandboxSettings, SandboxCredentials), _open_sandbox),
    adapt("smpp", "SMPP 3.4", (SmppSettings, SmppCredentials), _open_smpp, role=SMPP),
    adapt("telnyx", "Telnyx", (TelnyxSettings, TelnyxCredentials), _open_telnyx, is_for_accounts=True),
    adapt("twilio", "Twilio", (TwilioSettings, TwilioCredentials), _open_twilio, is_for_accounts=True),
)
"""One line for each kind; a new carrier is added here."""

KINDS: Mapping[str, CarrierKind] = {each.kind.name: each.kind for each in ADAPTERS}


class UnknownKind(Exception):
    """No adapter has the kind of a connection, because a newer version of the service added it."""


def open_with(environment: Environment) -> Open:
    """Return the function that opens a connection of any kind; it raises `UnknownKind`."""
    factories = {each.kind.name: each.open for each in ADAPTERS}

    def open(configuration: Configuration) -> Carrier:
        if configuration.kind not in factories:
            raise UnknownKind(f"There is no carrier {configuration.kind!r}. Known carriers: {', '.join(factories)}.")
        return factories[configuration.kind](configuration, environment)

    return open
