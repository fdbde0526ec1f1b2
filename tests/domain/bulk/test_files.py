"""Files that are made to hold up whoever reads them: the time and the memory that one takes are bounded."""

import pytest

from app.domain.bulk import texts, vcards
from app.domain.bulk.texts import UnreadableFile


@pytest.mark.parametrize(
    ("head", "line"), [("TEL:", " 1\n"), ("TEL;ENCODING=QUOTED-PRINTABLE:", "1=\n"), ("TEL:\n", "CATEGORIES:a\n")]
)
def test_a_card_of_any_length_is_read_up_to_a_bound(head: str, line: str) -> None:
    lines = ["BEGIN:VCARD\n", *f"{head}{line * 10_000}".splitlines(keepends=True), "\n", "END:VCARD\n"]

    [row] = vcards.read(lines)

    assert max(map(len, row.cells)) <= vcards.MAX_PROPERTY


def test_a_file_of_too_many_lines_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(texts, "MAX_LINES", 3)

    assert list(texts.split(["a\nb\n", "c\n"])) == ["a\n", "b\n", "c\n"]
    with pytest.raises(UnreadableFile, match="The file has more than 3 lines"):
        list(texts.split(["a\nb\n", "c\n", "d\n"]))
