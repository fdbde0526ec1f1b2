"""Runs of AI agents, their drafts, trials and suggested replies, as the contract shows them."""

from datetime import datetime
from typing import Annotated, Any

import strawberry

from app.domain.accounts.scopes import Scope
from app.domain.agents import drafts, models, queries, suggestions
from app.domain.agents.drafts import Trial
from app.domain.agents.gates import Action, GateName, Verdict
from app.domain.agents.models import Outcome
from app.domain.agents.queries import RunFilter
from app.domain.agents.suggestions import Suggestion
from app.domain.conversations import models as conversation_models
from app.domain.conversations import service as conversation_service
from app.domain.kernel.errors import InsufficientScope
from app.domain.kernel.paging import Page
from app.domain.kernel.sms_parts import MAX_LENGTH
from app.domain.writing.writer import Passage
from app.graphql.actors import Actor, actor_of
from app.graphql.conversations import Conversation
from app.graphql.core.context import Info, row_of
from app.graphql.core.directives import Constraint, guarded
from app.graphql.core.enums import describe
from app.graphql.core.loading import Load
from app.graphql.core.paging import After, Before, Connection, First, Last, Offset, window
from app.graphql.core.scalars import BigInt

describe(
    Action,
    "Consequence of a gate of an AI agent.",
    {
        "passed": "The next gate is checked.",
        "stop": "Nothing is sent.",
        "hand_over": "People take over, and the contact gets one text about it.",
        "hand_over_silently": "People take over, and nothing is sent.",
    },
    name="AiGateAction",
)
describe(
    GateName,
    "A gate of an AI agent, in the order in which they are checked.",
    {
        "agent": "The agent is paused.",
        "opt_out": "The contact has opted out.",
        "dnd": "The contact is set to do-not-disturb.",
        "hold": "The contact may have opted out.",
        "consent": "The text is STOP, START or HELP.",
        "person_answers": "A person answers in the conversation.",
        "handed_over": "The conversation was handed over to people.",
        "automatic": "The text is an automatic reply or a reaction.",
        "closing": "The text asks for no answer.",
        "window": "The contact's last text is older than 24 hours.",
        "loop": "The texts look like those of another machine.",
        "message_limit": "The agent has sent max_messages texts without a person.",
        "unanswered_limit": "The agent has sent max_unanswered texts without an answer.",
        "daily_limit": "The agent has answered daily_limit texts in a day.",
        "hours": "It is outside the hours of the agent.",
        "injection": "The text tries to instruct the agent.",
        "person_wanted": "The contact asks for a person.",
        "anger": "The contact is angry.",
        "legal": "The text is about a legal matter.",
        "medical": "The text is about health or an emergency.",
        "dispute": "The text is about a bill or a refund.",
        "promise": "The contact asks for a discount or a promise.",
        "unhelpful": "The answers of the agent did not help.",
        "credits": "The account has no credits.",
        "grounding": "No passage is close enough, or the passages do not answer the text.",
        "output": "The reply broke a rule.",
        "provider": "The AI failed.",
    },
    name="AiGate",
)
describe(
    Outcome,
    "The result of a run of an AI agent.",
    {
        "sent": "The draft was sent.",
        "drafted": "The draft waits for approval.",
        "discarded": "A person discarded the draft.",
        "recorded": "The agent is in shadow mode: nothing was sent.",
        "handed_over": "People took over.",
        "stopped": "A gate stopped it.",
        "superseded": "The contact or a person wrote before the draft was sent.",
        "failed": "No draft was possible.",
    },
    name="AiRunOutcome",
)
CALLS = ("insufficient_credits", "not_found", "too_many_ai_calls")
RunId = Annotated[BigInt, strawberry.argument(description="The id of the run.")]
ConversationId = Annotated[BigInt, strawberry.argument(description="The conversation's id.")]


@strawberry.type(description="The verdict of one gate of an AI agent.")
class AiGateVerdict:
    """A verdict."""

    gate: GateName = strawberry.field(description="The gate.")
    action: Action = strawberry.field(description="Consequence.")
    reason: str = strawberry.field(description="The reason, unless it passes.")


@strawberry.type(description="A retrieved passage of the knowledge of an AI agent.")
class AiPassage:
    """A passage."""

    title: str = strawberry.field(description="The title of its document, or the question.")
    text: str = strawberry.field(description="The passage, or the answer.")
    score: float = strawberry.field(description="Similarity to the message, from 0 to 1.")


@strawberry.type(description="One decision of an AI agent about the latest texts of a conversation.")
class AiAgentRun:
    """A run."""

    id: BigInt = strawberry.field(description="The id of the run.")
    agent_id: BigInt | None = strawberry.field(description="The AI agent's id; null before it is chosen.")
    conversation_id: BigInt = strawberry.field(description="The conversation's id.")
    contact_id: BigInt = strawberry.field(description="The contact's id.")
    message_id: BigInt = strawberry.field(description="The id of the latest text that it decides on.")
    messages: int = strawberry.field(description="The number of texts that arrived together.")
    outcome: Outcome | None = strawberry.field(description="The result; null while it is under way.")
    gate: str | None = strawberry.field(description="The gate, or the code of the error, that decided. Null: none did.")
    reason: str = strawberry.field(description="The reason of that.")
    draft: str | None = strawberry.field(description="The text that it drafted, or sent when it handed over.")
    summary: str | None = strawberry.field(description="The note for the people who take over.")
    provider: str | None = strawberry.field(description="The writer of the draft.")
    model: str | None = strawberry.field(description="The language model of the draft.")
    credits: int = strawberry.field(description="The credits of the draft, without those of the text.")
    sent_message_id: BigInt | None = strawberry.field(description="The id of the text that was sent.")
    created_at: datetime = strawberry.field(description="The time of the first text.")
    ended_at: datetime | None = strawberry.field(description="The time of the result.")

    @strawberry.field(graphql_type=list[AiGateVerdict], description="The verdicts of the gates, in order.")
    def gates(self) -> Any:
        """Return the verdicts."""
        verdicts = (
            Verdict(GateName(each["gate"]), Action(each["action"]), each["reason"]) for each in _run(self).gates
        )
        return [_verdict(each) for each in verdicts]

    @strawberry.field(description="The passages that were found, the best first.")
    def passages(self) -> list[AiPassage]:
        """Return the passages."""
        return [AiPassage(**each) for each in _run(self).passages]

    @strawberry.field(description="The user, key or application that approved or discarded the draft.")
    def decided_by(self) -> Actor | None:
        """Return the actor."""
        label = _run(self).decided_by
        return actor_of(label) if label else None


@strawberry.type(description="The decision of a person on the draft of an AI agent.")
class AiDraftDecision:
    """A decision."""

    run_id: BigInt = strawberry.field(description="The id of the run.")

    @strawberry.field(
        graphql_type=AiAgentRun | None,
        description="The run as it is now; null once its contact was deleted.",
        directives=guarded("agents:read"),
    )
    def run(self, info: Info) -> Load[Any]:
        """Return the run; it is read only if it is selected."""
        return info.context.load(queries.find_many_runs, self.run_id)


@strawberry.type(description="Result of an AI agent for a text that was only tried. Nothing was sent.")
class AiAgentTest:
    """A trial."""

    reply: str | None = strawberry.field(description="The text that it would send. Null: none.")
    gates: list[AiGateVerdict] = strawberry.field(description="The verdicts of the gates, in order.")
    passages: list[AiPassage] = strawberry.field(
        description="The passages that were found, the best first.", directives=guarded("agents:read")
    )
    credits: int = strawberry.field(description="The credits of the draft: 1, or 0 where there is none.")
    credits_remaining: BigInt = strawberry.field(description="The balance.")


@strawberry.type(description="A suggested reply. Nothing was sent.")
class SuggestedReply:
    """A suggestion."""

    body: str | None = strawberry.field(description="The text of the reply. Null where there is none.")
    reason: str | None = strawberry.field(description="Reason why there is none; then the credit was refunded.")
    passages: list[AiPassage] = strawberry.field(
        description="The passages that were found, the best first.", directives=guarded("agents:read")
    )
    provider: str = strawberry.field(description="The writer: template without an AI, else openai or anthropic.")
    model: str | None = strawberry.field(description="The language model.")
    credits_remaining: BigInt = strawberry.field(description="The balance.")


@strawberry.type
class AgentRunQuery:
    """Runs of AI agents."""

    @strawberry.field(
        graphql_type=Connection[AiAgentRun],
        description="The runs of AI agents, the newest first: each explains one decision.",
        directives=guarded("agents:read"),
    )
    async def ai_agent_runs(
        self,
        info: Info,
        agent_id: Annotated[BigInt | None, strawberry.argument(description="Only this AI agent.")] = None,
        conversation_id: Annotated[BigInt | None, strawberry.argument(description="Only this conversation.")] = None,
        outcome: Annotated[Outcome | None, strawberry.argument(description="Only this result.")] = None,
        first: First = None,
        after: After = None,
        last: Last = None,
        before: Before = None,
        offset: Offset = 0,
    ) -> Page[models.AgentRun]:
        """Return one page of runs."""
        page = window(info, "ai_agent_runs", first, after, last, before, offset)
        return await queries.find_runs(info.context.unit, RunFilter(agent_id, conversation_id, outcome), page)


@strawberry.type
class AgentRunMutation:
    """Drafts, trials and suggestions of AI agents."""

    @strawberry.mutation(
        description=(
            "Send the draft of an AI agent, or another text in its place, and return the run. Costs the credits of the "
            "text."
        ),
        directives=guarded("messages:send", "conflict", "not_found"),
    )
    async def approve_ai_draft(
        self,
        info: Info,
        run_id: RunId,
        body: Annotated[
            str | None,
            strawberry.argument(
                description="Another text to send, 1 to 1600 characters.",
                directives=[Constraint(min_length=1, max_length=MAX_LENGTH)],
            ),
        ] = None,
    ) -> AiDraftDecision:
        """Approve a draft."""
        return AiDraftDecision(run_id=BigInt((await drafts.approve(info.context.unit, run_id, body)).id))

    @strawberry.mutation(
        description="Discard the draft of an AI agent, and return its run.",
        directives=guarded("messages:send", "conflict", "not_found"),
    )
    async def discard_ai_draft(self, info: Info, run_id: RunId) -> AiDraftDecision:
        """Discard a draft."""
        return AiDraftDecision(run_id=BigInt((await drafts.discard(info.context.unit, run_id)).id))

    @strawberry.mutation(
        description=(
            "Try an AI agent on a text, and return its reply; nothing is sent. A draft costs 1 credit, other decisions "
            "nothing."
        ),
        directives=guarded("ai:use", *CALLS),
    )
    async def test_ai_agent(
        self,
        info: Info,
        id: Annotated[BigInt, strawberry.argument(description="The AI agent's id.")],
        body: Annotated[
            str,
            strawberry.argument(
                description=f"The text of a contact, 1 to {MAX_LENGTH} characters.",
                directives=[Constraint(min_length=1, max_length=MAX_LENGTH)],
            ),
        ],
    ) -> AiAgentTest:
        """Try an agent."""
        return _trial(await drafts.try_out(info.context.unit, info.context.services.writers, id, body))

    @strawberry.mutation(
        description=(
            "Suggest and return a reply to the latest text of a conversation, which needs the scope conversations:read "
            "as well. Costs 1 credit, refunded without a reply."
        ),
        directives=guarded("ai:use", "conflict", "insufficient_scope", *CALLS),
    )
    async def suggest_reply(self, info: Info, conversation_id: ConversationId) -> SuggestedReply:
        """Suggest a reply."""
        if Scope.conversations_read not in info.context.unit.actor.scopes:
            raise InsufficientScope(scope=Scope.conversations_read)
        writers = info.context.services.writers
        return _suggested(await suggestions.suggest(info.context.unit, writers, conversation_id))

    @strawberry.mutation(
        graphql_type=Conversation,
        description="Let AI agents answer in a conversation that is paused, or was handed over, and return it.",
        directives=guarded("conversations:write", "not_found"),
    )
    async def release_ai(self, info: Info, conversation_id: ConversationId) -> conversation_models.Conversation:
        """Release a conversation."""
        return await conversation_service.release_ai(info.context.unit, conversation_id)

    @strawberry.mutation(
        graphql_type=Conversation,
        description="Let no AI agent answer in a conversation until it is released, and return it.",
        directives=guarded("conversations:write", "not_found"),
    )
    async def pause_ai(self, info: Info, conversation_id: ConversationId) -> conversation_models.Conversation:
        """Pause a conversation."""
        return await conversation_service.pause_ai(info.context.unit, conversation_id)


def _run(root: object) -> models.AgentRun:
    return row_of(root, models.AgentRun)


def _verdict(verdict: Verdict) -> AiGateVerdict:
    return AiGateVerdict(gate=verdict.gate, action=verdict.action, reason=verdict.reason)


def _passage(passage: Passage) -> AiPassage:
    return AiPassage(title=passage.title, text=passage.text, score=passage.score)


def _trial(trial: Trial) -> AiAgentTest:
    return AiAgentTest(
        reply=trial.decision.text,
        gates=[_verdict(each) for each in trial.decision.verdicts],
        passages=[_passage(each) for each in trial.decision.passages],
        credits=trial.credits,
        credits_remaining=BigInt(trial.credits_remaining),
    )


def _suggested(suggestion: Suggestion) -> SuggestedReply:
    return SuggestedReply(
        body=suggestion.text,
        reason=suggestion.reason,
        passages=[_passage(each) for each in suggestion.passages],
        provider=suggestion.provider,
        model=suggestion.model,
        credits_remaining=BigInt(suggestion.credits_remaining),
    )
