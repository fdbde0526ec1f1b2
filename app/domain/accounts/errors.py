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


class AccountDeletionPending(DomainError):
    """The account is to be deleted on the date that the message names, and takes no new texts until then.

    Everything else works. An owner can withdraw the deletion with the mutation `withdraw_account_deletion`.
    """

    code = "account_deletion_pending"
    status = 403
    message = "This account will be deleted on {at} and takes no new texts. Withdraw the deletion to send again."


class PersonRequired(DomainError):
    """Only a signed-in owner, or the operator by command, invites and removes people and changes their roles.

    Keys and connected applications cannot: whoever holds a stolen key could let people in who stay when it is revoked.
    Sign in and open `/account/people`.
    """

    code = "person_required"
    status = 403
    message = "Keys and connected applications do not manage people. Sign in as an owner and open /account/people."


class AccountDeleted(DomainError):
    """The account was deleted. That cannot be undone: what was in it is gone."""

    code = "account_deleted"
    status = 403
    message = "This account was deleted."
