"""Signing keys: made once, published ahead, replaced in time, and sealed."""

import asyncio
from datetime import UTC, datetime, timedelta

import pytest

from app.domain.kernel.clock import Clock
from app.domain.kernel.sealing import Seal
from app.domain.oauth import access_tokens
from app.domain.oauth.access_tokens import AccessToken, BadToken
from app.domain.oauth.signing import OUTLASTS, KeyRing
from app.services import Services
from tests.factories.oauth import OAUTH_SIGNING_KEYS

pytestmark = pytest.mark.anyio

NOW = datetime(2026, 11, 21, 9, 30, tzinfo=UTC)
PERIOD = timedelta(days=10)
ISSUER = "https://sms.example.com"
TOKEN = AccessToken(1, 2, "client", ISSUER, frozenset({"contacts:read"}))


class SetClock(Clock):
    """A clock that stands where it is set."""

    moment = NOW

    def now(self) -> datetime:
        return self.moment


@pytest.fixture
def clock() -> SetClock:
    return SetClock()


def ring_of(services: Services, clock: Clock, seal: bytes = b"s" * 32) -> KeyRing:
    return KeyRing(services.database.sessions, clock, Seal(seal), PERIOD)


async def published(key_ring: KeyRing) -> list[str]:
    return [key["kid"] for key in (await key_ring.published())["keys"]]


async def test_a_key_is_made_when_it_is_first_needed(services: Services, clock: SetClock):
    assert await OAUTH_SIGNING_KEYS.count(services) == 0

    key = await ring_of(services, clock).current()

    assert await published(ring_of(services, clock)) == [key.id]
    assert (key.retires_at, key.expires_at) == (NOW + PERIOD, NOW + PERIOD + OUTLASTS)


async def test_processes_that_start_at_once_make_one_key(services: Services, clock: SetClock):
    key_rings = [ring_of(services, clock) for _ in range(3)]

    keys = await asyncio.gather(*(key_ring.current() for key_ring in key_rings))

    assert len({key.id for key in keys}) == 1
    assert await OAUTH_SIGNING_KEYS.count(services) == 1


async def test_the_next_key_is_published_before_it_signs(services: Services, clock: SetClock):
    key_ring = ring_of(services, clock)
    first = (await key_ring.current()).id

    clock.moment = NOW + PERIOD * 0.89
    assert (await key_ring.current()).id == first
    assert await published(key_ring) == [first]

    clock.moment = NOW + PERIOD * 0.91
    assert (await key_ring.current()).id == first
    assert len(await published(key_ring)) == 2

    clock.moment = NOW + PERIOD
    second = (await key_ring.current()).id
    assert await published(key_ring) == [first, second]

    clock.moment = NOW + PERIOD + OUTLASTS
    assert await published(key_ring) == [second]


async def test_a_token_of_an_old_key_is_valid_until_it_expires(services: Services, clock: SetClock):
    key_ring = ring_of(services, clock)
    old = await key_ring.current()
    clock.moment = NOW + PERIOD - timedelta(seconds=1)
    until = clock.moment + access_tokens.LIFETIME
    text = access_tokens.sign(old, ISSUER, TOKEN, clock.moment, until)

    clock.moment = until - timedelta(seconds=1)
    assert (await key_ring.current()).id != old.id
    assert await access_tokens.verify(key_ring, ISSUER, text, clock.moment, [ISSUER]) == TOKEN

    clock.moment = until
    with pytest.raises(BadToken, match="It has expired"):
        await access_tokens.verify(key_ring, ISSUER, text, clock.moment, [ISSUER])


async def test_a_key_that_another_process_made_is_found(services: Services, clock: SetClock):
    ours = ring_of(services, clock)
    assert await ours.find("unknown") is None
    clock.moment += timedelta(seconds=2)

    theirs = await ring_of(services, clock).current()

    found = await ours.find(theirs.id)
    assert found
    assert found.public.public_numbers() == theirs.public.public_numbers()


async def test_lookups_of_unknown_keys_read_the_database_once(services: Services, clock: SetClock):
    key_ring, asked = ring_of(services, clock), 0
    reads = key_ring._rows

    async def count(session: object) -> object:
        nonlocal asked
        asked += 1
        return await reads(session)

    key_ring._rows = count
    for number in range(50):
        assert await key_ring.find(f"unknown-{number}") is None

    assert asked == 1


async def test_a_key_that_is_deleted_stops_verifying_within_a_minute(services: Services, clock: SetClock):
    key_ring = ring_of(services, clock)
    key = await key_ring.current()
    await OAUTH_SIGNING_KEYS.delete(services)

    clock.moment = NOW + timedelta(seconds=59)
    assert await key_ring.find(key.id)

    clock.moment = NOW + timedelta(seconds=60)
    assert await key_ring.find(key.id) is None


async def test_a_key_is_stored_sealed(services: Services, clock: SetClock):
    await ring_of(services, clock).current()

    stored = await OAUTH_SIGNING_KEYS.only(services, "private_key")
    assert b"PRIVATE KEY" not in stored
    assert "PRIVATE KEY" in Seal(b"s" * 32).open(stored)


async def test_a_new_secret_key_makes_a_new_signing_key_and_the_old_one_still_verifies(
    services: Services, clock: SetClock
):
    old = await ring_of(services, clock).current()
    text = access_tokens.sign(old, ISSUER, TOKEN, NOW, NOW + access_tokens.LIFETIME)

    key_ring = ring_of(services, clock, b"t" * 32)

    assert (await key_ring.current()).id != old.id
    assert await access_tokens.verify(key_ring, ISSUER, text, NOW, [ISSUER]) == TOKEN
