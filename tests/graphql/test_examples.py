"""Every GraphQL example of the documents, word for word."""

import re
from pathlib import Path

import pytest
from graphql import parse, validate

from app.domain.accounts.scopes import ALL
from app.domain.kernel.unit_of_work import Actor
from app.domain.onboarding.service import Opened
from app.graphql.schema import contract
from app.services import Services
from tests.factories.accounts import id_of_user
from tests.factories.numbering import numbered_from_one
from tests.graphql.calls import post, serving

ROOT = Path(__file__).parents[2]
EXAMPLES = {
    page.name: found
    for page in sorted((ROOT / "docs").glob("*.md"))
    if (found := re.findall(r"^```graphql\n(.*?)^```", page.read_text(), re.M | re.S))
}
NUMBERED = ("campaigns", "uploads", "account_jobs", "sequences")
CONTRACT = contract()


@pytest.mark.parametrize("examples", EXAMPLES.values(), ids=EXAMPLES)
def test_every_example_fits_the_contract(examples: list[str]) -> None:
    assert [validate(CONTRACT, parse(example)) for example in examples] == [[]] * len(examples)


@pytest.mark.anyio
@pytest.mark.parametrize("examples", EXAMPLES.values(), ids=EXAMPLES)
async def test_the_examples_of_a_page_run_one_after_the_other(
    services: Services, account: Opened, examples: list[str]
) -> None:
    owner = await id_of_user(services, email=account.email)

    async with (
        numbered_from_one(services.settings.database_url or "", NUMBERED),
        serving(services, Actor(account.account_id, ALL, user_id=owner)) as client,
    ):
        answers = [(await post(client, {"query": example})).json() for example in examples]

    assert [answer.get("errors") for answer in answers] == [None] * len(examples)
