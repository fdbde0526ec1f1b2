"""The examples of the documentation, run on a delivery as it is posted."""

import re
import subprocess
from pathlib import Path
from typing import Any

import orjson
import pytest
from standardwebhooks import WebhookVerificationError

from app.domain.webhooks.service import MAX_SUBSCRIPTIONS
from tests.domain.webhooks.harness import Harness
from tests.domain.webhooks.receivers import Post
from tests.node import NODE, install

PAGE = (Path(__file__).parents[3] / "docs" / "webhooks.md").read_text()
STANDARD = Path(__file__).with_name("standard")

RUN = """
import { receive } from "./example.mjs";
import { readFileSync } from "node:fs";
const read = ([headers, body]) => {
  try {
    return receive(headers, body);
  } catch (error) {
    return error.name;
  }
};
console.log(JSON.stringify(JSON.parse(readFileSync(0, "utf8")).map(read)));
"""


def example(language: str) -> str:
    [found] = re.findall(rf"```{language}\n(.*?)```", PAGE, re.DOTALL)
    return found


def test_the_page_states_how_many_webhooks_an_account_can_have() -> None:
    assert f"at most {MAX_SUBSCRIPTIONS} webhooks of both kinds" in PAGE


@pytest.fixture
async def delivered(harness: Harness) -> tuple[str, Post]:
    """Give a secret, and a post that it signed."""
    subscription = await harness.subscribe()
    await harness.tell("won")
    async with harness.at_work():
        [post] = await harness.receiver.expect(1)
    return harness.services.webhooks.seal.open(subscription.secret), post


async def test_the_example_in_python_verifies_a_delivery_and_refuses_another(
    delivered: tuple[str, Post], monkeypatch: pytest.MonkeyPatch
) -> None:
    secret, post = delivered
    monkeypatch.setenv("WEBHOOK_SECRET", secret)
    program: dict[str, Any] = {}
    exec(example("python"), program)

    assert program["receive"](post.headers, post.raw) == post.body
    with pytest.raises(WebhookVerificationError):
        program["receive"](post.headers, post.raw + b" ")


async def test_the_example_in_javascript_verifies_a_delivery_and_refuses_another(
    delivered: tuple[str, Post], tmp_path: Path
) -> None:
    secret, post = delivered
    (tmp_path / "node_modules").symlink_to(install(STANDARD) / "node_modules")
    (tmp_path / "example.mjs").write_text(example("javascript"))
    (tmp_path / "run.mjs").write_text(RUN)
    cases = [[post.headers, post.raw.decode()], [post.headers, post.raw.decode() + " "]]

    read = run(tmp_path / "run.mjs", cases, secret)

    assert read == [post.body, "WebhookVerificationError"]


def run(program: Path, cases: list[list[Any]], secret: str) -> Any:
    done = subprocess.run(
        [NODE, program], input=orjson.dumps(cases), stdout=subprocess.PIPE, check=True, env={"WEBHOOK_SECRET": secret}
    )
    return orjson.loads(done.stdout)
