// A mutation with its state: under way, refused, done.

import { useEffect, useRef, useState } from 'react';
import type { AnyVariables, TypedDocumentNode } from 'urql';
import { useMutation } from 'urql';
import { type Refusal, refusalOf } from '../graphql/errors.ts';
import { tellRefusal } from './toast.ts';

export interface Act<Data, Variables> {
  run(variables: Variables): Promise<Data | undefined>;
  isBusy: boolean;
  refusal?: Refusal;
  forget(): void;
}

/** Return a mutation that keeps its refusal until the next attempt; a toast tells of it where no page shows it any more. */
export function useAct<Data, Variables extends AnyVariables>(
  document: TypedDocumentNode<Data, Variables>,
  isTold = false,
): Act<Data, Variables> {
  const [{ fetching }, execute] = useMutation(document);
  const [refusal, setRefusal] = useState<Refusal>();
  const isShown = useRef(true);
  useEffect(() => {
    isShown.current = true;
    return () => {
      isShown.current = false;
    };
  }, []);
  return {
    isBusy: fetching,
    refusal,
    forget: () => setRefusal(undefined),
    async run(variables) {
      const { data, error } = await execute(variables);
      setRefusal(error && refusalOf(error));
      if (error && (isTold || !isShown.current)) void tellRefusal(refusalOf(error));
      return error ? undefined : data;
    },
  };
}
