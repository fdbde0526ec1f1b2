"""The rules are read from the sources: `make check` loads this file without the servers and services of the others."""

from collections.abc import Iterator

import pytest

from app import gc
from tests.architecture.sources import modules

gc.pause()


@pytest.fixture(scope="session", autouse=True)
def parsed_once() -> Iterator[None]:
    """Release the parsed sources before the collector runs at the end: it takes a second with them."""
    yield
    modules.cache_clear()


def pytest_collection_finish() -> None:
    """Exclude the objects made during loading from garbage collection."""
    gc.keep()
