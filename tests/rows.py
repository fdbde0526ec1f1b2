"""The name of before, for tests that were written before the factories."""

from tests.factories.snapshots import rows

__all__ = ["rows"]
