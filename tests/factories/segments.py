"""Reads segments."""

from tests.factories.tables import Rows

SEGMENTS = Rows("segments")
