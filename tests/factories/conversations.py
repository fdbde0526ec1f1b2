"""Conversations, as tests read and change them."""

from tests.factories.tables import Rows

CONVERSATIONS = Rows("conversations")
