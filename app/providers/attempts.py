"""Password attempts, counted in Valkey; the wait grows with repeated failures.

While Valkey is unreachable, each process counts separately, without the counter of an e-mail address over all networks.
"""

from hashlib import sha256

import structlog

from app.db.redis import AWAY, open_redis
from app.domain.accounts.sign_in.attempts import Attempt, Verdict
from app.domain.kernel.clock import Clock
from app.domain.kernel.networks import GROWTH, networks_of
from app.providers.local_counters import Failures
from app.telemetry.logs import Throttle
from app.telemetry.metrics import ATTEMPTS_UNCHECKED

FREE, FREE_ADDRESS = 5, 20
"""Failures of a network without a wait, for one e-mail address and for all together: people mistype, and offices share
one network. Each wider network has `GROWTH` times as many."""

FREE_EVERYWHERE = 20
"""Failures for one e-mail address over all networks without a delay."""

FIRST_WAIT_MS = 1000
LONGEST_WAIT_MS = 15 * 60 * 1000
FORGOTTEN_MS = 60 * 60 * 1000
DELAY_MS, LONGEST_DELAY_MS = 250, 5000
TURN_MS = 30_000
"""The interval of attempts shared by networks with `FREE` failures for an e-mail address that is under attack."""

TIMEOUT_SECONDS = 1.0

# KEYS are the counters of one attempt: those that cause a wait, narrowest first, then, if ARGV[8] is 1, that of the
# e-mail address over all networks. ARGV: the present time, the first and the longest wait, the expiry of a counter, the
# delay added by each failure beyond `FREE_EVERYWHERE`, the longest delay, and the turn, all in milliseconds; then 1 or
# 0, `FREE_EVERYWHERE`, the failures without a wait of each counter, and the attempt's id.
_BEGIN = """
local now, wait, delay, waits = tonumber(ARGV[1]), 0, 0, #KEYS - tonumber(ARGV[8])
for i = 1, waits do
  wait = math.max(wait, tonumber(redis.call('hget', KEYS[i], 'until') or 0) - now)
end
if wait > 0 then
  return {wait, 0}
end
local everywhere = KEYS[waits + 1]
if everywhere then
  local beyond = tonumber(redis.call('hget', everywhere, 'count') or 0) + 1 - tonumber(ARGV[9])
  if beyond > 0 then
    delay = math.min(beyond * tonumber(ARGV[5]), tonumber(ARGV[6]))
    if tonumber(redis.call('hget', KEYS[1], 'count') or 0) >= tonumber(ARGV[10]) then
      local turn = tonumber(redis.call('hget', everywhere, 'turn') or 0)
      if turn > now then
        return {turn - now, 0}
      end
      redis.call('hset', everywhere, 'turn', string.format('%.0f', now + tonumber(ARGV[7])))
    end
  end
end
for i, key in ipairs(KEYS) do
  local count = redis.call('hincrby', key, 'count', 1)
  local beyond = i > waits and -1 or count - tonumber(ARGV[9 + i])
  if beyond >= 0 then
    local added = math.min(tonumber(ARGV[2]) * 2 ^ beyond, tonumber(ARGV[3]))
    redis.call('hset', key, 'until', string.format('%.0f', now + added), 'by', ARGV[#ARGV])
  end
  redis.call('pexpire', key, ARGV[4])
end
return {0, delay}
"""

# KEYS are counters: the first ARGV[1] are deleted, and the attempt with the id ARGV[2] is uncounted in the others, with
# the wait that it caused.
_SETTLE = """
for i, key in ipairs(KEYS) do
  if i <= tonumber(ARGV[1]) then
    redis.call('del', key)
  elseif tonumber(redis.call('hget', key, 'count') or 0) > 0 then
    redis.call('hincrby', key, 'count', -1)
    if redis.call('hget', key, 'by') == ARGV[2] then
      redis.call('hdel', key, 'until', 'by')
    end
  end
end
"""

log = structlog.get_logger(__name__)


class RedisAttempts:
    """Implements `Attempts`. `networks_of` defines the networks."""

    def __init__(self, redis_url: str, clock: Clock) -> None:
        self._redis = open_redis(redis_url, TIMEOUT_SECONDS)
        self._begin = self._redis.register_script(_BEGIN)
        self._settle = self._redis.register_script(_SETTLE)
        self._clock = clock
        self._failures = Failures(FIRST_WAIT_MS, LONGEST_WAIT_MS, FORGOTTEN_MS)
        self._warnings = Throttle()

    async def begin(self, attempt: Attempt) -> Verdict:
        """Count an attempt, unless it is refused."""
        counters = _counters(attempt)
        now = round(self._clock.now().timestamp() * 1000)
        waits = [now, FIRST_WAIT_MS, LONGEST_WAIT_MS, FORGOTTEN_MS, DELAY_MS, LONGEST_DELAY_MS, TURN_MS]
        limits = [*waits, int(len(counters) > 1), FREE_EVERYWHERE, *counters.values(), attempt.id]
        try:
            wait, delay = await self._begin(list(counters), limits)
        except AWAY as error:
            self._warn(error)
            return Verdict(self._failures.begin(_waits(counters), now, attempt.id) / 1000)
        return Verdict(wait / 1000, delay / 1000)

    async def succeed(self, attempt: Attempt) -> None:
        """Reset the failures of the network for the e-mail address, and uncount this attempt in the other counters."""
        await self._end(attempt, list(_counters(attempt)), reset=1)

    async def withdraw(self, attempt: Attempt) -> None:
        """Uncount an attempt in all counters."""
        await self._end(attempt, list(_counters(attempt)), reset=0)

    async def reset(self, attempt: Attempt) -> None:
        """Reset only the failures of the network for the e-mail address."""
        await self._end(attempt, list(_counters(attempt))[:1], reset=1)

    async def close(self) -> None:
        """Disconnect."""
        await self._redis.aclose()

    async def _end(self, attempt: Attempt, counters: list[str], reset: int) -> None:
        try:
            await self._settle(counters, [reset, attempt.id])
        except AWAY as error:
            self._warn(error)
            self._failures.settle(counters, reset, attempt.id)

    def _warn(self, error: Exception) -> None:
        ATTEMPTS_UNCHECKED.inc()
        if self._warnings.passes():
            log.warning("attempts_not_counted", error=repr(error))


def _counters(attempt: Attempt) -> dict[str, int]:
    """Return the counters of an attempt with their failures without a wait, that of the e-mail address last."""
    if attempt.browser:
        return {_name(attempt.kind, "browser", attempt.browser, attempt.email): FREE}
    networks = networks_of(attempt.address)
    pairs = {_name(attempt.kind, "pair", each, attempt.email): FREE * GROWTH**n for n, each in enumerate(networks)}
    all_of = {_name(attempt.kind, "address", each): FREE_ADDRESS * GROWTH**n for n, each in enumerate(networks)}
    return {**pairs, **all_of, _name(attempt.kind, "email", attempt.email): 0}


def _waits(counters: dict[str, int]) -> dict[str, int]:
    """Return the counters that cause a wait: all but that of the e-mail address over all networks."""
    return {name: free for name, free in counters.items() if free}


def _name(kind: str, counter: str, *subjects: str) -> str:
    return f"attempts:{kind}:{counter}:{sha256(chr(0).join(subjects).encode()).hexdigest()}"
