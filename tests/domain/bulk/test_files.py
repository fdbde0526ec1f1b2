"""Files that are made to hold up whoever reads them: the time and the memory that one takes are bounded."""

import pytest

from app.domain.bulk import tables, texts, vcards
from app.domain.bulk.texts import UnreadableFile


@pytest.mark.parametrize(
    ("head", "line"), [("TEL:", " 1\n"), ("TEL;ENCODING=QUOTED-PRINTABLE:", "1=\n"), ("TEL:\n", "CATEGORIES:a\n")]
)
def test_a_card_of_any_length_is_read_up_to_a_bound(head: str, line: str) -> None:
    lines = ["BEGIN:VCARD\n", *f"{head}{line * 10_000}".splitlines(keepends=True), "\n", "END:VCARD\n"]

    [row] = vcards.read(lines)

    assert max(map(len, row.cells)) <= vcards.MAX_PROPERTY


@pytest.mark.parametrize("encoding", ["utf-32", "utf-32-le", "utf-32-be", "utf-16", "utf-16-le", "utf-16-be"])
def test_a_wide_encoding_is_found_with_and_without_a_byte_order_mark(encoding: str) -> None:
    content = "phone,first_name\n+12025550143,Zoë\n".encode(encoding)

    found = texts.find_encoding([content])

    assert found == encoding
    assert list(texts.split(texts.decode([content], found))) == ["phone,first_name\n", "+12025550143,Zoë\n"]


def test_the_mark_of_utf_32_with_the_most_significant_byte_first_is_known() -> None:
    assert texts.find_encoding([b"\0\0\xfe\xff" + "phone".encode("utf-32-be")]) == "utf-32"


@pytest.mark.parametrize(
    ("name", "read"),
    [
        ("N;CHARSET=ISO-8859-1;ENCODING=QUOTED-PRINTABLE:M=FCller;Max", ["Max", "Müller"]),
        ("N;ENCODING=QUOTED-PRINTABLE;CHARSET=windows-1252:M=FCller;=80", ["€", "Müller"]),
        ("N;CHARSET=UTF-8;ENCODING=QUOTED-PRINTABLE:M=C3=BCller;Max", ["Max", "Müller"]),
        ("N;CHARSET=unknown;ENCODING=QUOTED-PRINTABLE:M=C3=BCller;Max", ["Max", "Müller"]),
        ("N;CHARSET=utf-7;ENCODING=QUOTED-PRINTABLE:M+2AA-ller;Max", ["Max", "M\ufffdller"]),
        ("N;CHARSET=unicode_escape;ENCODING=QUOTED-PRINTABLE:M\\ud800ller;Max", ["Max", "M\ufffdller"]),
        ("N;CHARSET=punycode;ENCODING=QUOTED-PRINTABLE:Mller-kva;Max", ["Max", "Mller-kva"]),
        ("N;CHARSET=IDNA;ENCODING=QUOTED-PRINTABLE:xn--mller-kva;Max", ["Max", "xn--mller-kva"]),
        ("N;CHARSET=hex;ENCODING=QUOTED-PRINTABLE:M=C3=BCller;Max", ["Max", "Müller"]),
        ("N;ENCODING=QUOTED-PRINTABLE:de=\n la Cruz;Ana=\n\n", ["Ana", "de la Cruz"]),
        ("N:de\n  la Cruz;Ana", ["Ana", "de la Cruz"]),
    ],
)
def test_names_are_decoded_by_their_charset_and_joined_over_lines(name: str, read: list[str]) -> None:
    lines = f"BEGIN:VCARD\n{name}\nTEL:+12025550143\nEND:VCARD\n".splitlines(keepends=True)

    [row] = vcards.read(lines)

    assert row.cells[1:3] == read


def test_a_file_of_too_many_lines_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(texts, "MAX_LINES", 3)

    assert list(texts.split(["a\nb\n", "c\n"])) == ["a\n", "b\n", "c\n"]
    with pytest.raises(UnreadableFile, match="The file has more than 3 lines"):
        list(texts.split(["a\nb\n", "c\n", "d\n"]))


@pytest.mark.parametrize("line", ["a,b,\n", '","\n'])
def test_a_row_over_many_lines_is_refused_as_soon_as_it_is_too_long(line: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tables, "MAX_ROW", 30)
    lines = iter(["phone,note\n", f'+12025550143,"{line}', *[f'","{line}'] * 100])

    with pytest.raises(UnreadableFile, match="Row 2 has more than 30 characters"):
        list(tables.read(lines, ","))

    assert len(list(lines)) > 90


def test_rows_that_are_within_the_bound_are_read_however_many_lines_each_has(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tables, "MAX_ROW", 20)

    found = tables.read(["phone,note\n", *['+12025550143,"a\n', 'b"\n'] * 3], ",")

    assert [(row.number, row.cells[-1]) for row in found] == [(1, "note"), *[(number, "a\nb") for number in (2, 3, 4)]]


def test_the_delimiter_is_found_in_a_sample_of_bounded_length(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tables, "MAX_LINE", 20)
    lines = iter(["phone;name\n", *["1;a\n"] * 100])

    assert tables.find_delimiter(lines) == ";"
    assert len(list(lines)) > 90
