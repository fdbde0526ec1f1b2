"""Confirmations of calls by a person: the question, and the sealed proof that it was asked for this call."""

import base64
import binascii
import hashlib
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import timedelta
from typing import Any

import orjson
from cryptography.exceptions import InvalidTag

from app.domain.kernel.clock import Clock
from app.domain.kernel.errors import DomainError
from app.domain.kernel.sealing import Seal
from app.domain.kernel.unit_of_work import Actor

LIFETIME = timedelta(minutes=10)
ARGUMENT = "confirmation"
SCHEMA = {
    "type": "string",
    "description": "The value of confirmation_required.",
}
"""The argument of every tool that asks a person."""


class ConfirmationRequired(DomainError):
    """A person must agree to this call of a tool, and the client cannot ask.

    Show the question to the user. If the user agrees, send the same arguments again with `confirmation`, which the
    error has. It is for this call and this credential only, and for ten minutes.
    """

    code = "confirmation_required"
    status = 409
    message = (
        "{question}\n\nAsk the user. Only if the user agrees, call {tool} again with the same arguments and this "
        "confirmation."
    )


class InvalidConfirmation(DomainError):
    """The `confirmation` belongs to another call or credential, or is too old. Call without it for a new one."""

    code = "invalid_confirmation"
    status = 422
    about = ARGUMENT
    message = "confirmation belongs to another call, or is older than 10 minutes. Leave it out to get a new one."


class ConfirmationDeclined(DomainError):
    """The person who was asked did not agree. Nothing was done; do not call again unless the user wants it."""

    code = "confirmation_declined"
    status = 409
    message = "The user did not agree. Nothing was done."


@dataclass(frozen=True, slots=True)
class Confirmations:
    """Seals and checks confirmations."""

    seal: Seal
    clock: Clock

    def issue(self, tool: str, variables: Mapping[str, Any], actor: Actor, shown: Mapping[str, Any]) -> str:
        """Return the confirmation of a call. `shown` are variables that the question showed, such as a preview's id."""
        until = (self.clock.now() + LIFETIME).timestamp()
        facts = f"{until:.0f} {_identify(tool, variables, actor)} {orjson.dumps(shown).decode()}"
        return base64.urlsafe_b64encode(self.seal.close(facts)).decode()

    def check(self, confirmation: object, tool: str, variables: Mapping[str, Any], actor: Actor) -> dict[str, Any]:
        """Return the variables that the question showed.

        Raises `InvalidConfirmation` unless the confirmation is of this call.
        """
        try:
            opened = self.seal.open(base64.b64decode(str(confirmation), b"-_", validate=True))
        except (binascii.Error, ValueError, InvalidTag):
            raise InvalidConfirmation() from None
        until, identity, shown = opened.split(" ", 2)
        if int(until) <= self.clock.now().timestamp() or identity != _identify(tool, variables, actor):
            raise InvalidConfirmation()
        return orjson.loads(shown)


def once(confirmation: str) -> str:
    """Return the idempotency key of a confirmed call, so that a confirmation is good for one change."""
    return f"confirmed-{hashlib.sha256(confirmation.encode()).hexdigest()[:40]}"


def _identify(tool: str, variables: Mapping[str, Any], actor: Actor) -> str:
    call = orjson.dumps([tool, variables, actor.account_id, actor.label], option=orjson.OPT_SORT_KEYS)
    return hashlib.sha256(call).hexdigest()
