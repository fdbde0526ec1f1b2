"""Recognition of keywords, and the keywords that can be watched."""

import asyncio

import pytest

from app.domain.automations import keywords, queries
from app.domain.automations import watching as service
from app.domain.consent.recognition import HELP, OPT_IN, OPT_OUT, classify
from app.domain.kernel.errors import Conflict, InvalidInput, NotFound
from app.domain.kernel.unit_of_work import Actor, UnitOfWork
from app.domain.onboarding.service import Opened
from app.services import Services
from tests.conftest import unit_of

SAME = {
    "menu": ["menu", "MENU", " Menu ", "menu!", "“Menu”...", "¡Menu!", "ＭＥＮＵ", "\nmenu\n"],
    "book now": ["Book  now", "book\nnow", "(BOOK NOW)"],
    "straße": ["STRASSE", "Strasse."],
    "what's on": ["What’s on?", "what's on"],
    "c++": ["C++", "c++?"],
    "🍕": ["🍕", " 🍕!"],
}
OTHER = {"menu": ["menu please", "the menu", "menus", "me nu", "m.enu", ""], "book now": ["booknow", "book-now"]}
NAMED = ["STOP", "stop!", "Unsubscribe", "opt-out", "stpo", "no more texts", "alto", "START", "unstop", "HELP", "info"]
DOUBTFUL = ["delete", "STOP time", "wrong number", "🛑"]
TOO_SHORT_OR_LONG = ["", "   ", "!!!", "x" * 41, "ß" * 21]


async def listed(unit: UnitOfWork) -> list[str]:
    return [row.keyword for row in await queries.list_keywords(unit)]


@pytest.mark.parametrize(("keyword", "text"), [(keyword, text) for keyword in SAME for text in SAME[keyword]])
def test_a_text_matches_its_keyword_regardless_of_case_spaces_and_punctuation(keyword: str, text: str) -> None:
    assert keywords.normalize(text) == keywords.normalize(keyword)


@pytest.mark.parametrize(("keyword", "text"), [(keyword, text) for keyword in OTHER for text in OTHER[keyword]])
def test_a_text_that_says_more_or_less_is_another(keyword: str, text: str) -> None:
    assert keywords.normalize(text) != keywords.normalize(keyword)


async def test_a_keyword_is_watched_as_it_is_compared(unit: UnitOfWork) -> None:
    made = await service.watch(unit, "  Book  NOW! ")

    assert (made.account_id, made.keyword, made.created_by) == (unit.actor.account_id, "book now", "test")
    assert await listed(unit) == ["book now"]


async def test_watching_again_answers_the_same_one(unit: UnitOfWork) -> None:
    first, again = await service.watch(unit, "menu"), await service.watch(unit, "“MENU”")

    assert again.id == first.id
    assert await listed(unit) == ["menu"]


async def test_concurrent_watches_of_a_keyword_return_the_same_one(services: Services, account: Opened) -> None:
    async def watch() -> int:
        async with unit_of(services, Actor(account.account_id, frozenset(), "test")) as unit:
            return (await service.watch(unit, "menu")).id

    ids = await asyncio.gather(*(watch() for _ in range(4)))

    assert len(set(ids)) == 1


@pytest.mark.parametrize("keyword", ["x", "x" * 40, f" {'x' * 40}! "])
async def test_a_keyword_has_1_to_40_characters(unit: UnitOfWork, keyword: str) -> None:
    await service.watch(unit, keyword)

    assert await listed(unit) == [keywords.normalize(keyword)]


@pytest.mark.parametrize("keyword", TOO_SHORT_OR_LONG)
async def test_a_keyword_of_another_length_is_refused(unit: UnitOfWork, keyword: str) -> None:
    with pytest.raises(InvalidInput, match="keyword must have 1 to 40 characters"):
        await service.watch(unit, keyword)

    assert await listed(unit) == []


@pytest.mark.parametrize("keyword", ["book\nnow", "book\tnow", "book\u2028now", "a\0b"])
async def test_a_keyword_of_several_lines_is_refused(unit: UnitOfWork, keyword: str) -> None:
    with pytest.raises(InvalidInput, match="keyword must be a single line"):
        await service.watch(unit, keyword)

    assert await listed(unit) == []


@pytest.mark.parametrize("keyword", NAMED + DOUBTFUL)
async def test_a_word_that_the_service_acts_on_is_refused_by_name(unit: UnitOfWork, keyword: str) -> None:
    with pytest.raises(InvalidInput) as refused:
        await service.watch(unit, keyword)

    assert str(refused.value).startswith(f"{keywords.normalize(keyword)} cannot be watched, because the service acts")
    assert await listed(unit) == []


def test_no_reserved_word_can_be_watched_in_any_language() -> None:
    assert [
        word for word in OPT_OUT | OPT_IN | HELP if not keywords.is_reserved(classify(keywords.normalize(word)))
    ] == []


async def test_an_account_watches_100_keywords_at_most(unit: UnitOfWork) -> None:
    for number in range(100):
        await service.watch(unit, f"word {number}")

    with pytest.raises(Conflict, match="at most 100 keywords"):
        await service.watch(unit, "word 100")

    assert (await service.watch(unit, "word 99")).keyword == "word 99"
    await service.unwatch(unit, (await service.watch(unit, "word 0")).id)
    await service.watch(unit, "word 100")
    assert len(await listed(unit)) == 100


async def test_keywords_are_listed_by_the_alphabet_until_they_are_not_watched(unit: UnitOfWork) -> None:
    rows = [await service.watch(unit, word) for word in ("menu", "book", "zoo")]

    removed = await service.unwatch(unit, rows[0].id)

    assert removed.keyword == "menu"
    assert await listed(unit) == ["book", "zoo"]
    with pytest.raises(NotFound, match="No watched keyword with id"):
        await service.unwatch(unit, rows[0].id)
