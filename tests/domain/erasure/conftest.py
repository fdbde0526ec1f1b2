"""The fixtures of the tests of messages for sending and receiving."""

from tests.domain.messages.conftest import act, actor, handoff, pool, send, text

__all__ = ["act", "actor", "handoff", "pool", "send", "text"]
