"""Looking names up without being held up."""

import asyncio
import socket
import threading
from typing import Any

import pytest

from app.providers.outbound import resolver as outbound_resolver
from app.providers.outbound.resolver import Resolver
from tests.waiting import until


def found(*addresses: str) -> list[Any]:
    return [(socket.AF_INET, socket.SOCK_STREAM, 6, "", (address, 0)) for address in addresses]


async def test_localhost_is_loopback() -> None:
    resolver = Resolver()

    addresses = await resolver.look_up("localhost")
    resolver.close()

    assert addresses
    assert {*addresses} <= {"127.0.0.1", "::1"}


async def test_a_name_that_does_not_exist_has_no_addresses(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: Any, **__: Any) -> list[Any]:
        raise socket.gaierror(socket.EAI_NONAME, "Name or service not known")

    monkeypatch.setattr(socket, "getaddrinfo", refuse)
    resolver = Resolver()

    assert await resolver.look_up("nobody.example") == []
    resolver.close()


async def test_each_address_is_returned_once_and_in_order(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(socket, "getaddrinfo", lambda *_, **__: found("1.1.1.2", "1.1.1.1", "1.1.1.2"))
    resolver = Resolver()

    assert await resolver.look_up("two.example") == ["1.1.1.2", "1.1.1.1"]
    resolver.close()


async def test_look_ups_of_one_name_at_the_same_time_are_one(monkeypatch: pytest.MonkeyPatch) -> None:
    asked, answer = [], threading.Event()

    def look_up(host: str, *_: Any, **__: Any) -> list[Any]:
        asked.append(host)
        answer.wait(5)
        return found("1.1.1.1")

    monkeypatch.setattr(socket, "getaddrinfo", look_up)
    resolver = Resolver()
    waiting = [asyncio.create_task(resolver.look_up(f"{name}.example")) for name in "aaaab"]
    await asyncio.sleep(0)
    waiting[0].cancel()
    answer.set()

    assert await asyncio.gather(*waiting[1:]) == [["1.1.1.1"]] * 4
    assert sorted(asked) == ["a.example", "b.example"]
    resolver.close()


@pytest.mark.parametrize(("held", "answers"), [(600.0, {"1.1.1.1"}), (0.0, {"1.1.1.1", "1.1.1.2"})])
async def test_an_answer_is_good_for_a_time(monkeypatch: pytest.MonkeyPatch, held: float, answers: set[str]) -> None:
    monkeypatch.setattr(outbound_resolver, "HELD", held)
    addresses = iter(["1.1.1.1", "1.1.1.2"])
    monkeypatch.setattr(socket, "getaddrinfo", lambda *_, **__: found(next(addresses, "1.1.1.2")))
    resolver, seen, asked = Resolver(), set[str](), 0

    async def look_up() -> bool:
        nonlocal asked
        seen.update(await resolver.look_up("a.example"))
        asked += 1
        return asked >= 3 and seen == answers

    await until(look_up)
    resolver.close()


def test_an_answer_is_good_for_a_second() -> None:
    assert outbound_resolver.HELD == 1
