"""Attempts of one account to access records of another: one or more for each handwritten route.

In each attempt the second account requests a record of the first one; it returns a summary of the response.
"""

import re
from collections.abc import AsyncGenerator, Awaitable, Callable
from contextlib import aclosing, asynccontextmanager
from dataclasses import dataclass
from io import BytesIO
from zipfile import ZipFile

import httpx2
import orjson

from app.domain.consent import evidence
from app.domain.erasure import downloads as exports
from app.domain.jobs import downloads, parts
from app.domain.jobs import service as jobs
from app.domain.jobs.models import JobKind, JobStatus
from app.domain.kernel.unit_of_work import Actor
from app.domain.oauth import clients
from app.domain.oauth.clients import NewClient
from app.jobs.live import Announcer
from tests.conftest import unit_of
from tests.factories.accounts import PASSWORD_LINKS, USERS
from tests.graphql.live import ALL, Scene, Served, looking, serving, talking
from tests.mcp.assistants import Assistant
from tests.oauth.applications import AUTHORIZE, REDIRECT, REGISTER, REVOKE, Application, bearer
from tests.oauth.browsing import OURS
from tests.oauth.mailbox import deliver
from tests.oauth.tenants import PHONE, Tenant, summarize
from tests.rest.carriers import call

NEW_PASSWORD = "seven green bicycles"
CONTACT = "query ($contact: BigInt!) { contact(id: $contact) { first_name } }"
CHANGE = """
mutation ($id: BigInt!) { update_contact(id: $id, changes: {last_name: "Changed"}) { first_name } }
"""

Attempt = Callable[[Tenant, Tenant], Awaitable[str]]


@dataclass(frozen=True)
class Reach:
    """An attempt, what another account is told, and what the account itself is, for which it `changes` something.

    `notes` are the tables in which the attempt of another is written down, and nothing comes of it.
    """

    attempt: Attempt
    another: str
    itself: str
    changes: bool = True
    notes: frozenset[str] = frozenset()


async def change_contact_by_session(of: Tenant, who: Tenant) -> str:
    asked = {"query": CHANGE, "variables": {"id": of.contact_id}}
    return summarize(await who.browsing.client.post("/graphql", json=asked, headers=OURS))


async def change_contact_by_key_beside_a_session(of: Tenant, who: Tenant) -> str:
    asked = {"query": CHANGE, "variables": {"id": of.contact_id}}
    headers = bearer(who.account.svc_key) | OURS
    return summarize(await of.browsing.client.post("/graphql", json=asked, headers=headers))


async def change_contact_by_token(of: Tenant, who: Tenant) -> str:
    asked = {"query": CHANGE, "variables": {"id": of.contact_id}}
    headers = bearer(who.tokens["access_token"])
    return summarize(await who.anonymous_browser().client.post("/graphql", json=asked, headers=headers))


async def look_on_over_events(of: Tenant, who: Tenant) -> str:
    key = who.account.svc_key
    async with happening(of) as (scene, served), looking(served.address, key, kinds=["new_message"]) as events:
        await scene.dispatch()
        return (await events.update())["message"]["body"]


async def read_and_look_on_over_a_socket(of: Tenant, who: Tenant) -> str:
    async with happening(of) as (scene, served), talking(served.address, who.account.svc_key) as talk:
        await talk.subscribe(CONTACT, contact=of.contact_id)
        payload, _ = (await talk.hear())["payload"], await talk.hear()
        faults = payload.get("errors")
        read = faults[0]["extensions"] if faults else payload["data"]["contact"]["first_name"]
        await talk.subscribe(ALL, id="2", kinds=["new_message"])
        await scene.dispatch()
        return f"{read if isinstance(read, str) else read['code']} {(await talk.next())['message']['body']}"


@asynccontextmanager
async def happening(of: Tenant) -> AsyncGenerator[tuple[Scene, Served]]:
    """Serve the application; dispatch the events of every account together with those of the scene."""
    assert of.services.settings.redis_url
    announcing = aclosing(Announcer(of.services.settings.redis_url))
    async with announcing as announcer, serving(of.services.settings) as served:
        yield Scene(of.services, of.account, announcer), served


async def sign_in_with_own_password(of: Tenant, who: Tenant) -> str:
    return summarize(await who.anonymous_browser().sign_in(of.account.email, who.account.password))


async def sign_out_with_the_form_of(of: Tenant, who: Tenant) -> str:
    return summarize(await who.browsing.send(await of.form("/logout")))


async def ask_for_a_link(of: Tenant, who: Tenant) -> str:
    await deliver(of.services)  # no link is created while one waits to be mailed
    browsing = who.anonymous_browser()
    answer = await browsing.send(await browsing.form("/forgot"), email=of.account.email)
    mailed = await PASSWORD_LINKS.last(of.services, "user_id")
    assert "/password/" not in answer.text
    return f"{summarize(answer)} {await USERS.where(id=mailed).only(of.services, 'email')}"


async def open_own_link(of: Tenant, who: Tenant) -> str:
    answer = await who.browsing.client.get(who.link, params={"email": of.account.email})
    return " ".join([summarize(answer), *sorted(set(re.findall(r"owner\d@example.com", answer.text)))])


async def set_password_by_own_link(of: Tenant, who: Tenant) -> str:
    browsing = who.anonymous_browser()
    return summarize(await browsing.send(await browsing.form(who.link), email=of.account.email, password=NEW_PASSWORD))


async def open_account_page(of: Tenant, who: Tenant) -> str:
    return summarize(await who.browsing.client.get("/account", params={"account_id": of.account.account_id}))


async def change_password(of: Tenant, who: Tenant) -> str:
    known = {"email": of.account.email, "old_password": of.account.password, "password": NEW_PASSWORD}
    return summarize(await who.browsing.send(await who.form("/account/password", **known)))


async def end_session(of: Tenant, who: Tenant) -> str:
    return summarize(await who.browsing.send(await who.form(f"/account/sessions/{of.session_id}/end")))


async def disconnect(of: Tenant, who: Tenant) -> str:
    return summarize(await who.browsing.send(await who.form(f"/account/applications/{of.grant_id}/disconnect")))


async def download_job_file(of: Tenant, who: Tenant) -> str:
    """Open a link to a file of a job of the second account with the key of the first one."""
    [user_id, *_] = await USERS.where(account_id=who.account.account_id).read(who.services, "id")
    async with unit_of(who.services, Actor(who.account.account_id, ALL, "test", user_id=user_id)) as unit:
        job = await jobs.create(unit, JobKind.import_contacts, {})
        await parts.add(unit, job, 0, who.account.company_name.encode())
        await jobs.finish(unit, job, JobStatus.done)
        link = await downloads.make_link(unit, who.services.exports, job.id)
    got = await who.anonymous_browser().client.get(f"/jobs/{link.token}", headers=bearer(of.account.svc_key))
    return f"{got.status_code} {got.text}"


async def read_consent_page(of: Tenant, who: Tenant) -> str:
    """Open a link to the evidence of a phone of the second account with the key of the first one."""
    page = await _read_consent(of, who, "")
    found = re.search(r"<dt>Sender</dt><dd>(.*) \(account \d+\)", page.text)
    return f"{page.status_code} {found[1] if found else None}"


async def read_consent_file(of: Tenant, who: Tenant) -> str:
    """Open a link to the JSON file of the evidence of a phone, in the same way."""
    file = await _read_consent(of, who, ".json")
    return f"{file.status_code} {file.json()['company_name']}"


async def _read_consent(of: Tenant, who: Tenant, suffix: str) -> httpx2.Response:
    [user_id, *_] = await USERS.where(account_id=who.account.account_id).read(who.services, "id")
    async with unit_of(who.services, Actor(who.account.account_id, ALL, "test", user_id=user_id)) as unit:
        token, _ = await evidence.make_link(unit, who.services.exports, PHONE)
    client = who.anonymous_browser().client
    return await client.get(f"/consents/{token}{suffix}", headers=bearer(of.account.svc_key))


async def download_export(of: Tenant, who: Tenant) -> str:
    """Open a link of the second account with the key of the first one."""
    [user_id, *_] = await USERS.where(account_id=who.account.account_id).read(who.services, "id")
    async with unit_of(who.services, Actor(who.account.account_id, ALL, "test", user_id=user_id)) as unit:
        link = await exports.make_link(unit, who.services.exports)
    archive = await who.anonymous_browser().client.get(f"/exports/{link.token}", headers=bearer(of.account.svc_key))
    with ZipFile(BytesIO(archive.content)) as opened:
        return f"{archive.status_code} {orjson.loads(opened.read('accounts.ndjson'))['company_name']}"


async def open_consent(of: Tenant, who: Tenant) -> str:
    return summarize(await who.browsing.get(of.application.path()))


async def answer_what_was_asked_of(of: Tenant, who: Tenant) -> str:
    form = await who.form(AUTHORIZE, request=of.question.fields["request"], decision="allow")
    return summarize(await who.browsing.send(form))


async def allow_an_application_of_all(of: Tenant, who: Tenant) -> str:
    """Answer, as the second account, the authorization request of a shared application for the first one."""
    async with unit_of(of.services, Actor(0, frozenset(), "nobody")) as unit:
        client, secret = await clients.create_shared(unit, of.services.oauth.tokens, NewClient("Pipes", [REDIRECT]))
    asked = await Application(of.browsing.client, of.browsing, of.account, client.id, client.client_id, secret).form()
    return summarize(await who.browsing.send(await who.form(AUTHORIZE, request=asked.fields["request"])))


def exchange(path: str) -> Attempt:
    async def exchange_code_of(of: Tenant, who: Tenant) -> str:
        return summarize(
            await who.application.post(path, grant_type="authorization_code", code=of.code, redirect_uri=REDIRECT)
        )

    return exchange_code_of


def refresh(path: str) -> Attempt:
    async def refresh_token_of(of: Tenant, who: Tenant) -> str:
        token = of.tokens["refresh_token"]
        return summarize(await who.application.post(path, grant_type="refresh_token", refresh_token=token))

    return refresh_token_of


def hand_back(kind: str) -> Attempt:
    async def hand_back_token_of(of: Tenant, who: Tenant) -> str:
        return summarize(await who.application.post(REVOKE, token=of.tokens[kind]))

    return hand_back_token_of


async def register_as(of: Tenant, who: Tenant) -> str:
    claimed = {
        "client_id": of.application.client_id,
        "client_secret": of.application.secret,
        "redirect_uris": [REDIRECT],
    }
    answer = await who.browsing.client.post(REGISTER, json=claimed)
    assert answer.json()["client_id"] != of.application.client_id
    return summarize(answer)


def use_tools(method: str, path: str) -> Attempt:
    async def use_tools_with_key(of: Tenant, who: Tenant) -> str:
        if method != "POST":
            return summarize(await who.browsing.client.request(method, path, headers=bearer(who.account.svc_key)))
        assistant = Assistant(who.browsing.client, who.account.svc_key, path)
        call = {"name": "get_contact", "arguments": {"contact_id": of.contact_id}}
        return summarize(await assistant.post("tools/call", call))

    return use_tools_with_key


async def text_own_number(of: Tenant, who: Tenant) -> str:
    """Let the contact of both accounts opt out of the second account's messages."""
    return await _text(who, who.carrier)


async def forge_text_to(of: Tenant, who: Tenant) -> str:
    return await _text(of, of.carrier if who is of else who.account.svc_key.encode())


async def _text(to: Tenant, secret: bytes) -> str:
    said = {"id": f"sbx_in_stop_{to.account.account_id}", "from": PHONE, "to": to.account.phone_number, "text": "STOP"}
    return summarize(await call(to.anonymous_browser().client, secret, "/carriers/sandbox/inbound", said))


async def report_on_own_message(of: Tenant, who: Tenant) -> str:
    return await _report(who, who.carrier, f"?message={of.message_id}")


async def forge_report_on(of: Tenant, who: Tenant) -> str:
    return await _report(of, of.carrier if who is of else who.account.svc_key.encode())


async def _report(on: Tenant, secret: bytes, query: str = "") -> str:
    said = {"id": f"sbx_{on.message_id}", "reference": on.message_id, "status": "delivered", "code": None}
    return summarize(await call(on.anonymous_browser().client, secret, f"/carriers/sandbox/status{query}", said))


async def post_to_webhook_with_own_secret(of: Tenant, who: Tenant) -> str:
    headers = {"x-webhook-secret": who.hook_secret}
    return summarize(await who.anonymous_browser().client.post(of.hook, json={"phone": PHONE}, headers=headers))


async def forge_payment_of(of: Tenant, who: Tenant) -> str:
    facts = {"account_id": str(of.account.account_id), "credits": "1000000", "order": "1"}
    event = {"object": "event", "data": {"object": {"object": "payment_intent", "id": "pi_1", "metadata": facts}}}
    headers = {"stripe-signature": f"t=1700000000,v1={who.account.svc_key}"}
    return summarize(await who.browsing.client.post("/payments/stripe/webhook", json=event, headers=headers))
