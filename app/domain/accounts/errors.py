"""Errors raised because of an account's state."""

from app.domain.kernel.errors import DomainError

RETRY_SECONDS = 300


class AccountSuspended(DomainError):
    """The account is suspended: nothing is sent, and its keys, tokens and connections are refused until it is resumed.

    The token endpoint answers 503 `temporarily_unavailable` meanwhile, so that platforms do not remove their
    connections.
    """

    code = "account_suspended"
    status = 403
    message = "This account is suspended and cannot send. Its keys and connections work again once it is resumed."

    def __init__(self) -> None:
        super().__init__(seconds=RETRY_SECONDS)


class AccountDeletionPending(DomainError):
    """The account will be deleted on the date in the message, and accepts no new messages until then.

    Everything else works. An owner can withdraw the deletion with the mutation `withdraw_account_deletion`.
    """

    code = "account_deletion_pending"
    status = 403
    message = "This account will be deleted on {at} and takes no new texts. Withdraw the deletion to send again."


class PersonRequired(DomainError):
    """Only a signed-in user, or the operator by command, may do this: a key or a connected application cannot.

    Owners invite and remove users and change their roles, because users added with a stolen key would remain after its
    revocation; and each user has notices of their own. Sign in, and open the settings.
    """

    code = "person_required"
    status = 403
    message = "Keys and connected applications cannot do this. Sign in, and open the settings of the dashboard."


class AccountDeleted(DomainError):
    """The account and its data were deleted. This cannot be undone."""

    code = "account_deleted"
    status = 403
    message = "This account was deleted."
