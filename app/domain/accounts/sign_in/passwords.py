"""Passwords: hashed with Argon2id, and checked by length, not by character classes (NIST SP 800-63B, 3.1.1.2)."""

import asyncio
import os
import secrets
import sys
import threading
import unicodedata
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from functools import cache
from typing import Any, TypeVar

from pwdlib import PasswordHash

from app.domain.kernel.errors import InvalidInput, RateLimited

T = TypeVar("T")

MIN_LENGTH = 12
MAX_LENGTH = 1000
MIN_DISTINCT = 4
COMMON = frozenset(
    {
        "1234567890123456",
        "administrator",
        "changemechangeme",
        "correct horse battery staple",
        "correcthorsebatterystaple",
        "iloveyouiloveyou",
        "letmeinletmein",
        "passwordpassword",
        "q1w2e3r4t5y6",
        "qazwsxedcrfv",
        "qwerty123456",
        "qwertyqwerty",
        "qwertyuiop123",
        "qwertyuiopasdfgh",
        "welcomewelcome",
        *("1234567890123456"[:length] for length in range(MIN_LENGTH, 16)),
        *(f"{word}{tail}" for word in ("password", "qwertyuiop", "welcome") for tail in ("1234", "12345", "123456")),
    }
)

PASSWORDS = PasswordHash.recommended()
PARALLEL = max(1, min(4, (os.cpu_count() or 1) - 1))
"""Concurrent hash computations: each takes 64 MiB and a tenth of a second of a core. One core is left to requests."""

NICE = 5
MAX_WAITING = 100
WAIT_SECONDS = 10
"""The maximum queue of passwords to hash, and the `Retry-After` of refused ones in seconds."""


def _yield_to_others() -> None:
    """Give a thread a low priority, on systems with priorities for threads."""
    with suppress(OSError):
        os.setpriority(os.PRIO_PROCESS, threading.get_native_id(), NICE)


_THREADS = ThreadPoolExecutor(PARALLEL, "passwords", _yield_to_others if sys.platform == "linux" else None)
_waiting: set[asyncio.Future[Any]] = set()


async def hash(password: str) -> str:
    """Return the hash of a password; raise `RateLimited` if too many passwords wait for hashing."""
    return await _run(PASSWORDS.hash, _plain(password))


async def verify(password: str, stored: str | None) -> tuple[bool, str | None]:
    """Return whether a password matches the stored hash, and a new hash if the parameters have changed.

    Without a stored hash the work is the same and the result is False, so that the time reveals nothing. Raises
    `RateLimited` if too many passwords wait for hashing.
    """
    if stored is None:
        await _run(_verify_decoy, _plain(password))
        return False, None
    return await _run(PASSWORDS.verify_and_update, _plain(password), stored)


def check(password: str, email: str) -> None:
    """Raise `InvalidInput` for a password that is too short, or in the list of common passwords."""
    plain, own = _plain(password), email.casefold()
    if len(plain) < MIN_LENGTH:
        raise InvalidInput(
            reason=f"Use at least {MIN_LENGTH} characters. Several words make a good password.", field="password"
        )
    if len(plain) > MAX_LENGTH:
        raise InvalidInput(reason=f"Use at most {MAX_LENGTH} characters.", field="password")
    if plain.casefold() in (own, own.partition("@")[0]):
        raise InvalidInput(reason="Use a password that is not your e-mail address.", field="password")
    if plain.casefold() in COMMON or len(set(plain)) < MIN_DISTINCT:
        raise InvalidInput(reason="This password is easy to guess. Use another one.", field="password")


async def _run(work: Callable[..., T], *arguments: str) -> T:
    """Run a function in a thread; raise `RateLimited` if too many wait for one."""
    if len(_waiting) >= MAX_WAITING:
        raise RateLimited(seconds=WAIT_SECONDS)
    done = asyncio.get_running_loop().run_in_executor(_THREADS, work, *arguments)
    _waiting.add(done)
    done.add_done_callback(_waiting.discard)
    return await done


@cache
def _decoy(passwords: PasswordHash) -> str:
    return passwords.hash(secrets.token_hex())


def _verify_decoy(password: str) -> None:
    PASSWORDS.verify_and_update(password, _decoy(PASSWORDS))


def _plain(password: str) -> str:
    """Return a password in one Unicode form, because keyboards encode the same letters differently."""
    return unicodedata.normalize("NFKC", password)
