"""Allocates slots of a limited resource to accounts in turns, so that no account holds all of them."""

import asyncio
from collections import Counter, deque


class FairQueue:
    """Allocates slots; waiting accounts get one slot each in turns.

    An account holds at most `share` slots at once, so that an account blocked by a lock on its rows leaves slots for
    the others. A wait longer than `patience` seconds raises `TimeoutError`; with None, waits are unlimited.
    """

    def __init__(self, places: int, share: int, patience: float | None) -> None:
        self._free = places
        self._share = share
        self._patience = patience
        self._held: Counter[int] = Counter()
        self._waiting: dict[int, deque[asyncio.Future[None]]] = {}

    async def take(self, account_id: int) -> None:
        """Take a slot, which `leave` releases; raise `TimeoutError`."""
        if self._may_have(account_id):
            self._lend(account_id)
            return
        turn = asyncio.get_running_loop().create_future()
        self._waiting.setdefault(account_id, deque()).append(turn)
        async with asyncio.timeout(self._patience):
            await self._wait(turn, account_id)

    def leave(self, account_id: int) -> None:
        """Release a slot to the account that has waited for longest and may have one."""
        self._held[account_id] -= 1
        if not self._held[account_id]:
            del self._held[account_id]
        self._free += 1
        while (waiting := next(filter(self._may_have, self._waiting), None)) is not None:
            self._serve(waiting)

    def _may_have(self, account_id: int) -> bool:
        return self._free > 0 and self._held[account_id] < self._share

    def _lend(self, account_id: int) -> None:
        self._free -= 1
        self._held[account_id] += 1

    def _serve(self, account_id: int) -> None:
        """Give a slot to the first waiter of an account, and move the account behind the others."""
        turns = self._waiting.pop(account_id)
        turn = turns.popleft()
        if turns:
            self._waiting[account_id] = turns
        if not turn.done():
            self._lend(account_id)
            turn.set_result(None)

    async def _wait(self, turn: asyncio.Future[None], account_id: int) -> None:
        try:
            await turn
        except asyncio.CancelledError:
            if not turn.cancelled():  # the slot was given at the same moment
                self.leave(account_id)
            raise
