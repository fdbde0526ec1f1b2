"""Rate limits for anonymous requests, per network.

A request also counts for the wider networks of its address (`networks_of`), each with `GROWTH` times the quota. A
policy may have a total for all networks. The more of the total a network has used, the earlier it is refused, so that
a flood from few networks leaves room for others. Networks that are `known` have a separate total.

Like `Rates`, these are buckets in Valkey, and in the memory of each process while Valkey is unreachable.
"""

import time
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import timedelta

import structlog

from app.db.redis import AWAY, open_redis
from app.domain.kernel.micro_batcher import MicroBatcher
from app.domain.kernel.networks import GROWTH, networks_of
from app.providers import rate_limits
from app.providers.local_counters import Buckets
from app.providers.rate_limits import MAX_BATCH, REST_SECONDS, TIMEOUT_SECONDS, Policy, RefusalDelay
from app.telemetry.logs import Throttle
from app.telemetry.metrics import RATE_LIMITS

KNOWN_FOR = timedelta(days=90)

# ARGV[1] is the window in microseconds, ARGV[2] the growth of wider networks. Then follow, for each claim, the number
# of its networks, its units, and the cost of one unit in the narrowest network's bucket and in the total (0: no total),
# in microseconds. KEYS hold the buckets of the networks, narrowest first, and, for a total, the mark of a known
# network, the total of known networks and that of others.
# The reply has the wait of each claim in microseconds; 0 for a granted one.
_TAKE = """
local clock = redis.call('time')
local now, window, growth, answers = clock[1] * 1000000 + clock[2], tonumber(ARGV[1]), tonumber(ARGV[2]), {}
local function spent(name)
  return math.max(tonumber(redis.call('get', name) or now) - now, 0)
end
local function spend(name, amount)
  redis.call('set', name, string.format('%.0f', now + amount), 'px', math.ceil(amount / 1000))
end
local key = 1
for place = 3, #ARGV, 4 do
  local networks, units = tonumber(ARGV[place]), tonumber(ARGV[place + 1])
  local cost, shared = tonumber(ARGV[place + 2]), tonumber(ARGV[place + 3])
  local wait, used, after, total = 0, 0, {}, nil
  for i = 0, networks - 1 do
    local before = spent(KEYS[key + i])
    used = math.max(used, before * growth ^ i)
    after[KEYS[key + i]] = before + units * cost / growth ^ i
    wait = math.max(wait, after[KEYS[key + i]] - window)
  end
  key = key + networks
  if shared > 0 then
    total = KEYS[key + (redis.call('exists', KEYS[key]) == 1 and 1 or 2)]
    after[total] = spent(total) + units * shared
    wait = math.max(wait, after[total] + math.min(used, window) / 2 - window)
    key = key + 3
  end
  if wait <= 0 then
    for name, amount in pairs(after) do
      spend(name, amount)
    end
  end
  answers[#answers + 1] = math.ceil(wait)
end
return answers
"""

log = structlog.get_logger(__name__)


@dataclass(frozen=True, slots=True)
class Claim:
    """An anonymous request; `total` is the limit of all networks together per minute, 0 for none."""

    policy: Policy
    networks: Sequence[str]
    units: int
    total: int

    @property
    def keys(self) -> list[str]:
        """Return the names of the buckets."""
        own = [f"share:{self.policy.name}:{each}" for each in self.networks]
        totals = [f"share:{self.policy.name}:all:{which}" for which in ("known", "others")]
        return [*own, _known(self.networks), *totals] if self.total else own

    @property
    def amounts(self) -> tuple[int, int, int, int]:
        """Return the arguments of the script."""
        window = rate_limits.WINDOW_SECONDS * 1_000_000
        shared = window // self.total if self.total else 0
        return len(self.networks), self.units, window // self.policy.quota, shared


class Shares:
    """Counts anonymous requests. Concurrent requests are counted in one call; `close` it at the end."""

    def __init__(self, redis_url: str) -> None:
        self._redis = open_redis(redis_url, TIMEOUT_SECONDS)
        self._script = self._redis.register_script(_TAKE)
        self._claim: MicroBatcher[Claim, int] = MicroBatcher(self._serve, MAX_BATCH)
        self._delay = RefusalDelay()
        self._rests_until = 0.0
        self._buckets = Buckets()
        self._warnings = Throttle()

    async def take(self, policy: Policy, address: str, units: int = 1, total: int = 0) -> int:
        """Count one request of a client address; return its wait in seconds, 0 if allowed.

        A refused request is not counted, and its refusal is delayed.
        """
        wait = await self._claim(Claim(policy, networks_of(address), min(units, policy.quota), total))
        if wait:
            RATE_LIMITS.labels(policy.name, "refused").inc()
            await self._delay()
        return -(-wait // 1_000_000)

    async def note_known(self, address: str) -> None:
        """Mark the network of an address as known, after a sign-in or a token response.

        Skipped during the pause after a failure of Valkey.
        """
        if time.monotonic() < self._rests_until:
            return
        try:
            await self._redis.set(_known(networks_of(address)), 1, ex=KNOWN_FOR)
        except AWAY as error:
            self._warn(error)

    async def close(self) -> None:
        """Finish the counts in progress, and disconnect."""
        await self._claim.close()
        await self._redis.aclose()

    async def _serve(self, claims: Sequence[Claim]) -> Sequence[int]:
        if time.monotonic() < self._rests_until:
            return [self._take_alone(claim) for claim in claims]
        keys = [key for claim in claims for key in claim.keys]
        amounts = [number for claim in claims for number in claim.amounts]
        try:
            return await self._script(keys, [rate_limits.WINDOW_SECONDS * 1_000_000, GROWTH, *amounts])
        except AWAY as error:
            self._warn(error)
            return [self._take_alone(claim) for claim in claims]

    def _take_alone(self, claim: Claim) -> int:
        """Count a claim in this process only, without the distinction of known networks."""
        _, units, cost, shared = claim.amounts
        widths = enumerate(claim.keys[: len(claim.networks)])
        costs = {key: units * cost // GROWTH**wider for wider, key in widths}
        if shared:
            costs[claim.keys[-1]] = units * shared
        return self._buckets.take(costs, rate_limits.WINDOW_SECONDS * 1_000_000)

    def _warn(self, error: Exception) -> None:
        self._rests_until = time.monotonic() + REST_SECONDS
        if self._warnings.passes():
            log.warning("anonymous_requests_not_counted", error=repr(error))


def _known(networks: Sequence[str]) -> str:
    """Return the key that marks a network as known: the second narrowest, as large clients have several addresses."""
    return f"share:known:{networks[min(1, len(networks) - 1)]}"
