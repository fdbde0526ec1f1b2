"""The archive of an export."""

import io
import zipfile

from app.domain.erasure.archive import Archive


def test_an_archive_that_is_not_finished_cannot_be_opened_and_is_freed_without_an_error() -> None:
    file = io.BytesIO()

    with Archive(file) as archive:
        archive.add("contacts", [{"id": 1}])
    del archive

    assert len(file.getvalue()) > 0
    assert not zipfile.is_zipfile(file)
