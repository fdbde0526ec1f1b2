"""Rate limits for anonymous requests: each network has its own share.

A network counts for all that it is a part of too (`networks_of`): each wider one has `GROWTH` times the quota. A policy
may have a total for all networks. A network leaves the more of it to others the more it has had, so that a flood from
few leaves room for all, and networks that were `known` before have a total of their own.

Like `Rates`, these are buckets in Valkey, and in the memory of each process while that is away.
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

# ARGV[1] is the window in microseconds, ARGV[2] how much wider networks may do. Then follow, for each claim, how many
# networks it is counted for, its units, what one unit costs in the narrowest network's bucket, and in that of all (0:
# there is none), in microseconds. KEYS hold the buckets of the networks, the narrowest first, and, for a total, what
# marks a known network, the total of known ones and that of others.
# The answer says for each claim how long to wait, in microseconds; 0 where it is granted.
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
    """An anonymous request; `total` is the limit of all networks together in a minute, 0 for none."""

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
        """Return the numbers of the script."""
        window = rate_limits.WINDOW_SECONDS * 1_000_000
        shared = window // self.total if self.total else 0
        return len(self.networks), self.units, window // self.policy.quota, shared


class Shares:
    """Counts anonymous requests. Requests that arrive together are counted in one call; `close` it at the end."""

    def __init__(self, redis_url: str) -> None:
        self._redis = open_redis(redis_url, TIMEOUT_SECONDS)
        self._script = self._redis.register_script(_TAKE)
        self._claim: MicroBatcher[Claim, int] = MicroBatcher(self._serve, MAX_BATCH)
        self._delay = RefusalDelay()
        self._rests_until = 0.0
        self._buckets = Buckets()
        self._warnings = Throttle()

    async def take(self, policy: Policy, address: str, units: int = 1, total: int = 0) -> int:
        """Count one request from an address of the network; return how many seconds it has to wait, 0 for none.

        One that has to wait does not count, and is told so a moment later.
        """
        wait = await self._claim(Claim(policy, networks_of(address), min(units, policy.quota), total))
        if wait:
            RATE_LIMITS.labels(policy.name, "refused").inc()
            await self._delay()
        return -(-wait // 1_000_000)

    async def note_known(self, address: str) -> None:
        """Remember that somebody who may do so signed in, or was given tokens, from an address's network.

        It is not remembered while Valkey is left alone.
        """
        if time.monotonic() < self._rests_until:
            return
        try:
            await self._redis.set(_known(networks_of(address)), 1, ex=KNOWN_FOR)
        except AWAY as error:
            self._warn(error)

    async def close(self) -> None:
        """Finish what is being counted, and disconnect."""
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
        """Count a claim that nobody else counts; no network is told from those that were known before."""
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
    """Return what marks a network as known: the second narrowest, since large clients call from several addresses."""
    return f"share:known:{networks[min(1, len(networks) - 1)]}"
