"""The documents name files, sections and terms that exist."""

import json
import re
import shlex
from configparser import RawConfigParser
from functools import cache
from pathlib import Path

import pytest
from typer import Context
from typer.core import TyperGroup
from typer.main import get_command

from app.bootstrap import jobs as _jobs  # noqa: F401 - EVENTS lacks the events of the areas otherwise
from app.cli.commands import HELP, app
from app.cli.usage import UsageError
from app.domain.accounts.scopes import AUTOMATION, AUTOMATION_LIMIT, Scope
from app.domain.kernel.events import EVENTS
from app.domain.webhooks.payloads import hook_names
from app.settings import Settings

ROOT = Path(__file__).parents[2]
PAGES = [*sorted((ROOT / "docs").rglob("*.md")), *sorted(ROOT.glob("*.md"))]
LINK = re.compile(r"\[[^\]]*\]\(([^)\s]+)\)")
PATH = re.compile(r"`((?:app|tests|docs|benchmarks)/[\w./-]+|pyproject\.toml)`")
OLD_WORDS = re.compile(
    r"\b(desk|doorbell|bells?|rings?|rung|doors?|mailroom|pumps?|makers?|rooms?|floors?|faces?|house)\b", re.I
)
COMPANY = "Blue Door"
FENCED = re.compile(r"```(?:sh|console).*?\n(.*?)```", re.S)
INLINE = re.compile(r"`(messaging [^`]+)`")
EXAMPLES = {
    ("architecture.md", "mermaid"): "a diagram",
    ("assistants.md", "json"): "needs the applications of other vendors",
    ("campaigns.md", "graphql"): "tests/graphql/test_examples.py",
    ("connectors.md", "text"): "tests/rest/test_document_answers.py; the first one needs an account at Calendly",
    ("events.md", "json"): "generated from the examples of the events",
    ("front-ends.md", "ts"): "tests/graphql/test_typescript.py",
    ("importing.md", "graphql"): "tests/graphql/test_examples.py",
    ("notices.md", "graphql"): "tests/graphql/test_examples.py",
    ("oauth.md", "json"): "tests/oauth/test_oauth_flow.py",
    ("oauth.md", "text"): "tests/oauth/test_oauth_flow.py",
    ("operating.md", "caddyfile"): "tests/e2e/test_proxies.py",
    ("operating.md", "ini"): "tests/e2e/test_proxies.py; the unit is parsed below too",
    ("operating.md", "nginx"): "tests/e2e/test_proxies.py",
    ("rest-reference.md", "json"): "tests/rest/test_reference.py",
    ("rest.md", "http"): "tests/rest/test_document_answers.py",
    ("rest.md", "json"): "tests/rest/test_document_answers.py",
    ("sandbox.md", "json"): "tests/rest/test_document_answers.py",
    ("segments.md", "graphql"): "tests/graphql/test_examples.py",
    ("sequences.md", "graphql"): "tests/graphql/test_examples.py",
    ("templates.md", "graphql"): "tests/graphql/test_examples.py",
    ("templates.md", "text"): "tests/domain/templates/test_docs_of_templates.py",
    ("webhooks.md", "javascript"): "tests/domain/webhooks/test_webhooks_docs.py",
    ("webhooks.md", "python"): "tests/domain/webhooks/test_webhooks_docs.py",
}
"""The test of the blocks of a page in a language, or the reason why there is none. `sh` is run by tests/e2e."""

BARE = 3
"""The words of a command that is only named, as in `messaging contact list`."""


def prose(page: Path) -> str:
    """Return a page without its code and the name of the company in its examples."""
    return re.sub(r"```.*?```|`[^`\n]*`", "", page.read_text(), flags=re.S).replace(COMPANY, "")


def anchors(page: Path) -> set[str]:
    """Return the anchors that GitHub gives the headings of a page."""
    headings = re.findall(r"^#+ (.+)$", re.sub(r"```.*?```", "", page.read_text(), flags=re.S), re.M)
    return {re.sub(r"[^\w -]", "", heading).strip().lower().replace(" ", "-") for heading in headings}


def is_broken(page: Path, link: str) -> bool:
    target, _, anchor = link.partition("#")
    found = page.parent / target if target else page
    return not found.exists() or bool(anchor and anchor not in anchors(found))


@pytest.mark.parametrize(
    "page", [page for page in PAGES if page.parent.name != "decisions"], ids=lambda page: page.name
)
def test_every_path_that_a_page_names_exists(page: Path):
    named = PATH.findall(page.read_text())

    assert [path for path in named if not (ROOT / path).exists()] == []


def test_no_two_decisions_have_one_number():
    numbers = [page.name[:4] for page in PAGES if page.parent.name == "decisions"]

    assert sorted(set(numbers)) == sorted(numbers) != []


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_every_block_of_a_page_names_its_language(page: Path):
    opened = re.findall(r"^ *```(.*)$", page.read_text(), re.M)[::2]

    assert [block for block in opened if not block] == []


def test_every_block_that_is_no_command_has_a_test_or_a_reason():
    found = {
        (page.name, language)
        for page in PAGES
        for language in re.findall(r"^ *```(\w+)", page.read_text(), re.M)
        if language != "sh"
    }

    assert found == set(EXAMPLES)
    assert [
        test for test in EXAMPLES.values() if test.startswith("tests/") and not (ROOT / test.split(";")[0]).exists()
    ] == []


def test_the_unit_of_systemd_starts_the_service_with_settings_that_exist():
    [shown, _] = re.findall(r"```ini\n(.*?)```", (ROOT / "docs" / "operating.md").read_text(), re.S)
    unit = RawConfigParser()
    unit.optionxform = str
    unit.read_string(shown)

    service = unit["Service"]
    name, _, folder = service["Environment"].partition("=")

    assert unit.sections() == ["Unit", "Service", "Install"]
    assert service["ExecStart"] == f"{service['WorkingDirectory']}/.venv/bin/messaging serve"
    assert (name, folder) == ("MESSAGING_DATA", f"/var/lib/{service['StateDirectory']}")
    assert "data" in Settings.model_fields


def test_the_configurations_of_assistants_are_json_with_the_address_of_the_tool_server():
    shown = re.findall(r"```json\n(.*?)```", (ROOT / "docs" / "assistants.md").read_text(), re.S)

    assert ['"https://sms.example.com/mcp"' in json.dumps(json.loads(block)) for block in shown] == [True] * 4


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_every_link_of_a_page_leads_to_a_file_and_a_section(page: Path):
    links = [link for link in LINK.findall(page.read_text()) if "://" not in link]

    assert [link for link in links if is_broken(page, link)] == []


@pytest.mark.parametrize("page", [page for page in PAGES if page.name != "CHANGELOG.md"], ids=lambda page: page.name)
def test_no_page_uses_a_word_that_the_glossary_has_replaced(page: Path):
    assert OLD_WORDS.findall(prose(page)) == []


def test_the_table_of_commands_has_every_command_of_every_group():
    rows = re.findall(r"^\| (`.*?) \| (`.*) \|$", (ROOT / "docs" / "operating.md").read_text(), re.M)
    listed = {name: set(re.findall(r"`(\S+?)`", row)) for names, row in rows for name in re.findall("`(.+?)`", names)}

    commands = {name: set(group.list_commands(Context(group))) for name, group in groups().items()}

    assert sum(map(len, commands.values())) > 100
    assert [f"{name} {each}" for name, found in commands.items() for each in found - listed.get(name, set())] == []


def test_the_map_of_the_areas_has_every_area():
    page = (ROOT / "docs" / "architecture.md").read_text()
    areas = [folder.name for folder in (ROOT / "app" / "domain").iterdir() if (folder / "__init__.py").exists()]

    assert sorted(re.findall(r"^\| `app/domain/(\w+)` \|", page, re.M)) == sorted([*areas, "messages"])


def test_the_table_of_scopes_has_every_scope_with_its_place_in_auto_keys():
    page = (ROOT / "docs" / "scopes.md").read_text()

    rows = dict(re.findall(r"^\| `(\w+:\w+)` \| .+ \| (yes|no|by choice) \|$", page, re.M))

    usual, limit = set(AUTOMATION), set(AUTOMATION_LIMIT)
    assert rows == {scope: "yes" if scope in usual else "by choice" if scope in limit else "no" for scope in Scope}


@cache
def groups() -> dict[str, TyperGroup]:
    """Return the groups of commands by their names."""
    command = get_command(app)
    assert isinstance(command, TyperGroup)
    return {name: each for name, each in command.commands.items() if isinstance(each, TyperGroup)}


def commands_of(page: Path) -> list[list[str]]:
    """Return the words of the commands of a page: those of its blocks, and those in its text that have arguments."""
    text = page.read_text()
    blocks = [part for block in FENCED.findall(text) for part in re.split(r"\n(?=\S)", re.sub(r"\\\n", " ", block))]
    written = [shlex.split(each, comments=True) for each in blocks if each.startswith("messaging ")]
    named = [shlex.split(each.replace("\n", " ")) for each in INLINE.findall(text) if "\n\n" not in each]
    return [each[1:] for each in (*written, *(each for each in named if len(each) > BARE))]


def is_refused(words: list[str]) -> bool:
    """Return whether a command of a group lacks an argument, or has an option that it does not know."""
    group = groups().get(words[0])
    if group is None:
        return False
    context = Context(group, **HELP)  # a command keeps the options for help of the first context that it sees
    found = group.get_command(context, words[1])
    if found is None:
        return True
    try:
        given, _, _ = found.make_parser(context).parse_args(words[2:])
    except UsageError:
        return True
    return any(
        each.param_type_name == "argument" and each.required and given[each.name] is None for each in found.params
    )


@pytest.mark.parametrize("page", [page for page in PAGES if page.name != "CHANGELOG.md"], ids=lambda page: page.name)
def test_every_command_of_a_page_has_its_arguments_and_options(page: Path):
    assert [shlex.join(words) for words in commands_of(page) if is_refused(words)] == []


@pytest.mark.parametrize(
    ("page", "told"),
    [
        ("README.md", "{hooks} events"),
        ("docs/webhooks.md", "one of {hooks}"),
        ("docs/webhooks.md", "any of {topics}"),
        ("docs/rest-reference.md", "the {hooks} event names"),
        ("schema.graphql", "one of the {hooks} events"),
    ],
)
def test_the_texts_about_webhooks_have_the_number_of_the_events(page: str, told: str):
    numbers = {7: "seven", 8: "eight", 12: "twelve", 13: "thirteen"}
    topics = [each for each in EVENTS.values() if each.topic]

    text = told.format(hooks=numbers[len(hook_names())], topics=numbers[len(topics)])

    assert text in (ROOT / page).read_text()
