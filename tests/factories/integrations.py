"""Reads integrations, events, bookings and their texts; lists the simulated scheduling tools."""

from collections.abc import Mapping
from types import ModuleType

from tests.factories.tables import Rows
from tests.peers import calcom, calendly

INTEGRATIONS = Rows("integrations")
INTEGRATION_EVENTS = Rows("integration_events")
BOOKINGS = Rows("bookings")
BOOKING_TEXTS = Rows("booking_texts")

SECRET = "the secret of the tool"
TOOLS: Mapping[str, ModuleType] = {each.KIND: each for each in (calendly, calcom)}
"""The simulated scheduling tools; a new one is added here."""
