"""Rate limits per key and account and minute; an expensive request counts as several.

Each limit is a bucket of the generic cell rate algorithm (ITU-T I.371), kept in Valkey as one instant: when the bucket
will be full again. All processes share it. When Valkey is away each process counts for itself: a limit protects the
service, and must neither become what stops it nor be gone.
"""

import asyncio
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import structlog

from app.db.redis import AWAY, open_redis
from app.domain.kernel.micro_batcher import MicroBatcher
from app.domain.kernel.unit_of_work import Actor
from app.providers.local_counters import Buckets
from app.telemetry.logs import Throttle
from app.telemetry.metrics import RATE_LIMITS

WINDOW_SECONDS = 60
ACCOUNT_SHARE = 4
"""How many keys at their limit an account may use at once."""

MAX_BATCH, MAX_HELD = 64, 10_000
TIMEOUT_SECONDS = 0.25
REST_SECONDS = 1.0
"""How long Valkey is left alone after it failed."""

REFUSAL_SECONDS = 0.1
MAX_DELAYED = 1_000
"""How long a refusal is held back, and how many at once: a client that repeats at once would keep the process busy."""

# KEYS hold a pair for each claim: a key's bucket and its account's. ARGV holds, for each claim, its window and what one
# unit costs in each of the two buckets, in microseconds, how many units are claimed, and how many are granted at least,
# if any.
# The answer has, for each claim, how many are granted, how long to wait where none is, and for each bucket in how long
# it will be full again.
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
    """A limit: so many requests of a key's in a window, and `ACCOUNT_SHARE` times that of an account's.

    The window is a minute, or one of so many `parts` of a minute.
    """

    name: str
    quota: int
    parts: int = 1

    @property
    def header(self) -> str:
        """Return the limit as `RateLimit-Policy` spells it (draft-ietf-httpapi-ratelimit-headers)."""
        seconds = WINDOW_SECONDS // self.parts
        account = f'"{self.name}-account";q={self.quota * ACCOUNT_SHARE};w={seconds}'
        return f'"{self.name}";q={self.quota};w={seconds}, {account}'

    @property
    def window(self) -> int:
        """Return the window in microseconds."""
        return WINDOW_SECONDS * 1_000_000 // self.parts

    @property
    def costs(self) -> tuple[int, int]:
        """Return the microseconds that one request takes from the key's bucket, and from the account's."""
        return self.window // self.quota, self.window // (self.quota * ACCOUNT_SHARE)


@dataclass(frozen=True, slots=True)
class Standing:
    """The remaining requests of the key and of the account, and the seconds until all are available again.

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


Request = tuple[Policy, str, str, int]
"""The limit that a request falls under, the names of the key's and the account's bucket, and its units."""


@dataclass(slots=True)
class Held:
    """Units that were claimed and not yet used: `left` of them, until an instant of the monotonic clock."""

    left: int
    until: float
    spent: tuple[int, int]


class RefusalDelay:
    """Holds a refusal back, as long as not too many are."""

    def __init__(self) -> None:
        self._delayed = 0

    async def __call__(self) -> None:
        """Wait `REFUSAL_SECONDS`, or not at all where `MAX_DELAYED` do."""
        if self._delayed >= MAX_DELAYED:
            return
        self._delayed += 1
        try:
            await asyncio.sleep(REFUSAL_SECONDS)
        finally:
            self._delayed -= 1


class Rates:
    """Counts requests. What arrives together is claimed in one call; `close` it at the end.

    A process claims up to a thousandth of a quota ahead, so that most requests ask nobody. What it has not used after a
    tenth of the window is lost to the key: a hundredth of the quota, at most, for each process.
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
        """Count one request of an actor's; return what is left, or None where that cannot be told.

        A dear request counts as several `units`, all of the quota at most. One that has to wait does not count, and is
        told so a moment later.
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
        """Finish what is being counted, and disconnect."""
        await self._claim.close()
        await self._redis.aclose()

    def _refuse_alone(self, request: Request) -> Standing | None:
        """Count a request that nobody else counts; return None unless this process has granted the whole quota."""
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
        """Return how many units were claimed ahead."""
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
                log.warning("requests are not counted: Redis cannot be reached", error=repr(error))
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
    key, account = (max(policy.window - each, 0) // cost + held for each, cost in zip(spent, policy.costs, strict=True))
    return Standing(policy, _seconds(wait), (key, account), (_seconds(spent[0]), _seconds(spent[1])))


def _wait(wait: int, policy: Policy, units: int) -> int:
    """Return how long a request waits of whose kind others were granted, where the claim itself did not have to."""
    return wait or policy.costs[0] * units


def _seconds(microseconds: int) -> int:
    return -(-microseconds // 1_000_000)
