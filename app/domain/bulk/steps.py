"""The steps of the jobs of this area."""

from collections.abc import Mapping

from app.domain.bulk import changes, deletions
from app.domain.jobs.models import JobKind
from app.domain.jobs.worker import Step

STEPS: Mapping[JobKind, Step] = {
    JobKind.tag_contacts: changes.advance,
    JobKind.stage_contacts: changes.advance,
    JobKind.assign_contacts: changes.advance,
    JobKind.delete_contacts: deletions.advance,
}
