"""Whoever guesses passwords is slowed down, and holds up no user who knows the right one."""

import asyncio
from dataclasses import replace

import httpx2
import pytest

from app.domain.accounts.sessions import Visitor
from app.domain.accounts.sign_in import passwords
from app.domain.accounts.sign_in.authentication import Authentication, SignInRefused
from app.domain.accounts.sign_in.delays import MAX_HELD, MAX_HELD_OF_NETWORK, Delays, TooManyHeld
from app.domain.kernel.errors import RateLimited
from app.domain.onboarding.service import Opened
from app.services import Services
from tests.oauth.browsing import Browsing
from tests.oauth.mailbox import deliver, link
from tests.oauth.test_sign_in import alert
from tests.waiting import within

pytestmark = [pytest.mark.anyio, pytest.mark.usefixtures("stopped_attempts")]

GOOD = "seven green bicycles"
HOME = Visitor("198.51.100.7")


def at(http: httpx2.AsyncClient, address: str) -> Browsing:
    """Return a browser without cookies at an address of the network."""
    transport = httpx2.ASGITransport(http._transport.app, client=(address, 1), raise_app_exceptions=False)
    return Browsing(httpx2.AsyncClient(transport=transport, base_url=http.base_url))


def strangers(count: int) -> list[Visitor]:
    return [Visitor(f"2001:db8:{number:x}::1") for number in range(count)]


@pytest.fixture
def slept() -> list[float]:
    return []


@pytest.fixture
def authentication(services: Services, slept: list[float]) -> Authentication:
    """Provide an authentication that records how long it delays an attempt."""

    async def sleep(seconds: float) -> None:
        slept.append(seconds)

    return replace(services.authentication, delays=Delays(sleep))


async def guess(authentication: Authentication, email: str, visitors: list[Visitor]) -> list[type[Exception]]:
    """Try a wrong password from each place; return what each was told."""
    told: list[type[Exception]] = []
    for visitor in visitors:
        try:
            await authentication.enter(email, "not it", visitor)
        except (SignInRefused, RateLimited) as refused:
            told.append(type(refused))
    return told


async def test_failures_of_strangers_delay_a_correct_password_by_a_bounded_time(
    authentication: Authentication, slept: list[float], account: Opened
) -> None:
    assert await guess(authentication, account.email, strangers(60)) == [SignInRefused] * 60
    slept.clear()

    entry, _ = await authentication.enter(account.email, account.password, HOME)

    assert (entry.user.email, slept) == (account.email, [5.0])


async def test_an_unknown_address_is_slowed_down_like_a_known_one(
    authentication: Authentication, slept: list[float], account: Opened
) -> None:
    told = []
    for email in (account.email, "nobody@example.com"):
        slept.clear()
        refusals = await guess(authentication, email, [*strangers(30), *[HOME] * 6])
        told.append((refusals, list(slept)))

    assert told[0] == told[1]
    assert told[0][0] == [SignInRefused] * 35 + [RateLimited]


class Gate:
    """Stands for a delay: it lasts until it is opened."""

    def __init__(self) -> None:
        self.arrived: asyncio.Queue[float] = asyncio.Queue()
        self.open = asyncio.Event()

    async def __call__(self, seconds: float) -> None:
        self.arrived.put_nowait(seconds)
        await within("the delays", self.open.wait())


async def test_a_network_that_has_several_attempts_held_is_refused_a_further_one_which_counts_for_nothing(
    services: Services, account: Opened
) -> None:
    gate = Gate()
    authentication = replace(services.authentication, delays=Delays(gate))
    for visitor in strangers(20):
        await services.authentication.attempts.begin(authentication._attempt("sign_in", account.email, visitor))
    held = [asyncio.create_task(guess(authentication, account.email, [HOME])) for _ in range(MAX_HELD_OF_NETWORK)]
    assert sorted([await within("an attempt", gate.arrived.get()) for _ in held]) == [0.25, 0.5, 0.75, 1]

    with pytest.raises(RateLimited) as refused:
        await authentication.enter(account.email, account.password, HOME)

    assert refused.value.facts == {"seconds": 2}
    gate.open.set()
    assert await asyncio.gather(*held) == [[SignInRefused]] * MAX_HELD_OF_NETWORK
    entry, _ = await authentication.enter(account.email, account.password, HOME)
    assert entry.user.email == account.email


async def test_an_attempt_that_finds_too_many_waiting_counts_for_nothing(
    services: Services, account: Opened, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(passwords, "MAX_WAITING", 0)
    assert await guess(services.authentication, account.email, [HOME] * 8) == [RateLimited] * 8
    monkeypatch.undo()

    assert await guess(services.authentication, account.email, [HOME] * 6) == [SignInRefused] * 5 + [RateLimited]


async def test_a_process_holds_so_many_attempts_at_once_and_refuses_further_ones_at_once() -> None:
    gate = Gate()
    delays = Delays(gate)
    held = [asyncio.create_task(delays.hold(each.address, 5)) for each in strangers(MAX_HELD)]
    await asyncio.sleep(0)

    with pytest.raises(TooManyHeld):
        await delays.hold(HOME.address, 5)

    gate.open.set()
    await asyncio.gather(*held)
    await delays.hold(HOME.address, 5)
    assert delays.held == 0


async def test_a_wider_network_holds_four_times_as_many() -> None:
    gate = Gate()
    delays = Delays(gate)
    addresses = [f"198.51.100.{number}" for number in range(MAX_HELD_OF_NETWORK * 4 + 1)]
    tasks = [asyncio.create_task(delays.hold(address, 5)) for address in addresses]
    await asyncio.sleep(0)
    gate.open.set()

    results = await asyncio.gather(*tasks, return_exceptions=True)
    assert [type(result) for result in results] == [type(None)] * MAX_HELD_OF_NETWORK * 4 + [TooManyHeld]


async def test_a_browser_that_signed_in_before_is_held_up_by_no_failure_elsewhere_in_its_network(
    http: httpx2.AsyncClient, account: Opened
) -> None:
    known, stranger = at(http, "192.0.2.1"), at(http, "192.0.2.1")
    await known.enter(account)
    del known.client.cookies["session"]
    statuses = [(await stranger.sign_in(account.email, "not it")).status_code for _ in range(6)]
    assert statuses == [403] * 5 + [429]

    answer = await known.sign_in(account.email, account.password)

    assert answer.status_code == 303


async def test_the_guesses_of_a_known_browser_are_counted_apart(http: httpx2.AsyncClient, account: Opened) -> None:
    known = at(http, "192.0.2.1")
    await known.enter(account)
    del known.client.cookies["session"]

    statuses = [(await known.sign_in(account.email, "not it")).status_code for _ in range(6)]

    assert statuses == [403] * 5 + [429]
    assert (await at(http, "192.0.2.1").sign_in(account.email, account.password)).status_code == 303


@pytest.mark.parametrize("forged", ["{id}", "{id}.x", "{id}.{mark}x", "x.{mark}", ".{mark}", "{id}.\u00e9", "." * 3000])
async def test_the_cookie_of_a_known_browser_cannot_be_made_up_or_used_for_another_user(
    services: Services, forged: str, account: Opened
) -> None:
    authentication = services.authentication
    id, mark = authentication.remember_browser(account.email, HOME).split(".")
    cookie = forged.format(id=id, mark=mark)

    assert authentication._attempt("sign_in", account.email, replace(HOME, browser=f"{id}.{mark}")).browser == id
    assert authentication._attempt("sign_in", account.email, replace(HOME, browser=cookie)).browser == ""
    assert authentication._attempt("sign_in", "other@example.com", replace(HOME, browser=f"{id}.{mark}")).browser == ""


async def test_a_browser_that_five_people_share_is_known_for_each_of_the_last_five(services: Services) -> None:
    authentication, cookie = services.authentication, ""
    for number in range(6):
        cookie = authentication.remember_browser(f"{number}@example.com", replace(HOME, browser=cookie))

    seen = replace(HOME, browser=cookie)
    known = [bool(authentication._attempt("sign_in", f"{number}@example.com", seen).browser) for number in range(6)]
    assert known == [False, True, True, True, True, True]
    assert len(cookie) < 300


async def test_strangers_who_ask_for_links_neither_fill_the_mailbox_nor_end_the_links_in_it(
    http: httpx2.AsyncClient, services: Services, account: Opened
) -> None:
    owner = at(http, "192.0.2.1")
    await owner.send(await owner.form("/forgot"), email=account.email)
    for visitor in strangers(8):
        await deliver(services)
        stranger = at(http, visitor.address)
        assert (await stranger.send(await stranger.form("/forgot"), email=account.email)).status_code == 200

    mails = await deliver(services)
    assert len(mails) == 5
    paths = [link(mail) for mail in mails]
    assert [(await owner.get(path)).status_code for path in paths] == [200] * 5

    await owner.send(await owner.form(paths[0]), password=GOOD)

    assert [(await owner.get(path)).status_code for path in paths] == [410] * 5
    assert (await owner.sign_in(account.email, GOOD)).status_code == 303


async def test_a_user_known_by_a_mailed_link_signs_in_while_the_network_is_held_back(
    http: httpx2.AsyncClient, services: Services, account: Opened
) -> None:
    owner = at(http, "192.0.2.1")
    await owner.send(await owner.form("/forgot"), email=account.email)
    [mail] = await deliver(services)
    await owner.send(await owner.form(link(mail)), password=GOOD)
    stranger = at(http, "192.0.2.1")
    assert [(await stranger.sign_in(account.email, "not it")).status_code for _ in range(6)] == [403] * 5 + [429]

    assert (await owner.sign_in(account.email, GOOD)).status_code == 303


async def test_a_signed_in_user_changes_the_password_while_others_guess_it(
    http: httpx2.AsyncClient, account: Opened
) -> None:
    owner, stranger = at(http, "192.0.2.1"), at(http, "192.0.2.1")
    await owner.enter(account)
    assert [(await stranger.sign_in(account.email, "not it")).status_code for _ in range(6)] == [403] * 5 + [429]
    form = await owner.form("/account", "/account/password")

    answer = await owner.send(form, old_password=account.password, password=GOOD)

    assert (answer.status_code, answer.headers["location"]) == (303, "/account?notice=password_changed")


@pytest.mark.parametrize(
    ("old", "new", "field", "told"),
    [
        ("not it", GOOD, "old_password", "The current password is wrong."),
        ("{right}", "short", "password", "Use at least 12 characters. Several words make a good password."),
    ],
)
async def test_the_field_that_is_wrong_is_outlined_described_and_focused_and_no_other(
    browsing: Browsing, account: Opened, old: str, new: str, field: str, told: str
) -> None:
    await browsing.enter(account)
    form = await browsing.form("/account", "/account/password")

    answer = await browsing.send(form, old_password=old.replace("{right}", account.password), password=new)

    assert alert(answer) == told
    [wrong] = [tag for tag in answer.text.split("<input ") if 'aria-invalid="true"' in tag]
    assert wrong.startswith(f'id="{field}"')
    assert "autofocus" in wrong
    assert answer.text.count("autofocus") == 1
    assert 'aria-describedby="error"' in wrong or 'aria-describedby="hint error"' in wrong
