"""Time zones: the newest data of the machine decide."""

import zoneinfo
from pathlib import Path

import pytest

from app.domain.kernel.time_zones import choose_path


@pytest.mark.parametrize(
    ("text", "is_read"),
    [("# version 2026c\n# ddeps zone.tab", True), ("# version 2026b", False), ("# version 2025z", False), ("", False)],
)
def test_zones_of_the_operating_system_are_read_only_if_they_are_newer_than_those_of_the_package(
    tmp_path: Path, text: str, *, is_read: bool
) -> None:
    (tmp_path / "tzdata.zi").write_text(text)
    directory = str(tmp_path)

    assert choose_path([directory], packaged="2026b") == ((directory,) if is_read else ())


def test_zones_of_an_unknown_version_are_not_read(tmp_path: Path) -> None:
    assert choose_path([str(tmp_path), str(tmp_path / "missing")], packaged="2026b") == ()


def test_this_process_reads_no_zones_that_are_older_than_those_of_the_package() -> None:
    assert choose_path(zoneinfo.TZPATH) == zoneinfo.TZPATH
