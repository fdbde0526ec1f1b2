"""Errors that the state of an account raises."""

from app.domain.kernel.errors import DomainError

RETRY_SECONDS = 300


class AccountSuspended(DomainError):
    """The account is suspended: nothing is sent, and its keys, tokens and connections do nothing until it is resumed.

    They work again then. The token endpoint answers 503 `temporarily_unavailable` meanwhile, so that no platform gives
    a connection up.
    """

    code = "account_suspended"
    status = 403
    message = "This account is suspended and cannot send. Its keys and connections work again once it is resumed."

    def __init__(self) -> None:
        super().__init__(seconds=RETRY_SECONDS)
