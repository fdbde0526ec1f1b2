// An exchange that keeps what is shown when it is loaded again and that fails.

import type { CombinedError, Exchange, OperationResult } from '@urql/core';
import { map, pipe } from 'wonka';
import { isUnanswered, refusalOf } from './errors.ts';

/** The most queries whose last answer is kept. */
const MOST = 100;

const PASSING = new Set(['internal_error', 'rate_limited', 'unavailable']);

/** Give the last answer to a query beside an error that says nothing of its records. */
export const keptExchange: Exchange = ({ forward }) => {
  const kept = new Map<number, unknown>();
  const keep = (key: number, data: unknown) => {
    kept.delete(key);
    kept.set(key, data);
    const [oldest] = kept.keys();
    if (kept.size > MOST && oldest !== undefined) kept.delete(oldest);
  };
  return (operations$) =>
    pipe(
      forward(operations$),
      map((result) => {
        const { operation, data, error } = result;
        if (operation.kind !== 'query') return result;
        if (error && !data && isPassing(error)) {
          return { ...result, data: kept.get(operation.key), extensions: { ...result.extensions, isKept: true } };
        }
        if (data) keep(operation.key, data);
        else kept.delete(operation.key);
        return result;
      }),
    );
};

/** Return the data of the answer itself. */
export function freshOf<Data>({ data, extensions }: OperationResult<Data>): Data | undefined {
  return extensions?.isKept ? undefined : data;
}

function isPassing(error: CombinedError): boolean {
  return isUnanswered(error) || PASSING.has(refusalOf(error).code);
}
