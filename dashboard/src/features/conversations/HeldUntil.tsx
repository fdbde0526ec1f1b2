// The notice that quiet hours will hold a text back, before it is sent.

import { useQuery } from 'urql';
import { Notice, Time } from '../../ui/index.ts';
import { SendExplained } from './queries.ts';

/** Tell until when a text to a phone waits, unless it answers a text of the last day, which quiet hours never hold. */
export function HeldUntil({ to }: { to: string }) {
  const [{ data }] = useQuery({ query: SendExplained, variables: { to }, requestPolicy: 'network-only' });
  const until = data?.explain_send?.deferred_until;
  if (!until) return null;
  return (
    <Notice kind="warn">
      <span>
        It would leave <Time at={until} full />: it is outside the hours in which this person may be texted.
      </span>
    </Notice>
  );
}

const DAY = 24 * 60 * 60 * 1000;

/** Tell whether a text to a contact who wrote at a time is an answer; `undefined` stands for no text. */
export function isAnswer(writtenAt: string | undefined, now = Date.now()): boolean {
  return writtenAt !== undefined && now - Date.parse(writtenAt) < DAY;
}
