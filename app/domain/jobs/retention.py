"""Rules of retention for jobs and files."""

from datetime import timedelta

from app.domain.kernel.retention import Rule, batch_of

FINISHED = "status IN ('done','failed','canceled') AND finished_at < $1"
OF_FINISHED = f"EXISTS (SELECT FROM account_jobs j WHERE j.id = job_id AND j.{FINISHED.replace(' AND ', ' AND j.')})"
OF_EXPORTS_WITHOUT_FILE = """EXISTS (
  SELECT FROM account_jobs j WHERE j.id = job_id AND j.finished_at < $1
    AND j.kind = 'export_contacts' AND j.status IN ('failed','canceled')
)"""
"""The condition of parts that nobody can download."""

RULES = (
    Rule(f"DELETE FROM job_keys WHERE {batch_of('job_keys', OF_FINISHED)}", timedelta()),
    Rule(f"DELETE FROM job_parts WHERE {batch_of('job_parts', OF_EXPORTS_WITHOUT_FILE)}", timedelta()),
    Rule(f"DELETE FROM job_parts WHERE {batch_of('job_parts', OF_FINISHED)}", timedelta(days=7)),
    Rule(f"DELETE FROM account_jobs WHERE {batch_of('account_jobs', FINISHED)}", timedelta(days=90)),
    Rule(f"DELETE FROM uploads WHERE {batch_of('uploads', 'created_at < $1')}", timedelta(days=7)),
)
