"""The campaigns whose results are summed up."""

from tests.domain.campaigns.conftest import accept, act, add, make, pool, run, runner, send, step, text

__all__ = ["accept", "act", "add", "make", "pool", "run", "runner", "send", "step", "text"]
