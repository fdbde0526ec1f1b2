"""Reasons for a failed exchange."""

from app.domain.webhooks.poster import PostError


class ExchangeFailed(Exception):
    """No HTTP answer came, for the reason that `error` names."""

    def __init__(self, error: PostError) -> None:
        super().__init__(error)
        self.error = error
