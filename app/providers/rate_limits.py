"""Rate limits per key and account and minute; an expensive request counts as several.

Each limit is a bucket of the generic cell rate algorithm (ITU-T I.371), stored in Valkey as the time when the bucket is
full again, and shared by all processes. While Valkey is unreachable each process counts separately, so that the limits
neither stop the service nor disappear.
"""

import asyncio
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

import structlog

from app.db.redis import AWAY, open_redis
from app.domain.kernel.micro_batcher import MicroBatcher
from app.domain.kernel.unit_of_work import Actor
from app.providers.local_counters import Buckets
from app.telemetry.logs import Throttle
from app.telemetry.metrics import RATE_LIMITS

WINDOW_SECONDS = 60
ACCOUNT_SHARE = 4
"""The limit of an account, in limits of one key."""

MAX_BATCH, MAX_HELD = 64, 10_000
TIMEOUT_SECONDS = 0.25
REST_SECONDS = 1.0
"""The pause before Valkey is used again after a failure."""

REFUSAL_SECONDS = 0.1
MAX_DELAYED = 1_000
"""The delay of refusals, and the maximum number delayed at once: immediate retries would keep the process busy."""

# KEYS hold a pair for each claim: a key's bucket and its account's. ARGV holds, for each claim, its window and the cost
# of one unit in each of the two buckets, in microseconds, the claimed units, and the minimum to grant.
# The reply has, for each claim, the granted units, the wait if there are none, and for each bucket the time until it is
# full again.
_CLAIM = """
local clock = redis.call('time')
local now, answers = clock[1] * 1000000 + clock[2], {}
local function spent(name)
  return math.max(tonumber(redis.call('get', name) or now) - now, 0)
end
local function spend(name, amount)
  redis.call('set', name, string.format('%.0f', now + amount), 'px', math.ceil(amount / 1000))
  return amount
end
for i = 1, #KEYS, 2 do
  local place = 1 + (i - 1) / 2 * 5
  local window, key_cost, account_cost = tonumber(ARGV[place]), tonumber(ARGV[place + 1]), tonumber(ARGV[place + 2])
  local key, account = spent(KEYS[i]), spent(KEYS[i + 1])
  local free = math.min(math.floor((window - key) / key_cost), math.floor((window - account) / account_cost))
  local granted, least, wait = math.min(free, tonumber(ARGV[place + 3])), tonumber(ARGV[place + 4]), 0
  if granted >= least then
    key, account = spend(KEYS[i], key + granted * key_cost), spend(KEYS[i + 1], account + granted * account_cost)
  else
    granted, wait = 0, math.max(key + least * key_cost, account + least * account_cost) - window
  end
  answers[#answers + 1] = {granted, wait, key, account}
end
return answers
"""

log = structlog.get_logger(__name__)


@dataclass(frozen=True)
class Policy:
    """A limit: `quota` requests of a key in a window, and `ACCOUNT_SHARE` times as many of an account.

    The window is a minute divided by `parts`.
    """

    name: str
    quota: int
    parts: int = 1

    @cached_property
    def header(self) -> str:
        """Return the `RateLimit-Policy` header (draft-ietf-httpapi-ratelimit-headers)."""
        seconds = WINDOW_SECONDS // self.parts
        account = f'"{self.name}-account";q={self.quota * ACCOUNT_SHARE};w={seconds}'
        return f'"{self.name}";q={self.quota};w={seconds}, {account}'

    @cached_property
    def window(self) -> int:
        """Return the window in microseconds."""
        return WINDOW_SECONDS * 1_000_000 // self.parts

    @cached_property
    def costs(self) -> tuple[int, int]:
        """Return the cost of one request in the key's and the account's bucket, in microseconds."""
        return self.window // self.quota, self.window // (self.quota * ACCOUNT_SHARE)


@dataclass(slots=True)  # not frozen, as `Actor` is not
class Standing:
    """The remaining requests of the key and of the account, and the seconds until all are available again.

    `wait` is 0 for an allowed request; otherwise it was not counted, and is allowed after so many seconds.
    """

    policy: Policy
    wait: int
    remaining: tuple[int, int]
    reset: tuple[int, int]

    @property
    def header(self) -> str:
        """Return the `RateLimit` header."""
        (key, account), (key_reset, account_reset) = self.remaining, self.reset
        name = self.policy.name
        return f'"{name}";r={key};t={key_reset}, "{name}-account";r={account};t={account_reset}'


Request = tuple[Policy, str, str, int]
"""The limit of a request, the names of the key's and the account's bucket, and its units."""


@dataclass(slots=True)
class Held:
    """Claimed units not yet used: `left` of them, until a time of the monotonic clock."""

    left: int
    until: float
    spent: tuple[int, int]


class RefusalDelay:
    """Delays a refusal, up to a maximum number of them."""

    def __init__(self) -> None:
        self._delayed = 0

    async def __call__(self) -> None:
        """Wait `REFUSAL_SECONDS`, or not at all when `MAX_DELAYED` wait."""
        if self._delayed >= MAX_DELAYED:
            return
        self._delayed += 1
        try:
            await asyncio.sleep(REFUSAL_SECONDS)
        finally:
            self._delayed -= 1


class Rates:
    """Counts requests. Concurrent requests are claimed in one call; `close` it at the end.

    A process claims up to a thousandth of a quota ahead, so that most requests need no call. Units unused after a tenth
    of the window are lost for the key: at most a hundredth of the quota for each process.
    """

    def __init__(self, redis_url: str) -> None:
        self._redis = open_redis(redis_url, TIMEOUT_SECONDS)
        self._script = self._redis.register_script(_CLAIM)
        self._claim: MicroBatcher[Request, Standing | None] = MicroBatcher(self._serve, MAX_BATCH)
        self._held: dict[str, Held] = {}
        self._rests_until = 0.0
        self._buckets = Buckets()
        self._delay = RefusalDelay()
        self._warnings = Throttle()

    async def take(self, policy: Policy, actor: Actor, units: int = 1) -> Standing | None:
        """Count one request of an actor; return the remaining quota, or None if unknown.

        An expensive request counts as several `units`, at most the whole quota. A refused request is not counted, and
        its refusal is delayed.
        """
        account = f"rate:{policy.name}:{actor.account_id}"
        request = (policy, f"{account}:{actor.label}", account, min(units, policy.quota))
        standing = self._take_held(request) or await self._claim(request) or self._refuse_alone(request)
        if standing is None:
            RATE_LIMITS.labels(policy.name, "unchecked").inc()
        elif standing.wait:
            RATE_LIMITS.labels(policy.name, "refused").inc()
            await self._delay()
        return standing

    async def close(self) -> None:
        """Finish pending claims, and disconnect."""
        await self._claim.close()
        await self._redis.aclose()

    def _refuse_alone(self, request: Request) -> Standing | None:
        """Count a request in this process only; return None unless it has granted the whole quota."""
        policy, key, account, units = request
        costs = dict(zip((key, account), (units * cost for cost in policy.costs), strict=True))
        wait = self._buckets.take(costs, policy.window)
        return Standing(policy, _seconds(wait), (0, 0), (_seconds(wait), _seconds(wait))) if wait else None

    def _take_held(self, request: Request) -> Standing | None:
        policy, name, _, units = request
        if self._left(name) < units:
            return None
        held = self._held[name]
        held.left -= units
        return _standing(policy, held.spent, held.left)

    def _left(self, name: str) -> int:
        """Return the units claimed ahead."""
        held = self._held.get(name)
        return held.left if held and time.monotonic() < held.until else 0

    async def _serve(self, requests: Sequence[Request]) -> Sequence[Standing | None]:
        standings = [self._take_held(request) for request in requests]
        claims: dict[Request, list[int]] = {}
        for place, request in enumerate(requests):
            if standings[place] is None:
                claims.setdefault(request, []).append(place)
        if not claims or time.monotonic() < self._rests_until:
            return standings
        try:
            answers = await self._script(*_arguments(claims))
        except AWAY as error:
            self._rests_until = time.monotonic() + REST_SECONDS
            if self._warnings.passes():
                log.warning("requests_not_counted", error=repr(error))
            return standings
        for ((policy, name, _, units), places), (granted, wait, *spent) in zip(claims.items(), answers, strict=True):
            made, ahead = min(granted // units, len(places)), self._left(name)
            left = granted - made * units + ahead
            self._hold(name, Held(left, time.monotonic() + policy.window / 10_000_000, tuple(spent)))
            for number, place in enumerate(places, 1):
                left = max(granted - number * units, 0) + ahead
                standings[place] = _standing(policy, spent, left, 0 if number <= made else _wait(wait, policy, units))
        return standings

    def _hold(self, name: str, held: Held) -> None:
        if held.left:
            self._held.pop(name, None)
            self._held[name] = held
            if len(self._held) > MAX_HELD:
                del self._held[next(iter(self._held))]


def _arguments(claims: Mapping[Request, Sequence[int]]) -> tuple[list[str], list[int]]:
    """Return the keys and arguments of the script."""
    names = [name for _, *buckets, _ in claims for name in buckets]
    amounts = [
        number
        for (policy, _, _, units), places in claims.items()
        for number in (policy.window, *policy.costs, units * len(places) - 1 + max(policy.quota // 1000, 1), units)
    ]
    return names, amounts


def _standing(policy: Policy, spent: Sequence[int], held: int, wait: int = 0) -> Standing:
    (key, account), (key_cost, account_cost), window = spent, policy.costs, policy.window
    remaining = max(window - key, 0) // key_cost + held, max(window - account, 0) // account_cost + held
    return Standing(policy, _seconds(wait), remaining, (_seconds(key), _seconds(account)))


def _wait(wait: int, policy: Policy, units: int) -> int:
    """Return the wait of a refused request; one unit's cost if the claim granted other requests of its key."""
    return wait or policy.costs[0] * units


def _seconds(microseconds: int) -> int:
    return -(-microseconds // 1_000_000)
