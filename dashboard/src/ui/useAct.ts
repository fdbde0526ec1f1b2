// A mutation with its state: under way, refused, done.

import { useState } from 'react';
import type { AnyVariables, TypedDocumentNode } from 'urql';
import { useMutation } from 'urql';
import { type Refusal, refusalOf } from '../graphql/errors.ts';

export interface Act<Data, Variables> {
  run(variables: Variables): Promise<Data | undefined>;
  isBusy: boolean;
  refusal?: Refusal;
  forget(): void;
}

/** Return a mutation that keeps its refusal until the next attempt. */
export function useAct<Data, Variables extends AnyVariables>(
  document: TypedDocumentNode<Data, Variables>,
): Act<Data, Variables> {
  const [{ fetching }, execute] = useMutation(document);
  const [refusal, setRefusal] = useState<Refusal>();
  return {
    isBusy: fetching,
    refusal,
    forget: () => setRefusal(undefined),
    async run(variables) {
      const { data, error } = await execute(variables);
      setRefusal(error && refusalOf(error));
      return error ? undefined : data;
    },
  };
}
