"""The number of SMS parts: the vectors, and a test encoder that packs the real octets."""

import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.domain.kernel.sms_parts import DEFAULT_ALPHABET, EXTENSION_TABLE, MAX_LENGTH, Encoding, Parts, count

VECTORS = json.loads((Path(__file__).parents[2] / "vectors" / "segments.json").read_text())

USER_DATA = 140
HEADER = bytes.fromhex("050003")  # then reference, total and number: TS 23.040, 9.2.3.24.1

# TS 23.038, 6.2.1: the code of each character, by its rows of sixteen
TABLE = (
    "@£$¥èéùìòÇ\nØø\rÅå"
    "Δ_ΦΓΛΩΠΨΣΘΞ\x1bÆæßÉ"
    " !\"#¤%&'()*+,-./"
    "0123456789:;<=>?"
    "¡ABCDEFGHIJKLMNO"
    "PQRSTUVWXYZÄÖÑÜ§"
    "¿abcdefghijklmno"
    "pqrstuvwxyzäöñüà"
)
SHIFTED = {
    "\f": 0x0A,
    "^": 0x14,
    "{": 0x28,
    "}": 0x29,
    "\\": 0x2F,
    "[": 0x3C,
    "~": 0x3D,
    "]": 0x3E,
    "|": 0x40,
    "€": 0x65,
}

some_gsm_7 = st.sampled_from(DEFAULT_ALPHABET + EXTENSION_TABLE * 4)
some_of_both = st.sampled_from("ab{€çé😀🇺\u200d’")
gsm_7 = st.one_of(st.text(some_gsm_7, max_size=200), st.text(some_gsm_7, min_size=150, max_size=700))
mixed = st.one_of(st.text(some_of_both, max_size=90), st.text(some_of_both, min_size=60, max_size=400))
anything = st.text(max_size=400)


def codes(character: str) -> list[int]:
    return [0x1B, SHIFTED[character]] if character in SHIFTED else [TABLE.index(character)]


def packed(septets: list[int]) -> bytes:
    bits = sum(septet << 7 * place for place, septet in enumerate(septets))
    return bits.to_bytes((7 * len(septets) + 7) // 8, "little")


def unpacked(octets: bytes, length: int) -> list[int]:
    bits = int.from_bytes(octets, "little")
    return [bits >> 7 * place & 0x7F for place in range(length)]


def read(septets: list[int]) -> str:
    text, rest = "", iter(septets)
    shifted = {code: character for character, code in SHIFTED.items()}
    for code in rest:
        text += shifted[next(rest)] if code == 0x1B else TABLE[code]
    return text


def sliced(body: str, parts: Parts) -> list[str]:
    """Cut a body at the sizes that were counted; fail where a cut falls within a character."""
    pieces, rest = [], iter(body)
    for units in parts.units:
        piece = ""
        while (size := sum(map(width(parts), piece))) < units:
            piece += next(rest)
        assert size == units
        pieces.append(piece)
    assert not list(rest)
    return pieces


def width(parts: Parts):
    if parts.encoding is Encoding.gsm_7:
        return lambda character: len(codes(character))
    return lambda character: len(character.encode("utf-16-be")) // 2


@pytest.mark.parametrize("vector", VECTORS, ids=lambda vector: vector["name"])
def test_every_vector_has_its_encoding_and_segments(vector):
    parts = count(vector["body"])

    assert (parts.encoding, parts.segments) == (vector["encoding"], vector["segments"])


@pytest.mark.parametrize(
    ("body", "units"),
    [
        ("", (0,)),
        ("A" * 160, (160,)),
        ("A" * 161, (153, 8)),
        ("A" * 307, (153, 153, 1)),
        ("A" * 1600, (153,) * 10 + (70,)),
        ("€" * 80, (160,)),
        ("€" * 81, (152, 10)),
        ("A" * 158 + "€", (160,)),
        ("A" * 159 + "€", (153, 8)),
        ("A" * 152 + "€" + "A" * 151, (152, 153)),
        ("A" * 152 + "€" + "A" * 152, (152, 153, 1)),
        ("A" * 304 + "€", (153, 153)),
        ("A" * 305 + "€", (153, 152, 2)),
        ("ê" * 70, (70,)),
        ("ê" * 71, (67, 4)),
        ("ê" * 135, (67, 67, 1)),
        ("😀" * 35, (70,)),
        ("😀" * 36, (66, 6)),
        ("x" * 66 + "😀" + "x" * 65, (66, 67)),
        ("x" * 66 + "😀" + "x" * 66, (66, 67, 1)),
        ("\r\n" * 81, (153, 9)),
        ("{}[]|^~\\" * 20, (152, 152, 16)),
        ("A" * 158 + "’" + "A", (67, 67, 26)),
        ("this is a " + "]" * 75 + "😀", (67, 20)),
        ("|" * 69 + "∞", (70,)),
    ],
)
def test_parts_are_filled_greedily_and_no_pair_is_split(body, units):
    assert count(body).units == units


@pytest.mark.parametrize("character", "`\t\xa0“”‘’–—…çíóúáÁÍÓÚãõêôÀºªα\x1b\x00")
def test_characters_often_taken_for_gsm_7_are_not(character):
    assert count(character) == Parts(Encoding.ucs_2, (1,))


def test_the_alphabet_is_that_of_the_standard():
    assert TABLE.replace("\x1b", "") == DEFAULT_ALPHABET
    assert set(EXTENSION_TABLE) == set(SHIFTED)


@given(gsm_7)
def test_each_gsm_7_part_fits_its_octets_and_all_join_to_the_body(body):
    parts = count(body)

    assert parts.encoding is Encoding.gsm_7
    pieces = sliced(body, parts)
    received = ""
    for number, piece in enumerate(pieces, start=1):
        septets = [code for character in piece for code in codes(character)]
        header = HEADER + bytes([7, len(pieces), number]) if len(pieces) > 1 else b""
        padding = [0] * (-(-len(header) * 8 // 7))  # the text begins on a septet boundary after the header
        octets = packed(padding + septets)
        assert len(octets) <= USER_DATA
        received += read(unpacked(octets, len(padding) + len(septets))[len(padding) :])
    assert received == body


@given(st.one_of(mixed, anything))
def test_each_ucs_2_part_fits_its_octets_and_all_join_to_the_body(body):
    parts = count(body)

    if parts.encoding is Encoding.gsm_7:
        assert set(body) <= set(TABLE) | set(SHIFTED)
        return
    assert not set(body) <= set(TABLE) - {"\x1b"} | set(SHIFTED)
    pieces = sliced(body, parts)
    header = 6 if len(pieces) > 1 else 0
    texts = [piece.encode("utf-16-be") for piece in pieces]
    assert max(map(len, texts)) + header <= USER_DATA
    assert "".join(text.decode("utf-16-be") for text in texts) == body


@given(st.one_of(gsm_7, mixed))
def test_no_character_of_a_part_would_have_fitted_into_the_one_before(body):
    parts = count(body)

    pieces = sliced(body, parts)
    capacity = 153 if parts.encoding is Encoding.gsm_7 else 67
    for units, following in zip(parts.units, pieces[1:], strict=False):
        assert units + width(parts)(following[0]) > capacity
    if parts.segments > 1:
        assert sum(parts.units) > (160 if parts.encoding is Encoding.gsm_7 else 70)


def test_a_lone_surrogate_is_counted_and_not_refused():
    assert count("\ud83d") == Parts(Encoding.ucs_2, (1,))


def test_the_longest_body_is_1600_code_points():
    assert MAX_LENGTH == 1600
