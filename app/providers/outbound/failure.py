"""Failures of a request."""

from app.domain.webhooks.poster import PostError


class ExchangeFailed(Exception):
    """No HTTP response was received, for the reason `error`."""

    def __init__(self, error: PostError) -> None:
        super().__init__(error)
        self.error = error
