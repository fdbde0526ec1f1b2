"""Creates a demo account."""

from dataclasses import asdict, dataclass

from app.domain.accounts.tokens import Tokens
from app.domain.automations import watching as automations
from app.domain.kernel.unit_of_work import UnitOfWork
from app.domain.oauth import clients
from app.domain.oauth.clients import NewClient
from app.domain.onboarding.service import Opened, Opening, open_account
from app.domain.quiet_hours import service as quiet_hours
from app.domain.quiet_hours.rules import ANYWHERE
from app.domain.quiet_hours.service import NewRule
from app.domain.sequences import service as sequences
from app.domain.sequences.definition import NewStep

KEYWORD = "menu"
STEPS = (
    NewStep(0, "Welcome {first_name}! {company_name} is glad to have you. Reply STOP to opt out."),
    NewStep(1, "Any questions, {first_name}? Reply to this text and {company_name} will answer."),
)

AT_ANY_HOUR = "A demo account texts the sandbox carrier only, which delivers to no phone."


@dataclass(frozen=True, slots=True)
class Demo(Opened):
    """A new demo account, with its secrets, which are shown only once."""

    sequence_id: int
    sequence_name: str
    keyword: str
    client_id: str
    client_secret: str
    redirect_uri: str


async def open_demo(unit: UnitOfWork, opening: Opening, tokens: Tokens, redirect_uri: str) -> Demo:
    """Create an account with a watched keyword, a client, and a drip sequence of two messages a minute apart.

    Its promotional texts go to the sandbox at any hour, by rules that override the law's and are in the audit log.
    `tokens` makes the client's secret; `redirect_uri` is the client's redirect URI.
    """
    opened = await open_account(unit, opening)
    client, secret = await clients.create(unit, tokens, NewClient("Demo application", [redirect_uri]))
    sequence = await sequences.create(unit, "Welcome", STEPS)
    watched = await automations.watch(unit, KEYWORD)
    for jurisdiction in (ANYWHERE, "US"):
        await quiet_hours.add(unit, NewRule(jurisdiction, "00:00", "24:00", overrides_law=True, reason=AT_ANY_HOUR))
    return Demo(
        **asdict(opened),
        sequence_id=sequence.id,
        sequence_name=sequence.name,
        keyword=watched.keyword,
        client_id=client.client_id,
        client_secret=secret or "",
        redirect_uri=redirect_uri,
    )
