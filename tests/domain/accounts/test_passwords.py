"""Passwords: how they are kept, and which will do."""

import asyncio
import os
import threading
from typing import Any

import pytest
from pwdlib import PasswordHash
from pwdlib.hashers.argon2 import Argon2Hasher

from app.domain.accounts.sign_in import passwords
from app.domain.kernel.errors import InvalidInput, RateLimited

PASSWORD = "seven green bicycles"


class Watched(PasswordHash):
    """Notes on which threads it works, and how many at once; it goes on when it is let."""

    def __init__(self) -> None:
        super().__init__((Argon2Hasher(time_cost=1, memory_cost=8, parallelism=1),))
        self.threads: list[str] = []
        self.begun = threading.Semaphore(0)
        self.go_on = threading.Event()

    def hash(self, password: Any, *, salt: bytes | None = None) -> str:
        self.threads.append(threading.current_thread().name)
        self.begun.release()
        assert self.go_on.wait(30)
        return super().hash(password, salt=salt)


async def test_a_password_is_kept_as_argon2id_and_recognised() -> None:
    stored = await passwords.hash(PASSWORD)

    assert stored.startswith("$argon2id$")
    assert await passwords.verify(PASSWORD, stored) == (True, None)
    assert await passwords.verify(PASSWORD.upper(), stored) == (False, None)


async def test_outside_of_tests_a_hash_takes_64_mebibytes() -> None:
    assert PasswordHash.recommended().hash("x").startswith("$argon2id$v=19$m=65536,t=3,p=4$")


async def test_a_password_kept_under_other_parameters_is_renewed() -> None:
    stored = PasswordHash((Argon2Hasher(time_cost=2, memory_cost=16, parallelism=1),)).hash(PASSWORD)

    is_right, renewed = await passwords.verify(PASSWORD, stored)

    assert is_right
    assert renewed is not None
    assert "$m=8,t=1,p=1$" in renewed
    assert await passwords.verify(PASSWORD, renewed) == (True, None)


async def test_verification_fails_without_a_stored_password() -> None:
    assert await passwords.verify("", None) == (False, None)


async def test_a_password_is_the_same_however_a_keyboard_spells_it() -> None:
    stored = await passwords.hash("zw\u00f6lf gr\u00fcne \u212b")

    assert await passwords.verify("zwo\u0308lf gru\u0308ne A\u030a", stored) == (True, None)


async def test_passwords_are_hashed_beside_the_event_loop_and_leave_it_a_core(monkeypatch: pytest.MonkeyPatch) -> None:
    watched = Watched()
    monkeypatch.setattr(passwords, "PASSWORDS", watched)

    hashing = [asyncio.create_task(passwords.hash(PASSWORD)) for _ in range(9)]
    for _ in range(passwords.PARALLEL):
        await asyncio.to_thread(watched.begun.acquire, timeout=30)

    assert len(watched.threads) == passwords.PARALLEL <= max(1, (os.cpu_count() or 1) - 1)
    watched.go_on.set()
    await asyncio.gather(*hashing)
    assert len(watched.threads) == 9
    assert {name.partition("_")[0] for name in watched.threads} == {"passwords"}


async def test_so_many_passwords_wait_to_be_hashed_and_a_further_one_is_refused(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    watched = Watched()
    monkeypatch.setattr(passwords, "PASSWORDS", watched)
    monkeypatch.setattr(passwords, "MAX_WAITING", 3)
    hashing = [asyncio.create_task(passwords.hash(PASSWORD)) for _ in range(3)]
    await asyncio.to_thread(watched.begun.acquire, timeout=30)

    with pytest.raises(RateLimited) as refused:
        await passwords.verify(PASSWORD, None)

    assert refused.value.facts == {"seconds": passwords.WAIT_SECONDS}
    watched.go_on.set()
    await asyncio.gather(*hashing)
    assert (await passwords.hash(PASSWORD)).startswith("$argon2id$")


@pytest.mark.parametrize(
    "password",
    [PASSWORD, "aB3$aB3$aB3$", "            x y z", "пароль из слов", "a" * 997 + "bcd", "owner@example.com!"],
)
def test_a_long_password_of_any_characters_is_accepted(password: str) -> None:
    passwords.check(password, "owner@example.com")


@pytest.mark.parametrize(
    ("password", "reason"),
    [
        ("", "at least 12 characters"),
        ("eleven char", "at least 12 characters"),
        ("ｅｌｅｖｅｎ ｃｈａｒ", "at least 12 characters"),
        ("x" * 1001, "at most 1000 characters"),
        ("Owner.Of.It@Example.com", "not your e-mail address"),
        ("aaaaaaaaaaaa", "easy to guess"),
        ("abababababab", "easy to guess"),
        ("123456789012", "easy to guess"),
        ("Password1234", "easy to guess"),
        ("qwertyuiop123", "easy to guess"),
        ("correct horse battery staple", "easy to guess"),
    ],
)
def test_a_password_that_others_would_guess_will_not_do(password: str, reason: str) -> None:
    with pytest.raises(InvalidInput, match=reason):
        passwords.check(password, "owner.of.it@example.com")


def test_the_name_before_the_at_sign_will_not_do_either() -> None:
    with pytest.raises(InvalidInput, match="not your e-mail address"):
        passwords.check("Maximilian.Mustermann", "maximilian.mustermann@example.com")
