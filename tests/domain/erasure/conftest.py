"""Sending and texting, as the tests of messages do it."""

from tests.domain.messages.conftest import act, actor, handoff, pool, send, text

__all__ = ["act", "actor", "handoff", "pool", "send", "text"]
