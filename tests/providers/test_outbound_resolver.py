"""Looking names up without waiting for the name servers of others."""

import asyncio

import pytest

from app.providers.outbound import resolver as outbound_resolver
from app.providers.outbound.resolver import Resolver
from tests.peers.name_server import name_server
from tests.waiting import until, within


async def test_localhost_is_loopback() -> None:
    resolver = Resolver()

    addresses = await resolver.look_up("localhost")
    await resolver.close()

    assert addresses
    assert {*addresses} <= {"127.0.0.1", "::1"}


async def test_a_name_that_does_not_exist_has_no_addresses() -> None:
    async with name_server({}) as server:
        resolver = Resolver([server.address])

        assert await resolver.look_up("nobody.example") == []
        assert server.asked == ["nobody.example"]
        await resolver.close()


async def test_a_name_that_no_server_knows_the_form_of_has_no_addresses() -> None:
    resolver = Resolver(["127.0.0.1:1"])

    assert await resolver.look_up(f"{'a' * 64}.example") == []
    await resolver.close()


async def test_a_name_server_that_has_to_ask_others_is_waited_for() -> None:
    quick = {f"quick{number}.example": ["1.1.1.1"] for number in range(20)}
    async with name_server(quick | {"slow.example": ["1.1.1.2"]}) as server:
        resolver = Resolver([server.address])
        for name in quick:  # the library then expects further answers as soon
            await resolver.look_up(name)
        server.delay = 1.0

        assert await resolver.look_up("slow.example") == ["1.1.1.2"]
        await resolver.close()


async def test_each_address_is_returned_once() -> None:
    async with name_server({"two.example": ["1.1.1.2", "1.1.1.1", "1.1.1.2"]}) as server:
        resolver = Resolver([server.address])

        assert sorted(await resolver.look_up("two.example")) == ["1.1.1.1", "1.1.1.2"]
        await resolver.close()


async def test_look_ups_of_one_name_at_the_same_time_are_one() -> None:
    async with name_server({"a.example": ["1.1.1.1"], "b.example": ["1.1.1.1"]}) as server:
        resolver = Resolver([server.address])
        waiting = [asyncio.create_task(resolver.look_up(f"{name}.example")) for name in "aaaab"]
        await asyncio.sleep(0)
        waiting[0].cancel()

        assert await asyncio.gather(*waiting[1:]) == [["1.1.1.1"]] * 4
        assert sorted(server.asked) == ["a.example", "b.example"]
        await resolver.close()


async def test_names_whose_server_does_not_answer_delay_no_other_name() -> None:
    silent = [f"silent{number}.example" for number in range(100)]
    async with name_server({"carrier.example": ["1.1.1.1"]}, silent) as server:
        resolver = Resolver([server.address])
        waiting = [asyncio.create_task(resolver.look_up(name)) for name in silent]
        await until(lambda: {*server.asked} == {*silent})

        found = await within("a name beside silent ones", resolver.look_up("carrier.example"))

        assert found == ["1.1.1.1"]
        assert not any(task.done() for task in waiting)
        await resolver.close()
        assert await asyncio.gather(*waiting) == [[]] * len(silent)


@pytest.mark.parametrize(("held", "answers"), [(600.0, {"1.1.1.1"}), (0.0, {"1.1.1.1", "1.1.1.2"})])
async def test_an_answer_is_good_for_a_time(monkeypatch: pytest.MonkeyPatch, held: float, answers: set[str]) -> None:
    monkeypatch.setattr(outbound_resolver, "HELD", held)
    names = {"a.example": ["1.1.1.1"]}
    async with name_server(names) as server:
        resolver, seen, asked = Resolver([server.address]), set[str](), 0

        async def look_up() -> bool:
            nonlocal asked
            seen.update(await resolver.look_up("a.example"))
            names["a.example"] = ["1.1.1.2"]
            asked += 1
            return asked >= 3 and seen == answers

        await until(look_up)
        await resolver.close()


def test_an_answer_is_good_for_a_second() -> None:
    assert outbound_resolver.HELD == 1
