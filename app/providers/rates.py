"""Rate limits: how many requests a key, and an account, may make in a minute.

Each limit is a bucket of the generic cell rate algorithm (ITU-T I.371), kept in Valkey as one instant: when the bucket
will be full again. All processes share it. When Valkey is away nothing is refused: a limit protects the service, and
must not become what stops it.
"""

import time
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import structlog
from redis.asyncio import Redis
from redis.exceptions import RedisError

from app.domain.kernel.coalescer import Coalescer
from app.domain.kernel.unit import Actor
from app.telemetry.logs import Throttle
from app.telemetry.metrics import RATE_LIMITS

WINDOW_SECONDS = 60
ACCOUNT_SHARE = 4
"""How many keys at their limit an account may use at once."""

MAX_BATCH = 64
TIMEOUT_SECONDS = 0.25
REST_SECONDS = 1.0
"""How long Valkey is left alone after it failed."""

# KEYS hold a pair for each request: its key's bucket and its account's. ARGV[1] is the window in microseconds, then
# follow, for each request, the microseconds that one request costs in each of the two buckets. The answer has, for
# each request, how long to wait, and for each bucket until when it is not full; a request that waits costs nothing.
_TAKE = """
local clock = redis.call('time')
local now, window, answers = clock[1] * 1000000 + clock[2], tonumber(ARGV[1]), {}
local function full_at(name, cost)
  return math.max(tonumber(redis.call('get', name) or now), now) + cost
end
for i = 1, #KEYS, 2 do
  local key_at, account_at = full_at(KEYS[i], ARGV[i + 1]), full_at(KEYS[i + 1], ARGV[i + 2])
  local wait = math.max(key_at, account_at) - window - now
  if wait <= 0 then
    redis.call('set', KEYS[i], string.format('%.0f', key_at), 'px', math.ceil((key_at - now) / 1000))
    redis.call('set', KEYS[i + 1], string.format('%.0f', account_at), 'px', math.ceil((account_at - now) / 1000))
  else
    key_at, account_at = key_at - ARGV[i + 1], account_at - ARGV[i + 2]
  end
  answers[#answers + 1] = {math.max(wait, 0), key_at - now, account_at - now}
end
return answers
"""

log = structlog.get_logger(__name__)


@dataclass(frozen=True)
class Policy:
    """A limit: so many requests of a key's in a minute, and `ACCOUNT_SHARE` times that of an account's."""

    name: str
    quota: int

    @cached_property
    def header(self) -> str:
        """Return the limit as `RateLimit-Policy` spells it (draft-ietf-httpapi-ratelimit-headers)."""
        account = f'"{self.name}-account";q={self.quota * ACCOUNT_SHARE};w={WINDOW_SECONDS}'
        return f'"{self.name}";q={self.quota};w={WINDOW_SECONDS}, {account}'

    @cached_property
    def costs(self) -> tuple[int, int]:
        """Return the microseconds that one request takes from the key's bucket, and from the account's."""
        window = WINDOW_SECONDS * 1_000_000
        return window // self.quota, window // (self.quota * ACCOUNT_SHARE)


@dataclass(frozen=True, slots=True)
class Standing:
    """What is left after a request: how many more of the key's and of the account's, and the seconds until all are.

    `wait` is 0 where the request may be made; otherwise it was not counted, and may be made after so many seconds.
    """

    policy: Policy
    wait: int
    remaining: tuple[int, int]
    reset: tuple[int, int]

    @property
    def header(self) -> str:
        """Return what is left as `RateLimit` spells it."""
        (key, account), (key_reset, account_reset) = self.remaining, self.reset
        name = self.policy.name
        return f'"{name}";r={key};t={key_reset}, "{name}-account";r={account};t={account_reset}'


Request = tuple[Policy, str, str]
"""The limit that a request falls under, and the names of the key's and the account's bucket."""


class Rates:
    """Counts requests. What arrives together is counted in one call; `close` it at the end."""

    def __init__(self, redis_url: str) -> None:
        self._redis = Redis.from_url(redis_url, socket_connect_timeout=TIMEOUT_SECONDS, socket_timeout=TIMEOUT_SECONDS)
        self._script = self._redis.register_script(_TAKE)
        self._count: Coalescer[Request, Sequence[int] | None] = Coalescer(self._serve, MAX_BATCH)
        self._rests_until = 0.0
        self._warnings = Throttle()

    async def take(self, policy: Policy, actor: Actor) -> Standing | None:
        """Count one request of an actor's; return what is left, or None where that cannot be told.

        A request that has to wait does not count.
        """
        names = f"rate:{policy.name}:{actor.label}@{actor.account_id}", f"rate:{policy.name}:{actor.account_id}"
        counted = await self._count((policy, *names))
        if counted is None:
            RATE_LIMITS.labels(policy.name, "unchecked").inc()
            return None
        wait, *used = counted
        if wait:
            RATE_LIMITS.labels(policy.name, "refused").inc()
        return _standing(policy, wait, used)

    async def close(self) -> None:
        """Finish what is being counted, and disconnect."""
        await self._count.close()
        await self._redis.aclose()

    async def _serve(self, requests: Sequence[Request]) -> Sequence[Any]:
        if time.monotonic() < self._rests_until:
            return [None] * len(requests)
        names = [name for _, *buckets in requests for name in buckets]
        costs = [cost for policy, *_ in requests for cost in policy.costs]
        try:
            return await self._script(names, [WINDOW_SECONDS * 1_000_000, *costs])
        except (RedisError, OSError) as error:
            self._rests_until = time.monotonic() + REST_SECONDS
            if self._warnings.passes():
                log.warning("requests are not counted: Redis cannot be reached", error=repr(error))
            return [None] * len(requests)


@dataclass(frozen=True, slots=True)
class Limits:
    """The limits that there are: of sends, and of all other operations. `rates` counts both."""

    requests: Policy
    sends: Policy
    rates: Rates


def _standing(policy: Policy, wait: int, used: Sequence[int]) -> Standing:
    window = WINDOW_SECONDS * 1_000_000
    key, account = (max(window - spent, 0) // cost for spent, cost in zip(used, policy.costs, strict=True))
    return Standing(policy, _seconds(wait), (key, account), (_seconds(used[0]), _seconds(used[1])))


def _seconds(microseconds: int) -> int:
    return -(-microseconds // 1_000_000)
