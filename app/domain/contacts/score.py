"""Explanation of a contact's score from 0 to 100.

Stage: new lead 10, contacted 20, qualified 40, proposal 60, won 70, lost 0. A name adds 5, an e-mail address 5, each
reply 4 (at most 20). A contact that opted out scores 0. PostgreSQL computes the score (`models.SCORE`); this module
returns its parts.
"""

from dataclasses import dataclass

from app.domain.contacts.models import Contact, ContactStatus, PipelineStage

STAGE_POINTS = {
    PipelineStage.new_lead: 10,
    PipelineStage.contacted: 20,
    PipelineStage.qualified: 40,
    PipelineStage.proposal: 60,
    PipelineStage.won: 70,
    PipelineStage.lost: 0,
}
REPLY_POINTS, REPLIES_COUNTED = 4, 5


@dataclass(frozen=True, slots=True)
class ScoreReason:
    """One part of a score."""

    reason: str
    points: int


def explain(contact: Contact) -> list[ScoreReason]:
    """Return the parts whose points add up to the contact's score."""
    if contact.status == ContactStatus.opted_out:
        return [ScoreReason("opted out", 0)]
    replies = min(contact.replies, REPLIES_COUNTED)
    parts = [
        ScoreReason(f"stage {contact.pipeline_stage}", STAGE_POINTS[PipelineStage(contact.pipeline_stage)]),
        ScoreReason("name known", 5 if contact.first_name or contact.last_name else 0),
        ScoreReason("e-mail known", 5 if contact.email else 0),
        ScoreReason(f"{replies} {'reply' if replies == 1 else 'replies'} counted", REPLY_POINTS * replies),
    ]
    return [part for part in parts if part.points]
