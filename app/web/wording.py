"""Texts of the pages: descriptions of scopes, and waiting times."""

import math

from app.domain.accounts.scopes import Scope
from app.domain.kernel.errors import RateLimited

WORDS = {
    Scope.account_read: "See the account's name and who you are",
    Scope.account_write: "See and change the account, its users, its keys and its log",
    Scope.messages_read: "Read messages and their delivery",
    Scope.messages_send: "Send messages, which costs credits",
    Scope.conversations_read: "Read conversations",
    Scope.conversations_write: "Read, assign, close and reopen conversations, and see the users of the account",
    Scope.contacts_read: "Read contacts and segments",
    Scope.contacts_write: "Read, add and change contacts, tags and opt-outs",
    Scope.contacts_delete: "Erase contacts with all of their messages",
    Scope.campaigns_read: "Read campaigns and drip sequences",
    Scope.campaigns_write: "Read and write campaigns, drip sequences and templates",
    Scope.campaigns_send: "Read and send campaigns, and enroll contacts in drip sequences",
    Scope.numbers_read: "See the phone numbers that you send from",
    Scope.numbers_write: "See and rename the phone numbers that you send from, and choose the primary one",
    Scope.agents_read: "See AI agents",
    Scope.agents_write: "See, create and change AI agents, and turn them on and off",
    Scope.ai_use: "Generate message texts, which costs credits",
    Scope.billing_read: "See the balance and the transactions",
    Scope.billing_write: "See the balance and the transactions, and change how the account pays",
    Scope.webhooks_manage: "Receive events, manage webhooks, and create keys that end with this connection",
}


def seconds_of(refused: RateLimited) -> int:
    """Return the number of seconds to wait."""
    return int(str(refused.facts["seconds"]))


def wait(refused: RateLimited) -> str:
    """Return the text that names the waiting time, in seconds or whole minutes."""
    seconds = seconds_of(refused)
    count, unit = (seconds, "second") if seconds < 60 else (math.ceil(seconds / 60), "minute")
    return f"Too many attempts. Try again in {count} {unit}{'s' if count > 1 else ''}."
