"""The names of before, for tests that were written before the factories."""

from tests.factories.billing import audit, entries
from tests.factories.clocks import Later
from tests.factories.events import payloads, told
from tests.factories.messages import calls, states
from tests.factories.traps import until_blocked

__all__ = ["Later", "audit", "calls", "entries", "payloads", "states", "told", "until_blocked"]
