"""The steps of setting an account up, as the contract shows them."""

import strawberry

from app.domain.onboarding import progress
from app.domain.onboarding.progress import SetupStepName
from app.graphql.core.context import Info
from app.graphql.core.directives import guarded
from app.graphql.core.enums import describe

describe(
    SetupStepName,
    "A step of setting an account up, in the order in which it is best done.",
    {
        "company_name": "The account has a company name.",
        "support_contact": "The reply to HELP names a contact.",
        "carrier": "A carrier other than the sandbox is connected.",
        "phone_number": "The account has a number at a carrier other than the sandbox.",
        "credits": "The account has credits.",
        "quiet_hours": "The account has a time zone, or quiet hours of its own beside those of the law.",
        "ai": "A language model writes copy and the answers of agents.",
        "payments": "Credits can be bought online.",
        "webhook": "Events are posted to a webhook.",
    },
)


@strawberry.type(description="A step of setting an account up.")
class SetupStep:
    """A step."""

    name: SetupStepName = strawberry.field(description="The name of the step.")
    is_done: bool = strawberry.field(description="True once the step is done.")
    is_required: bool = strawberry.field(description="False for a step that is optional.")
    text: str = strawberry.field(description="The result of the step, or the action that it needs.")


@strawberry.type(description="The steps of setting an account up.")
class SetupStatus:
    """The steps."""

    texts_reach_phones: bool = strawberry.field(
        description="False while the account has numbers in the sandbox only, which delivers to no phone."
    )
    next_step: SetupStepName | None = strawberry.field(
        description="The first required step that is open; null when all are done."
    )
    steps: list[SetupStep] = strawberry.field(description="All steps, in the order in which they are best done.")


@strawberry.type
class SetupStatusQuery:
    """Reading the steps that are left to set up."""

    @strawberry.field(
        graphql_type=SetupStatus,
        description="The steps after which texts of the account reach phones, and which of them are done.",
        directives=guarded("account:read"),
    )
    async def setup_status(self, info: Info) -> progress.SetupStatus:
        """Return the steps."""
        services = info.context.services
        return await progress.get_status(
            info.context.unit,
            has_model=services.writers.model is not None,
            sells_online=services.payments.gateway.is_online,
        )
