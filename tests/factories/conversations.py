"""Reads and changes conversations."""

from tests.factories.tables import Rows

CONVERSATIONS = Rows("conversations")
