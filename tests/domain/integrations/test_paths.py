"""Paths into JSON: any value of any body is picked by its path, and no path and no body is a fault."""

from collections.abc import Iterator
from typing import Any

import orjson
from hypothesis import given
from hypothesis import strategies as st

from app.domain.integrations import paths
from app.domain.kernel.errors import InvalidInput

NAMES = st.text(st.characters(codec="utf-8", exclude_characters=".[]"), min_size=1, max_size=8).filter(str.strip)
SCALARS = st.none() | st.booleans() | st.integers(-(2**53), 2**53) | st.floats(allow_nan=False) | st.text(max_size=20)
BODIES = st.recursive(
    SCALARS, lambda inner: st.lists(inner, max_size=3) | st.dictionaries(NAMES, inner, max_size=3), max_leaves=12
)


def leaves(value: Any, path: str = "") -> Iterator[tuple[str, Any]]:
    """Yield each value of a body that is no structure, with its path."""
    if isinstance(value, dict):
        for name, each in value.items():
            yield from leaves(each, f"{path}.{name}" if path else name)
    elif isinstance(value, list) and path:
        for index, each in enumerate(value):
            yield from leaves(each, f"{path}[{index}]")
    elif path:
        yield path, value


def shown(value: Any) -> str:
    """Return a value as the text of a field."""
    if value is None:
        return ""
    return (str(value).lower() if isinstance(value, bool) else str(value)).replace("\0", "").strip()


@given(body=BODIES)
def test_each_value_is_picked_by_its_path(body: Any) -> None:
    read = orjson.loads(orjson.dumps(body))

    for path, value in leaves(read):
        if path == path.strip().removeprefix(paths.ROOT) and len(path) <= paths.MAX_LENGTH:
            assert paths.pick(read, paths.check(path, "phone")) == shown(value)


def test_a_path_may_begin_with_the_root_of_jsonpath() -> None:
    assert [paths.check(path, "phone") for path in ("$.order.phone", " $.phone ", "$")] == ["order.phone", "phone", "$"]


@given(body=BODIES, path=st.text(max_size=30) | st.text("a.[]01", max_size=30))
def test_any_path_is_refused_or_picks_a_text_that_can_be_stored(body: Any, path: str) -> None:
    try:
        checked = paths.check(path, "phone")
    except InvalidInput:
        return
    found = paths.pick(body, checked)

    assert "\0" not in found
    assert len(found) <= paths.MAX_VALUE
