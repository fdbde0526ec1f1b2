"""Rows of notices."""

from tests.factories.tables import Rows

NOTICES = Rows("notices")
NOTICE_PREFERENCES = Rows("notice_preferences")
