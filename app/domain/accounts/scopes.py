"""Scopes of API keys, grants and roles."""

import enum
from collections.abc import Iterable

from app.domain.kernel.errors import InsufficientScope
from app.domain.kernel.unit_of_work import Actor


class Scope(enum.StrEnum):
    """One permission. A key holds a set of them; every operation names the one that it needs."""

    account_read = "account:read"
    account_write = "account:write"
    messages_read = "messages:read"
    messages_send = "messages:send"
    conversations_read = "conversations:read"
    conversations_write = "conversations:write"
    contacts_read = "contacts:read"
    contacts_write = "contacts:write"
    contacts_delete = "contacts:delete"
    campaigns_read = "campaigns:read"
    campaigns_write = "campaigns:write"
    campaigns_send = "campaigns:send"
    numbers_read = "numbers:read"
    numbers_write = "numbers:write"
    agents_read = "agents:read"
    agents_write = "agents:write"
    ai_use = "ai:use"
    billing_read = "billing:read"
    billing_write = "billing:write"
    webhooks_manage = "webhooks:manage"


WORDS = {
    Scope.account_read: "See the account's name and who you are, its automations, its quiet hours and your notices",
    Scope.account_write: "See and change the account, its users, its keys, its quiet hours and its log",
    Scope.messages_read: "Read messages, their delivery and the evidence of consent",
    Scope.messages_send: "Send messages, which costs credits",
    Scope.conversations_read: "Read conversations and internal notes",
    Scope.conversations_write: "Read, assign, close and reopen conversations, write notes, and see the account's users",
    Scope.contacts_read: "Read and export contacts, with their consents and bookings",
    Scope.contacts_write: "Read, add, import and change contacts, tags and opt-outs",
    Scope.contacts_delete: "Erase contacts with all of their messages, and merge contacts",
    Scope.campaigns_read: "Read campaigns, drip sequences, segments, templates and watched keywords",
    Scope.campaigns_write: (
        "Read and change campaigns, drip sequences, segments, templates, watched keywords and automations"
    ),
    Scope.campaigns_send: "Read and send campaigns, and enroll contacts in drip sequences",
    Scope.numbers_read: "See the phone numbers that you send from, their delivery and your carriers",
    Scope.numbers_write: "See, add and change the phone numbers that you send from, and your connections to carriers",
    Scope.agents_read: "See AI agents",
    Scope.agents_write: "See, create and change AI agents, and turn them on and off",
    Scope.ai_use: "Generate message texts, which costs credits",
    Scope.billing_read: "See the balance, the transactions and the payments",
    Scope.billing_write: "See the balance, the transactions and the payments, and buy credits",
    Scope.webhooks_manage: (
        "Receive events, manage webhooks and connections to scheduling tools and CRMs, and create keys that end with "
        "this connection"
    ),
}
"""For each scope, the sentence that states its permissions to a person."""

ALL = frozenset(Scope)
GENERAL = ALL - {Scope.account_write, Scope.billing_write}
"""The default scopes of a `svc_` key."""

AUTOMATION = frozenset(
    {
        Scope.account_read,
        Scope.messages_read,
        Scope.messages_send,
        Scope.contacts_read,
        Scope.contacts_write,
        Scope.campaigns_read,
        Scope.campaigns_send,
        Scope.numbers_read,
        Scope.webhooks_manage,
    }
)
"""The default scopes of an `auto_` key and of an automation grant."""

AUTOMATION_LIMIT = AUTOMATION | {Scope.ai_use, Scope.billing_read}
"""The scopes that an `auto_` key or an automation grant can have; the two others only by explicit choice."""

INCLUDED = {
    Scope.account_write: Scope.account_read,
    Scope.billing_write: Scope.billing_read,
    Scope.contacts_write: Scope.contacts_read,
    Scope.conversations_write: Scope.conversations_read,
    Scope.campaigns_write: Scope.campaigns_read,
    Scope.campaigns_send: Scope.campaigns_read,
    Scope.numbers_write: Scope.numbers_read,
    Scope.agents_write: Scope.agents_read,
}
"""The read scope that a write scope includes, because a mutation returns the changed record."""


def complete(scopes: Iterable[str]) -> frozenset[str]:
    """Return scopes with those that they include. Each credential's scopes are completed so."""
    given = frozenset(scopes)
    return given | {str(read) for write, read in INCLUDED.items() if write in given}


def includes(wide: str, narrow: str) -> str:
    """Return the condition that the scopes of one column include those of another."""
    pairs = ", ".join(f"('{write}', '{read}')" for write, read in INCLUDED.items())
    added = f"SELECT included.read FROM (VALUES {pairs}) AS included(write, read) WHERE included.write = ANY({wide})"
    return f"{narrow} <@ ({wide} || ARRAY({added}))"


def require(actor: Actor, scopes: Iterable[str]) -> None:
    """Raise `InsufficientScope` for a scope that the actor lacks: records that act for it need it too."""
    if missing := sorted(frozenset(scopes) - actor.scopes):
        raise InsufficientScope(scope=missing[0])
