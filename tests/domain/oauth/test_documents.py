"""Documents that describe clients, as they are read."""

import pytest

from app.domain.oauth import documents
from app.domain.oauth.documents import Fetched, UnusableDocument

ADDRESS = "https://app.example.com/client"


@pytest.mark.parametrize("body", [b"", b"{", b"[]", b"7", b"null", b"\xff", b"[" * 100_000])
async def test_a_document_that_is_no_json_object_describes_no_client(body: bytes) -> None:
    async def fetch(_: str) -> Fetched:
        return Fetched(body[: documents.MAX_BYTES], None)

    with pytest.raises(UnusableDocument, match=r"it is not a JSON object\."):
        await documents.fetch(fetch, ADDRESS)
