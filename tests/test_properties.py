"""Properties of coroutines, whose examples run in the task of all tests of the process."""

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from app.services import Services
from tests.factories.accounts import ACCOUNTS


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.filter_too_much])
@given(data=st.data())
async def test_an_example_that_cannot_be_drawn_ends_no_other_one(services: Services, data: st.DataObject) -> None:
    number = data.draw(st.integers().filter(lambda drawn: drawn % 2 == 0))

    assert number % 2 == 0
    assert await ACCOUNTS.count(services) == 0
