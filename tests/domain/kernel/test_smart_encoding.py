"""Smart encoding: which texts change, and that it costs nothing and changes nothing but what its map says."""

import cProfile
import json
import unicodedata
from pathlib import Path

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from app.domain.kernel import links
from app.domain.kernel.smart_encoding import ACCENTS, FRACTIONS, REMOVED, REPLACEMENTS, Costly, encode, find_costly
from app.domain.kernel.sms_parts import MAX_LENGTH, Encoding, count, is_gsm_7

GOLDEN = json.loads((Path(__file__).parents[2] / "vectors" / "smart_encoding.json").read_text())

typed = st.lists(
    st.text(max_size=8)
    | st.text(alphabet="aé ñ’“”–…½1•\u00a0\u200b\u200dſí😀", max_size=60)
    | st.sampled_from(["https://example.com/it’s…", "bit.ly/“x”", "www.a.b/½ ", "e\u0301", "http://ａ.com"]),
    max_size=8,
).map("".join)


def key(character: str) -> str:
    return f"U+{ord(character):04X} {character if character.isprintable() else ''}".strip()


@pytest.mark.parametrize(("name", "table"), [("replacements", REPLACEMENTS), ("accents", ACCENTS)])
def test_the_map_is_the_golden_one_and_leads_to_gsm_7(name: str, table: dict[str, str]) -> None:
    assert {key(each): to for each, to in table.items()} == GOLDEN[name]
    assert [each for each, to in table.items() if not is_gsm_7(to)] == []
    assert [each for each in table if is_gsm_7(each)] == []


@pytest.mark.parametrize(
    ("text", "sent"),
    [
        ("It’s “fine” – 10…", 'It\'s "fine" - 10...'),
        ("A" * 158 + "’A", "A" * 158 + "'A"),
        ("1½ cups, ½ off, ½5", "1 1/2 cups, 1/2 off, 1/2 5"),
        ("a\u00a0b\tc\u2009d\u200be", "a b c de"),
        ("Ｈｉ！", "Hi!"),
        ("cafe\u0301 e\u0301", "café é"),
        ("It’s at https://example.com/it’s", "It’s at https://example.com/it’s"),
        ("It’s at https://example.com/its", "It's at https://example.com/its"),
        ("It’s ✨", "It’s ✨"),
        ("mañana aquí", "mañana aquí"),
        ("`tilde` ã", "`tilde` ã"),
        ("…" * 70, "…" * 70),
        ("👨\u200d👩 " + "a" * 70 + "\u200b\u200b", "👨\u200d👩 " + "a" * 70 + "\u200b\u200b"),
        ("👨\u200d👩’" + "\u200b" * 70, "👨\u200d👩’"),
        ("…" * 534, "…" * 534),
    ],
)
def test_a_text_changes_where_that_makes_it_gsm_7_or_shorter(text: str, sent: str) -> None:
    assert encode(text) == sent


@pytest.mark.parametrize(
    ("text", "sent"),
    [
        ("mañana aquí’s", "mañana aqui's"),
        ("Şişli ığ", "Sisli ig"),
        ("Ça va? ça, œuvre, 1º", "Ça va? ca, oeuvre, 1o"),
        ("aquí ✨", "aquí ✨"),
        ("It’s é", "It's é"),
    ],
)
def test_accents_are_folded_only_where_asked_for_and_where_that_makes_it_gsm_7(text: str, sent: str) -> None:
    assert encode(text, fold_accents=True) == sent


def test_the_characters_that_force_ucs_2_are_told_with_their_replacements() -> None:
    assert find_costly("It’s aquí’s ✨ https://a.co/’x e\u0301") == [
        Costly("’", [2, 9], "'"),
        Costly("í", [8], None),
        Costly("✨", [12], None),
        Costly("’", [27], None),
        Costly("e\u0301", [30], "é"),
    ]
    assert find_costly("aquí", fold_accents=True) == [Costly("í", [3], "i")]
    assert find_costly("{plain} €") == []


@given(typed, st.booleans())
def test_it_never_costs_more_parts(text: str, fold_accents: bool) -> None:
    sent = encode(text, fold_accents=fold_accents)

    assert count(sent).segments <= count(text).segments
    assert sent == text or count(sent).encoding is Encoding.gsm_7 or count(sent).segments < count(text).segments
    assert len(sent) <= max(len(text), MAX_LENGTH)
    assert encode(sent, fold_accents=fold_accents) == sent


@given(typed, st.booleans())
def test_it_never_changes_a_link(text: str, fold_accents: bool) -> None:
    sent = encode(text, fold_accents=fold_accents)

    urls = [text[link.start : link.end] for link in links.find(text)]
    end = 0
    for url in urls:
        end = sent.index(url, end) + len(url)


@given(typed, st.booleans())
def test_only_mapped_characters_are_changed(text: str, fold_accents: bool) -> None:
    assume(not links.find(text))
    table = {
        **REPLACEMENTS,
        **(ACCENTS if fold_accents else {}),
    }
    normal = unicodedata.normalize("NFC", text)

    sent = encode(text, fold_accents=fold_accents)

    mapped = ["".join(each.get(one, one) for one in normal) for each in (table, dict.fromkeys(REMOVED, ""))]
    assert sent == text or sent.split() in [each.split() for each in mapped] or any(each in FRACTIONS for each in text)


def test_the_calls_grow_with_the_length_of_the_text_and_not_with_its_square():
    text = "аррӏе.com " * 500

    assert count_calls(text * 2) < 2.5 * count_calls(text)


def count_calls(text: str) -> int:
    profile = cProfile.Profile()
    profile.runcall(find_costly, text)
    return sum(entry.callcount for entry in profile.getstats())
