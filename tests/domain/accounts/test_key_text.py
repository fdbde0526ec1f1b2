"""API keys as text."""

import hashlib
import hmac
import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.domain.accounts import keys
from app.domain.accounts.keys import KeyKind, KeyText

KNOWN = "svc_000000000000000000000000000000003oy8NO"
MADE = [keys.make(kind).text for kind in KeyKind for _ in range(5)]
CHARACTERS = st.sampled_from(keys.DIGITS) | st.characters(codec="utf-8")


@pytest.mark.parametrize("kind", KeyKind)
def test_a_key_is_its_kind_and_38_base_62_characters(kind: KeyKind) -> None:
    text = keys.make(kind).text

    assert re.fullmatch(rf"{kind}_[0-9A-Za-z]{{38}}", text)
    assert keys.has_form(text)


def test_keys_are_all_different() -> None:
    assert len({keys.make(KeyKind.svc).text for _ in range(1000)}) == 1000


def test_the_checksum_never_changes() -> None:
    assert keys.has_form(KNOWN)


@given(key=st.sampled_from(MADE), data=st.data())
def test_a_key_with_one_character_changed_is_no_key(key: str, data: st.DataObject) -> None:
    place = data.draw(st.integers(0, len(key) - 1))
    other = data.draw(CHARACTERS.filter(lambda character: character != key[place]))

    assert not keys.has_form(key[:place] + other + key[place + 1 :])


@given(key=st.sampled_from(MADE), data=st.data())
def test_a_key_with_a_character_more_or_less_is_no_key(key: str, data: st.DataObject) -> None:
    place = data.draw(st.integers(0, len(key) - 1))

    assert not keys.has_form(key[:place] + key[place + 1 :])
    assert not keys.has_form(key[:place] + data.draw(CHARACTERS) + key[place:])


@given(st.text())
def test_arbitrary_text_does_not_have_the_form_of_a_key(text: str) -> None:
    assert not keys.has_form(text)


def test_a_key_of_one_kind_is_no_key_of_the_other() -> None:
    text = keys.make(KeyKind.svc).text

    assert not keys.has_form(text.replace("svc_", "auto_"))


def test_people_tell_keys_apart_by_their_beginning_and_end() -> None:
    assert (KeyText(KNOWN).prefix, KeyText(KNOWN).last_four) == (KNOWN[:8], KNOWN[-4:])


def test_a_fingerprint_is_an_hmac_under_the_secret() -> None:
    expected = hmac.new(b"secret", KNOWN.encode(), hashlib.sha256).digest()

    assert keys.fingerprint(b"secret", KNOWN) == expected
    assert keys.fingerprint(b"another", KNOWN) != expected
