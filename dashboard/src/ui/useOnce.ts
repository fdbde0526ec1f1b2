// A mutation that is done once for what a person means, also when its answer is lost and it is sent again.

import { useRef } from 'react';
import type { AnyVariables, TypedDocumentNode } from 'urql';
import { type Act, useAct } from './useAct.ts';

type Keyed = { idempotency_key?: string | null };

/** Return a mutation with an idempotency key that repetitions have too, until it succeeds or has other variables. */
export function useOnce<Data, Variables extends AnyVariables & Keyed>(
  document: TypedDocumentNode<Data, Variables>,
): Act<Data, Omit<Variables, 'idempotency_key'>> {
  const act = useAct(document);
  const latest = useRef({ meant: '', key: '' });
  return {
    ...act,
    async run(variables) {
      const meant = JSON.stringify(variables);
      if (latest.current.meant !== meant) latest.current = { meant, key: crypto.randomUUID() };
      const sent = latest.current;
      const done = await act.run({ ...variables, idempotency_key: sent.key } as Variables);
      if (done && latest.current === sent) latest.current = { meant: '', key: '' };
      return done;
    },
  };
}
