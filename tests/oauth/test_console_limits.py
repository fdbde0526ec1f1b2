"""The page of keys where the rate limit is reached: a key that was made is shown all the same."""

import re

import pytest

from app.domain.onboarding.service import Opened
from app.services import Services
from app.settings import Settings
from tests.factories.accounts import API_KEYS
from tests.oauth.browsing import Browsing
from tests.waiting import until

pytestmark = pytest.mark.anyio

KEYS = "/account/keys"


@pytest.fixture
def settings(settings: Settings) -> Settings:
    """Give settings under which a user is soon refused."""
    return settings.model_copy(update={"rate_limit": 20})


async def test_the_text_of_a_new_key_is_shown_though_the_keys_cannot_be_listed(
    browsing: Browsing, services: Services, account: Opened
):
    await browsing.enter(account)
    form = await browsing.form(KEYS, KEYS)

    async def is_made_without_a_list() -> bool:
        before = await API_KEYS.count(services)
        answer = await browsing.send(form, name="Zaps")
        texts = re.findall(r'id="made"[^>]* value="(svc_[^"]+)"', answer.text)
        assert await API_KEYS.count(services) == before + len(texts)
        return bool(texts) and "The keys cannot be listed now." in answer.text

    await until(is_made_without_a_list)
