"""The toy service, for tests of what every endpoint does."""

from pathlib import Path

import pytest
from fastapi import FastAPI

from tests.rest.toy import Toy, serve


@pytest.fixture
def anyio_backend() -> str:
    return "asyncio"


@pytest.fixture
def toy() -> Toy:
    return Toy(names={1: "Ann", 2: "Bob", 3: "Cid", 4: "Dee", 5: "Eve"})


@pytest.fixture
def app(toy: Toy, tmp_path: Path) -> FastAPI:
    return serve(toy, tmp_path)
