"""All rate limits of the service."""

from dataclasses import dataclass

from app.providers.rate_limits import Policy, Rates
from app.providers.shares import Shares


@dataclass(frozen=True, slots=True)
class Limits:
    """The limits of sends, of all other operations, of GraphQL documents that were not read before, and of requests
    without a good key or session. `rates` counts the requests of actors, `shares` anonymous ones.
    """

    requests: Policy
    sends: Policy
    documents: Policy
    anonymous: Policy
    rates: Rates
    shares: Shares
