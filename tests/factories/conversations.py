"""Reads and changes conversations."""

from tests.factories.tables import Rows

CONVERSATIONS = Rows("conversations")
CONVERSATION_ENTRIES = Rows("conversation_entries")
