"""Downloads of evidence of consent that are broken off: the link has ended, or the download takes too long."""

from collections.abc import AsyncGenerator

import pytest

from app.domain.accounts import file_links
from app.domain.accounts.scopes import ALL
from app.domain.consent import evidence
from app.domain.kernel.unit_of_work import Actor
from app.domain.onboarding.service import Opened
from app.services import Services
from tests.conftest import unit_of
from tests.factories.contacts import CONSENTS
from tests.graphql.live import Served, serving
from tests.rest.broken_off import END_OF_ANSWER, ENDINGS, add_creator, begin, end_creator, rest

pytestmark = pytest.mark.anyio

PHONE = "+12025550143"
RECORDS, TEXT = 40, "x" * 400_000
FILES = ("", ".json")


@pytest.fixture
async def served(services: Services) -> AsyncGenerator[Served]:
    async with serving(services.settings) as served:
        yield served


@pytest.fixture(autouse=True)
async def records(services: Services, account: Opened, monkeypatch: pytest.MonkeyPatch) -> None:
    """Give a phone evidence that does not fit into the buffers of a connection, and is read record by record."""
    monkeypatch.setattr(evidence, "READ", evidence.READ.replace(f"LIMIT {evidence.BATCH}", "LIMIT 1"))
    own = {"account_id": account.account_id, "phone": PHONE, "kind": "opt_in", "method": "paper_form", "actor": "test"}
    for _ in range(RECORDS):
        await CONSENTS.insert(services, **own, text=TEXT)


async def make_link(services: Services, account: Opened, **who: int) -> str:
    async with unit_of(services, Actor(account.account_id, ALL, "test", **who)) as unit:
        return f"/consents/{(await evidence.make_link(unit, services.exports, PHONE))[0]}"


@pytest.mark.parametrize("file", FILES)
async def test_evidence_that_is_read_to_the_end_ends_as_an_answer_does(
    services: Services, account: Opened, served: Served, file: str
):
    whole = await rest(*await begin(served, await make_link(services, account) + file))

    assert whole.endswith(END_OF_ANSWER)
    assert len(whole) > RECORDS * len(TEXT)


@pytest.mark.parametrize("file", FILES)
@pytest.mark.parametrize("ending", ENDINGS)
async def test_evidence_is_broken_off_when_its_link_ends(
    services: Services,
    account: Opened,
    served: Served,
    monkeypatch: pytest.MonkeyPatch,
    ending: str,
    file: str,
):
    monkeypatch.setattr(file_links, "CHECK_SECONDS", 0)
    scopes = ["contacts:read", "messages:read"]
    creator = await add_creator(services, account.account_id, ending, scopes, "member")
    download = await begin(served, await make_link(services, account, **creator) + file)

    await end_creator(services, account.account_id, ending, creator)

    sent = await rest(*download)
    assert not sent.endswith(END_OF_ANSWER)
    assert len(sent) < RECORDS * len(TEXT)


async def test_evidence_that_takes_too_long_is_broken_off(
    services: Services, account: Opened, served: Served, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(file_links, "MAX_SECONDS", 0)

    sent = await rest(*await begin(served, await make_link(services, account)))

    assert not sent.endswith(END_OF_ANSWER)
    assert len(sent) < RECORDS * len(TEXT)
