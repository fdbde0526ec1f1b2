"""The score of a contact."""

import itertools

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from app.domain.contacts import service
from app.domain.contacts.models import Contact, ContactStatus, PipelineStage
from app.domain.contacts.score import ScoreReason, explain
from app.domain.kernel.unit_of_work import UnitOfWork
from app.domain.onboarding.service import Opened
from tests.domain.conftest import UnitFor

TEXTS = st.sampled_from(["", "Ann", " ", "0"])


@settings(max_examples=60, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    stage=st.sampled_from(PipelineStage),
    status=st.sampled_from(ContactStatus),
    texts=st.tuples(TEXTS, TEXTS, TEXTS),
    replies=st.one_of(st.integers(0, 7), st.integers(0, 2**62)),
)
async def test_the_reasons_add_up_to_the_score_that_the_database_keeps(
    account: Opened,
    unit_for: UnitFor,
    stage: PipelineStage,
    status: ContactStatus,
    texts: tuple[str, str, str],
    replies: int,
) -> None:
    async with unit_for(account) as unit:
        contact = await service.find_or_create(unit, "+12025550143", "")
        contact.first_name, contact.last_name, contact.email = texts
        contact.pipeline_stage, contact.status, contact.replies = stage, status, replies
        await unit.save(contact)

        assert sum(part.points for part in explain(contact)) == contact.score


async def test_every_score_is_between_0_and_100_and_both_occur(unit: UnitOfWork) -> None:
    contact = await service.create(unit, {"phone": "+12025550143"})
    scores = set[int]()
    for stage, status, name, replies in itertools.product(PipelineStage, ContactStatus, ("", "Ann"), (0, 1, 5, 6)):
        contact.pipeline_stage, contact.status, contact.replies = stage, status, replies
        contact.first_name = contact.email = name
        await unit.save(contact)
        scores.add(contact.score)

    assert (min(scores), max(scores)) == (0, 100)


@pytest.mark.parametrize(
    ("contact", "reasons"),
    [
        (
            Contact(status="active", pipeline_stage="won", first_name="", last_name="Lee", email="a@b.de", replies=9),
            {"stage won": 70, "name known": 5, "e-mail known": 5, "5 replies counted": 20},
        ),
        (
            Contact(status="active", pipeline_stage="contacted", first_name="", last_name="", email="", replies=1),
            {"stage contacted": 20, "1 reply counted": 4},
        ),
        (Contact(status="active", pipeline_stage="lost", first_name="", last_name="", email="", replies=0), {}),
        (
            Contact(status="opted_out", pipeline_stage="won", first_name="Ann", last_name="", email="", replies=3),
            {"opted out": 0},
        ),
    ],
)
def test_the_score_is_explained_by_reasons_with_their_points(contact: Contact, reasons: dict[str, int]) -> None:
    assert explain(contact) == [ScoreReason(reason, points) for reason, points in reasons.items()]
