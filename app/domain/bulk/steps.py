"""The steps of the jobs of this area."""

from collections.abc import Mapping

from app.db.engine import Pool
from app.domain.bulk import changes, deletions, enrollments, exports, field_deletions, tag_renames
from app.domain.bulk.imports import Importer
from app.domain.jobs.models import JobKind
from app.domain.jobs.worker import Step


def make_steps(pool: Pool) -> Mapping[JobKind, Step]:
    """Return the step of each kind of job."""
    return {
        JobKind.tag_contacts: changes.advance,
        JobKind.rename_tag: tag_renames.advance,
        JobKind.stage_contacts: changes.advance,
        JobKind.assign_contacts: changes.advance,
        JobKind.enroll_contacts: enrollments.advance,
        JobKind.delete_contacts: deletions.advance,
        JobKind.import_contacts: Importer(pool).advance,
        JobKind.export_contacts: exports.advance,
        JobKind.delete_custom_field: field_deletions.advance,
    }
