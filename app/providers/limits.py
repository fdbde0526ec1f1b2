"""All rate limits of the service."""

from dataclasses import dataclass

from app.providers.rate_limits import Policy, Rates
from app.providers.shares import Shares


@dataclass(frozen=True, slots=True)
class Limits:
    """The limits of all other operations, of sends, of GraphQL documents parsed for the first time, and of anonymous
    requests. `rates` counts the requests of actors, `shares` anonymous ones.
    """

    requests: Policy
    sends: Policy
    documents: Policy
    anonymous: Policy
    rates: Rates
    shares: Shares
