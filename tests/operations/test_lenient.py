"""Variables that take what they do not accept as null."""

from pathlib import Path
from typing import Any

import pytest
from graphql import build_schema

from app.operations.accept import Acceptor
from app.operations.document import load

SDL = "type Query { send(consent_attested: Boolean): Boolean }"
DOCUMENT = """
"Send."
query send($consent_attested: Boolean @lenient) {
  send(consent_attested: $consent_attested)
}
"""


@pytest.mark.parametrize(
    ("given", "taken"), [(True, True), (False, False), (None, None), ("yes", None), (1, None), ({}, None)]
)
def test_a_lenient_variable_takes_what_it_does_not_accept_as_null(tmp_path: Path, given: Any, taken: Any) -> None:
    (tmp_path / "send.graphql").write_text(DOCUMENT)
    [operation] = load(tmp_path, build_schema(SDL))

    accepted = Acceptor(operation.variables.values()).values({"consent_attested": given})

    assert accepted == {"consent_attested": taken}
