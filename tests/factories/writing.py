"""Rows of the calls of writers."""

from tests.factories.tables import Rows

WRITER_CALLS = Rows("writer_calls")
