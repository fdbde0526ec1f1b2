"""Appointments, of which the simulated scheduling tools tell."""

from dataclasses import dataclass
from datetime import datetime


@dataclass(frozen=True)
class Visit:
    """An appointment of a life: its place in the chain of moves, and the times at which it was made and begins.

    `chain` tells the chains of an account from each other, each with a person of its own.
    """

    number: int
    made_at: datetime
    starts_at: datetime
    zone: str = "America/New_York"
    phone: str = "+12025550143"
    chain: str = ""

    @property
    def email(self) -> str:
        """Return the address of the person."""
        return f"ann{self.chain}@example.com"
