"""Commands of an account: every mutation of an owner's has one, and each runs the operation as the operator."""

import json
from pathlib import Path
from typing import get_args

import pytest
from graphql import GraphQLSchema

from app.cli import compiled
from app.cli.administration import GROUPS
from app.cli.documents import _option, operations
from app.cli.tables import Named, as_text
from app.domain.accounts.scopes import ALL
from app.graphql.schema import contract
from tests.cli.conftest import Ask, Run

BY_HAND = {
    "add_upload_part": ("contact", "import"),
    "create_upload": ("contact", "import"),
    "export_contacts": ("contact", "export"),
    "import_contacts": ("contact", "import"),
    "create_api_key": ("key", "create"),
    "create_automation_key": ("key", "create"),
    "request_account_deletion": ("account", "delete"),
}
"""Mutations whose command is written by hand, for a text that is no record, or a question before it."""

OWN_CONNECTIONS = "it is for an account's own connections; `carrier` and `number` are for those of the installation"
CONNECTION_VERBS = (
    "add_carrier_connection",
    "add_phone_number",
    "move_phone_number",
    "pause_carrier_connection",
    "remove_carrier_connection",
    "resume_carrier_connection",
    "rotate_carrier_connection",
    "sync_phone_numbers",
)
OF_A_BROWSER = "nobody is signed in; `session end` and `user update` do it for every user"
OF_A_USER = "each user has notices of their own"
WITHOUT_COMMAND = {
    "enroll_contacts": "assistants use it; `sequence enroll` does the same for one contact",
    "create_consent_link": "`contact evidence` writes the file itself",
    "create_job_link": "`contact import` and `contact export` write the files themselves",
    "create_export_link": "`account export` writes the archive itself",
    **dict.fromkeys(("read_notices", "update_notice_setting"), OF_A_USER),
    **dict.fromkeys(("end_other_sessions", "update_viewer"), OF_A_BROWSER),
    "reply": "sending is for integrations and for users who sign in",
    "revoke_automation_key": "`key revoke` revokes every key",
    **dict.fromkeys(CONNECTION_VERBS, OWN_CONNECTIONS),
    "save_template": "assistants use it; `template create` and `template update` do the same",
    "send_message": "sending is for integrations, which attest consent",
    "send_message_now": "sending is for integrations, which attest consent",
    "subscribe": "automation platforms subscribe by themselves; `webhook create` makes an owner's webhooks",
    "upsert_contact": "automation platforms use it; `contact create` and `contact update` do the same",
}
QUERIES_WITHOUT_COMMAND = {
    **dict.fromkeys(("carrier_connection_check", "carrier_connections", "carrier_kinds"), OWN_CONNECTIONS),
    **dict.fromkeys(("notice_settings", "notices"), OF_A_USER),
    "automation_keys": "`key list` lists every key",
    "connection_test": "commands of the operator use no credential",
    "available_scopes": "`key scopes` lists every scope, and a command may give each",
    "find_contacts": "`contact list --search` finds them",
    "preview_import": "`contact import --dry-run` tells how a file is read",
    "last_update_id": "it starts a stream of live updates",
    "preview_sequence_draft": "`sequence preview` shows the texts of a saved sequence",
    "timeline": "`message list --conversation` lists the texts of a conversation",
    "viewer": "nobody is signed in; `user list` shows the owners",
}


@pytest.fixture
def account(messaging: Run, ask: Ask) -> int:
    """Give an account."""
    opening = ("account", "create", "Blue Door", "--email", "ann@example.com", "--credits", 100, "--json")
    return json.loads(messaging(*opening).output)["account_id"]


def fields(schema: GraphQLSchema, kind: str) -> set[str]:
    root = schema.query_type if kind == "query" else schema.mutation_type
    assert root
    return set(root.fields)


def covered() -> set[str]:
    return {operation.root_field for operation in operations()}


def test_every_mutation_of_an_owner_has_a_command() -> None:
    named = covered() | BY_HAND.keys() | WITHOUT_COMMAND.keys()

    assert sorted(fields(contract(), "mutation") - named) == []
    assert sorted((BY_HAND.keys() | WITHOUT_COMMAND.keys()) & covered()) == []


def test_every_query_of_an_owner_has_a_command() -> None:
    assert sorted(fields(contract(), "query") - covered() - QUERIES_WITHOUT_COMMAND.keys()) == []


def test_the_stored_commands_are_those_of_the_documents() -> None:
    stored = {each.name: each for group in GROUPS for each in compiled.load(group)}

    assert compiled.FILE.read_text() == compiled.as_json(operations())
    assert {name: (each.text, each.root, each.arguments, each.variables) for name, each in stored.items()} == {
        each.command: (each.text, each.root, each.arguments, each.variables) for each in operations()
    }


def test_the_operator_may_run_every_command() -> None:
    assert [each.name for each in operations() if not each.scopes <= {str(scope) for scope in ALL}] == []


@pytest.mark.parametrize("command", sorted(each.name for group in GROUPS for each in compiled.load(group)))
def test_every_command_explains_itself_and_prints_json(run: Run, command: str) -> None:
    done = run(*command.split(), "-h")

    assert (done.code, done.complaint) == (0, "")
    assert "--json" in done.output
    assert "ACCOUNT" in done.output


def test_a_segment_is_previewed_by_its_id_as_it_is_shown(messaging: Run, account: int) -> None:
    filter = json.dumps({"field": "email", "op": "is_set"})
    made = json.loads(messaging("segment", "create", account, "VIP", filter, "--json").output)

    by_id = messaging("segment", "preview", account, made["id"], "--json")
    by_filter = messaging("segment", "preview", account, "--filter", filter, "--json")

    assert json.loads(by_id.output) == json.loads(by_filter.output)
    assert json.loads(by_id.output)["total_count"] == 0


def test_the_runs_of_an_agent_have_their_gates_and_passages_in_json_alone() -> None:
    [runs] = [each for each in operations() if each.command == "agent runs"]
    shown = runs.returns["properties"]["nodes"]["items"]["properties"]

    assert {"gates", "passages"} <= shown.keys()
    row = {"id": 1, "gates": [{"gate": "opt_out", "action": "passed"}], "passages": [], "reason": "late"}
    assert as_text([row]).split() == ["id", "reason", "1", "late"]


def test_a_list_is_a_table_or_json(messaging: Run, account: int) -> None:
    plain = messaging("user", "list", account)
    listed = json.loads(messaging("user", "list", account, "--json").output)

    assert plain.output.splitlines()[0].split() == [
        "id",
        "email",
        "first_name",
        "last_name",
        "role",
        "created_at",
    ]
    assert [(user["email"], user["role"]) for user in listed] == [("ann@example.com", "owner")]


def test_an_empty_list_says_so(messaging: Run, account: int) -> None:
    assert messaging("webhook", "list", account).output == "There are none.\n"
    assert messaging("webhook", "list", account, "--json").output == "[]\n"


def test_a_long_list_is_shown_in_pages(messaging: Run, account: int) -> None:
    for number in range(3):
        messaging("contact", "create", account, f"+1202555014{number}")

    first = messaging("contact", "list", account, "--first", 2)
    cursor = first.output.split()[-1]
    rest = messaging("contact", "list", account, "--first", 2, "--after", cursor, "--json")

    assert first.output.splitlines()[-1] == f"2 of 3. Go on with --after {cursor}"
    assert [contact["phone"] for contact in json.loads(rest.output)["nodes"]] == ["+12025550140"]


def test_a_list_without_pages_is_bounded(messaging: Run, account: int) -> None:
    shown = messaging("key", "list", account, "--first", 1, "--offset", 1, "--json")

    assert [key["name"] for key in json.loads(shown.output)] == ["First key"]


def test_a_change_by_a_command_is_audited_as_the_command_line(messaging: Run, account: int, ask: Ask) -> None:
    done = messaging("account", "rename", account, "Green Door", "--json")

    assert json.loads(done.output)["company_name"] == "Green Door"
    assert ask("SELECT action, actor FROM audit_entries WHERE action = 'account_changed'") == [
        ("account_changed", "command line")
    ]


def test_an_update_changes_only_the_given_options(messaging: Run, account: int, ask: Ask) -> None:
    messaging("account", "update", account, "--support-contact", "help@example.com")

    assert ask("SELECT company_name, region, support_contact FROM accounts") == [
        ("Blue Door", "US", "help@example.com")
    ]


def test_an_option_that_is_repeated_takes_ids(messaging: Run, account: int, ask: Ask) -> None:
    created = [messaging("contact", "create", account, f"+1202555014{n}", "--json") for n in (1, 2, 3)]
    first, second, _ = [json.loads(each.output)["id"] for each in created]

    chosen = ("--contact", first, "--contact", second)
    begun = messaging("contact", "bulk-tag", account, *chosen, "--add", "vip", "--json")
    refused = messaging("contact", "bulk-tag", account, "--contact", "x", "--add", "vip")

    assert json.loads(begun.output)["kind"] == "tag_contacts"
    assert ask("SELECT arguments->>'ids' FROM account_jobs") == [(f"[{first}, {second}]",)]
    assert (refused.code, "--contact cannot be 'x': it must be a whole number." in refused.complaint) == (2, True)


def test_every_repeated_option_of_ids_takes_numbers() -> None:
    commands = [each for group in GROUPS for each in compiled.load(group)]
    repeated = [(each, variable) for each in commands for variable in each.variables.values() if variable.many]
    of_ids = {
        f"{command.name} {variable.name}": get_args(_option(variable))[0]
        for command, variable in repeated
        if variable.single["type"] == "integer"
    }

    assert "webhook replay-chosen delivery" in of_ids
    assert [name for name, kind in of_ids.items() if kind != list[int]] == []


def test_a_sequence_is_made_of_steps_in_json(messaging: Run, account: int, ask: Ask) -> None:
    steps = ['{"delay_minutes": 0, "body": "Hello"}', '{"delay_minutes": 60, "body": "Again"}']

    done = messaging("sequence", "create", account, "Welcome", "--step", steps[0], "--step", steps[1])

    assert done.code == 0
    assert ask("SELECT position, delay_minutes, body FROM sequence_steps ORDER BY position") == [
        (1, 0, "Hello"),
        (2, 60, "Again"),
    ]


@pytest.mark.parametrize(
    ("command", "code", "complaint"),
    [
        (("key", "revoke", 999_999), 1, "messaging: No API key with id 999999.\n"),
        (("account", "update", "--region", "XX"), 1, "messaging: region must be the two letters of a country"),
        (("sequence", "create", "Welcome", "--step", "Hello"), 2, "--step must be JSON"),
        (("agent", "update", 1, "{mode: auto}"), 2, "Invalid value: CHANGES must be JSON"),
        (("agent", "update", 1, '{"moode": "auto"}'), 2, "changes.moode is not known. Did you mean changes.mode?"),
        (("sequence", "create", "Welcome", "--step", "{}"), 2, "step[0].delay_minutes is required."),
        (("user", "role", 1, "boss"), 2, "ROLE cannot be 'boss': it must be one of 'owner', 'member', 'service'."),
        (("number", "pase"), 2, "No such command 'pase'. Did you mean 'pause', 'pace'? `messaging number -h` shows"),
        (("number", "pace", 1, 0), 1, "messaging: parts_per_second must be from 0.01 to 1000."),
        (("webhook", "replay-all", 1, "yesterday"), 2, "since must be a date and time with an offset"),
        (("contact", "list", "--first", 201), 2, "--first cannot be '201': it must be at most 200."),
    ],
)
def test_an_error_is_a_sentence_and_changes_nothing(
    messaging: Run, account: int, ask: Ask, command: tuple[object, ...], code: int, complaint: str
) -> None:
    before = ask("SELECT count(*) FROM audit_entries")
    group, name, *rest = command

    done = messaging(group, name, account, *rest)

    said = " ".join(done.complaint.replace("│", " ").split())
    assert (done.code, done.output) == (code, "")
    assert " ".join(complaint.split()) in said
    assert ask("SELECT count(*) FROM audit_entries") == before


def test_the_pace_of_a_number_is_set_listed_and_reset(messaging: Run, account: int, ask: Ask) -> None:
    [(number,)] = ask("SELECT id FROM phone_numbers")

    messaging("number", "pace", account, number, 2.5)
    [limited] = json.loads(messaging("number", "list", account, "--json").output)
    messaging("number", "reset-pace", account, number)
    [reset] = json.loads(messaging("number", "list", account, "--json").output)

    assert (limited["parts_per_second"], reset["parts_per_second"]) == (2.5, None)


def test_a_record_shows_its_records_as_tables(messaging: Run, account: int) -> None:
    lines = messaging("message", "explain", account, "Hello", "--to", "12345").output.splitlines()

    assert lines[:3] == ["is_allowed           no", "blocked_by", "  gate                 phone"]
    gates = [line.split() for line in lines[lines.index("gates") + 1 :]]
    assert gates[0] == ["gate", "verdict", "error_code"]
    assert ["phone", "refused", "invalid_phone"] in gates


def test_a_record_of_one_field_is_shown_as_its_value() -> None:
    assert as_text({"id": 1, "creator": {"label": "setup"}}) == "id                   1\ncreator              setup"
    assert as_text([{"creator": {"label": "setup"}}]) == "creator\nsetup"


def test_texts_with_commas_are_shown_one_on_a_line() -> None:
    assert as_text({"bodies": ["Hi, Ann", "Hello"], "id": 1}) == "bodies\n  Hi, Ann\n  Hello\nid                   1"
    assert as_text({"tags": ["new", "vip"]}) == "tags                 new, vip"


def test_values_whose_names_are_data_are_shown_with_their_names() -> None:
    assert as_text({"id": 1, "counts": Named(created=3)}) == "id                   1\ncounts\n  created              3"
    assert as_text({"counts": Named()}) == "counts               {}"


def test_an_account_that_does_not_exist_has_no_list(messaging: Run, ask: Ask) -> None:
    done = messaging("key", "list", 4711)

    assert (done.code, done.complaint) == (1, "messaging: No account with id 4711.\n")


def test_evidence_of_a_phone_is_written_as_a_page_or_as_json(messaging: Run, account: int) -> None:
    messaging("contact", "revoke", account, "+12025550143", "letter", "--text", "Stop.", "--source", "letter 17")

    page = messaging("contact", "evidence", account, "(202) 555-0143", "consent.html", "--json")
    file = messaging("contact", "evidence", account, "+12025550143", "consent.json", "--json")
    again = messaging("contact", "evidence", account, "+12025550143", "consent.json")

    assert json.loads(page.output) == {"phone": "+12025550143", "is_opted_out": True, "file": "consent.html"}
    assert "Source: letter 17" in Path("consent.html").read_text()
    assert json.loads(file.output)["file"] == "consent.json"
    assert [each["text"] for each in json.loads(Path("consent.json").read_text())["records"]] == ["Stop."]
    assert (again.code, "consent.json exists" in again.complaint) == (1, True)
