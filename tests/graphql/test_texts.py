"""Measuring and checking texts over GraphQL."""

from typing import Any

import httpx2
import pytest

from app.services import Services
from tests.factories.accounts import ACCOUNTS
from tests.graphql.calls import post

pytestmark = pytest.mark.anyio

PARTS = "body characters encoding segments units credits"
MEASURES = (
    f"as_typed {{ {PARTS} }} smart_encoded {{ {PARTS} }} segments_saved "
    "costly_characters { character name positions replacement }"
)
MEASURE = f"""query ($body: String!, $template: Boolean! = false, $to: String, $fold: Boolean! = false) {{
  measure_text(body: $body, template: $template, to: $to, fold_accents: $fold) {{
    body {{ {MEASURES} }} shortest {{ as_typed {{ {PARTS} }} }} longest {{ as_typed {{ segments }} }}
    longest_ucs_2 {{ as_typed {{ segments }} }} }} }}"""
CHECK = """query ($body: String!, $template: Boolean! = false, $first: Boolean! = false) {
  check_text(body: $body, template: $template, first_promotional: $first) {
    rule severity text advice position length } }"""
PREVIEW = """query ($body: String!, $contact: BigInt!, $smart: Boolean) {
  preview_text(body: $body, contact_id: $contact, is_smart_encoded: $smart) {
    phone body encoding segments credits missing } }"""
ADD_CONTACT = """mutation ($contact: NewContact!) { create_contact(contact: $contact) { id } }"""
CREATE = """mutation ($body: String!) { create_template(name: "A", body: $body) {
  findings { rule severity position length } } }"""
STEPS = """mutation ($steps: [NewSequenceStep!]!) { create_sequence(name: "A", steps: $steps) {
  steps { position findings { rule } } } }"""


async def ask(api: httpx2.AsyncClient, query: str, **variables: Any) -> Any:
    answer = (await post(api, {"query": query, "variables": variables})).json()
    assert "errors" not in answer, answer
    [value] = answer["data"].values()
    return value


async def refused(api: httpx2.AsyncClient, query: str, **variables: Any) -> tuple[str, str | None, str]:
    [error] = (await post(api, {"query": query, "variables": variables})).json()["errors"]
    return error["extensions"]["code"], error["extensions"].get("field"), error["message"]


async def test_a_text_is_measured_with_its_credits_as_typed_and_smart_encoded(api: httpx2.AsyncClient) -> None:
    found = await ask(api, MEASURE, body="A" * 158 + "’A", to="+447911123456")

    assert found == {
        "body": {
            "as_typed": {
                "body": "A" * 158 + "’A",
                "characters": 160,
                "encoding": "ucs_2",
                "segments": 3,
                "units": [67, 67, 26],
                "credits": 18,
            },
            "smart_encoded": {
                "body": "A" * 158 + "'A",
                "characters": 160,
                "encoding": "gsm_7",
                "segments": 1,
                "units": [160],
                "credits": 6,
            },
            "segments_saved": 2,
            "costly_characters": [
                {"character": "’", "name": "RIGHT SINGLE QUOTATION MARK", "positions": [158], "replacement": "'"}
            ],
        },
        "shortest": None,
        "longest": None,
        "longest_ucs_2": None,
    }


async def test_a_text_with_placeholders_is_measured_with_its_bounds(api: httpx2.AsyncClient) -> None:
    found = await ask(api, MEASURE, body="Hi {first_name|you}, it is {company_name}.", template=True)

    assert found["body"]["as_typed"]["body"] == "Hi Ann, it is Blue Door."
    assert (found["shortest"]["as_typed"]["body"], found["shortest"]["as_typed"]["credits"]) == (
        "Hi x, it is Blue Door.",
        1,
    )
    assert found["longest"] == {"as_typed": {"segments": 1}}
    assert found["longest_ucs_2"] == {"as_typed": {"segments": 2}}


async def test_accents_are_folded_in_a_measure_where_it_is_asked_for(api: httpx2.AsyncClient) -> None:
    kept, folded = [(await ask(api, MEASURE, body="aquí", fold=fold))["body"] for fold in (False, True)]

    assert (kept["smart_encoded"]["body"], folded["smart_encoded"]["body"]) == ("aquí", "aqui")


@pytest.mark.parametrize(
    ("arguments", "error"),
    [
        ({"body": "x" * 10_001}, ("invalid_input", "body", "body must have at most 10000 characters.")),
        (
            {"body": "{", "template": True},
            ("invalid_input", "body", "The { at character 1 has no }. Write {{ and }} for braces that are sent."),
        ),
    ],
)
async def test_a_text_that_cannot_be_measured_is_refused(
    api: httpx2.AsyncClient, arguments: dict[str, Any], error: tuple[str, str, str]
) -> None:
    assert await refused(api, MEASURE, **arguments) == error


async def test_the_credits_of_a_phone_that_cannot_be_texted_are_not_known(api: httpx2.AsyncClient) -> None:
    code, _, _ = await refused(api, MEASURE, body="Hi", to="12")

    assert code == "invalid_phone"


async def test_the_check_of_a_text_gives_advice(api: httpx2.AsyncClient) -> None:
    found = await ask(api, CHECK, body="Blue Door: Reply CANCEL to cancel your visit")

    assert found == [
        {
            "rule": "reserved_reply",
            "severity": "high",
            "text": "The text asks for the reply CANCEL, which opts the person out of all texts.",
            "advice": "Ask for another word, such as CHANGE or NO.",
            "position": 17,
            "length": 6,
        }
    ]
    assert await ask(api, CHECK, body="Blue Door: hello {first_name}", template=True) == []
    assert [each["rule"] for each in await ask(api, CHECK, body="Blue Door", first=True)] == ["no_opt_out"]


async def test_a_saved_template_and_steps_are_answered_with_findings(api: httpx2.AsyncClient) -> None:
    saved = await ask(api, CREATE, body="{company_name}: see bit.ly/abc")
    steps = await ask(api, STEPS, steps=[{"delay_minutes": 0, "body": "{company_name}: hi"}] * 2)

    assert saved["findings"] == [{"rule": "shortener", "severity": "high", "position": 20, "length": 10}]
    assert [[each["rule"] for each in step["findings"]] for step in steps["steps"]] == [["no_opt_out"], []]


async def test_measures_and_checks_say_whether_the_account_encodes_its_sends(
    api: httpx2.AsyncClient, services: Services
) -> None:
    text, whole = (
        "A" * 158 + "’á",
        "query ($body: String!) { measure_text(body: $body) { is_smart_encoded body { %s } } }",
    )
    measure = whole % "as_typed { segments } smart_encoded { segments }"
    before = await ask(api, measure, body=text), [each["rule"] for each in await ask(api, CHECK, body=text)]

    await ACCOUNTS.change(services, smart_encoding=True, fold_accents=True)

    after = await ask(api, measure, body=text), [each["rule"] for each in await ask(api, CHECK, body=text)]
    plain, encoded = {"as_typed": {"segments": 3}}, {"smart_encoded": {"segments": 1}}
    assert before[0] == {"is_smart_encoded": False, "body": {**plain, "smart_encoded": {"segments": 3}}}
    assert after[0] == {"is_smart_encoded": True, "body": {**plain, **encoded}}
    assert ("encoding" in before[1], "encoding" in after[1]) == (False, False)


async def test_a_text_is_previewed_for_a_contact_whether_or_not_it_may_be_texted(
    api: httpx2.AsyncClient, services: Services
) -> None:
    person = {"phone": "+12025550143", "first_name": "Zoë", "dnd_sms": True}
    contact = (await ask(api, ADD_CONTACT, contact=person))["id"]

    found = await ask(api, PREVIEW, body="Hi {first_name}, {last_name|friend}. It’s {company_name}.", contact=contact)

    assert found == {
        "phone": "+12025550143",
        "body": "Hi Zoë, friend. It’s Blue Door.",
        "encoding": "ucs_2",
        "segments": 1,
        "credits": 1,
        "missing": ["last_name"],
    }
    smart = await ask(api, PREVIEW, body="It’s us.", contact=contact, smart=True)
    assert (smart["body"], smart["encoding"]) == ("It's us.", "gsm_7")
    await ACCOUNTS.change(services, smart_encoding=True, fold_accents=True)
    plain = await ask(api, PREVIEW, body="It’s us.", contact=contact, smart=False)
    assert (plain["body"], plain["encoding"]) == ("It’s us.", "ucs_2")
    folded = await ask(api, PREVIEW, body="Hi {first_name}, it’s us.", contact=contact)
    assert (folded["body"], folded["encoding"]) == ("Hi Zoe, it's us.", "gsm_7")
    code, field, _ = await refused(api, PREVIEW, body="Hi {firstname}", contact=contact)
    assert (code, field) == ("invalid_input", "body")
    code, _, _ = await refused(api, PREVIEW, body="Hi", contact=contact + 1)
    assert code == "not_found"
