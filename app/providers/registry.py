"""The available carriers, by their names in `MESSAGING_CARRIER`."""

from collections.abc import Callable, Mapping

from app.db.engine import Pool
from app.domain.carriers.carrier import Carrier
from app.domain.kernel.unit_of_work import Notify
from app.providers.carriers.sandbox.carrier import SandboxCarrier
from app.settings import Settings

Factory = Callable[[Settings, Pool, bytes, Notify], Carrier]
"""Creates a carrier from the settings, the database, the secret that signs its callbacks, and the notifier."""

CARRIERS: Mapping[str, Factory] = {
    "sandbox": lambda settings, pool, secret, notify: SandboxCarrier(
        pool, secret, settings.sandbox_delay_seconds, settings.handoff_timeout_seconds, notify=notify
    ),
}


class UnknownCarrier(Exception):
    """The settings name an unknown carrier."""


def check_carrier(settings: Settings) -> None:
    """Raise `UnknownCarrier` if the settings name an unknown carrier."""
    if settings.carrier not in CARRIERS:
        raise UnknownCarrier(
            f"There is no carrier {settings.carrier!r}. Known carriers: {', '.join(sorted(CARRIERS))}."
        )


def open_carrier(settings: Settings, pool: Pool, secret: bytes, notify: Notify) -> Carrier:
    """Return the configured carrier; raise `UnknownCarrier`."""
    check_carrier(settings)
    return CARRIERS[settings.carrier](settings, pool, secret, notify)
