// The filter of contacts in the address: an unknown value becomes the default.

export const STAGES = ['new_lead', 'contacted', 'qualified', 'proposal', 'won', 'lost'] as const;
export const STATUSES = ['active', 'opted_out'] as const;
export const SORTS = ['name_asc', 'name_desc', 'score_high', 'date_added', 'date_updated', 'last_message'] as const;

export const DUPLICATES = ['email', 'phone'] as const;

export interface DuplicateSearch {
  kind?: (typeof DUPLICATES)[number];
  after?: string;
}

export function validatedDuplicates({ kind, after }: Record<string, unknown>): DuplicateSearch {
  return { kind: oneOf(DUPLICATES, kind), after: textOf(after) };
}

/** The job that imports a file. */
export function validatedImport({ job }: Record<string, unknown>): { job?: number } {
  return { job: idOf(job) };
}

export interface ContactsSearch {
  search?: string;
  stage?: (typeof STAGES)[number];
  status?: (typeof STATUSES)[number];
  tag?: string;
  /** The segment whose contacts are shown. */
  segment?: number;
  sort?: (typeof SORTS)[number];
  /** The job whose progress is shown. */
  job?: number;
}

export function validated(given: Record<string, unknown>): ContactsSearch {
  return {
    search: textOf(given.search),
    stage: oneOf(STAGES, given.stage),
    status: oneOf(STATUSES, given.status),
    tag: textOf(given.tag),
    segment: idOf(given.segment),
    sort: oneOf(SORTS, given.sort),
    job: idOf(given.job),
  };
}

/** Whether the contacts are those of a segment or of a filter: a job takes one of the two. */
export function isOneChoice({ segment, search, stage, status, tag }: ContactsSearch): boolean {
  return !segment || [search, stage, status, tag].every((value) => value === undefined);
}

export function oneOf<Value extends string>(values: readonly Value[], given: unknown): Value | undefined {
  return values.find((value) => value === given);
}

function idOf(given: unknown): number | undefined {
  return Number.parseInt(String(given), 10) || undefined;
}

function textOf(given: unknown): string | undefined {
  return given === undefined || given === '' ? undefined : String(given);
}
