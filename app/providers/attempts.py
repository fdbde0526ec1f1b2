"""Attempts with a password, counted in Valkey: who fails again and again waits longer and longer.

When Valkey is away nobody is held back, for then nobody could sign in at all.
"""

from hashlib import sha256

import structlog
from redis.asyncio import Redis
from redis.exceptions import RedisError

from app.domain.kernel.clock import Clock
from app.providers.networks import network_of
from app.telemetry.logs import Throttle
from app.telemetry.metrics import ATTEMPTS_UNCHECKED

FREE = {"email": 5, "address": 20}
"""How many failures cost no wait: people mistype, and whole offices share one address."""

FIRST_WAIT_MS = 1000
LONGEST_WAIT_MS = 15 * 60 * 1000
FORGOTTEN_MS = 60 * 60 * 1000
TIMEOUT_SECONDS = 1.0

# KEYS are the counters of one attempt. ARGV: the present instant, the first and the longest wait, when a counter is
# forgotten, all in milliseconds, then how many failures each counter lets pass.
_BEGIN = """
local now, wait = tonumber(ARGV[1]), 0
for _, key in ipairs(KEYS) do
  wait = math.max(wait, tonumber(redis.call('hget', key, 'until') or 0) - now)
end
if wait > 0 then
  return wait
end
for i, key in ipairs(KEYS) do
  local count = redis.call('hincrby', key, 'count', 1)
  local beyond = count - tonumber(ARGV[4 + i])
  if beyond >= 0 then
    local delay = math.min(tonumber(ARGV[2]) * 2 ^ beyond, tonumber(ARGV[3]))
    redis.call('hset', key, 'until', string.format('%.0f', now + delay))
  end
  redis.call('pexpire', key, ARGV[4])
end
return 0
"""

# KEYS are the counter to forget, and the one to take a single attempt off.
_SUCCEED = """
redis.call('del', KEYS[1])
if tonumber(redis.call('hget', KEYS[2], 'count') or 0) > 0 then
  redis.call('hincrby', KEYS[2], 'count', -1)
  redis.call('hdel', KEYS[2], 'until')
end
"""

log = structlog.get_logger(__name__)


class RedisAttempts:
    """Implements `Attempts`. An address counts as `network_of` says."""

    def __init__(self, redis_url: str, clock: Clock) -> None:
        self._redis = Redis.from_url(redis_url, socket_connect_timeout=TIMEOUT_SECONDS, socket_timeout=TIMEOUT_SECONDS)
        self._begin = self._redis.register_script(_BEGIN)
        self._succeed = self._redis.register_script(_SUCCEED)
        self._clock = clock
        self._warnings = Throttle()

    async def begin(self, kind: str, email: str, address: str) -> float:
        """Count an attempt and return 0, or return for how many seconds there may be none."""
        now = round(self._clock.now().timestamp() * 1000)
        limits = [now, FIRST_WAIT_MS, LONGEST_WAIT_MS, FORGOTTEN_MS, *FREE.values()]
        try:
            return await self._begin(_names(kind, email, address), limits) / 1000
        except (RedisError, OSError) as error:
            self._warn(error)
            return 0

    async def succeed(self, kind: str, email: str, address: str) -> None:
        """Forget the failures of the e-mail address, and this attempt of the network's."""
        try:
            await self._succeed(_names(kind, email, address))
        except (RedisError, OSError) as error:
            self._warn(error)

    async def close(self) -> None:
        """Disconnect."""
        await self._redis.aclose()

    def _warn(self, error: Exception) -> None:
        ATTEMPTS_UNCHECKED.inc()
        if self._warnings.passes():
            log.warning("nobody who guesses passwords is held back: Redis cannot be reached", error=repr(error))


def _names(kind: str, email: str, address: str) -> list[str]:
    subjects = {"email": email, "address": network_of(address)}
    return [f"attempts:{kind}:{name}:{sha256(subject.encode()).hexdigest()}" for name, subject in subjects.items()]
