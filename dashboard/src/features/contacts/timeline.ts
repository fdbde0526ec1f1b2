// The entries of a timeline, and their sentences.

import type { TypedDocumentNode } from 'urql';
import { graphql, type ResultOf, type VariablesOf } from '../../graphql/index.ts';
import { words } from '../../ui/index.ts';

const EntryRow = graphql(`
  fragment TimelineRow on ContactTimelineEntry @_unmask {
    kind
    at
    record_id
    detail
    actor {
      kind
      id
      label
    }
  }
`);

const TimelineAlone = graphql(
  `
    query ContactTimelineBrief($id: BigInt!, $after: String) {
      contact_timeline(id: $id, first: 30, after: $after) {
        entries {
          ...TimelineRow
        }
        end_cursor
      }
    }
  `,
  [EntryRow],
);

/** The timeline for those who may read texts and notes. */
const TimelineWithTexts = graphql(
  `
    query ContactTimeline($id: BigInt!, $after: String) {
      contact_timeline(id: $id, first: 30, after: $after) {
        entries {
          ...TimelineRow
          message {
            id
            body
            direction
            status
            status_description
            failed_at
          }
          note {
            id
            body
          }
        }
        end_cursor
      }
    }
  `,
  [EntryRow],
);

type Shown = NonNullable<ResultOf<typeof TimelineWithTexts>['contact_timeline']>['entries'][number];

export type TimelineEntry = Omit<Shown, 'message' | 'note'> & Partial<Pick<Shown, 'message' | 'note'>>;

interface TimelineData {
  contact_timeline: { entries: TimelineEntry[]; end_cursor: string | null } | null;
}

type TimelineDocument = TypedDocumentNode<TimelineData, VariablesOf<typeof TimelineAlone>>;

export const ContactTimeline: TimelineDocument = TimelineWithTexts;
export const ContactTimelineBrief: TimelineDocument = TimelineAlone;

type Kind = TimelineEntry['kind'];

const SENTENCES: Record<Exclude<Kind, 'message'>, (detail: string) => string> = {
  added: (source) => (source ? `Added as a contact, from: ${words(source).toLowerCase()}` : 'Added as a contact'),
  stage_changed: (stage) => `Moved to the stage ${words(stage).toLowerCase()}`,
  tag_added: (tag) => `Tagged ${tag}`,
  tag_removed: (tag) => `Tag ${tag} removed`,
  dnd_set: () => 'Do-not-disturb set',
  dnd_lifted: () => 'Do-not-disturb lifted',
  merged: (phone) => `The contact ${phone} was merged into this one`,
  note: () => 'Note',
  conversation: (kind) =>
    kind === 'ai_state' ? 'State of the AI changed' : `Conversation ${words(kind).toLowerCase()}`,
  consent: (kind) => `Consent: ${words(kind).toLowerCase()}`,
  enrolled: (name) => `Enrolled in ${name}`,
  enrollment_ended: (name) => `Completed or left ${name}`,
  booking: (title) => (title ? `Booked: ${title}` : 'Booked'),
  automation: (name) => `Automation: ${name}`,
};

export function sentenceOf({ kind, detail }: Pick<TimelineEntry, 'kind' | 'detail'>): string {
  if (kind === 'message') return detail === 'inbound' ? 'Texted' : 'Was texted';
  return SENTENCES[kind](detail);
}

/** Tell whether an update is about a contact. */
export function concerns(update: object, id: number): boolean {
  const { conversation, contact_id } = update as { conversation?: { contact?: { id: number } }; contact_id?: number };
  return conversation?.contact?.id === id || contact_id === id;
}
